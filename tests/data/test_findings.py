"""Findings of the checks as a result: a sequence, text, JSON, frames, a picture."""

from __future__ import annotations

import numpy as np

from memcurve.data.findings import Finding, Findings

FOUND = (
    Finding("error", "bad", "a", "b"),
    Finding("warning", "odd", "x < 3", "y"),
    Finding("info", "fine", "c", "d"),
)


def test_findings_are_a_sequence_that_prints():
    findings, one = Findings(FOUND[:2]), FOUND[1]
    assert list(findings) == [findings[0], one]
    assert findings.errors == (findings[0],)
    assert findings.warnings == (one,)
    assert not findings.ok
    assert str(one) == "warning: x < 3; y"
    assert str(findings) == "error: a; b\nwarning: x < 3; y"
    assert "1 errors, 1 warnings" in repr(findings)
    assert "x &lt; 3" in findings._repr_html_()


def test_frames():
    findings = Findings(FOUND, kept=np.array([0, 2]), shift=3)
    frame = findings.to_pandas()
    assert frame["name"].tolist() == ["bad", "odd", "fine"]
    assert frame.attrs["shift"] == 3
    assert "period" not in frame.attrs
    data = findings.to_xarray()
    assert data["level"].values.tolist() == ["error", "warning", "info"]
    assert data["kept"].values.tolist() == [0, 2]
    assert Findings(()).to_pandas().empty
    assert Findings(()).to_xarray().sizes["finding"] == 0


def test_plot():
    ax = Findings(FOUND).plot()
    assert [text.get_text() for text in ax.texts] == [str(one) for one in FOUND]
    assert Findings(()).plot(ax) is ax
    assert ax.texts[-1].get_text() == "nothing to report"
