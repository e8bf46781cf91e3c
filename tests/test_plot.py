"""Pictures: what is on the axes is what the curves say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from memcurve import ensembles, memory_curve, plot

CURVES = [memory_curve(ensembles.normal(n, seed=1)) for n in (5, 40)]


def test_lines_labels_and_limits() -> None:
    ax = plot.curves(*CURVES)
    for line, curve in zip(ax.lines, CURVES, strict=True):
        assert np.array_equal(line.get_xdata(), curve.lags)
        assert np.array_equal(line.get_ydata(), curve.values)
    assert "total memory 40" in ax.get_legend().get_texts()[1].get_text()
    assert ax.get_xlabel().startswith("lag")
    assert ax.lines[0].get_color() != ax.lines[1].get_color()


def test_given_axes_labels_and_log(tmp_path: Path) -> None:
    ax = Figure().add_subplot()
    assert plot.curves(*CURVES, labels=["a", "b"], ax=ax, log=True) is ax
    assert ax.get_yscale() == "log"
    for ending in ("png", "pdf", "svg"):
        plot.save(ax, tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").stat().st_size > 1000


def test_bad_arguments(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="at least one MemoryCurve"):
        plot.curves()
    with pytest.raises(TypeError, match="must be MemoryCurves, got int"):
        plot.curves(3)
    with pytest.raises(ValueError, match="`labels` must name each of the 2 curves"):
        plot.curves(*CURVES, labels=["a"])
    with pytest.raises(ValueError, match="must end in one of"):
        plot.save(plot.curves(CURVES[0]), tmp_path / "x.docx")
