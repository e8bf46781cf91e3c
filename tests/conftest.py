"""Settings for all tests, and the table that ends a run of the slow ones."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

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


# The table of what holds

_HEADS = ("holds", "what", "draws", "worst", "bound", "CPU s", "test")
_slow_tests: dict[str, list[pytest.TestReport]] = {}


@pytest.fixture
def held(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Assert that a figure is within its bound, and list both in the table of the slow tests.

    ``held(what, worst, at_most=…, at_least=…, draws=…)``; calls with the same ``what``, from the
    cases of one test, share a row: of so many draws together, with the figure nearest to its bound.
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
        request.node.user_properties.append(("held", [what, int(draws), *figures]))
        assert at_most is None or worst <= at_most, what
        assert at_least is None or worst >= at_least, what

    return note


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Count the CPU time of a test, that of processes that it waited for included."""
    before = sum(os.times()[:4])
    yield
    item.user_properties.append(("cpu", sum(os.times()[:4]) - before))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--table", type=Path, help="--table=FILE: write the table of slow tests")
    parser.addoption("--thorough", action="store_true", help="slow tests of the largest networks")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if "slow" in report.keywords:
        _slow_tests.setdefault(report.nodeid.partition("[")[0], []).append(report)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not _slow_tests or hasattr(config, "workerinput"):  # a worker knows of its own tests only
        return
    rows = [_HEADS, *(row for test in sorted(_slow_tests) for row in _rows(test))]
    every = [report for reports in _slow_tests.values() for report in reports]
    rows.append(("", "all of it", "", "", "", f"{_cpu_seconds(every):,.0f}", ""))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in (_HEADS, tuple("-" * w for w in widths), *rows[1:])
    ]
    terminalreporter.section("what holds")
    for line in lines:
        terminalreporter.write_line(line)
    if (file := config.getoption("--table")) is not None:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _rows(test: str) -> Iterator[tuple[str, ...]]:
    """The rows of one test: one for each thing that it holds, or one for the test as a whole."""
    reports = _slow_tests[test]
    ended = [r for r in reports if r.when == "call" or r.skipped]
    failed, skipped = any(r.failed for r in reports), all(r.skipped for r in ended)
    seconds = f"{_cpu_seconds(ended):.0f}"
    file, _, function = test.rpartition("::")
    noted: dict[str, list[tuple[int, float, float | None, float | None]]] = {}
    for report in ended:
        for name, content in report.user_properties:
            if name == "held":
                noted.setdefault(content[0], []).append(tuple(content[1:]))
    if failed or not noted:
        what = function.removeprefix("test_").replace("_", " ")
        holds = "NO" if failed else "skipped" if skipped else "yes"
        yield holds, what, str(len(ended)), "", "", seconds, file
        seconds = ""
    for what, all_noted in noted.items():
        draws, worst, least, most = min(all_noted, key=_room)
        holds = "yes" if _room((draws, worst, least, most)) >= 0 else "NO"
        bounds = [f"{sign} {b:.3g}" for sign, b in (("≥", least), ("≤", most)) if b is not None]
        count = f"{sum(n for n, *_ in all_noted):,}"
        yield holds, what, count, f"{worst:.3g}", ", ".join(bounds), seconds, file
        seconds = ""


def _cpu_seconds(reports: list[pytest.TestReport]) -> float:
    """What the tests took, whoever else was at work."""
    calls = [report for report in reports if report.when == "call"]
    return sum(value for r in calls for name, value in r.user_properties if name == "cpu")


def _room(noted: tuple[int, float, float | None, float | None]) -> float:
    """How far a figure is from the nearer of its bounds; nothing is as bad as NaN."""
    _, worst, least, most = noted
    rooms = [worst - least] if least is not None else []
    rooms += [most - worst] if most is not None else []
    return min((r if r == r else -float("inf") for r in rooms), default=0.0)
