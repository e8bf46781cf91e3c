"""What is kept of a case and its outcome: canonical JSON, the same bytes for the same content."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from memcurve.writing import plain


class Encoded(NamedTuple):
    """The outcome of one case as the store keeps it; ``error`` is None where the case succeeded."""

    key: str
    values: str | None
    curve: str | None
    error: str | None
    seconds: float


def canonical(content: Any) -> str:
    """JSON with sorted keys and every digit; numbers that are not finite become strings."""
    return json.dumps(plain(content), sort_keys=True, allow_nan=False, separators=(",", ":"))


def one_line(text: str) -> str:
    """The same text without line breaks, and without characters that no file could hold."""
    return " ".join(text.split()).encode("utf-8", "backslashreplace").decode("utf-8")
