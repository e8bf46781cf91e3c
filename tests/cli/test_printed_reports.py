"""Reports as the command prints them."""

from __future__ import annotations

import dataclasses
import re
import sys

import numpy as np
import pytest

from memcurve.rendering.report import Chart, Series
from memcurve.views.cli.console import plot_lines, print_document
from report_example import LONG, NASTY, document


def test_reports_in_a_pipe_and_in_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    print_document(document())
    piped = capsys.readouterr().out
    assert "\x1b" not in piped
    assert "…" not in piped
    for text in (NASTY, LONG, "Needs attention. ", *document().verdict, *document().notes):
        assert text in piped
    assert "1 │█" in piped
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "76")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    print_document(
        dataclasses.replace(
            document(), sections=document().sections[:4], good=True, word="In order"
        )
    )
    shown = capsys.readouterr().out
    assert max(len(line) for line in re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()) <= 76
    assert not re.search(r"\x1b\[(3|9)[0-9]m", shown)  # no colours
    assert "In order." in shown
    words = re.sub(r"[\s▌]+|\x1b\[[0-9;]*m", "", shown)
    assert "".join(document().verdict[0].split()) in words


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
