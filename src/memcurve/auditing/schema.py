"""The published JSON schema of audits."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def schema() -> dict[str, Any]:
    """JSON Schema (draft 2020-12) of what ``memcurve audit --json`` prints.

    Examples
    --------
    >>> from memcurve.auditing import schema
    >>> schema()["title"]
    'memcurve audit'
    """
    file = resources.files("memcurve.auditing") / "audit.schema.json"
    content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return content
