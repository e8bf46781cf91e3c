"""Tables in terminals of any width: every number is shown whole."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from command import Command
from memcurve.views.cli.console import LEAST_WIDTH, Printer

WIDTHS = (60, 80, 100, 200)

STUDY = """
keep = ["total", "usable_float32", "usable_12bit", "horizon_half"]
[grid]
ensemble = ["normal", { name = "sparse_normal", density = 0.3 }]
size = [8, 12]
spectral_radius = [0.5, 0.725]
seed = [1, 2, 3]
"""

COMMANDS = {
    "audit": "audit --size 5 --claimed 4.7 --full",
    "curve": "curve --size 30",
    "several inputs": "curve --size 12 --inputs 6",
    "usable memory": "curve --size 10 --profile",
    "forecast": "curve --size 10 --input ar:0.9 --forecast",
    "compare": "compare --size 10",
    "recording": "data recording.npz --capacity",
    "sweep": "sweep study.toml --serial",
    "list of studies": "sweep",
}


def _terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")


def _numbers(text: str) -> set[str]:
    """What has digits in it and is no chart: each must be printed as it is everywhere else."""
    without_times = re.sub(r"[\d.e+-]+ s\b", "", text)
    return {word for word in re.findall(r"[^\s_(]*\d[^\s_(]*", without_times) if "│" not in word}


@pytest.mark.parametrize("arguments", COMMANDS.values(), ids=COMMANDS)
def test_every_command_shows_numbers_whole(
    arguments: str,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a terminal shows is in the pipe's output too, word for word."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY)
    z = np.random.default_rng(1).standard_normal(600)
    states = np.column_stack([np.roll(z, k) + 0.1 * np.roll(z, k + 1) for k in range(4)])
    np.savez("recording.npz", states=states, z=z)
    whole = command(*arguments.split()).out
    numbers = _numbers(whole)
    assert numbers
    for width in WIDTHS[::2]:
        _terminal(monkeypatch, width)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", command(*arguments.split()).out)
        assert max(map(len, shown.splitlines())) <= width
        assert _numbers(shown) == numbers


_WORDS = st.text(st.sampled_from("abcdef_( 12."), max_size=40)
_NUMBERS = st.from_regex(r"\A[0-9]{1,6}\.[0-9]{0,9}( ± 0\.[0-9]{2})?\Z")
_ROWS = st.integers(1, 9).flatmap(
    lambda count: st.tuples(
        st.lists(st.booleans(), min_size=count, max_size=count),
        st.lists(st.tuples(*[st.tuples(_WORDS, _NUMBERS)] * count), min_size=1, max_size=4),
    )
)


@given(table=_ROWS, width=st.integers(20, 200), indent=st.sampled_from([0, 2]))
@settings(
    deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_table_at_any_width(
    table: tuple[list[bool], list[tuple[tuple[str, str], ...]]],
    width: int,
    indent: int,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each number is there as it is."""
    is_number, drawn = table
    rows = [[pair[number] for pair, number in zip(row, is_number, strict=True)] for row in drawn]
    heads = [f"{'number' if number else 'words'}_{k}" for k, number in enumerate(is_number)]
    with pytest.MonkeyPatch.context() as patch:
        _terminal(patch, width)
        right = [k for k, number in enumerate(is_number) if number]
        Printer().table(heads, rows, right=right, indent=indent)
    shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert max(map(len, shown.splitlines()), default=0) <= max(width, LEAST_WIDTH)
    for k in right:
        assert all(row[k] in shown for row in rows)
