"""Tables in terminals of any width, whose every number is shown whole; reports, and charts."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

from command import Command
from memcurve.rendering.report import Chart, Series
from memcurve.views.cli.console import Printer, plot_lines, print_document
from report_example import LONG, NASTY, document

WIDTHS = (80, 200)

STUDY = """
keep = ["total", "usable_float32", "usable_12bit", "horizon_half"]
[grid]
ensemble = ["normal", "orthogonal"]
size = [8, 12]
spectral_radius = [0.5, 0.725]
seed = [1, 2, 3]
"""

COMMANDS = {
    "audit": "audit --size 5 --claimed 4.7 --full",
    "curve": "curve --size 30",
    "several inputs": "curve --size 12 --inputs 6",
    "usable memory": "curve --size 10 --profile",
    "compare": "compare --size 10",
    "recording": "data recording.npz",
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
    arguments: str, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
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
    for width in WIDTHS:
        _terminal(monkeypatch, width)
        shown = re.sub(r"\x1b\[[0-9;]*m", "", command(*arguments.split()).out)
        widest = 120 if "study.toml" in arguments else width  # of which the terminal makes two
        assert max(map(len, shown.splitlines())) <= max(width, widest)
        assert _numbers(shown) == numbers


def test_a_table_wider_than_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words are folded, then heads; numbers stay whole, and the terminal breaks the lines."""
    _terminal(monkeypatch, 40)
    numbers = [f"{k}.123456789 ± 0.01" for k in range(4)]
    for count, longest in ((1, 40), (4, 100)):
        heads = ["words", *["a long head"] * count]
        Printer().table(heads, [["some words " * 9, *numbers[:count]]], right=range(1, count + 1))
        shown = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
        assert max(map(len, shown.splitlines())) <= longest
        assert all(number in shown for number in numbers[:count])


def test_reports_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print_document(document())
    piped = capsys.readouterr().out
    assert "\x1b" not in piped
    assert "…" not in piped
    for text in (NASTY, LONG, "Needs attention. ", *document().verdict, *document().notes):
        assert text in piped
    assert "1 │█" in piped


def test_plots_in_the_terminal() -> None:
    x = np.arange(10.0)
    lines = plot_lines(Chart("", "x", "y", (Series("s", x, x),)), 10)
    assert lines[0] == "9 │        ▁█"
    assert [line.index(" │") for line in lines[:8]] == [1] * 8
    assert lines[7] == "0 │ ▇████████"
    assert lines[-1].split() == ["0", "9"]
    assert plot_lines(Chart("", "x", "y", (Series("s", x, np.full(10, np.nan)),))) == []
    assert plot_lines(Chart("", "x", "y", ())) == []
    assert len(plot_lines(Chart("", "x", "y", (Series("s", x[:1], x[:1]),)))) == 10
