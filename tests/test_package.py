"""The package as a stranger finds it: public names, README, command lines."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import memcurve

ROOT = Path(__file__).parent.parent


def test_every_public_name_is_there() -> None:
    for name in memcurve.__all__:
        assert getattr(memcurve, name) is not None
        assert name in dir(memcurve)
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        memcurve.nonsense  # noqa: B018


def test_readme_commands() -> None:
    """Two commands, and continuous integration runs the second one to the letter."""
    commands = re.findall(r"```sh\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(commands) == 2
    assert "memcurve curve --plot memory.png" in commands[0]
    assert commands[1] in (ROOT / ".ci" / "run").read_text().splitlines()


def test_readme_python_runs() -> None:
    codes = re.findall(r"```python\n(.*?)\n```", (ROOT / "README.md").read_text(), re.DOTALL)
    names: dict = {}
    exec(codes[0], names)
    assert names["curve"].total == 100
    assert names["curve"].error.max() < 3e-12
    for code in codes[1:]:
        exec(code, names)
        for line in code.splitlines():  # what a comment says first is what the line gives
            expression, _, said = line.partition("  # ")
            if said:
                shown = str(np.round(eval(expression, names), 12))
                assert shown.startswith(said.partition(":")[0]), line


def test_versions_agree() -> None:
    assert f"version: {memcurve.__version__}\n" in (ROOT / "CITATION.cff").read_text()
