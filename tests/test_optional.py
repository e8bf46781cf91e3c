"""What to type where an optional package is missing."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memcurve.core import optional


def _installed(
    monkeypatch: pytest.MonkeyPatch, origin: Any, environment: Path, *, pip: bool, path: Path
) -> None:
    """Pretend that memcurve was installed from ``origin`` into an environment."""
    found = SimpleNamespace(read_text=lambda name: json.dumps(origin) if origin else None)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: found)
    monkeypatch.setattr(optional, "find_spec", lambda name: object() if pip else None)
    monkeypatch.setattr(sys, "prefix", str(environment))
    monkeypatch.setattr(sys, "executable", str(environment / "bin" / "python3"))
    monkeypatch.delenv("UV_PROJECT_ENVIRONMENT", raising=False)
    monkeypatch.setenv("PATH", str(path))


def _environment(place: Path, made_by: str) -> Path:
    (place / "bin").mkdir(parents=True)
    (place / "pyvenv.cfg").write_text(f"home = /usr/bin\n{made_by}\n")
    (place / "bin" / "python3").touch(mode=0o755)
    return place


@pytest.mark.skipif(os.name != "posix", reason="environments as POSIX has them")
def test_the_line_fits_how_memcurve_was_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clone, none = tmp_path / "a clone", tmp_path / "none"
    own = _environment(clone / ".venv", "uv = 0.13.7")
    (clone / "pyproject.toml").touch()
    folder = {"url": clone.as_uri(), "dir_info": {"editable": True}}

    # in the environment of uv's project, activated or not, with pip in it or without
    monkeypatch.chdir(clone)
    for path, pip in ((own / "bin", True), (none, False)):
        _installed(monkeypatch, folder, own, pip=pip, path=path)
        line = optional.install_line("explore")
        assert line == "python3 -m uv sync --inexact --no-dev --extra explore"
    monkeypatch.chdir(tmp_path)
    assert f'--project "{clone}"' in optional.install_line("explore")

    # in another one, from the clone
    other = _environment(tmp_path / "other", "version = 3.12.1")
    _installed(monkeypatch, folder, other, pip=True, path=other / "bin")
    assert optional.install_line("report") == f'python3 -m pip install "{clone}[report]"'
    monkeypatch.chdir(clone)
    assert optional.install_line("report") == 'python3 -m pip install ".[report]"'
    _installed(monkeypatch, folder, other, pip=True, path=none)  # not activated
    python = other / "bin" / "python3"
    assert optional.install_line("report") == f'"{python}" -m pip install ".[report]"'
    _installed(monkeypatch, folder, other, pip=False, path=none)
    line = f'python3 -m uv pip install --python "{other}" ".[report]"'
    assert optional.install_line("report") == line

    # from elsewhere
    git = {"url": "https://host/memcurve", "vcs_info": {"vcs": "git"}}
    for origin, what in (
        (None, "memcurve[files]"),
        (git, "memcurve[files] @ git+https://host/memcurve"),
        ({"url": "https://host/m.whl", "archive_info": {}}, "memcurve[files] @ https://host/m.whl"),
    ):
        _installed(monkeypatch, origin, other, pip=True, path=other / "bin")
        assert optional.install_line("files") == f'python3 -m pip install "{what}"'

    # Windows knows no python3
    windows = SimpleNamespace(platform="win32", prefix=str(other), executable="python.exe")
    monkeypatch.setattr(optional, "sys", windows)
    _installed(monkeypatch, None, other, pip=False, path=none)
    assert optional.install_line("files").startswith("python -m uv pip install --python")


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"a dream needs nowhere, .*`all`.*; run: .*all"):
        optional.optional("nowhere", "a dream", "all")
