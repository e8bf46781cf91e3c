"""Reports as the command prints them."""

from __future__ import annotations

import numpy as np
import pytest

from memcurve.rendering.report import Chart, Series
from memcurve.views.cli.console import plot_lines, print_document
from report_example import LONG, NASTY, document


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
