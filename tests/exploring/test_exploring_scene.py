"""What the page of ``memcurve explore`` computes and says, without the page."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve.rendering.report import vega
from memcurve.rendering.report.vega import specification
from memcurve.views.exploring import figures, move_eigenvalue
from memcurve.views.exploring.jobs import Job, asked_curve, estimate, shown_methods, usable
from memcurve.views.exploring.scene import (
    MOST_NODES,
    OWN_MASK,
    PageSettings,
    Scene,
    moved_scene,
    scene_of,
)
from memcurve.views.exploring.stories import STORIES


@pytest.fixture(scope="module")
def scene() -> Scene:
    return scene_of(PageSettings().network())


@pytest.mark.parametrize("name", sorted(memcurve.ensembles.ENSEMBLES))
@pytest.mark.parametrize(("mask", "size"), [(OWN_MASK, 12), ("ones", 1), ("normal", 2)])
def test_every_ensemble_can_be_shown(name: str, mask: str, size: int) -> None:
    settings = PageSettings(ensemble=name, size=size, mask=mask, density=1.0, seed=3)
    seen = scene_of(settings.network())
    assert seen.curve.total == seen.curve.rank
    assert set(settings.ignored()) <= {"spectral_radius", "density", "seed"}
    said = figures.summary(seen)
    assert f"Total memory {seen.curve.total:.0f} of at most {seen.network.states} " in said


def test_moved_eigenvalue_is_all_that_moves(scene: Scene) -> None:
    before = np.linalg.eigvals(scene.network.A)
    k = int(np.argmax(before.imag))
    moved = move_eigenvalue(scene.network, before[k], 0.2 + 0.8j)
    after = np.linalg.eigvals(moved.A)
    kept = np.delete(before, [k, int(np.argmin(np.abs(before - before[k].conj())))])
    for value in [*kept, 0.2 + 0.8j, 0.2 - 0.8j]:
        assert np.abs(after - value).min() < 1e-9  # eigenvalues of condition number 1e6
    assert not np.array_equal(scene_of(moved).curve.values[:100], scene.curve.values[:100])
    assert scene_of(moved).curve.total == 100


def test_moves_that_cannot_be() -> None:
    network = memcurve.LinearNetwork([[0.9, 0.0], [0.0, 0.5]], [1.0, 1.0])
    with pytest.raises(ValueError, match=r"`to` must be real for the real eigenvalue 0\.5"):
        move_eigenvalue(network, 0.5, 0.5j)
    jordan = memcurve.LinearNetwork([[0.5, 1.0], [0.0, 0.5]], [1.0, 1.0])
    with pytest.raises(ValueError, match="simple"):
        move_eigenvalue(jordan, 0.5, 0.1)
    pair = memcurve.LinearNetwork([[0.5, 0.4], [-0.4, 0.5]], [1.0, 0.0])
    with pytest.raises(ValueError, match="`to` must not be real for the complex eigenvalue"):
        move_eigenvalue(pair, 0.5 + 0.4j, 0.3)
    with pytest.raises(ValueError, match="1 eigenvalues would be controllable instead of 2"):
        moved_scene(scene_of(network), 0.5, 0.9)  # onto the other


@pytest.mark.parametrize(
    "settings",
    [
        PageSettings(ensemble="permutation", mask="ones", size=30),
        PageSettings(ensemble="cyclic", mask="ones", size=100),
        PageSettings(ensemble="sparse_normal", size=30, seed=3),
        PageSettings(ensemble="lru_ring", size=5),
    ],
)
def test_only_eigenvalues_that_all_count_are_moved(settings: PageSettings) -> None:
    """Rounding would excite those that the input leaves out."""
    seen = scene_of(settings.network())
    assert not figures.is_movable(seen)
    assert "cannot be moved here" in figures.disc_section(seen).text


def test_asked_curve_and_sentences(scene: Scene) -> None:
    settings = PageSettings(noise=1e-3, colour=0.5)
    asked = asked_curve(scene.network, scene.end + 1, settings.arguments())
    truth = memcurve.memory_curve(
        scene.network, scene.end + 1, input=memcurve.inputs.ARMA(ar=[0.5]), noise=1e-3
    )
    assert np.array_equal(asked.values, truth.values)
    section = figures.memory_section(scene, settings, asked)
    assert section.chart is not None
    assert [series.name for series in section.chart.series] == [
        "white input, no noise",
        "AR(0.5) input, noise 0.001",
    ]
    assert f"{asked.total:.4g}" in section.text
    failed = figures.memory_section(scene, settings, ValueError("why"))
    assert "there is no curve: why" in failed.text


def test_a_slow_network_says_what_is_drawn() -> None:
    slow = scene_of(memcurve.LinearNetwork(np.diag([0.9999999999, 0.5]), [1.0, 1.0]))
    text = figures.memory_section(slow, PageSettings()).text
    assert "The lags drawn hold 1 of it" in text
    with pytest.raises(ValueError, match="takes too long"):
        estimate("simulation of 2,000 steps", slow.network, 10, 1)


def test_standard_methods_are_those_of_the_library(scene: Scene) -> None:
    lags = figures.compared_lags(scene)
    way = "Gramian, pseudo-inverse"
    row = estimate(way, scene.network, lags, 1)
    curve = memcurve.memory_curve(scene.network, lags, method="naive", inverse="pinv")
    assert row.total == curve.values.sum()
    arrived: dict[str, Any] = {way: row, "OSM": RuntimeError("it broke")}
    section = figures.standard_section(scene, arrived)
    assert section.chart is not None
    assert section.table is not None
    assert [series.name for series in section.chart.series] == ["exact", way]
    rows = {cells[0]: cells[1:] for cells in section.table.rows}
    assert rows["exact"][0] == "100"
    assert rows[way][0] == f"{row.total:.4g}"
    assert rows["OSM"] == ("—", "", "failed: it broke")
    assert rows["OSM+ with 10 masks"] == ("…", "", "")
    assert set(rows) == {"exact", *shown_methods()}
    assert f"up to {row.largest_error:.1g} at a lag" in section.text
    broken = figures.standard_section(scene, {way: RuntimeError("x") for way in shown_methods()})
    assert "at a lag" not in broken.text


def test_usable_memory(scene: Scene) -> None:
    settings = PageSettings(noise=1e-3, colour=0.95)
    section = figures.usable_section(
        settings, {"usable": usable(scene.network, settings.arguments())}
    )
    assert section.chart is not None
    coloured = memcurve.inputs.ARMA(ar=[0.95])
    without = memcurve.memory_curve(scene.network, input=coloured).total
    assert section.chart.levels[0] == (f"without noise: {without:.4g}", without)
    total = memcurve.memory_curve(scene.network, input=coloured, noise=1e-3).total
    assert f"given: {total:.4g}" in [name for name, _ in section.chart.marks]


def test_large_networks_are_refused() -> None:
    network = memcurve.LinearNetwork(np.zeros((MOST_NODES + 1,) * 2), np.ones(MOST_NODES + 1))
    with pytest.raises(ValueError, match=f"up to {MOST_NODES} states"):
        scene_of(network)


def done(ordered: dict[str, Job]) -> dict[str, Any]:
    return {name: function(*given) for name, (function, given) in ordered.items()}


def test_headlines(scene: Scene) -> None:
    settings = PageSettings(colour=0.5)
    assert "<strong>…</strong> in theory for AR(0.5) input" in figures.headline(scene, settings, {})
    arrived = done(figures.headline_jobs(scene, settings))
    coloured = memcurve.inputs.ARMA(ar=[0.5])
    theory = memcurve.memory_curve(scene.network, 1, input=coloured).total
    single = memcurve.memory_curve(scene.network, 1, input=coloured, noise=memcurve.Float32()).total
    head = figures.headline(scene, settings, arrived)
    assert f"<strong>{theory:.4g}</strong> in theory for AR(0.5) input" in head
    assert f"<strong>{single:.4g}</strong> usable in single precision" in head
    failed = figures.headline(scene, PageSettings(), {"usable": ValueError("not known")})
    assert "<strong>100</strong> in theory" in failed
    assert "<strong>?</strong> usable" in failed


def test_stories_tell_what_was_computed(scene: Scene) -> None:
    story = STORIES["why reservoirpy says 30"]
    [(_, said, floor, under)] = (arrived := done(story.orders(scene))).values()
    assert abs(said - 30) < 3  # as its name says
    assert abs(under - memcurve.memory_curve(scene.network, 1, noise=floor).total) < 1e-9
    told = story.tell(scene, arrived)
    assert f"reports {said:.4g}" in told
    assert f"under which the usable memory is {under:.4g}" in told
    ring, even = (STORIES[name] for name in ("a cyclic network", "driven evenly: memory 1"))
    held = 1 - ring.settings.spectral_radius ** (2 * ring.settings.size)
    told = ring.tell(scene_of(ring.settings.network()), {})
    assert f"MC_τ is {held:.3f}" in told
    assert f"{held * (1 - held):.3f}. The total is 100" in told
    told = even.tell(scene_of(even.settings.network()), {})
    assert "99 of 100 eigenvalues are uncontrollable, and the total memory is 1." in told
    assert "the same cycle has 100" in told


def test_memory_turns_into_nonlinearity() -> None:
    """As the input multiplies the states, less is linear; the total stays."""
    story = STORIES["memory turns into nonlinearity"]
    seen = scene_of(story.settings.network())
    section, [degrees, left] = figures.products_section(seen, 0.4)
    lines = {series.name: series.y for series in degrees.series}
    assert set(lines["total"]) == {20.0}
    assert (np.diff(lines["memory of single inputs"]) < 0).all()
    parts = [y for name, y in lines.items() if name != "total"]
    assert np.abs(np.sum(parts, axis=0) - 20).max() < 1e-9
    assert np.array_equal(left.series[1].y, seen.curve.values[: seen.end + 1])
    assert "the total stays 20" in section.text


def test_colours_of_the_page_are_those_of_reports() -> None:
    css = Path(figures.__file__).with_name("page.css").read_text(encoding="utf-8")
    light, dark = css.split("body.dark {", 1)
    for name in ("page", "surface", "ink", "muted", "edge", "grid", "link", "bad",
                 *(f"series-{k}" for k in range(vega.COLOURS))):  # fmt: skip
        assert f"--mc-{name}: {vega.LIGHT[name]};" in light
        assert f"--mc-{name}: {vega.DARK[name]};" in dark.split("}")[0]
    used = set(re.findall("#[0-9a-f]{6}", str(vega.config(vega.LIGHT))))  # by charts
    for colour in used:
        assert f'[fill="{colour}"]' in css
        assert f'[stroke="{colour}"]' in css


def test_a_move_leaves_a_ghost_and_the_axes(scene: Scene) -> None:
    poles = scene.eigenvalues.all
    moved = moved_scene(scene, poles[np.argmax(poles.imag)], 0.1 + 0.99j)
    assert scene_of(moved.network).end > moved.end == scene.end
    assert moved.network.name is not None
    assert f"ρ={moved.network.spectral_radius:.4g}, " in moved.network.name
    section = figures.memory_section(moved, PageSettings(), before=scene)
    assert section.chart is not None
    assert section.chart.x_range == (0.0, float(scene.end))
    ghost = section.chart.series[-1]  # in the legend as the others are
    assert (ghost.name, ghost.dashed) == ("before the move", True)
    assert np.array_equal(ghost.y, scene.curve.values[: scene.end + 1])
    for layer in figures.VegaChart(section.chart).spec["layer"]:
        assert layer["encoding"]["x"]["scale"]["domain"] == [0.0, scene.end]
        assert layer["encoding"]["y"]["scale"]["domain"] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("network", "facts"),
    [
        ((np.diag([0.9, 0.5, 0.2]), np.eye(3, 2)), "2 of at most 3 states"),
        ((np.diag([0.9j, 0.5 + 0.1j]), np.ones(2)), "4 of at most 4 states"),
        ((np.diag([0.9, 0.5, 0.2]), np.ones(3), [0, 1]), "2 of at most 2 states read"),
        ((np.diag([0.9, 0.5]), np.array([1.0, 0.0]), [1]), "0: no input reaches the states that"),
        ((np.diag([0.9, 0.5]), np.zeros(2)), "0: no input reaches the states"),
    ],
)
def test_networks_without_a_filter_or_a_drive(network: tuple[Any, ...], facts: str) -> None:
    """Several inputs, complex states, a readout, and inputs that reach nothing."""
    A, C, *readout = network
    seen = scene_of(memcurve.LinearNetwork(A, C, readout=readout[0] if readout else None))
    assert facts in figures.summary(seen)
    assert bool(figures.headline_jobs(seen, PageSettings())) == bool(seen.curve.total)
    chart = figures.memory_section(seen, PageSettings()).chart
    assert chart is not None
    specification(chart)


def test_a_moved_slider_costs_a_few_eigenvalue_calls() -> None:
    """At N = 200 the bare eigenvalues take about 12 ms, and 300 ms are allowed in all."""

    def update(radius: float) -> float:
        start = time.perf_counter()
        settings = PageSettings(size=200, spectral_radius=radius)
        seen = scene_of(settings.network())
        chart = figures.memory_section(seen, settings).chart
        assert chart is not None
        figures.VegaChart(chart)._mime_()
        return time.perf_counter() - start

    A = PageSettings(size=200).network().A

    def bare() -> float:
        start = time.perf_counter()
        np.linalg.eigvals(A)
        return time.perf_counter() - start

    rounds = [(update(0.9 - 0.01 * k), bare()) for k in range(5)]
    assert min(ours for ours, _ in rounds) < 25 * min(theirs for _, theirs in rounds)
