"""Pictures and sentences of studies, and what the shipped ones find."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from memcurve import Study, Sweep, plot, sweep
from memcurve.sweeping.pictures import chosen_picture, draw
from memcurve.sweeping.specification import Picture


def run(**fields: Any) -> Sweep:
    return sweep(Study.grid(**fields), None, executor="serial")


def quick(name: str) -> Sweep:
    return sweep(Study.load(name, quick=True), None, executor="serial")


@pytest.fixture(scope="module")
def two_axes() -> Sweep:
    axes: dict[str, Any] = {"size": [4, 6, 8, 10], "spectral_radius": [0.2, 0.5, 0.8, 0.9]}
    return run(ensemble="normal", seed=[1, 2], keep=["total", "usable_12bit"], curves=True, **axes)


@pytest.fixture(scope="module")
def sparsity() -> Sweep:
    return quick("sparsity")


def test_sparsity_seems_to_matter_and_does_not(sparsity: Sweep) -> None:
    """The false effect of the usual formulas, and its absence."""
    frame = sparsity.to_pandas()
    means = frame.groupby(["method", "density"])["total"].mean().unstack()
    exact = frame[frame["method"] == "exact"]
    assert (exact["total"] == 60).all()
    assert (exact["rank"] == 60).all()
    for method in ("naive(inverse=pinv)", "naive(inverse=projector)"):
        assert means.loc[method, 1.0] - means.loc[method, 0.1] > 4
        assert means.loc[method].max() < 57
    assert sparsity.sentence.startswith("Memory seems to change with sparsity, from 3")
    assert sparsity.sentence.endswith(
        "but the exact total is the rank of each network, 60 at every density from 0.1 on."
    )


def test_where_the_rank_falls_the_sentence_says_so() -> None:
    fields = Study.load("sparsity").specification
    study = Study.grid(
        ensemble="sparse_normal", size=30, density=[0.03, 0.3, 1.0], seed=[1, 2, 3],
        method=["exact", {"name": "naive", "inverse": "pinv"}], keep=list(fields.keep),
        conclusion="sparsity",
    )  # fmt: skip
    found = sweep(study, None, executor="serial")
    assert "30 at every density from 0.3 on; below, where the weights are too few" in found.sentence


def test_radius_changes_only_what_is_usable() -> None:
    found = quick("radius")
    table = found.to_pandas()
    assert (table["total"] == 40).all()
    means = table.groupby("spectral_radius")["usable_float32"].mean()
    assert means[0.99] > 2 * means[0.3]
    assert found.sentence.startswith("The spectral radius does not change the total, 40 from 0.3")
    assert len(found.plot().get_lines()) == 5 + 1


def test_architectures_differ_in_use() -> None:
    found = quick("architectures")
    table = found.to_pandas()
    assert np.allclose(table["total"], 40)
    means = table.groupby("ensemble")["usable_12bit"].mean()
    assert means["delay_line"] > 39.9
    assert means["symmetric"] < 13
    assert found.sentence.startswith("All architectures hold the same total, 40, but not")
    ax = found.plot()
    assert [label.get_text() for label in ax.get_xticklabels()][:3] == [
        "delay line", "ring", "ring, random mask",
    ]  # fmt: skip


def test_noise_costs_some_more_than_others() -> None:
    found = quick("noise")
    table = found.to_pandas()
    assert (table["rank"] == 40).all()
    assert (table["total"] <= 40 + 1e-9).all()
    assert found.sentence.startswith("Without noise every network holds 40; the architectures")
    ax = found.plot()
    assert (ax.get_xscale(), ax.get_ylabel()) == ("log", "usable memory")


def test_lines_of_means_with_the_number_of_states(sparsity: Sweep) -> None:
    ax = sparsity.plot()
    exact, pinv, _, bound = ax.get_lines()
    np.testing.assert_array_equal(exact.get_ydata(), [60] * 4)
    entries = [e for e in sparsity.summary(["total"]) if e["method"] == "naive(inverse=pinv)"]
    np.testing.assert_allclose(pinv.get_ydata(), [entry["mean"] for entry in entries])
    assert (bound.get_label(), bound.get_linestyle()) == ("N = 60", "--")
    assert ax.get_title(loc="left") == "Does sparsity change memory?"
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "mean and range of 6 seeds"
    assert exact.get_color() == plot.COLOURS[0]


def test_the_axes_choose_the_picture(two_axes: Sweep) -> None:
    assert chosen_picture(two_axes).kind == "heatmap"
    cases = [
        ({"size": [5, 6]}, "curves", None),
        ({"size": [5, 6], "curves": False}, "lines", "size"),
        ({"ensemble": ["normal", "cyclic"], "curves": False}, "bars", "ensemble"),
        ({"ensemble": ["normal", "cyclic"], "noise": [1e-9, 1e-3]}, "lines", "noise"),
        ({"mask": ["ones", "normal"], "noise": [1e-3, "float32"], "curves": False}, "bars", "mask"),
    ]
    for fields, kind, x in cases:
        found = run(**{"ensemble": "normal", "size": 4, "seed": [1, 2], "curves": True} | fields)
        picture = chosen_picture(found)
        assert (picture.kind, picture.x) == (kind, x)
        assert found.plot().get_ylabel() in (
            "memory $MC_τ$",
            "total memory",
            "usable memory",
            "memory",
        )


def test_heat_map_of_means(two_axes: Sweep) -> None:
    ax = two_axes.plot()
    [image] = ax.get_images()
    cells = np.asarray(image.get_array())
    mean = two_axes.to_xarray()["total"].mean("seed").transpose("spectral_radius", "size")
    np.testing.assert_allclose(cells, mean)
    assert len(ax.texts) == 16


def test_curves_with_bands(two_axes: Sweep) -> None:
    ax = draw(two_axes, Picture(kind="curves", hue="size", quantity=("total",)))
    assert [line.get_label() for line in ax.get_lines()] == [
        "N = 4: total 4", "N = 6: total 6", "N = 8: total 8", "N = 10: total 10",
    ]  # fmt: skip
    assert len(ax.collections) == 4


def test_random_searches_are_points() -> None:
    study = Study.random(6, 1, ensemble="normal", size={"low": 3, "high": 9}, keep="total")
    ax = sweep(study, None, executor="serial").plot()
    assert ax.get_lines()[0].get_linestyle() == "None"
    assert ax.get_lines()[-1].get_label() == "N"


def test_zero_has_no_place_on_a_logarithmic_axis() -> None:
    found = run(ensemble="normal", size=4, noise=[0, 1e-6, 1e-4, 1e-2, 1.0], seed=1, keep="total")
    ax = found.plot()
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel().endswith("0 has no place on this axis")


def test_coloured_input_has_no_bound() -> None:
    found = run(ensemble="delay_line", size=[3, 4], input="ar:0.9", keep="total")
    assert len(found.plot().get_lines()) == 1


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        (Picture(kind="lines", x="ensemble", quantity=("total",)), "needs an axis of numbers"),
        (Picture(kind="lines", x="size", quantity=("largest_error",)), "no finished case knows"),
        (
            Picture(kind="lines", x="size", hue="seed", quantity=("total",)),
            "would have 20 lines, more than the 14",
        ),
        (Picture(kind="curves", hue="seed", quantity=("total",)), "would have 20 curves"),
    ],
)
def test_pictures_nobody_could_read_are_refused(picture: Picture, message: str) -> None:
    found = run(
        ensemble=["normal", "orthogonal"], size=[3, 4], method="naive", seed=range(20),
        keep=["total", "largest_error"],
    )  # fmt: skip
    with pytest.raises(ValueError, match=message):
        draw(found, picture)


def test_nothing_finished_nothing_drawn() -> None:
    found = run(ensemble="normal", size=5, method="osm", noise=1e-3, seed=1)
    assert found.sentence == "No case is finished, so that there is nothing to conclude."
    with pytest.raises(ValueError, match="must have a finished case to draw; 1 of 1 failed"):
        found.plot()


def test_sentences_of_other_studies() -> None:
    found = run(ensemble="cyclic", size=[3, 9], spectral_radius=[0.5, 0.9], keep="total")
    assert found.sentence == (
        "The mean total changes most with the size, from 3 at 3 to 9 at 9; over all cases it is 3 "
        "to 9."
    )
    found = run(ensemble=["cyclic", "delay_line"], size=3, keep="total")
    assert found.sentence == "The total is 3, whatever the ensemble."
