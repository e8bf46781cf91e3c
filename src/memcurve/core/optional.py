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


def optional(package: str, purpose: str, extra: str | None) -> Any:
    """Import a package, or say what needs it and which line installs it; not all have an extra."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        needs, line = f"{purpose} needs {package}", _pip_line(package.partition(".")[0])
        if extra is not None:
            needs, line = f"{needs}, which the extra `{extra}` brings", install_line(extra)
        raise ModuleNotFoundError(f"{needs}; run: {line}", name=package) from error


def install_line(extra: str) -> str:
    """The line that installs an extra into the environment in use, from where memcurve came."""
    folder, requirement = _origin(extra)
    if folder is not None and _is_project_of_uv(folder, Path(sys.prefix)):
        project = "" if Path.cwd().is_relative_to(folder) else f' --project "{folder}"'
        # what is installed stays, and what only developers need stays away
        return f"{_uv()} sync{project} --inexact --no-dev --extra {extra}"
    return _pip_line(requirement)


def _python() -> str:
    """What users call the interpreter."""
    return "python" if sys.platform == "win32" else "python3"


def _uv() -> str:
    return "uv" if shutil.which("uv") else f"{_python()} -m uv"


def _pip_line(requirement: str) -> str:
    """The line that installs something into the environment in use."""
    if find_spec("pip") is None:  # the system's pip would install elsewhere
        return f'{_uv()} pip install --python "{Path(sys.prefix)}" "{requirement}"'
    found = shutil.which(_python())
    is_active = found is not None and Path(found).parent == Path(sys.executable).parent
    python = _python() if is_active else f'"{sys.executable}"'
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
