"""Packages that only some users need."""

from __future__ import annotations

import importlib
import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def optional(package: str, purpose: str, extra: str | None) -> Any:
    """Import a package, or say what needs it and which line installs it; not all have an extra."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        needs, line = f"{purpose} needs {package}", _install_line(package.partition(".")[0])
        if extra is not None:
            needs, line = f"{needs}, which the extra `{extra}` brings", install_line(extra)
        raise ModuleNotFoundError(f"{needs}; run: {line}", name=package) from error


def install_line(extra: str) -> str:
    """The line that installs an extra into the environment in use, from where memcurve came."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(distribution("memcurve").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, OSError, ValueError):
        origin = {}
    url, named = origin.get("url", ""), f"memcurve[{extra}]"
    if "dir_info" in origin:
        folder = Path(url2pathname(urlsplit(url).path))
        return _install_line(f"{'.' if folder == Path.cwd() else folder}[{extra}]")
    if "vcs_info" in origin:
        return _install_line(f"{named} @ {origin['vcs_info']['vcs']}+{url}")
    return _install_line(f"{named} @ {url}" if url else named)


def _install_line(requirement: str) -> str:
    """The line that installs something into the environment in use."""
    if find_spec("pip") is None:  # the system's pip would install elsewhere
        return f'uv pip install --python "{Path(sys.prefix)}" "{requirement}"'
    return f'"{sys.executable}" -m pip install "{requirement}"'
