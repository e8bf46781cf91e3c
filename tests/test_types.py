"""The types as a user's checker sees them: the package says that it has types, and they arrive."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

import memcurve

USER = """
import numpy as np
import memcurve

network = memcurve.LinearNetwork(np.eye(2) / 2, np.ones(2))
curve = memcurve.memory_curve(network, 5)
curve.total.nonsense
"""
#: Types of other libraries are not looked up: they would double the time.
SETTINGS = """
[mypy]
strict = true
[mypy-matplotlib.*,pandas.*,pydantic.*,rich.*,cyclopts.*,scipy.*,xarray.*]
follow_imports = skip
"""


@pytest.mark.documentation
def test_types_reach_a_user(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Outside the repository; nothing public is of unknown type."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    assert (resources.files(memcurve) / "py.typed").is_file()
    revealed = ["curve", *(f"memcurve.{name}" for name in memcurve.__all__)]
    lines = [*USER.splitlines(), *(f"reveal_type({name})" for name in revealed)]
    (tmp_path / "user.py").write_text("\n".join(lines), encoding="utf-8")
    cache = request.config.cache.mkdir("types")  # what has not changed is not checked again
    (tmp_path / "mypy.ini").write_text(SETTINGS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", str(cache), "user.py"],
        cwd=tmp_path,
        env={key: value for key, value in os.environ.items() if key != "MYPYPATH"},
        capture_output=True,
        text=True,
        check=False,
    )
    errors = re.findall(r"^user\.py:\d+: error: (.*)$", done.stdout, re.MULTILINE)
    assert errors == ['"float" has no attribute "nonsense"  [attr-defined]'], done.stdout
    types = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert len(types) == len(revealed), done.stdout
    assert types[0].endswith(".MemoryCurve")
    assert not [name for name, kind in zip(revealed, types, strict=True) if kind == "Any"]
