"""Packages that only some users need."""

import importlib
import sys
from importlib.util import find_spec
from typing import Any


def optional(package: str, purpose: str, extra: str | None) -> Any:
    """Import a package, or say what needs it and which line installs it; not all have an extra."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        brings = "" if extra is None else f", which comes with the extra `{extra}`"
        requirement = package.partition(".")[0] if extra is None else f"memcurve[{extra}]"
        # the system's pip would install elsewhere
        uv = f'uv pip install --python "{sys.prefix}"'
        line = f'"{sys.executable}" -m pip install' if find_spec("pip") else uv
        message = f'{purpose} needs {package}{brings}; run: {line} "{requirement}"'
        raise ModuleNotFoundError(message, name=package) from error
