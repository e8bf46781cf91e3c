"""How many draws a test takes: a few in every run, many with ``pytest -m slow``."""

from __future__ import annotations

from typing import Any

import pytest


def seeds(few: int, many: int) -> list[Any]:
    """Seeds 0 … ``few`` − 1 for every run, and the others up to ``many`` − 1 for slow ones."""
    return [*range(few), *(pytest.param(k, marks=pytest.mark.slow) for k in range(few, many))]
