"""``memcurve explore`` in a real browser: what one sees is what the library computes.

All tests share one server and one page, which is opened anew for those that find it changed.
"""

from __future__ import annotations

import contextlib
import functools
import io
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memcurve
from browser import browser
from command import failed, inside
from explored import CONTROLS, MEMORY, PATIENCE, SPECTRUM, STORY, SUMMARY, Page, Server, serving
from memcurve.rendering.report import vega
from memcurve.views.exploring import move_eigenvalue
from memcurve.views.exploring.scene import MOST_NODES
from memcurve.views.exploring.stories import STORIES

pytestmark = pytest.mark.browser

for package in ("marimo", "anywidget"):
    pytest.importorskip(package, reason=f"the page needs {package}: memcurve[explore]")

#: Seconds in which the first curve has to be there, from an empty tab; or, on a machine that has
#: other things to do, this many times what the command takes to start.
FIRST_CURVE, TIMES_START = 15, 10


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def opened(server: Server, chromium: Any) -> Iterator[tuple[Page, float]]:
    start = time.perf_counter()
    page = Page(chromium, server.address)
    page.until(lambda: len(page.curves()[:1]) == 1, "the first curve", PATIENCE)
    seconds = time.perf_counter() - start
    yield page, seconds
    page.close()


@pytest.fixture
def page(opened: tuple[Page, float], server: Server) -> Page:
    """The page with the default settings."""
    page = opened[0]
    if page.touched:
        page.goto(server.address)
    page.until_shown(exact(), "the default network")
    return page


@functools.cache
def exact(size: int = 100, **options: Any) -> memcurve.MemoryCurve:
    return memcurve.memory_curve(network_of(size, **options))


def network_of(size: int = 100, **options: Any) -> memcurve.LinearNetwork:
    asked = {"density": 0.1, "spectral_radius": 0.9, "seed": 1} | options
    return memcurve.ensembles.sparse_normal(size, **asked)


def test_first_curve_is_there_soon_and_right(opened: tuple[Page, float], server: Server) -> None:
    page, seconds = opened
    assert seconds < max(FIRST_CURVE, TIMES_START * server.seconds)
    assert page.shows(exact())
    assert page.text(f"{SUMMARY} strong") == "100"
    single = memcurve.memory_curve(network_of(), 1, noise=memcurve.Float32()).total
    head = f"100 in theory · {single:.4g} usable in single precision"
    page.until(lambda: head in page.text(SUMMARY), "what is usable")


def test_the_rest_arrives_with_its_sentences(page: Page) -> None:
    page.until_complete()
    rows = page.cell("standard", "tbody tr")
    assert rows.count() == 6
    for row, options in ((2, {"method": "naive", "inverse": "pinv"}), (3, {"method": "osm"})):
        total = memcurve.memory_curve(network_of(), 200, **options).values.sum()
        assert f"{total:.4g}" in rows.nth(row).inner_text()
    assert page.cell("export", "h2").count() == 1
    for cell in ("memory", "spectrum", "usable", "standard"):
        assert page.cell(cell, "h2").count() == 1
        assert len(page.text(f"[data-cell-name={cell}] .says")) > 60


def test_keyboard_alone(page: Page) -> None:
    """Tab reaches every control in order, and each has a name."""
    names = []
    page.tab.evaluate("document.activeElement && document.activeElement.blur()")
    for _ in range(60):
        page.tab.keyboard.press("Tab")
        names.append(page.tab.evaluate(FOCUSED))
    reached = " | ".join(names)
    for name in (*STORIES, "ensemble", "nodes N", "spectral radius", "density", "input mask",
                 "seed", "colour of the input", "noise on the states", "eigenvalue", "modulus",
                 "angle", "Data (CSV)", "Python"):  # fmt: skip
        assert name in reached, reached
    assert "nodes N value input" in names


def test_downloads(page: Page, tmp_path: Path) -> None:
    page.until(lambda: page.cell("export", "marimo-download").count() == 3, "the buttons")
    taken = {}
    for label in ("Data (CSV)", "Data (JSON)", "Python"):
        with page.tab.expect_download() as download:
            page.cell("export").get_by_text(label, exact=True).click()
        taken[label] = tmp_path / download.value.suggested_filename
        download.value.save_as(taken[label])
    table = np.loadtxt(taken["Data (CSV)"], delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 1], exact().values)
    kept = memcurve.MemoryCurve.from_json(taken["Data (JSON)"].read_text(encoding="utf-8"))
    assert np.array_equal(kept.values, exact().values)
    names: dict[str, Any] = {}
    lines = taken["Python"].read_text(encoding="utf-8")
    assert lines.strip() == page.text(".lines").strip()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.chdir(tmp_path):
        exec(lines, names)
    assert np.array_equal(names["curve"].values, exact().values)


def test_a_moved_slider_moves_the_curve(page: Page) -> None:
    page.move("radius", -10)
    page.until_shown(exact(spectral_radius=0.8), "ρ = 0.8")
    page.set_size(40)
    page.until_shown(exact(40, spectral_radius=0.8), "N = 40")
    page.move("density", 20)
    page.until_shown(exact(40, spectral_radius=0.8, density=0.3), "density")
    page.find(f"{CONTROLS} select").first.select_option("orthogonal")
    network = memcurve.ensembles.orthogonal(40, spectral_radius=0.8, seed=1)
    page.until_shown(memcurve.memory_curve(network), "orthogonal")
    assert "Density has no effect" in page.text("[data-cell-name=network_now]")


def test_noise_and_colour_arrive_later(page: Page) -> None:
    page.set_size(50)
    page.move("noise", 13)  # 1e-3
    noisy = memcurve.memory_curve(network_of(50), noise=1e-3)
    page.until_shown(noisy, "noise 1e-3", series=1)
    assert page.shows(exact(50))
    assert f"the total is {noisy.total:.4g} instead of {noisy.rank}" in page.text(MEMORY)
    head = f"{noisy.rank} in theory · {noisy.total:.4g} usable with noise 0.001"
    page.until(lambda: head in page.text(SUMMARY), "a headline with noise")
    page.move("colour", 10)
    process = memcurve.inputs.ARMA(ar=[0.5])
    both = memcurve.memory_curve(network_of(50), input=process, noise=1e-3)
    page.until_shown(both, "noise and colour", series=1)
    theory = memcurve.memory_curve(network_of(50), 1, input=process).total
    head = f"{theory:.4g} in theory for AR(0.5) input · {both.total:.4g} usable with noise 0.001"
    page.until(lambda: head in page.text(SUMMARY), "a headline with both")


def test_quick_moves_and_slow_methods(page: Page) -> None:
    page.set_size(MOST_NODES)  # where OSM+ takes seconds
    page.until(lambda: page.cell("standard", ".spinner").count() == 1, "a spinner")
    page.set_size(50)
    page.until_shown(exact(50), "a small one, in the meantime")
    slider = page.slider("radius")
    slider.focus()
    for _ in range(20):
        page.tab.keyboard.press("ArrowLeft")
    radius = round(float(slider.get_attribute("aria-valuenow")), 2)
    assert radius < 0.85
    page.until_shown(exact(50, spectral_radius=radius), "20 moves later")


def test_radii_end_below_one(page: Page) -> None:
    page.move("radius", 10)
    page.until_shown(exact(spectral_radius=0.999), "the end of the slider, below 1")
    page.move("radius", -10)
    page.until_shown(exact(), "back again")
    assert page.find("[role=alert]").count() == 0


def test_uploads(page: Page, tmp_path: Path) -> None:
    page.upload("photo.png", b"\x89PNG")
    page.until(lambda: "photo.png" in page.text("[role=alert]"), "what is no network")
    page.upload(f"bad<b>{'x' * 200}.npz", b"nonsense")
    page.until(lambda: "cannot be read as .npz" in page.text("[role=alert]"), "the error")
    assert f"bad<b>{'x' * 200}.npz cannot be shown" in page.text("[role=alert]")
    assert page.tab.evaluate("document.querySelector('#App').scrollWidth") <= 1280
    mine = memcurve.ensembles.normal(30, seed=4)
    memcurve.save_network(mine, tmp_path / "mine.npz")
    page.upload("mine.npz", (tmp_path / "mine.npz").read_bytes())
    page.until_shown(memcurve.memory_curve(mine), "my network")
    assert "mine" in page.text(SUMMARY)
    shown = page.find(f"{CONTROLS} [data-control]:visible").evaluate_all(CONTROLLED)
    assert shown == ["mask", "colour", "noise", "file"]  # all that have an effect
    assert "and seed have no effect on mine.npz, and are hidden" in page.text("[data-ignored]")
    assert page.cell("switch", "button[role=switch]").count() == 2
    page.cell("switch", "button[role=switch]").nth(1).click()
    shrunk = mine.replace(A=mine.A * (0.89 / mine.spectral_radius))
    radius = f"{CONTROLS} [data-control=spectral_radius]:visible"
    page.until(lambda: page.find(radius).count() == 1, "the control of the radius")
    page.move("radius", -1)
    page.until_shown(memcurve.memory_curve(shrunk), "my network, scaled")
    page.cell("switch", "button[role=switch]").first.click()
    page.until_shown(exact(spectral_radius=0.89), "the ensemble again")
    assert page.find(f"{CONTROLS} [data-control]:visible").count() == 9


def test_a_network_that_is_too_large(page: Page) -> None:
    lines = "".join(f"{k} {k + 1} 0.9\n" for k in range(MOST_NODES))
    page.upload("chain.txt", lines.encode())
    page.until(lambda: "choose an input mask" in page.text("[role=alert]"), "a mask")
    page.find(f"{CONTROLS} select").nth(1).select_option("basis")
    page.until(lambda: "401;" in page.text("[role=alert]"), "its size")
    assert page.cell("spectrum", "h2").count() == 0


def test_stories(page: Page) -> None:
    """Each moves the controls, and says what was computed, as long as these stay."""
    page.touched = True
    cyclic, stories = STORIES["a cyclic network"].settings, page.cell("stories")
    for name, said in (
        ("why reservoirpy says 30", "The total memory is 100"),
        ("driven evenly: memory 1", "99 of 100 eigenvalues are uncontrollable"),
        ("a cyclic network", f"MC_τ is {1 - cyclic.spectral_radius**200:.3f}"),
    ):
        stories.get_by_text(name, exact=True).click()
        page.until(lambda: said in page.text(STORY), name)  # noqa: B023
    page.until_shown(memcurve.memory_curve(cyclic.network()), "the ring")
    assert page.find(f"{CONTROLS} select").first.input_value() == "cyclic"
    assert "Density and seed have no effect on this ensemble" in page.text("[data-ignored]")
    page.move("radius", -1)
    page.until(
        lambda: page.find(STORY).get_by_text("around the cycle").count() == 0, "another ring"
    )
    stories.get_by_text("a cyclic network", exact=True).click()
    page.until(lambda: "around the cycle" in page.text(STORY), "the story again")


def test_a_strength_turns_memory_into_products(page: Page) -> None:
    page.touched = True
    page.cell("stories").get_by_text("memory turns into nonlinearity", exact=True).click()
    page.until(lambda: "At s = 0.4" in page.text("[data-cell-name=products]"), "the products")
    page.cell("products", "[role=slider]").first.press("ArrowRight")
    page.until(lambda: "At s = 0.45" in page.text("[data-cell-name=products]"), "a larger one")


def moved_eigenvalue(page: Page) -> tuple[complex, complex] | None:
    """What the page says was moved where, from its own Python lines."""
    found = re.search(r"move_eigenvalue\(network, (.*?j\)), (.*?j\))\)", page.text(".lines"))
    return found and (complex(found.group(1)), complex(found.group(2)))


def shows_moved(page: Page) -> bool:
    moved = moved_eigenvalue(page)
    if moved is None:
        return False
    return page.shows(memcurve.memory_curve(move_eigenvalue(network_of(), *moved)))


def box_of(page: Page, selector: str) -> Any:
    """Where something is seen, or None."""
    return page.find(selector).first.bounding_box()


def test_an_eigenvalue_is_dragged_and_set(page: Page) -> None:
    page.until_complete()  # so that nothing moves
    page.touched = True
    axes = page.drawn()["layer"][-1]["encoding"]
    chosen = page.cell("spectrum", ".pole.chosen").first.bounding_box()
    x, y = chosen["x"] + chosen["width"] / 2, chosen["y"] + chosen["height"] / 2
    mouse = page.tab.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 8, y - 3, steps=4)
    page.until(lambda: "curve before the move" in page.text(MEMORY), "a curve that follows")
    chart = page.drawn()
    ghost = [row["y"] for row in chart["data"]["values"] if row["s"] == 1]
    assert np.abs(np.array(ghost) - exact().values[: len(ghost)]).max() < 1e-5
    held = chart["layer"][-1]["encoding"]
    assert held["x"]["scale"]["domain"] == axes["x"]["scale"]["domain"]
    assert held["y"]["scale"]["domain"] == axes["y"]["scale"]["domain"] == [0, 1]
    assert moved_eigenvalue(page) is None  # all else waits
    for selector in (f"{MEMORY} .chart-wrapper", f"{SPECTRUM} svg"):  # both in sight
        boxes: list[Any] = []  # none while the chart is drawn anew
        page.until(lambda: bool(boxes.append(box_of(page, selector)) or boxes[-1]), selector)  # noqa: B023
        box = boxes[-1]
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    mouse.up()
    page.until(lambda: shows_moved(page), "the curve of the dragged eigenvalue")
    assert page.drawn()["layer"][-1]["encoding"]["x"]["scale"] == axes["x"]["scale"]
    page.move("noise", 3)
    page.until(lambda: "noise 1e-08" in page.text(MEMORY), "a noise beside it")
    assert shows_moved(page)  # the noise left it where it is
    assert page.text(f"{SUMMARY} strong") == "100"
    before = moved_eigenvalue(page)
    assert before is not None
    for _ in range(5):
        page.cell("spectrum", "input[type=range]").nth(1).press("ArrowLeft")
    page.until(lambda: shows_moved(page) and moved_eigenvalue(page) != before, "a smaller modulus")
    after = moved_eigenvalue(page)
    assert after is not None
    assert abs(after[1]) < abs(before[1])
    assert abs(np.angle(after[1]) - np.angle(before[1])) < 1e-12  # the angle stays
    page.cell("spectrum", "button").click()
    page.until_shown(exact(), "the eigenvalue put back")
    page.until(lambda: moved_eigenvalue(page) is None, "lines without it")


def test_two_tabs_and_a_closed_one(page: Page, server: Server) -> None:
    other = Page(page, server.address)
    other.until_shown(exact(), "the same in another tab")
    page.move("radius", -3)
    other.set_size(MOST_NODES)  # its jobs are on their way when it closes
    page.until_shown(exact(spectral_radius=0.87), "the first tab by itself")
    other.close()
    page.move("radius", -2)
    page.until_shown(exact(spectral_radius=0.85), "the first tab, alone again")
    page.until_complete()


def test_phone_at_night(server: Server, chromium: Any) -> None:
    phone = Page(chromium, server.address, width=320, height=844, dark=True)
    phone.until_shown(exact(), "the curve")
    phone.until_complete()
    line = phone.find(f"{MEMORY} svg [stroke='{vega.LIGHT['series-0']}']").first
    assert rgb(vega.DARK["series-0"]) == line.evaluate("e => getComputedStyle(e).stroke")
    surface = phone.cell("memory").evaluate("e => getComputedStyle(e).backgroundColor")
    assert rgb(vega.DARK["surface"]) == surface
    for width in (320, 390):
        phone.tab.set_viewport_size({"width": width, "height": 844})
        assert phone.tab.evaluate("document.querySelector('#App').scrollWidth") <= width
        places = []
        for cell in ("title", "summary", "controls", "memory", "spectrum", "usable",
                     "standard", "export"):  # fmt: skip
            box = phone.cell(cell).bounding_box()
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= width
            places.append(box["y"])
        assert places[:5] == sorted(places[:5])
        chart = box_of(phone, f"{MEMORY} .chart-wrapper")  # in sight of the controls
        assert chart["y"] + chart["height"] - places[2] <= 844
    phone.move("radius", -1)
    phone.until_shown(exact(spectral_radius=0.89), "a moved slider")
    phone.close()


def rgb(colour: str) -> str:
    """A colour as browsers tell it."""
    return f"rgb({', '.join(str(value) for value in bytes.fromhex(colour[1:]))})"


def test_other_users_are_refused(server: Server) -> None:
    """They know the port, not the token, without which there is neither page nor file."""
    home = "{0.scheme}://{0.netloc}/".format(urllib.parse.urlsplit(server.address))
    assert len(server.address) > len(home) + 30
    for path in ("", "index.html", "manifest.json", "ws", "api/status", "0" * 32 + "/"):
        with pytest.raises(urllib.error.HTTPError, match="403") as refused:
            urllib.request.urlopen(home + path, timeout=PATIENCE)
        assert b"the address that `memcurve explore` printed" in refused.value.read()


def test_a_file_to_begin_with_and_a_taken_port(
    tmp_path: Path,
    page: Page,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    mine = memcurve.ensembles.cyclic(25, spectral_radius=0.8)
    memcurve.save_network(mine, tmp_path / "ring.npz")
    with serving(str(tmp_path / "ring.npz"), "--no-token") as own:
        assert urllib.parse.urlsplit(own.address).path == "/"
        shown = Page(page, own.address)
        shown.until_shown(memcurve.memory_curve(mine), "the file")
        shown.close()
        port = str(urllib.parse.urlsplit(own.address).port)
        said = failed(inside(monkeypatch, capsys, "explore", "--no-browser", "--port", port))
        assert f"port {port} of 127.0.0.1 cannot be used" in said
        assert "--port" in said


#: What controls control.
CONTROLLED = "found => found.map(control => control.dataset.control)"

#: The name of what has the focus, in whatever shadow it is.
FOCUSED = """
() => {
  let at = document.activeElement;
  while (at && at.shadowRoot && at.shadowRoot.activeElement) at = at.shadowRoot.activeElement;
  if (!at) return "";
  const root = at.getRootNode();
  const by = (at.getAttribute("aria-labelledby") || "").split(" ").filter(Boolean)
    .map(id => root.getElementById(id)?.textContent || "");
  const labels = [...(at.labels || [])].map(label => label.textContent);
  return [...by, ...labels, at.getAttribute("aria-label"), at.textContent].find(Boolean) || "";
}
"""
