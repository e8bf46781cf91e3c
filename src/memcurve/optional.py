"""Packages that only some users need."""

from __future__ import annotations

import importlib
from typing import Any


def optional(package: str, purpose: str, extra: str) -> Any:
    """Import a package, or say what needs it and which extra installs it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        message = f"{purpose} needs {package}; run: pip install memcurve[{extra}]"
        raise ModuleNotFoundError(message, name=package) from error
