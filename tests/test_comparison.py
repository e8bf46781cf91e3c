"""Methods side by side."""

from __future__ import annotations

import json

import numpy as np
import pytest

import memcurve
from memcurve import LinearNetwork, compare, ensembles, memory_curve, plot

NETWORK = ensembles.sparse_normal(60, seed=1)


def test_rows_are_measured_against_the_exact_curve() -> None:
    comparison = compare(NETWORK, ["osm", "exact", "montecarlo"], lags=90, seed=1)
    assert [row.method for row in comparison.rows] == ["exact", "osm", "montecarlo"]
    exact, osm, _ = comparison.rows
    assert exact.largest_error == memory_curve(NETWORK, 90).error.max()
    found = memory_curve(NETWORK, 90, method="osm").values - comparison.exact.values
    assert osm.largest_error == np.abs(found).max()
    assert all(row.seconds > 0 for row in comparison.rows)
    assert len(comparison.curves) == 3
    assert len(plot.curves(*comparison.curves).lines) == 3


def test_a_method_that_fails_is_a_row() -> None:
    network = ensembles.symmetric(100, seed=1)
    options = {"naive": {"inverse": "cholesky"}}
    comparison = compare(network, ["naive"], options=options)
    assert comparison.rows[1].curve is None
    assert "failed" in comparison.rows[1].note
    assert "—" in repr(comparison)
    assert "<td>naive</td>" in comparison._repr_html_()


def test_totals_are_over_the_same_lags() -> None:
    """A slow network holds most of its memory beyond 2N lags: no method seems to lose it."""
    comparison = compare(ensembles.hippo_legs(20), ["naive"])
    exact, naive = comparison.rows
    assert exact.total < 19
    assert naive.total == pytest.approx(exact.total, abs=1e-6)


def test_what_stops_one_method_does_not_stop_the_others() -> None:
    network = LinearNetwork(np.diag([0.5, 2.0]), [1.0, 0.0])  # the mask misses the unstable mode
    comparison = compare(network, ["naive", "osm"])
    assert comparison.rows[0].curve is not None
    assert ["unstable" in row.note for row in comparison.rows] == [False, True, True]


def test_bad_arguments() -> None:
    with pytest.raises(TypeError, match="`network` must be a LinearNetwork, got ndarray"):
        compare(NETWORK.A)
    with pytest.raises(ValueError, match="`method` must be one of exact, certified, naive"):
        compare(NETWORK, ["magic"])
    with pytest.raises(ValueError, match="`method` must be one of"):
        compare(NETWORK, ["osm"], options={"magic": {}})
    with pytest.raises(TypeError, match="need an explicit seed"):
        compare(NETWORK, ["osm_plus"])
    with pytest.raises(memcurve.UnstableNetworkError):
        compare(ensembles.normal(5, seed=1, spectral_radius=1.1), [])


def test_command(tmp_path: object) -> None:
    from test_cli import run

    picture = f"{tmp_path}/compare.png"
    arguments = ["compare", "--size", 30, "--masks", 5, "--plot", picture]
    done = run(*arguments)
    assert done.returncode == 0, done.stderr
    for name in ("exact", "naive", "neutral", "osm", "osm_plus", "montecarlo"):
        assert name in done.stdout
    methods = ["--methods", "naive", "osm"]
    done = run("compare", "--ensemble", "normal", "--size", 20, *methods, "--json")
    rows = json.loads(done.stdout)["rows"]
    assert [row["method"] for row in rows] == ["exact", "naive", "osm"]
    assert rows[0]["total"] == pytest.approx(20, abs=0.05)
