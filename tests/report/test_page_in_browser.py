"""The pages of reports and audits as their readers use them, in a real browser."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from browser import Opened, open_page
from memcurve import Audit, LinearNetwork, audit, ensembles
from memcurve.rendering.report import html
from report_example import document, memory_chart
from repository import worm

pytestmark = pytest.mark.browser

FIRST = "figure[data-chart='0']"
DOMAIN = "f => f.view.scale('x').domain()"
LINES = """f => [...f.querySelectorAll('.mark-line.role-mark path')].filter(
    (p) => p.getAttribute('d')).length"""


@pytest.fixture(scope="module")
def path(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(html(document()), encoding="utf-8")
    return file


@pytest.fixture
def opened(chromium, path: Path) -> Iterator[Opened]:
    with open_page(chromium, path) as page:
        yield page


def plot(opened: Opened, selector: str = FIRST) -> tuple[float, float, float, float]:
    found = opened.page.locator(f"{selector} .plot")
    found.scroll_into_view_if_needed()
    box = found.bounding_box()
    return box["x"], box["y"], box["width"], box["height"]


def settled(opened: Opened, condition: str, selector: str = FIRST) -> None:
    opened.page.wait_for_function(f'({condition})(document.querySelector("{selector}"))')


def test_charts_are_drawn(opened: Opened) -> None:
    assert opened.page.locator("figure svg.marks").count() == 6
    assert opened.page.locator(FIRST).evaluate(LINES) == 4  # of five, one starts switched off
    points = opened.page.locator("figure.disc .mark-symbol.role-mark path").count()
    assert points == 100
    box = opened.page.locator("figure.disc .drawing svg .background").first.bounding_box()
    assert abs(box["width"] - box["height"]) < 1
    assert opened.page.evaluate("window.alert.toString()").startswith("function alert")


def test_hover_tells_the_values(opened: Opened) -> None:
    left, top, _, _ = plot(opened)
    place = opened.page.locator(FIRST).evaluate(
        "f => f.view.origin()[0] + f.view.padding().left + f.view.scale('x')(97.3)"
    )
    opened.page.mouse.move(left + place, top + 180)
    readout = opened.page.locator(f"{FIRST} .readout")
    assert "lag τ (time steps): 97" in readout.inner_text()
    chart = memory_chart()
    names = readout.locator("th").all_inner_texts()
    assert names == [series.name for series in chart.series if series.shown]
    told = readout.locator("td").first.inner_text()
    assert float(told) == pytest.approx(chart.series[0].y[97], rel=1e-5)
    assert opened.page.locator(f"{FIRST} .overlay line").count() == 1
    opened.page.mouse.move(2, 2)
    assert not readout.is_visible()


def test_zoom_and_reset(opened: Opened) -> None:
    left, top, width, _ = plot(opened)
    figure = opened.page.locator(FIRST)
    whole = figure.evaluate(DOMAIN)
    assert whole == [0, 199]
    opened.page.mouse.move(left + width / 2, top + 180)
    before = opened.page.evaluate("scrollY")
    opened.page.mouse.wheel(0, 40)  # who scrolls past does not zoom
    opened.page.wait_for_function(f"scrollY > {before}")
    assert figure.evaluate(DOMAIN) == whole
    left, top, width, _ = plot(opened)
    opened.page.mouse.click(left + width / 2, top + 180)
    opened.page.mouse.wheel(0, -300)
    settled(opened, "f => f.view.scale('x').domain()[0] > 5")
    low, high = figure.evaluate(DOMAIN)
    opened.page.mouse.down()
    opened.page.mouse.move(left + width / 2 + 80, top + 180, steps=3)
    opened.page.mouse.up()
    settled(opened, f"f => f.view.scale('x').domain()[0] < {low - 1}")
    assert high - low < 190
    opened.page.mouse.dblclick(left + width / 2, top + 180)
    settled(opened, "f => f.view.scale('x').domain()[1] === 199")
    assert figure.evaluate(DOMAIN) == whole


def test_legend_switches_series(opened: Opened) -> None:
    button = opened.page.locator(f"{FIRST} [data-series='1']")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    settled(opened, f"f => ({LINES})(f) === 3")
    hidden = opened.page.locator(f"{FIRST} [data-series='3']")
    assert hidden.get_attribute("aria-pressed") == "false"
    look = """b => [getComputedStyle(b, '::before').content.includes('✓'),
        getComputedStyle(b.querySelector('span')).textDecorationLine]"""
    assert hidden.evaluate(look) == [False, "none"]
    hidden.click()
    assert hidden.evaluate(look) == [True, "none"]
    settled(opened, f"f => ({LINES})(f) === 4")


def test_keyboard(opened: Opened) -> None:
    page = opened.page
    reached = []
    for _ in range(20):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.textContent.trim().slice(0, 40)"))
        if reached[-1] == "naive":
            break
    assert reached[:2] == ["Skip to the report", "Switch to dark"]
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.locator(f"{FIRST} .plot").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    assert "time steps): 2" in page.locator(f"{FIRST} .readout").inner_text()


def test_theme(opened: Opened) -> None:
    page = opened.page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    ink = "f => getComputedStyle(f.querySelector('.role-axis-label text')).fill"
    before = page.locator(FIRST).evaluate(ink)
    page.locator("#theme").click()
    assert page.locator("#theme").inner_text() == "Switch to light"
    assert page.evaluate(background) != light
    settled(opened, f"f => ({ink})(f) !== '{before}'")
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.emulate_media(media="print")
    assert page.evaluate(background) == "rgb(255, 255, 255)"
    settled(opened, f"f => f.view && ({ink})(f) === '{before}'")
    for control in ("#theme", f"{FIRST} .tools", "nav"):
        assert not page.locator(control).is_visible()


def test_pictures_are_saved(opened: Opened) -> None:
    for kind, start in (("svg", b"<svg"), ("png", b"\x89PNG")):
        with opened.page.expect_download() as download:
            opened.page.locator(f"{FIRST} [data-do='{kind}']").click()
        assert download.value.suggested_filename == f"memory-at-each-lag.{kind}"
        content = Path(download.value.path()).read_bytes()
        assert content.startswith(start)
        if kind == "svg":  # the legend of the page is not in the picture: it has its own
            assert "Monte Carlo, 90 % band" in content.decode()


@pytest.mark.parametrize("dark", [False, True])
def test_phone(chromium, path: Path, dark: bool) -> None:
    with open_page(chromium, path, 390, 844, dark=dark) as opened:
        wide = "document.scrollingElement.scrollWidth <= innerWidth"
        assert opened.page.evaluate(wide)
        cut = """[...document.querySelectorAll('.drawing svg')].filter(
            (s) => s.getBoundingClientRect().right > innerWidth - 16).length"""
        assert opened.page.evaluate(cut) == 0
        assert opened.page.locator(".turned").count() == 2
        fits = "t => t.scrollWidth <= t.clientWidth && t.tabIndex < 0"
        for table in opened.page.locator(".turned").all():  # rows are lists, with heads
            assert table.evaluate(fits)
            cell = table.locator("td").first
            head = cell.evaluate("c => getComputedStyle(c, '::before').content")
            assert head == f'"{cell.get_attribute("data-head")}"'
        long = opened.page.locator(".scroll:not(.turned)")  # names too long for a phone
        assert long.evaluate("t => t.scrollWidth > t.clientWidth && t.tabIndex === 0")
        opened.page.set_viewport_size({"width": 1000, "height": 800})
        settled(opened, "f => f.querySelector('.drawing svg').getBoundingClientRect().width > 600")


#: Windows of a desk and of a phone.
WINDOWS = [(1280, 800), (390, 844)]
#: What A4 leaves between margins of 1 and of 2.5 centimetres, in pixels.
PAPER = [718, 605]


def two_inputs() -> Audit:
    network = ensembles.normal(12, spectral_radius=0.9, seed=1)
    mask = np.random.default_rng(1).standard_normal((12, 2))
    return audit(LinearNetwork(network.A, mask), claimed=9)


def sparse() -> Audit:
    return audit(ensembles.sparse_normal(40, density=0.1, seed=2), claimed=40, noise=1e-3)


#: Claims that are right and wrong, and none; few nodes, many, several inputs, and real wiring.
AUDITS = {
    "sparse": sparse,
    "no claim": lambda: audit(ensembles.normal(20, spectral_radius=0.9, seed=1)),
    "two inputs": two_inputs,
    "worm": lambda: audit((worm(), np.ones(299)), claimed=299),
}


@pytest.fixture(scope="module", params=[*AUDITS])
def audited(request, tmp_path_factory) -> tuple[Audit, Path]:
    return written(AUDITS[request.param](), tmp_path_factory)


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> tuple[Audit, Path]:
    return written(sparse(), tmp_path_factory)


def written(result: Audit, factory: pytest.TempPathFactory) -> tuple[Audit, Path]:
    file = factory.mktemp("audit") / "audit.html"
    file.write_text(result.to_html(), encoding="utf-8")
    assert file.stat().st_size < 3_000_000
    return result, file


# elements whose content is wider than they are, or that leave the window
SPILLING = """() => [...document.querySelectorAll("body *:not(svg *, .skip, thead, thead *)")]
  .filter((e) => e.getClientRects().length && !e.closest("[hidden]"))
  .filter((e) => (e.clientWidth && e.scrollWidth > e.clientWidth + 1)
    || e.getBoundingClientRect().right > innerWidth + 1)
  .map((e) => e.outerHTML.slice(0, 90))"""

# charts are drawn anew a moment after the window has changed
FOLLOWED = """() => [...document.querySelectorAll(".drawing svg")].every(
  (drawing) => drawing.getBoundingClientRect().right < innerWidth)"""

# numbers that begin in one line and end in the next, and words of tables that do
BROKEN = """() => {
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!parent.getClientRects().length || parent.closest("script, style, svg")) continue;
    const whole = parent.closest("td, th, dd, b") ? /[^\\s/-]+/g : /[-−]?[\\d.,]*\\d(e[-+]\\d+)?/g;
    for (const match of node.data.matchAll(whole)) {
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) found.push(`${match[0]} in ${node.data.slice(0, 60)}`);
    }
  }
  return found;
}"""

# name and number of each bar, and its length as a share of the whole width
BARS = """() => [...document.querySelectorAll(".bars li")].map((line) => {
  const [all, part] = [...line.querySelectorAll("rect")].map((r) => r.getBoundingClientRect());
  const [name, number] = ["span", "b"].map((part) => line.querySelector(part).innerText);
  return [name, number, part.width / all.width];
})"""


def test_the_answer_is_seen_first_and_nothing_is_cut(chromium, audited: tuple[Audit, Path]) -> None:
    """At a desk, on a phone and on paper; the bars are as long as the numbers say."""
    result, file = audited
    assert result.claim is None or result.claim.explanations
    known = [result.total] + ([] if result.claim is None else [result.claim.value])
    known += [result.usable.rows[0].total, result.usable.measured.total]
    with open_page(chromium, file) as opened:
        page = opened.page
        for width, height in WINDOWS:
            page.set_viewport_size({"width": width, "height": height})
            box = page.locator(".bars").bounding_box()
            assert box["y"] + box["height"] <= height
            names, numbers, shares = zip(*page.evaluate(BARS), strict=True)
            told = [float(text.split(" ")[0]) for text in numbers]
            assert told == pytest.approx(known, rel=1e-3)
            assert shares == pytest.approx(np.maximum(known, 0) / max(known), abs=0.006)
            heard = page.locator(".bars").aria_snapshot()
            assert all(f"{a} {b}" in heard for a, b in zip(names, numbers, strict=True))
            page.wait_for_function(FOLLOWED)
            assert page.evaluate(SPILLING) == []
        shown = page.inner_text("body")
        assert all(sentence in shown for sentence in result.verdict)
        page.emulate_media(media="print")
        for width in PAPER:
            page.set_viewport_size({"width": width, "height": 1000})
            assert page.evaluate(BROKEN) == []
            assert page.evaluate(SPILLING) == []


@pytest.mark.parametrize("dark", [False, True])
def test_paper_gets_every_page(chromium, example: tuple[Audit, Path], dark: bool) -> None:
    """Charts drawn anew while the browser counts pages would push the last ones off the paper."""
    with open_page(chromium, example[1], dark=dark) as opened:
        mark = "for (const f of document.querySelectorAll('figure')) f.view.mark = true"
        opened.page.evaluate(mark)
        opened.page.pdf(format="A4")
        kept = "[...document.querySelectorAll('figure')].every(f => f.view.mark)"
        assert opened.page.evaluate(kept)
