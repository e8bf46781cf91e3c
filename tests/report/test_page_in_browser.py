"""The page of a report as its readers use it, in a real browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import Opened, open_page
from memcurve.rendering.report import html
from report_example import document, memory_chart

pytestmark = pytest.mark.browser

FIRST = "figure[data-chart='0']"
DOMAIN = "f => f.view.scale('x').domain()"
LINES = """f => [...f.querySelectorAll('.mark-line.role-mark path')].filter(
    (p) => p.getAttribute('d')).length"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(html(document()), encoding="utf-8")
    return file


@pytest.fixture
def opened(chromium: Any, path: Path) -> Iterator[Opened]:
    with open_page(chromium, path) as page:
        yield page
        assert page.errors == []
        assert page.requests == []


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
def test_phone(chromium: Any, path: Path, dark: bool) -> None:
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
        assert opened.errors == []
        assert opened.requests == []
