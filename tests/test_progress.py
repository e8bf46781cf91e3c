"""Progress on stderr."""

import io
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest
from rich import console
from scipy.sparse import csr_array, random_array

from memcurve import LinearNetwork, audit, ensembles, memory_curve, noise_profile
from memcurve.core import progress
from memcurve.core.progress import progress_callback
from memcurve.solve.powers import MANY_STATES


@pytest.fixture
def buffer(monkeypatch) -> io.StringIO:
    """What is shown on a terminal."""
    shown = io.StringIO()
    screen = console.Console(file=shown, force_terminal=True, width=60)
    monkeypatch.setattr("rich.console.Console", lambda stderr: screen)
    return shown


def test_steps_of_unknown_length_take_the_place_of_each_other(monkeypatch, buffer) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with progress_callback(True) as notify:
        notify("counted", 1, 2)
        for done, label in enumerate(("first", "second", "third")):
            notify(label, done, None)
    shown = buffer.getvalue().rpartition("counted")[2]  # what is left on the screen
    assert "50%" in shown
    assert not any(label in shown for label in ("first", "second", "third"))


def test_it_shows_by_itself_what_takes_long(monkeypatch, buffer) -> None:
    """In a terminal, and once the time is over."""
    monkeypatch.setattr(progress, "PATIENCE", 0.1)

    def work(seconds: float) -> str:
        buffer.truncate(0)
        with progress_callback(None) as notify:
            notify("a step", 0, None)
            time.sleep(seconds)
        return buffer.getvalue()

    assert work(0.3) == ""  # nobody watches
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert work(0.0) == ""
    assert "a step" in work(0.3)
    monkeypatch.setattr(progress, "PATIENCE", 0.001)
    buffer.truncate(0)
    audit(ensembles.cyclic(5))
    assert "━" in buffer.getvalue()


def test_lags_and_directions_of_large_networks() -> None:
    rng = np.random.default_rng(1)
    size = MANY_STATES
    A = random_array((size, size), density=5 / size, rng=rng, data_sampler=rng.standard_normal)
    large = LinearNetwork(csr_array(A * (0.8 / np.sqrt(5))), rng.standard_normal(size))
    told: list[str] = []

    def notify(label: str, done: int, total: int | None) -> None:
        told.append(label)

    memory_curve(large, noise=1e-3, progress=notify)
    assert any(label.startswith("rank so far ") for label in told)
    told.clear()
    noise_profile(large, [1e-6, 1e-3], progress=notify)
    assert told[-1].startswith("rank so far ")


def test_lines_in_a_pipe(capsys, monkeypatch) -> None:
    """None at first, then one every ten seconds."""
    now = 0.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    kernel = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=None))
    monkeypatch.setitem(sys.modules, "IPython", kernel)
    with progress_callback(None) as notify:  # as in a notebook, with nothing asked for
        for now in (1.0, 6.0, 12.0, 13.0):
            notify("study", 10 + int(now), 100)
        now = 30.0
        notify("one step", 0, None)
    assert capsys.readouterr().err.splitlines() == [
        "study: 11 of 100 were done before",
        "study: 16 of 100, 1 per second, about 84 seconds left",
        "one step",
    ]
