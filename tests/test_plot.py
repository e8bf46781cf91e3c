"""Pictures: what is on the axes is what the curves say."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

from memcurve import (
    Float32,
    MemoryCurve,
    ensembles,
    fisher_curve,
    forecasting_curve,
    memory_curve,
    memory_from_data,
    noise_profile,
    plot,
)
from refusals import refuses

CURVES = [memory_curve(ensembles.normal(n, seed=1)) for n in (5, 40)]


def test_lines_labels_and_limits() -> None:
    ax = plot.curves(*CURVES)
    for line, curve in zip(ax.lines, CURVES, strict=True):
        assert np.array_equal(line.get_xdata(), curve.lags)
        assert np.array_equal(line.get_ydata(), curve.values)
    assert "total memory 40" in ax.get_legend().get_texts()[1].get_text()
    assert ax.get_xlabel().startswith("lag")
    assert ax.lines[0].get_color() != ax.lines[1].get_color()


def test_noise_is_named_in_the_legend() -> None:
    for noise, said in ((1e-3, "observation noise 0.001"), (Float32(), "float32")):
        curve = memory_curve(ensembles.normal(20, seed=1), noise=noise)
        [text] = plot.curves(curve).get_legend().get_texts()
        assert text.get_text().endswith(f"usable memory {curve.total:.6g} ({said})")


def test_the_legend_of_a_measured_curve() -> None:
    """Noise of 0.0 is none, and said to be none; another level is called noise."""
    network, z = ensembles.normal(5, seed=1), np.random.default_rng(1).normal(size=500)
    recorded = memory_from_data(network.simulate(z), z, washout=50)
    for noise, what, how in ((0.0, "total", "measured"), (0.1, "usable", "noise 0.1")):
        options = {**recorded.options, "noise": noise}
        curve = dataclasses.replace(recorded, method="measured", options=options)
        (text,) = plot.curves(curve).get_legend().get_texts()[:1]
        figures = f"{curve.total:.4g} ± {curve.total_error:.2g}"
        assert text.get_text().endswith(f": {what} memory {figures} ({how})")


def test_given_axes_labels_and_log(tmp_path: Path) -> None:
    ax = Figure().add_subplot()
    assert plot.curves(*CURVES, labels=["a", "b"], ax=ax, log=True) is ax
    assert ax.get_yscale() == "log"
    for ending in ("png", "pdf", "svg"):
        plot.save(ax, tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").stat().st_size > 1000


def test_bad_arguments(tmp_path: Path) -> None:
    refuses(ValueError, "at least one MemoryCurve", plot.curves)
    refuses(TypeError, "must be MemoryCurves, got int", plot.curves, 3)
    refuses(ValueError, ("`labels`", "2"), plot.curves, *CURVES, labels=["a"])
    with pytest.raises(ValueError, match="must end in one of"):
        plot.save(plot.curves(CURVES[0]), tmp_path / "x.docx")


def test_axes_of_every_kind() -> None:
    network = ensembles.normal(6, seed=1)
    ahead = forecasting_curve(network, "ar:0.9", 8)
    fisher = fisher_curve(network, 0.1, 20)
    ax = plot.curves(ahead)
    assert ax.get_xlabel().startswith("horizon")
    assert ax.get_ylabel().startswith("forecasting capacity")
    assert np.array_equal(ax.lines[0].get_xdata(), np.arange(1, 9))
    ax = plot.curves(fisher)
    assert ax.get_xlabel().startswith("lag")
    assert ax.get_ylabel().startswith("Fisher memory")
    assert ax.get_ylim()[1] > fisher.values.max() > 1
    assert "Fisher" in ax.get_legend().get_texts()[0].get_text()
    ax = plot.curves(memory_curve(network), fisher)
    assert ax.get_ylabel() == "capacity"
    assert plot.curves(memory_curve(network)).get_ylabel().startswith("memory")


def test_profile_line_marks_and_labels(tmp_path: Path) -> None:
    profile = noise_profile(ensembles.normal(15, seed=1))
    ax = plot.profile(profile)
    assert np.array_equal(ax.lines[0].get_xdata(), profile.levels)
    assert np.array_equal(ax.lines[0].get_ydata(), profile.totals)
    assert list(ax.lines[1].get_ydata()) == [15, 15]  # without noise
    assert [line.get_xdata()[0] for line in ax.lines[2:]] == list(profile.marks.values())
    for text, (name, level) in zip(ax.texts, profile.marks.items(), strict=True):
        usable = np.interp(np.log(level), np.log(profile.levels), profile.totals)
        assert text.get_text() == f"{name}: {usable:.3g}"
        assert text.xy == (level, usable)
    assert ax.get_xscale() == "log"
    assert "observation noise" in ax.get_xlabel()
    assert ax.get_ylabel() == "total usable memory"
    assert ax.get_ylim()[1] > 15
    plot.save(ax, tmp_path / "usable.png")
    assert (tmp_path / "usable.png").stat().st_size > 1000


def test_profile_sorts_levels_and_leaves_out_zero() -> None:
    network = ensembles.normal(6, seed=1)
    family = noise_profile(network, [0.1, 0.0, 1e-3, 1.0])
    own = Figure().add_subplot()
    ax = plot.profile(family, ax=own)
    assert ax is own
    assert ax.lines[0].get_xdata().tolist() == [1e-3, 0.1, 1.0]
    assert np.array_equal(ax.lines[0].get_ydata(), family.totals[[2, 0, 3]])
    assert len(ax.texts) == sum(1e-3 <= level <= 1 for level in family.marks.values())
    state = plot.profile(noise_profile(network, [0.1, 1.0], state_noise=True))
    assert "state noise" in state.get_xlabel()


def test_bad_profiles() -> None:
    refuses(TypeError, "`family`", plot.profile, CURVES[0])
    with pytest.raises(ValueError, match="a noise level above zero"):
        plot.profile(noise_profile(ensembles.delay_line(3), [0.0]))
    with pytest.raises(TypeError, match="must be MemoryCurves, got NoiseProfile"):
        plot.curves(noise_profile(ensembles.delay_line(3)))


def recorded(seed: int, **options) -> MemoryCurve:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(700)
    states = ensembles.orthogonal(5, spectral_radius=0.8, seed=seed).simulate(z)
    states += 0.1 * rng.standard_normal(states.shape)
    return memory_from_data(states, z, 30, washout=100, **options)


def test_estimates_show_their_intervals() -> None:
    curve = recorded(1)
    ax = plot.curves(curve)
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[0].startswith(f"recording: total memory {curve.total:.4g} ± ")
    assert texts[1:] == ["90 % interval"]
    corners = ax.collections[0].get_paths()[0].vertices
    low, high = curve.bands[3]
    assert {low, high} <= set(corners[corners[:, 0] == 3][:, 1].tolist())
    # the axis ends where memory does, not with the noise of the last lags
    assert curve.diagnostics["last_lag"] < ax.get_xlim()[1] < 30


def test_every_level_is_named_once() -> None:
    curves = recorded(1), recorded(2), recorded(1, level=0.5), recorded(1, estimator="split")
    ax = plot.curves(*curves, CURVES[0], labels=["a", "b", "c", "d", "e"])
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts == [*"abcde", "90 % interval", "50 % interval"]
    assert len(ax.collections) == 5


def test_floor_profile(tmp_path: Path) -> None:
    curve = recorded(1, noise_floor=0.01)
    curve.save(tmp_path / "x.json")
    own = Figure().add_subplot()
    assert plot.floor_profile(curve, ax=own) is own
    for ax in (own, plot.floor_profile(MemoryCurve.load(tmp_path / "x.json"))):
        profile = curve.diagnostics["profile"]
        assert ax.lines[0].get_xdata().tolist() == [float(floor) for floor in profile]
        assert ax.lines[0].get_ydata().tolist() == list(profile.values())
        assert list(ax.lines[1].get_ydata()) == [5, 5]
        assert ax.lines[2].get_xdata()[0] == 0.01
        assert ax.get_xscale() == "log"
    assert len(plot.floor_profile(recorded(1, noise_floor=0)).lines) == 2


def test_bad_floor_profiles() -> None:
    refuses(ValueError, "must come from memory_from_data", plot.floor_profile, CURVES[0])
    refuses(TypeError, "must be a MemoryCurve, got int", plot.floor_profile, 3)


def test_lags_are_whole_and_the_first_curve_is_on_top() -> None:
    short = [memory_curve(ensembles.delay_line(k), lags=4) for k in (1, 2, 3)]
    ax = plot.curves(*short)
    ticks = ax.get_xticks()
    assert np.array_equal(ticks, np.rint(ticks))
    first, *others = (line.get_zorder() for line in ax.lines)
    assert all(first > other for other in others)
