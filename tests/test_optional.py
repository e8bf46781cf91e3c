"""What to type where an optional package is missing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from memcurve.core import optional

GIT = {"url": "https://host/memcurve", "vcs_info": {"vcs": "git"}}
WHEEL = {"url": "https://host/m.whl", "archive_info": {}}


@pytest.mark.parametrize("pip", [True, False])
@pytest.mark.parametrize(
    ("origin", "requirement"),
    [
        (None, "memcurve[files]"),
        (GIT, "memcurve[files] @ git+https://host/memcurve"),
        (WHEEL, "memcurve[files] @ https://host/m.whl"),
        ("here", ".[files]"),
        ("elsewhere", "elsewhere[files]"),
    ],
)
def test_the_line_installs_from_where_memcurve_came(
    origin: Any, requirement: str, pip: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if isinstance(origin, str):
        folder = tmp_path if origin == "here" else tmp_path / origin
        origin = {"url": folder.as_uri(), "dir_info": {"editable": True}}
        requirement = requirement.replace("elsewhere", str(folder))
    found = SimpleNamespace(read_text=lambda name: json.dumps(origin) if origin else None)
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: found)
    monkeypatch.setattr(optional, "find_spec", lambda name: object() if pip else None)
    installer = f'"{sys.executable}" -m pip install'
    installer = installer if pip else f'uv pip install --python "{sys.prefix}"'
    assert optional.install_line("files") == f'{installer} "{requirement}"'


def test_what_is_missing_is_named() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"a dream needs nowhere, .*`all`.*; run: .*all"):
        optional.optional("nowhere", "a dream", "all")
