"""Pictures: what is on the axes is what the results say."""

import dataclasses

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


def legend(ax) -> list[str]:
    return [text.get_text() for text in ax.get_legend().get_texts()]


def recorded(seed: int, **options) -> MemoryCurve:
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(700)
    states = ensembles.orthogonal(5, spectral_radius=0.8, seed=seed).simulate(z)
    states += 0.1 * rng.standard_normal(states.shape)
    return memory_from_data(states, z, 30, washout=100, **options)


def test_lines_labels_and_limits(tmp_path) -> None:
    ax = plot.curves(*CURVES)
    for line, curve in zip(ax.lines, CURVES, strict=True):
        assert np.array_equal(line.get_xdata(), curve.lags)
        assert np.array_equal(line.get_ydata(), curve.values)
    assert "total memory 40" in legend(ax)[1]
    assert ax.lines[0].get_color() != ax.lines[1].get_color()
    assert ax.lines[0].get_zorder() > ax.lines[1].get_zorder()
    own = Figure().add_subplot()
    assert plot.curves(*CURVES, labels=["a", "b"], ax=own, log=True) is own
    assert own.get_yscale() == "log"
    assert legend(own) == ["a", "b"]
    for ending in ("png", "pdf", "svg"):
        plot.save(own, tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").stat().st_size > 1000
    ticks = plot.curves(memory_curve(ensembles.delay_line(2), lags=4)).get_xticks()
    assert np.array_equal(ticks, np.rint(ticks))


def test_noise_is_named_in_the_legend() -> None:
    """Noise of 0.0 is none, and said to be none; another level is called noise."""
    for noise, said in ((1e-3, "observation noise 0.001"), (Float32(), "float32")):
        curve = memory_curve(ensembles.normal(20, seed=1), noise=noise)
        [text] = legend(plot.curves(curve))
        assert text.endswith(f"usable memory {curve.total:.6g} ({said})")
    measured = recorded(1)
    for noise, what, how in ((0.0, "total", "measured"), (0.1, "usable", "noise 0.1")):
        options = {**measured.options, "noise": noise}
        curve = dataclasses.replace(measured, method="measured", options=options)
        figures = f"{curve.total:.4g} ± {curve.total_error:.2g}"
        assert legend(plot.curves(curve))[0].endswith(f": {what} memory {figures} ({how})")


def test_bad_arguments(tmp_path) -> None:
    refuses(ValueError, "`results`", plot.curves)
    refuses(TypeError, "got int", plot.curves, 3)
    refuses(ValueError, ("`labels`", "2"), plot.curves, *CURVES, labels=["a"])
    refuses(ValueError, "`path`", plot.save, plot.curves(CURVES[0]), tmp_path / "x.docx")
    family = noise_profile(ensembles.delay_line(3), [0.0])
    refuses(ValueError, "noise level above zero", plot.profile, family)
    refuses(TypeError, ("`results`", "NoiseProfile"), plot.curves, family)
    refuses(ValueError, "memory_from_data", plot.floor_profile, CURVES[0])


def test_axes_of_every_kind() -> None:
    network = ensembles.normal(6, seed=1)
    fisher = fisher_curve(network, 0.1, 20)
    ahead = plot.curves(forecasting_curve(network, "ar:0.9", 8))
    assert np.array_equal(ahead.lines[0].get_xdata(), np.arange(1, 9))
    alone, both = plot.curves(fisher), plot.curves(memory_curve(network), fisher)
    assert alone.get_ylim()[1] > fisher.values.max() > 1
    assert "Fisher" in legend(alone)[0]
    axes = (ahead, alone, both, plot.curves(CURVES[0]))
    assert [ax.get_xlabel().split()[0] for ax in axes] == ["horizon", "lag", "lag", "lag"]
    names = [ax.get_ylabel().split()[0] for ax in axes]
    assert names == ["forecasting", "Fisher", "capacity", "memory"]


def test_profile_line_marks_and_labels() -> None:
    profile = noise_profile(ensembles.normal(15, seed=1))
    ax = plot.profile(profile)
    assert np.array_equal(ax.lines[0].get_xdata(), profile.levels)
    assert np.array_equal(ax.lines[0].get_ydata(), profile.totals)
    assert list(ax.lines[1].get_ydata()) == [15, 15]  # without noise
    assert [line.get_xdata()[0] for line in ax.lines[2:]] == list(profile.marks.values())
    for text, (name, level) in zip(ax.texts, profile.marks.items(), strict=True):
        usable = np.interp(np.log(level), np.log(profile.levels), profile.totals)
        assert text.get_text() == f"{name}: {usable:.3g}"
        assert text.xy == (level, pytest.approx(usable))
    assert ax.get_xscale() == "log"
    assert "observation noise" in ax.get_xlabel()
    assert ax.get_ylim()[1] > 15


def test_profile_sorts_levels_and_leaves_out_zero() -> None:
    network = ensembles.normal(6, seed=1)
    family = noise_profile(network, [0.1, 0.0, 1e-3, 1.0])
    ax = plot.profile(family)
    assert ax.lines[0].get_xdata().tolist() == [1e-3, 0.1, 1.0]
    assert np.array_equal(ax.lines[0].get_ydata(), family.totals[[2, 0, 3]])
    assert len(ax.texts) == sum(1e-3 <= level <= 1 for level in family.marks.values())
    state = plot.profile(noise_profile(network, [0.1, 1.0], state_noise=True))
    assert "state noise" in state.get_xlabel()


def test_estimates_show_their_intervals() -> None:
    curve = recorded(1)
    ax = plot.curves(curve)
    first, *bands = legend(ax)
    assert first.startswith(f"recording: total memory {curve.total:.4g} ± ")
    assert bands == ["90 % interval"]
    corners = ax.collections[0].get_paths()[0].vertices
    assert set(curve.bands[3]) <= set(corners[corners[:, 0] == 3][:, 1].tolist())
    # the axis ends where memory does, not with the noise of the last lags
    assert curve.diagnostics["last_lag"] < ax.get_xlim()[1] < 30
    curves = curve, recorded(2), recorded(1, level=0.5), recorded(1, estimator="split")
    ax = plot.curves(*curves, CURVES[0], labels=["a", "b", "c", "d", "e"])
    assert legend(ax) == [*"abcde", "90 % interval", "50 % interval"]  # each level once
    assert len(ax.collections) == 5


def test_floor_profile(tmp_path) -> None:
    curve = recorded(1, noise_floor=0.01)
    curve.save(tmp_path / "x.json")
    for one in (curve, MemoryCurve.load(tmp_path / "x.json")):
        ax = plot.floor_profile(one)
        profile = curve.diagnostics["profile"]
        assert ax.lines[0].get_xdata().tolist() == [float(floor) for floor in profile]
        assert ax.lines[0].get_ydata().tolist() == list(profile.values())
        assert list(ax.lines[1].get_ydata()) == [5, 5]
        assert ax.lines[2].get_xdata()[0] == 0.01
    assert len(plot.floor_profile(recorded(1, noise_floor=0)).lines) == 2
