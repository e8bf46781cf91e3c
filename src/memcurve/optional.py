"""Packages that only some users need."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def optional(package: str, purpose: str, extra: str) -> Any:
    """Import a package, or say what needs it and which line installs it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        needs = f"{purpose} needs {package}, which the extra `{extra}` brings"
        raise ModuleNotFoundError(f"{needs}; run: {install_line(extra)}", name=package) from error


def install_line(extra: str) -> str:
    """The line that installs an extra into the environment in use, from where memcurve came."""
    folder, requirement = _origin(extra)
    name = "python" if sys.platform == "win32" else "python3"
    environment, uv = Path(sys.prefix), "uv" if shutil.which("uv") else f"{name} -m uv"
    if folder is not None and _is_project_of_uv(folder, environment):
        project = "" if Path.cwd().is_relative_to(folder) else f' --project "{folder}"'
        # what is installed stays, and what only developers need stays away
        return f"{uv} sync{project} --inexact --no-dev --extra {extra}"
    if find_spec("pip") is None:  # the system's pip would install elsewhere
        return f'{uv} pip install --python "{environment}" "{requirement}"'
    found = shutil.which(name)
    is_active = found is not None and Path(found).parent == Path(sys.executable).parent
    python = name if is_active else f'"{sys.executable}"'
    return f'{python} -m pip install "{requirement}"'


def _origin(extra: str) -> tuple[Path | None, str]:
    """The folder that memcurve was installed from, if any, and how an installer is told."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(distribution("memcurve").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, OSError, ValueError):
        origin = {}
    url = origin.get("url", "")
    if url.startswith("file:") and "dir_info" in origin:
        folder = Path(url2pathname(urlsplit(url).path))
        if (folder / "pyproject.toml").is_file():
            return folder, f"{'.' if folder == Path.cwd() else folder}[{extra}]"
    named = f"memcurve[{extra}]"
    if "vcs_info" in origin:
        return None, f"{named} @ {origin['vcs_info']['vcs']}+{url}"
    return None, f"{named} @ {url}" if "archive_info" in origin else named


def _is_project_of_uv(folder: Path, environment: Path) -> bool:
    """Whether `uv run` and `uv sync` in this folder take this environment."""
    own = folder / os.environ.get("UV_PROJECT_ENVIRONMENT", ".venv")
    try:
        settings = (environment / "pyvenv.cfg").read_text(encoding="utf-8")
    except OSError:
        return False
    return own.resolve() == environment.resolve() and "\nuv = " in f"\n{settings}"
