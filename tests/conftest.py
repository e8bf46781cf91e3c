"""Settings for all tests, and the figures that end a run of the slow ones."""

import itertools
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from browser import browser
from command import Command, Ended
from memcurve.views import cli

# one BLAS thread: they are many small problems, on machines that have other work
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# the same examples in every run, however long a busy machine takes for them
settings.register_profile(
    "memcurve",
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("memcurve")

# a shell lets what it starts in the background ignore Ctrl-C, and so would the commands tested here
if threading.current_thread() is threading.main_thread():
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def command(monkeypatch, capsys) -> Command:
    """Run ``memcurve`` with some arguments, here; gives its exit code and what it printed."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["memcurve", *map(str, arguments)])
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Cyclopts application invoked without tokens")
            with pytest.raises(SystemExit) as end:
                cli.main()
        assert isinstance(end.value.code, int)
        return Ended(end.value.code, *capsys.readouterr())

    return run


@pytest.fixture(scope="session")
def torch() -> Any:
    """PyTorch, where it is installed."""
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A running browser."""
    with browser() as started:
        yield started


@pytest.fixture
def held(record_property) -> Callable[..., None]:
    """Assert that a figure is within its bound, and list both at the end of the run.

    ``held(what, worst, at_most=…, at_least=…, draws=…)``; calls with the same ``what``, from the
    cases of one test, share a line: that of all draws, with the figure nearest to its bound.
    """

    def note(
        what: str,
        worst: float,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        draws: int = 1,
    ) -> None:
        figures = [None if f is None else float(f) for f in (worst, at_least, at_most)]
        record_property("held", [what, int(draws), *figures])
        assert at_most is None or worst <= at_most, what
        assert at_least is None or worst >= at_least, what

    return note


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples that import torch, which no extra for tests brings, are skipped without it."""
    if find_spec("torch") is not None:
        return
    for item in items:
        test = getattr(item, "dtest", None)
        if test is not None and any(one.source == "import torch\n" for one in test.examples):
            item.add_marker(pytest.mark.skip(reason="torch is not installed"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--thorough", action="store_true", help="slow tests of the largest networks")


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What slow tests hold: each figure, its bound and the number of draws."""
    noted: dict[str, list[list[Any]]] = {}
    for report in itertools.chain.from_iterable(terminalreporter.stats.values()):
        if getattr(report, "when", "") == "call" and "slow" in report.keywords:
            for _, (what, *figures) in report.user_properties:
                noted.setdefault(what, []).append(figures)
    for what, figures in sorted(noted.items()):
        _, worst, least, most = min(figures, key=_room)
        bounds = [f"{sign} {b:.3g}" for sign, b in (("≥", least), ("≤", most)) if b is not None]
        draws = sum(count for count, *_ in figures)
        terminalreporter.write_line(f"{what}: {worst:.3g} {' '.join(bounds)} ({draws:,} draws)")


def _room(figures: list[Any]) -> float:
    """How far a figure is from the nearer of its bounds; nothing is as bad as NaN."""
    _, worst, least, most = figures
    rooms = [worst - least] if least is not None else []
    rooms += [most - worst] if most is not None else []
    return min((r if r == r else -float("inf") for r in rooms), default=0.0)
