"""Where things lie in the repository, wherever a test lies."""

from __future__ import annotations

from pathlib import Path

TESTS = Path(__file__).parent
ROOT = TESTS.parent
GOLDEN = TESTS / "golden"
