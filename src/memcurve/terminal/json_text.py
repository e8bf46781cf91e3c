"""JSON as every reader takes it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def strict_json(content: Any) -> str:
    """``content`` as JSON, which has no NaN and no infinity: null stands for "not known"."""
    import json

    return json.dumps(_strict(content), indent=1, ensure_ascii=False, allow_nan=False)


def _strict(content: Any) -> Any:
    import math

    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {str(key): _strict(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_strict(value) for value in content]
    return content
