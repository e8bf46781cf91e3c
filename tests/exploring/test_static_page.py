"""The page that needs nothing: its numbers are Python's, in a real browser, from a file."""

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import scipy.linalg

import memcurve
from browser import Opened, open_page
from draws import drawn_poles
from memcurve.views.exploring.page import SIZES, static_page

pytestmark = pytest.mark.browser

NETWORKS, LAGS, LEVELS = 200, 300, (1.0, 0.1, 1e-2, 1e-4)
#: What the page promises; its lattice and Jacobi rotations are good to about 1e-12.
AGREES = 1e-9
COMPUTED = """
([poles, lags, levels]) => {
  const layer = memory.layer(poles);
  return {
    curve: [...memory.curve(poles, lags)], age: memory.meanAge(poles),
    usable: memory.usable(layer, levels), at: [...memory.usableCurve(poles, layer, 1e-2, lags)],
  };
}
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory, chromium) -> Iterator[Opened]:
    path = tmp_path_factory.mktemp("static") / "play.html"
    path.write_text(static_page(), encoding="utf-8")
    assert path.stat().st_size < 1_000_000
    with open_page(chromium, path) as opened:
        yield opened


def diagonal_layer(poles: list[list[float]]) -> memcurve.LinearNetwork:
    """The network whose usable memory the page shows, from its description."""
    blocks = [np.array([[a]]) if b == 0 else np.array([[a, -b], [b, a]]) for a, b in poles]
    mask = np.concatenate([[1.0] if b == 0 else [1.0, 0.0] for _, b in poles])
    power = sum(1 / (1 - a * a - b * b) for a, b in poles)
    return memcurve.LinearNetwork(
        scipy.linalg.block_diag(*blocks), mask * np.sqrt(len(mask) / power)
    )


def test_numbers_of_the_page_are_those_of_python(page: Opened) -> None:
    rng = np.random.default_rng(20261118)
    for _ in range(NETWORKS):
        every = drawn_poles(rng, int(rng.integers(1, 13)), 0.999)
        poles = [[p.real, p.imag] for p in every.tolist() if p.imag >= 0]  # pairs once
        shown = page.page.evaluate(COMPUTED, [poles, LAGS, list(LEVELS)])
        network = diagonal_layer(poles)
        curve = memcurve.memory_curve(network, LAGS)
        assert np.abs(curve.values - shown["curve"]).max() < AGREES
        profile = memcurve.noise_profile(network, LEVELS, lags=LAGS)
        by_level = dict(zip(profile.levels.tolist(), profile.totals.tolist(), strict=True))
        assert np.abs([by_level[s] for s in LEVELS] - np.array(shown["usable"])).max() < AGREES
        at = memcurve.memory_curve(network, LAGS, noise=1e-2)
        assert np.abs(at.values - shown["at"]).max() < AGREES
        products = np.outer(every, every.conj())
        age = (len(every) - 1) / 2 + (products / (1 - products)).sum().real / len(every)
        assert abs(shown["age"] - age) < AGREES * age


def state_of(page: Opened) -> Any:
    return json.loads(page.page.evaluate("decodeURIComponent(location.hash.slice(1))"))


def test_every_preset_has_its_nodes(page: Opened) -> None:
    sizes = page.page.evaluate(
        "Object.values(PRESETS).map(p => Object.entries(p.poles)"
        ".map(([n, poles]) => [+n, memory.size(poles)]))"
    )
    for preset in sizes:
        assert [n for n, _ in preset] == list(SIZES)
        assert all(n == states for n, states in preset)


def test_eigenvalues_are_dragged_and_links_bring_them_back(page: Opened) -> None:
    tab = page.page
    tab.click("#reset")
    dot = tab.locator("#disc .pole:not(.mirror)").first
    box = dot.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    reach = tab.evaluate("reach")
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x + 15, y - 200)  # beyond the circle: held within it
    tab.mouse.up()
    [moved] = state_of(page)["moved"].values()
    assert 0.998 < np.hypot(*moved) <= 0.9991
    assert tab.evaluate("reach") == reach
    assert "before the move" in tab.inner_text("#memory-legend")
    before = float(tab.inner_text("#age"))
    with tab.context.expect_page() as opened:
        tab.evaluate("window.open(location.href)")
    other = opened.value
    other.wait_for_load_state()
    # links carry four decimals of each eigenvalue, and the mean age of 1/(1 − |λ|²) feels them
    assert abs(float(other.inner_text("#age")) - before) < 0.01 * before
    other.close()


def test_a_wanted_curve_is_drawn(page: Opened) -> None:
    tab = page.page
    tab.click("#tab-wish")
    gap = float(tab.inner_text("#gap"))
    assert gap < 0.04  # an exponential with twelve nodes
    tab.wait_for_function(
        "Math.abs(byId('memory').viewBox.baseVal.height"
        " - byId('memory').getBoundingClientRect().height) < 1"
    )  # else the squares are not where the pointer is
    handle = tab.locator("[data-handle='4']")
    handle.press("ArrowDown")
    assert state_of(page)["wish"] is not None
    assert tab.inner_text("#total") == "12"
    tab.click("#tab-network")


def test_kept_curves_hold_the_axis(page: Opened) -> None:
    tab = page.page
    tab.click("#reset")
    tab.select_option("#size", "60")
    tab.click("#keep")
    reach = tab.evaluate("reach")
    for size in ("10", "100"):
        tab.select_option("#size", size)
        assert tab.evaluate("reach") == reach
        assert tab.locator("#beyond").is_visible() == (size == "100")
    assert "60 nodes" in tab.inner_text("#memory-legend")
    tab.click("#all-lags")
    assert tab.evaluate("reach") > reach
    assert not tab.locator("#beyond").is_visible()


def test_a_radius_of_its_own_has_no_slider(page: Opened) -> None:
    for ensemble, shown in (("hippo_legt", False), ("normal", True)):
        page.page.select_option("#ensemble", ensemble)
        assert page.page.locator("#radius").is_visible() == shown


def test_broken_links_begin_as_always(page: Opened) -> None:
    page.page.evaluate("location.hash = '%7B%22radius%22:7'")
    page.page.evaluate("location.hash = encodeURIComponent(JSON.stringify({radius: 7}))")
    assert float(page.page.inner_text("#rho")) < 1


def test_phone_shows_control_and_curve_together(tmp_path, chromium) -> None:
    (tmp_path / "play.html").write_text(static_page(), encoding="utf-8")
    with open_page(chromium, tmp_path / "play.html", 390, 800) as opened:
        for part in ("#memory", "#radius", "#noise"):
            box = opened.page.locator(part).bounding_box()
            assert box["y"] + box["height"] <= 800
        assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_command_writes_it(tmp_path, command) -> None:
    path = tmp_path / "play.html"
    assert command("explore", "--static", path).code == 0
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
