"""The built documentation in a real browser, from the disk: quiet, offline, narrow or wide."""

from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from browser import open_page
from documentation import Site

pytestmark = pytest.mark.documentation

PAGES = ("index", "gallery/index", "theory/tail_energy", "tutorials/noise")
#: MathJax has drawn what there is; pages without maths do not load it.
DRAWN = "() => window.MathJax?.startup?.promise?.then(() => true) ?? true"
#: Formulas that are not drawn, are drawn as errors, or have no size.
BAD_MATHS = """() => {
    const missing = [...document.querySelectorAll('.math')].filter(
        place => !place.querySelector('mjx-container svg'));
    const drawn = [...document.querySelectorAll('mjx-container')];
    const empty = drawn.filter(one => one.getBoundingClientRect().width < 2);
    const wrong = [...document.querySelectorAll('[data-mml-node="merror"]')];
    return [...missing, ...empty, ...wrong].map(one => one.textContent.slice(0, 80));
}"""


def address(site: Site, page: str) -> Path:
    path = site.folder / f"{page}.html"
    assert path.is_file(), f"{page} was not built:\n{site.output[-5000:]}"
    return path


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_page(chromium, site, page: str, width: int, dark: bool) -> None:
    with open_page(chromium, address(site, page), width, dark=dark) as opened:
        shown = opened.page
        assert shown.evaluate(DRAWN)
        assert shown.evaluate(BAD_MATHS) == []
        drawn = shown.locator("mjx-container svg").count()
        assert drawn >= (10 if page.startswith("theory") else 0)
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.evaluate("document.documentElement.dataset.theme") == (
            "dark" if dark else "light"
        )
        pictures = shown.evaluate(
            "[...document.querySelectorAll('article img')].map(i => [i.naturalWidth, i.width])"
        )
        assert all(natural > 0 and 0 < wide <= width for natural, wide in pictures)
        assert pictures or page.startswith("theory")


def test_every_page_on_a_telephone(chromium, site) -> None:
    """None is wider than the window, has maths that is not drawn, or writes to the console."""
    with open_page(chromium, address(site, "index"), 390) as opened:
        for path in site.pages:
            opened.page.goto(path.as_uri())
            assert opened.page.evaluate(DRAWN), path
            assert opened.page.evaluate(BAD_MATHS) == [], path
            assert opened.page.evaluate("document.documentElement.scrollWidth") <= 390, path
            assert opened.errors == [], path


def test_text_stands_out_in_both_themes(chromium, site) -> None:
    """Letters of the drawing and the page against what lies behind them."""
    contrast = """() => {
        const light = colour => {
            const [r, g, b] = colour.match(/[\\d.]+/g).slice(0, 3).map(Number).map(
                v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const page = light(getComputedStyle(document.body).backgroundColor);
        const box = light(getComputedStyle(document.querySelector('svg.drawing .box')).fill);
        const against = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        const words = [...document.querySelectorAll('svg.drawing text')].map(
            one => against(light(getComputedStyle(one).fill), box));
        const prose = light(getComputedStyle(document.querySelector('article p')).color);
        return [Math.min(...words), against(prose, page)];
    }"""
    for dark in (False, True):
        path = address(site, "contributing/architecture")
        with open_page(chromium, path, dark=dark) as opened:
            drawing, prose = opened.page.evaluate(contrast)
            assert drawing >= 4.5
            assert prose >= 7


@pytest.mark.parametrize("name", ["memory_curve", "LinearNetwork", "rank", "audit"])
def test_a_name_leads_to_its_reference(chromium, site, name: str) -> None:
    """Typed into the field of the first page, as it is written in Python."""
    with open_page(chromium, address(site, "index")) as opened:
        field = opened.page.get_by_role("searchbox", name="Search the documentation")
        assert field.bounding_box()["y"] < 800, "the field is seen without scrolling"
        field.fill(name)
        field.press("Enter")
        assert first_found(opened.page).lower().endswith(f"#memcurve.{name}".lower())
        opened.page.locator("#search-results li a").first.click()
        opened.page.wait_for_load_state()
        assert opened.page.locator("article h1").count() == 1


def test_other_words_are_found(chromium, site) -> None:
    path = address(site, "search")
    with open_page(chromium, path) as opened:
        for words in ("memory curve", "memcurve.memory_curve()", "Memory_Curve"):
            opened.page.goto(f"{path.as_uri()}?q={quote(words)}")
            assert first_found(opened.page).endswith("reference/memory.html#memcurve.memory_curve")
        opened.page.goto(path.as_uri() + "?q=pseudo-inverse")
        first_found(opened.page)
        assert opened.page.locator("#search-results li a").count() >= 2


def first_found(page: Any) -> str:
    page.wait_for_selector("#search-results li a")
    return str(page.locator("#search-results li a").first.evaluate("link => link.href"))


def test_the_header_shows_the_way(chromium, site) -> None:
    """Without a menu to open: what is looked for most, in one row, and the search."""
    with open_page(chromium, address(site, "index"), 1024) as opened:
        header = opened.page.locator("header.bd-header")
        heights = set()
        for name in ("Start", "Gallery", "Tutorials", "How to", "Reference"):
            link = header.get_by_role("link", name=name, exact=True)
            assert link.is_visible(), name
            heights.add(link.bounding_box()["y"])
        assert len(heights) == 1
        assert header.get_by_role("button", name="Search").first.is_visible()
        header.get_by_role("link", name="Reference", exact=True).click()
        link = opened.page.get_by_role("link", name="memcurve.memory_curve", exact=True)
        link.first.wait_for(state="visible")


def test_menu_on_a_telephone(chromium, site) -> None:
    """What the header has no room for is behind its first button."""
    with open_page(chromium, address(site, "index"), 390) as opened:
        page = opened.page
        page.locator("button.primary-toggle").click()
        link = page.locator("#pst-primary-sidebar-modal a", has_text="Theory").first
        link.wait_for(state="visible")
        link.click()
        page.wait_for_load_state()
        assert page.url.endswith("theory/index.html")
