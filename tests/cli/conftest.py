"""The command within the process of the tests."""

from __future__ import annotations

import pytest

from command import Command, inside


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run ``memcurve`` with some arguments; gives its exit code and what it printed."""
    return lambda *arguments: inside(monkeypatch, capsys, *arguments)
