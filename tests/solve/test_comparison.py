"""Methods side by side."""

import json
from dataclasses import replace

import numpy as np
import pytest

from command import failed, succeeded
from memcurve import Float32, LinearNetwork, StateNoise, compare, ensembles, memory_curve, plot
from memcurve.core.limits import TooLargeError
from memcurve.memory.methods import METHODS

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
    comparison = compare(ensembles.delay_line(20), ["neutral"])  # eigenvalues that coincide
    assert comparison.rows[1].curve is None
    assert "failed" in comparison.rows[1].note
    assert "—" in repr(comparison)
    assert "<td>neutral</td>" in comparison._repr_html_()


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


def test_the_exact_method_with_options_is_a_row_of_its_own() -> None:
    network = ensembles.normal(5, seed=1)
    found = compare(network, ["exact", ("exact", {"tolerance": 1e-3}), ("exact", {})])
    assert [row.label for row in found.rows] == ["exact", "exact (tolerance=0.001)"]


def test_command(tmp_path, command) -> None:
    done = succeeded(command("compare", "--size", 30, "--plot", tmp_path / "compare.png"))
    for name in ("exact", "naive", "neutral", "osm", "osm_plus", "montecarlo"):
        assert name in done.out
    methods = ["--methods", "naive", "osm"]
    done = command("compare", "--ensemble", "normal", "--size", 20, *methods, "--json")
    rows = json.loads(done.out)["rows"]
    assert [row["method"] for row in rows] == ["exact", "naive", "osm"]
    assert rows[0]["total"] == pytest.approx(20, abs=0.05)


SMALL = ensembles.orthogonal(10, seed=2)


def test_default_methods_are_those_that_know_the_problem() -> None:
    several, part = SMALL.replace(C=np.eye(10, 2)), SMALL.replace(readout=[0, 3])
    asked = ({"input": "ar:0.9"}, {"noise": 0.1}, {"noise": Float32()})
    for network, arguments in (*((SMALL, each) for each in asked), (several, {}), (part, {})):
        comparison = compare(network, lags=25, seed=1, **arguments)
        assert [row.method for row in comparison.rows] == ["exact", "naive", "montecarlo"]


def test_coloured_noisy_and_several() -> None:
    """On a well-conditioned network the naive formula is right, and samples come close."""
    several = SMALL.replace(C=np.random.default_rng(3).standard_normal((10, 2)))
    asked: dict = {"input": ["ar:0.8", "ma:0.5"], "noise": StateNoise(0.1)}
    comparison = compare(several, lags=20, seed=1, **asked)
    exact, naive, sampled = comparison.rows
    here = memory_curve(several, 20, **asked)
    assert np.array_equal(comparison.exact.channels, here.channels)
    assert exact.total == pytest.approx(here.values.sum())
    assert naive.largest_error < 1e-9
    assert naive.curve is not None
    assert naive.largest_error == np.abs(naive.curve.channels - here.channels).max()
    assert 1e-9 < sampled.largest_error < 0.1
    assert comparison.setting == ("input AR(1) 0.8, MA(1) 0.5", "state noise 0.1")
    assert "usable memory" not in exact.note


def test_naive_fails_where_noise_is_below_rounding() -> None:
    network = ensembles.symmetric(40, seed=4)
    lost, seen = (compare(network, ["naive"], noise=noise).rows[1] for noise in (1e-12, 1e-2))
    assert lost.largest_error > 0.1
    assert seen.largest_error < 1e-9


def test_command_with_input_and_noise(command) -> None:
    asked = ["compare", "--ensemble", "orthogonal", "--size", 10, "--input", "ar:0.9"]
    out = succeeded(command(*asked, "--noise", "1e-2", "--lags", 15)).out
    assert "input AR(1) 0.9; observation noise 0.01" in out
    assert "naive" in out
    assert "osm" not in out
    said = failed(command(*asked, "--noise", 1, 2), 2)
    assert "single level" in said
    assert len(said.splitlines()) == 1


def test_methods_that_do_not_fit_are_named_in_their_rows(monkeypatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise TooLargeError("`network` must fit into memory, got too much. Take less.")

    monkeypatch.setitem(METHODS, "naive", replace(METHODS["naive"], run=refused))
    found = compare(ensembles.normal(10, seed=1), ["naive", "osm"], lags=5)
    assert [row.curve is None for row in found.rows] == [False, True, False]
    assert found.rows[1].note == "failed: `network` must fit into memory, got too much"
