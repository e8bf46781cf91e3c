"""Progress on stderr."""

from __future__ import annotations

import io

import pytest
from rich import console

from memcurve.progress import listening


def test_steps_of_unknown_length_take_the_place_of_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    buffer = io.StringIO()
    screen = console.Console(file=buffer, force_terminal=True, width=60)
    monkeypatch.setattr("rich.console.Console", lambda stderr: screen)
    with listening(True) as tell:
        tell("counted", 1, 2)
        for done, label in enumerate(("first", "second", "third")):
            tell(label, done, None)
    shown = buffer.getvalue().rpartition("counted")[2]  # what is left on the screen
    assert "50%" in shown
    assert not any(label in shown for label in ("first", "second", "third"))
