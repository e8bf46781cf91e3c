"""Pictures and sentences of studies, and what the shipped ones find."""

import itertools
from typing import Any

import numpy as np
import pytest

from memcurve import Study, Sweep, plot, sweep
from memcurve.studies.sweeping.conclusions import PROSE
from memcurve.studies.sweeping.pictures import chosen_picture
from refusals import refuses


def run(**fields: Any) -> Sweep:
    return sweep(Study.grid(**fields), None, executor="serial")


def quick(name: str) -> Sweep:
    return sweep(Study.load(name, quick=True), None, executor="serial")


@pytest.fixture(scope="module")
def sparsity() -> Sweep:
    return quick("sparsity")


def test_a_quantity_that_varies_is_drawn_and_concluded_on() -> None:
    """Of one size the total is the number of states in every case: a flat line, and no news."""
    axes: dict[str, Any] = {"ensemble": ["normal", "orthogonal"], "spectral_radius": [0.5, 0.9]}
    found = run(size=12, seed=[1, 2], keep=["total", "usable_12bit"], **axes)
    assert chosen_picture(found).quantities == ("usable_12bit",)
    drawn = [line.get_ydata() for line in found.plot().lines if len(line.get_ydata()) == 2]
    means = found.to_pandas().groupby(["ensemble", "spectral_radius"])["usable_12bit"].mean()
    assert any(np.allclose(line, means["normal"]) for line in drawn)
    assert found.sentence.startswith(PROSE["states too"].format(quantity="total memory"))
    assert "mean usable memory with 12 bits changes most with the" in found.sentence
    alone = run(size=12, seed=[1, 2], keep="total", **axes)
    assert alone.sentence == PROSE["states"].format(quantity="total memory", range="12")
    assert chosen_picture(alone).quantities == ("total",)


def test_sparsity_seems_to_matter_and_does_not(sparsity: Sweep) -> None:
    """The false effect of standard formulas, and its absence."""
    frame = sparsity.to_pandas()
    means = frame.groupby(["method", "density"])["total"].mean().unstack()
    exact = frame[frame["method"] == "exact"]
    assert (exact["total"] == 60).all()
    assert (exact["rank"] == 60).all()
    for method in ("naive(inverse=pinv)", "naive(inverse=projector)"):
        assert means.loc[method, 1.0] - means.loc[method, 0.1] > 4
        assert means.loc[method].max() < 57
    assert "changes most with the method" in sparsity.sentence


def test_what_the_other_built_in_studies_find() -> None:
    radius = quick("radius")
    table = radius.to_pandas()
    assert (table["total"] == 40).all()
    means = table.groupby("spectral_radius")["usable_float32"].mean()
    assert means[0.99] > 2 * means[0.3]
    assert len(radius.plot().get_lines()) == 5 + 1
    architectures = quick("architectures")
    table = architectures.to_pandas()
    assert np.allclose(table["total"], 40)
    means = table.groupby("ensemble")["usable_12bit"].mean()
    assert means["delay_line"] > 39.9
    assert means["symmetric"] < 13
    labels = [label.get_text() for label in architectures.plot().get_xticklabels()]
    assert labels[:3] == ["delay line", "cyclic", "permutation"]
    noise = quick("noise")
    table = noise.to_pandas()
    assert (table["rank"] == 40).all()
    assert (table["total"] <= 40 + 1e-9).all()
    ax = noise.plot()
    assert (ax.get_xscale(), ax.get_ylabel()) == ("log", "usable memory")
    for found in (radius, architectures, noise):
        assert "changes most with the" in found.sentence


def test_lines_of_means_with_the_number_of_states(sparsity: Sweep) -> None:
    ax = sparsity.plot()
    exact, pinv, _, bound = ax.get_lines()
    np.testing.assert_array_equal(exact.get_ydata(), [60] * 4)
    entries = [e for e in sparsity.summary(["total"]) if e["method"] == "naive(inverse=pinv)"]
    np.testing.assert_allclose(pinv.get_ydata(), [entry["mean"] for entry in entries])
    assert (bound.get_label(), bound.get_linestyle()) == ("N = 60", "--")
    assert ax.get_title(loc="left") == "Does sparsity change memory?"
    legend = ax.get_legend()
    assert legend.get_title().get_text() == "mean and range of 6 seeds"
    assert exact.get_color() == plot.COLOURS[0]


def test_the_axes_choose_the_picture() -> None:
    cases = [
        ({"size": [5, 6]}, True, "size"),
        ({"ensemble": ["normal", "cyclic"]}, False, "ensemble"),
        ({"ensemble": ["normal", "cyclic"], "noise": [1e-9, 1e-3]}, True, "noise"),
        ({"mask": ["ones", "normal"], "noise": [1e-3, "float32"]}, False, "mask"),
    ]
    for fields, is_lines, x in cases:
        found = run(**{"ensemble": "normal", "size": 4, "seed": [1, 2]} | fields)
        picture = chosen_picture(found)
        assert (picture.is_lines, picture.x) == (is_lines, x)
        assert found.plot().get_ylabel() in ("total memory", "usable memory", "memory")


def test_zero_has_no_place_on_a_logarithmic_axis() -> None:
    found = run(ensemble="normal", size=4, noise=[0, 1e-6, 1e-4, 1e-2, 1.0], seed=1, keep="total")
    ax = found.plot()
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel().endswith("0 is not shown")


def test_coloured_input_has_no_bound() -> None:
    found = run(ensemble="delay_line", size=[3, 4], input="ar:0.9", keep="total")
    assert len(found.plot().get_lines()) == 1


def test_pictures_of_nothing_are_refused() -> None:
    found = run(ensemble="normal", size=[3, 4], method="naive", seed=1, keep="largest_error")
    refuses(ValueError, "largest_error", found.plot)
    refuses(ValueError, ("`quantity`", "'total'"), found.plot, quantity="total")
    failed = run(ensemble="normal", size=5, method="osm", noise=1, seed=1)
    refuses(ValueError, "finished", failed.plot)


def test_what_lies_beyond_the_lags_is_in_no_sentence_or_picture() -> None:
    found = run(
        ensemble="normal", size=30, spectral_radius=[0.3, 0.95], lags=29, seed=[1, 4, 5],
        keep="horizon_half",
    )  # fmt: skip
    assert "27 to 28 where it is known; in 4 of 6 finished cases" in found.sentence
    legend = found.plot().get_legend()
    assert "4 of 6 beyond the lags, not drawn" in legend.get_title().get_text()


def test_a_mean_over_sizes_is_drawn_only_where_there_are_too_many() -> None:
    axes: dict[str, Any] = {"ensemble": ["normal", "orthogonal"], "seed": [1, 2]}
    axes |= {"spectral_radius": [0.5, 0.9], "keep": "usable_12bit"}
    found = run(size=[4, 6, 8], **axes)
    lines = {line.get_label(): line for line in found.plot().lines}
    frame = found.to_pandas()
    means = frame.groupby(["size", "ensemble", "spectral_radius"])["usable_12bit"].mean()
    for size, ensemble in itertools.product((4, 6, 8), axes["ensemble"]):
        drawn = lines[f"{ensemble}, N = {size}"].get_ydata()
        np.testing.assert_allclose(drawn, means.loc[size, ensemble])
    many = run(size=range(3, 11), **axes).plot()
    assert len(many.lines) == 2
    assert many.get_legend().get_title().get_text() == "mean and range of 8 sizes × 2 seeds"
