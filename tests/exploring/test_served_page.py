"""``memcurve explore`` running, in a real browser: what one sees is what the library computes.

All tests share one server and one page, which is opened anew for those that find it changed.
"""

import subprocess
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import memcurve
from browser import Opened, open_page
from command import failed
from memcurve.views.exploring import move_eigenvalue
from memcurve.views.exploring.answers import python_lines
from memcurve.views.exploring.scene import MOST_NODES, PageSettings
from memcurve.views.exploring.stories import STORIES, settings_of

pytestmark = pytest.mark.browser

#: Seconds to wait for anything on a machine that has other things to do.
PATIENCE = 60
#: What is drawn, and the legend.
LINES = (
    "[shown?.curve, ...(shown?.lines ?? []).map((line) => line.values)].map((v) => [...(v ?? [])])"
)
LEGEND = "#memory-legend"


@contextmanager
def serving(*arguments: str) -> Iterator[str]:
    """The command, running, and the address it printed; SIGTERM ends it without complaints."""
    command = [sys.executable, "-m", "memcurve", "explore", "--no-browser", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        address = process.stdout.readline().split(" ")[0].strip()
        assert address, process.communicate(timeout=PATIENCE)[1]
        yield address
    finally:
        process.terminate()
        _, complaints = process.communicate(timeout=PATIENCE)
    assert (process.returncode, complaints) == (143, "")


class Page:
    """A tab, and what one does and sees there."""

    def __init__(self, opened: Opened) -> None:
        self.tab = opened.page

    def find(self, selector: str) -> Any:
        return self.tab.locator(selector)

    def text(self, selector: str) -> str:
        return str(self.find(selector).text_content())

    def control(self, name: str, kind: str = "input[type=range]") -> Any:
        return self.find(f"[data-control={name}] {kind}")

    def set(self, name: str, value: float) -> None:
        """Move a slider to a value, as the pointer does."""
        self.control(name).evaluate(
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input', {bubbles: true})); }",
            value,
        )

    def shows(self, curve: memcurve.MemoryCurve, line: int = 0) -> bool:
        """Whether this curve is drawn, to the last digit, by Python."""
        drawn = self.tab.evaluate(LINES)
        if len(drawn) <= line or not drawn[line] or len(drawn[line]) > len(curve.values) + 1:
            return False
        values = np.array(drawn[line])
        return np.array_equal(values, curve.values[: len(values)])

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait for a condition."""
        start = time.perf_counter()
        while not holds():
            if time.perf_counter() - start > PATIENCE:
                raise AssertionError(f"not within {PATIENCE} s: {what}; {self.text('body')[:2000]}")
            self.tab.wait_for_timeout(20)

    def until_shown(self, curve: memcurve.MemoryCurve, what: str, line: int = 0) -> None:
        self.until(lambda: self.shows(curve, line), what)

    def until_complete(self) -> None:
        """Wait until nothing is on its way any more."""
        busy = "[...document.querySelectorAll('.busy')].every((one) => !one.textContent)"
        self.until(lambda: self.tab.evaluate(f"!live.busy && {busy}"), "everything")

    def drop(self, name: str, contents: bytes) -> None:
        """Drop a file on the page."""
        self.tab.evaluate(
            """([name, bytes]) => {
              const transfer = new DataTransfer();
              transfer.items.add(new File([new Uint8Array(bytes)], name));
              for (const kind of ["dragover", "drop"]) {
                document.body.dispatchEvent(
                  new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
              }
            }""",
            [name, list(contents)],
        )

    def choose_file(self, name: str, contents: bytes) -> None:
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": contents}
        self.find("#file").set_input_files(file)


@contextmanager
def page_at(running: Any, address: str, *size: int, dark: bool = False) -> Iterator[Page]:
    """A page that complains about nothing, and asks nobody else."""
    with open_page(running, address, *(size or (1280, 800)), dark=dark) as opened:
        yield Page(opened)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serving() as running:
        yield running


@pytest.fixture(scope="module")
def opened(address: str, chromium) -> Iterator[Page]:
    with page_at(chromium, address) as page:
        yield page


@pytest.fixture
def page(opened: Page) -> Page:
    """The page with the default settings."""
    opened.tab.click("#reset")
    opened.until_shown(exact(), "the default network")
    return opened


def network_of(size: int = 100, **options: Any) -> memcurve.LinearNetwork:
    asked = {"density": 0.1, "spectral_radius": 0.9, "seed": 1} | options
    return memcurve.ensembles.sparse_normal(size, **asked)


def exact(size: int = 100, **options: Any) -> memcurve.MemoryCurve:
    return memcurve.memory_curve(network_of(size, **options))


def test_everything_arrives(page: Page) -> None:
    page.until_complete()
    assert page.text("#total") == "100"
    single = memcurve.memory_curve(network_of(), 1, noise=memcurve.Float32()).total
    assert page.text("#read-name") == "Usable in single precision"
    assert page.text("#read") == f"{single:.4g}"
    rows = page.find("#standard-table tbody tr")
    assert rows.count() == 6
    for row, options in ((1, {"method": "naive", "inverse": "solve"}), (3, {"method": "osm"})):
        total = memcurve.memory_curve(network_of(), 200, **options).values.sum()
        assert f"{total:.4g}" in rows.nth(row).inner_text()
    for chart in ("#memory", "#read-chart", "#standard"):
        assert page.find(f"{chart} .line").count() >= 1
    for words in ("float32: 55.55", "12 bit", "without noise: 100"):
        assert words in page.text("#read-chart")


def test_keyboard_alone(page: Page) -> None:
    """Tab reaches every control in order, and each has a name."""
    page.until_complete()
    names = []
    page.tab.evaluate("document.activeElement && document.activeElement.blur()")
    for _ in range(45):
        page.tab.keyboard.press("Tab")
        names.append(page.tab.evaluate(FOCUSED))
    reached = " | ".join(names)
    for name in (*STORIES, "Ensemble", "Nodes N", "Spectral radius", "Density", "Input mask",
                 "Seed", "Colour of the input", "Noise on the states", "Open a file", "Eigenvalue",
                 "Modulus", "Angle", "Data (CSV)", "Python"):  # fmt: skip
        assert name in reached, reached


def test_downloads(page: Page) -> None:
    page.until_complete()
    taken = {}
    for button in ("csv", "json", "svg", "png", "script"):
        with page.tab.expect_download() as download:
            page.tab.click(f"#{button}")
        taken[button] = download.value.path()
    table = np.loadtxt(taken["csv"], delimiter=",", skiprows=1)
    assert np.array_equal(table[:, 1], exact().values)
    kept = memcurve.MemoryCurve.from_json(taken["json"].read_text(encoding="utf-8"))
    assert np.array_equal(kept.values, exact().values)
    assert "memory curve" in taken["svg"].read_text(encoding="utf-8")
    assert taken["png"].read_bytes().startswith(b"\x89PNG")
    lines = taken["script"].read_text(encoding="utf-8")
    assert lines == page.text("#python") == python_lines(PageSettings())


def test_controls_move_the_curve(page: Page, address: str) -> None:
    page.set("spectral_radius", 0.8)
    page.until_shown(exact(spectral_radius=0.8), "ρ = 0.8")
    page.control("size", "input[type=number]").fill("40")
    page.until_shown(exact(40, spectral_radius=0.8), "N = 40")
    page.set("density", 0.3)
    page.until_shown(exact(40, spectral_radius=0.8, density=0.3), "density")
    page.control("ensemble", "select").select_option("orthogonal")
    network = memcurve.ensembles.orthogonal(40, spectral_radius=0.8, seed=1)
    page.until_shown(memcurve.memory_curve(network), "orthogonal")
    assert "Density has no effect" in page.text("#ignored")
    assert not page.control("density").is_visible()
    page.set("spectral_radius", 2)  # the slider ends before
    network = memcurve.ensembles.orthogonal(40, spectral_radius=0.999, seed=1)
    page.until_shown(memcurve.memory_curve(network), "the end of the slider, below 1")
    assert page.find("#alert").is_hidden()
    link = page.tab.url
    page.tab.click("#reset")
    page.until_shown(exact(), "the default")
    page.tab.goto(link)
    page.until_shown(memcurve.memory_curve(network), "what the link says")
    page.tab.goto(address + "#" + urllib.parse.quote('{"settings": {"ensemble": 7, "size": -1}}'))
    page.until_shown(exact(), "the default for a broken link")


def test_noise_and_colour(page: Page) -> None:
    page.set("size", 50)
    page.set("noise", 13)  # 1e-3
    noisy = memcurve.memory_curve(network_of(50), noise=1e-3)
    page.until_shown(noisy, "noise 1e-3", line=1)
    assert page.shows(exact(50))
    assert "noise 0.001" in page.text(LEGEND)
    assert f"the total is {noisy.total:.4g} instead of {noisy.rank}" in page.text("#summary")
    assert page.text("#read") == f"{noisy.total:.4g}"
    page.set("colour", 0.5)
    process = memcurve.inputs.ARMA(ar=[0.5])
    both = memcurve.memory_curve(network_of(50), input=process, noise=1e-3)
    page.until_shown(both, "noise and colour", line=1)
    theory = memcurve.memory_curve(network_of(50), 1, input=process).total
    assert page.text("#theory-name") == "In theory, AR(0.5) input"
    assert page.text("#theory") == f"{theory:.4g}"
    assert page.text("#read") == f"{both.total:.4g}"


def test_quick_moves_and_slow_methods(page: Page) -> None:
    page.set("size", MOST_NODES)  # where OSM+ takes seconds
    page.until(lambda: page.text("#standard-card .busy") != "", "what is under way")
    page.set("size", 50)
    page.until_shown(exact(50), "a small one, in the meantime")
    slider = page.control("spectral_radius")
    slider.focus()
    for _ in range(20):
        page.tab.keyboard.press("ArrowLeft")
    radius = float(slider.input_value())
    assert radius < 0.885
    page.until_shown(exact(50, spectral_radius=radius), "20 moves later")


def test_files(page: Page, tmp_path) -> None:
    for name in ("photo.png", "script.py", f"bad<b>{'x' * 200}.npz"):
        page.drop(name, b"nonsense")
        page.until(lambda: f"{name} cannot be shown" in page.text("#alert"), "why")  # noqa: B023
    assert "cannot be read as .npz" in page.text("#alert")
    assert page.tab.evaluate("document.documentElement.scrollWidth") <= 1280
    mine = memcurve.ensembles.normal(30, seed=4)
    memcurve.save_network(mine, tmp_path / "mine.npz")
    page.choose_file("mine.npz", (tmp_path / "mine.npz").read_bytes())
    page.until_shown(memcurve.memory_curve(mine), "my network")
    assert page.find("#alert").is_hidden()
    assert "mine" in page.text("#summary")
    shown = "found => found.filter(one => one.offsetParent).map(one => one.dataset.control)"
    assert page.find("[data-control]").evaluate_all(shown) == ["mask", "colour", "noise"]
    assert "and seed have no effect on mine.npz, and are hidden" in page.text("#ignored")
    page.tab.check("#scaled")
    page.until(lambda: page.control("spectral_radius").is_visible(), "the control of the radius")
    page.set("spectral_radius", 0.89)
    shrunk = mine.replace(A=mine.A * (0.89 / mine.spectral_radius))
    page.until_shown(memcurve.memory_curve(shrunk), "my network, scaled")
    assert "load_network('mine.npz', spectral_radius=0.89)" in page.text("#python")
    page.tab.uncheck("#use-file")
    page.until_shown(exact(spectral_radius=0.89), "the ensemble again")
    lines = "".join(f"{k} {k + 1} 0.9\n" for k in range(MOST_NODES))
    page.drop("chain.txt", lines.encode())
    page.until(lambda: "choose an input mask" in page.text("#alert"), "a mask")
    page.control("mask", "select").select_option("basis")
    page.until(lambda: "got 401" in page.text("#alert"), "its size")


def test_stories(page: Page) -> None:
    """Each moves the controls, and says what was computed, as long as these stay."""
    cyclic = settings_of("a cyclic network")
    for name, said in (
        ("why reservoirpy says 30", "The total memory is 100"),
        ("driven evenly: memory 1", "99 of 100 eigenvalues are uncontrollable"),
        ("a cyclic network", f"MC_τ is {1 - cyclic.spectral_radius**200:.3f}"),
    ):
        page.find("#stories").get_by_text(name, exact=True).click()
        page.until(lambda: said in page.text("#story"), name)  # noqa: B023
    page.until_shown(memcurve.memory_curve(cyclic.network()), "the ring")
    assert page.control("ensemble", "select").input_value() == "cyclic"
    assert "Density and seed have no effect on this ensemble" in page.text("#ignored")
    page.set("spectral_radius", 0.98)
    assert page.find("#story").is_hidden()
    page.find("#stories").get_by_text("memory turns into nonlinearity", exact=True).click()
    page.until(lambda: "At s = 0.4" in page.text("#products-text"), "the products")
    page.find("#strength").press("ArrowRight")
    assert "At s = 0.45" in page.text("#products-text")
    assert page.find("#degrees .line").count() == 5


def moved_to(page: Page) -> memcurve.LinearNetwork:
    """The network whose eigenvalues are where the page says, from its own state."""
    network = network_of()
    for a, b, c, d in page.tab.evaluate("movesNow()"):
        network = move_eigenvalue(network, complex(a, b), complex(c, d))
    return network


def test_eigenvalues_are_dragged_and_set(page: Page) -> None:
    page.until_complete()
    reach = page.tab.evaluate("scrollTo(0, 0); reach")
    dot = page.find("#disc .pole.chosen:not(.mirror)").bounding_box()
    x, y = dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2
    mouse = page.tab.mouse
    mouse.move(x, y)
    mouse.down()
    mouse.move(x - 8, y - 3, steps=4)
    assert "before the move" in page.text(LEGEND)
    held = np.array(page.tab.evaluate(LINES)[0])  # by the browser, in an instant
    truth = memcurve.memory_curve(moved_to(page), len(held)).values
    assert np.abs(held - truth).max() < 1e-6  # the moved matrix rounds its eigenvalues
    assert page.shows(exact(), line=1)
    for part in ("#memory", "#disc"):  # both in sight
        box = page.find(part).bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
    mouse.up()
    page.until_shown(memcurve.memory_curve(moved_to(page)), "Python's curve")
    assert page.tab.evaluate("reach") == reach  # the axis stays
    assert float(page.text("#rho")) == round(moved_to(page).spectral_radius, 4)
    page.set("noise", 3)
    page.until(lambda: "noise 1e-8" in page.text(LEGEND), "a noise beside it")
    assert page.shows(memcurve.memory_curve(moved_to(page)))  # it left the eigenvalue in place
    before = complex(*page.tab.evaluate("poles[chosen]"))
    for _ in range(5):
        page.find("#modulus").press("ArrowLeft")
    after = complex(*page.tab.evaluate("poles[chosen]"))
    assert abs(after) < abs(before)
    assert abs(np.angle(after) - np.angle(before)) < 1e-12  # the angle stays
    page.until_shown(memcurve.memory_curve(moved_to(page)), "a smaller modulus")
    assert "move_eigenvalue(network, " in page.text("#python")
    page.find("#which").press("ArrowRight")
    page.find("#angle").press("ArrowRight")
    assert len(page.tab.evaluate("movesNow()")) == 2
    page.until_shown(memcurve.memory_curve(moved_to(page)), "two of them moved")
    page.tab.click("#back")
    page.find("#which").press("ArrowLeft")
    page.tab.click("#back")
    page.until_shown(exact(), "all put back")
    assert "move_eigenvalue" not in page.text("#python")


def test_curves_are_kept_and_drawn_here_too(page: Page) -> None:
    page.tab.click("#keep")
    page.set("size", 50)
    page.until_shown(exact(50), "a smaller one beside it")
    assert "N=100" in page.text(LEGEND)
    page.tab.click("#tab-wish")
    assert page.text("#total") == "12"
    assert not page.find("#standard-card").is_visible()
    assert page.find("#usable .line").count() == 2
    page.tab.click("#tab-network")
    page.until_shown(exact(50), "the network again")


def test_two_tabs_and_a_closed_one(page: Page, address: str, chromium) -> None:
    with page_at(chromium, address) as other:
        other.until_shown(exact(), "the same in another tab")
        other.set("size", MOST_NODES)  # its jobs are on their way when it closes
        page.set("spectral_radius", 0.87)
        page.until_shown(exact(spectral_radius=0.87), "the first tab by itself")
    page.set("spectral_radius", 0.85)
    page.until_shown(exact(spectral_radius=0.85), "the first tab, alone again")
    page.until_complete()


def test_phone_at_night(address: str, chromium) -> None:
    with page_at(chromium, address, 320, 844, dark=True) as phone:
        phone.until_shown(exact(), "the curve")
        phone.until_complete()
        surface = "getComputedStyle(document.querySelector('#memory-card')).backgroundColor"
        assert phone.tab.evaluate(surface) == "rgb(23, 27, 33)"
        for width in (320, 390):
            phone.tab.set_viewport_size({"width": width, "height": 844})
            assert phone.tab.evaluate("document.documentElement.scrollWidth") <= width
            for control in ("spectral_radius", "noise"):
                phone.control(control).evaluate("one => one.scrollIntoView({block: 'end'})")
                chart = phone.find("#memory").bounding_box()  # in sight of the control
                slider = phone.control(control).bounding_box()
                assert chart["y"] >= 0
                assert chart["y"] + chart["height"] <= slider["y"]
                assert slider["y"] + slider["height"] <= 845
        phone.set("spectral_radius", 0.89)
        phone.until_shown(exact(spectral_radius=0.89), "a moved slider")


def test_a_file_to_begin_with_and_a_taken_port(tmp_path, chromium, command) -> None:
    mine = memcurve.ensembles.cyclic(25, spectral_radius=0.8)
    memcurve.save_network(mine, tmp_path / "ring.npz")
    with serving(str(tmp_path / "ring.npz"), "--no-token") as own:
        assert urllib.parse.urlsplit(own).path == "/"
        with page_at(chromium, own) as shown:
            shown.until_shown(memcurve.memory_curve(mine), "the file")
            assert "use ring.npz" in shown.text("#settings")
        port = str(urllib.parse.urlsplit(own).port)
        said = failed(command("explore", "--no-browser", "--port", port))
        assert f"port {port} of 127.0.0.1 cannot be used" in said


#: The name of what has the focus.
FOCUSED = """
() => {
  const at = document.activeElement;
  const labels = [...(at?.labels ?? [])].map((label) => label.textContent);
  return [at?.getAttribute("aria-label"), ...labels, at?.textContent].find(Boolean) ?? "";
}
"""
