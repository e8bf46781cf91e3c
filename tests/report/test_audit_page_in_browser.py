"""The page that ``memcurve audit --html`` writes, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import memcurve
from browser import browser, open_page

pytest.importorskip("vl_convert", reason="vl-convert-python is not installed")


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    with browser() as started:
        yield started


@pytest.fixture(scope="module")
def result() -> memcurve.Audit:
    network = memcurve.ensembles.sparse_normal(40, density=0.1, seed=2)
    return memcurve.audit(network, claimed=40, noise=1e-3)


@pytest.fixture(scope="module")
def page(result: memcurve.Audit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("audit") / "audit.html"
    file.write_text(result.to_html(), encoding="utf-8")
    assert file.stat().st_size < 3_000_000
    return file


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (390, True)])
def test_a_reader_sees_the_audit(
    running: Any, page: Path, result: memcurve.Audit, width: int, dark: bool
) -> None:
    with open_page(running, page, width, dark=dark) as opened:
        shown = opened.page.inner_text("body")
        for sentence in result.verdict:
            assert sentence in shown
        assert opened.page.locator("figure svg.marks").count() == 4
        fits = "document.scrollingElement.scrollWidth <= window.innerWidth"
        assert opened.page.evaluate(fits)
        assert opened.errors == []
        assert opened.requests == []


def test_hover_tells_the_exact_memory(running: Any, page: Path, result: memcurve.Audit) -> None:
    first = "figure[data-chart='0']"
    with open_page(running, page) as opened:
        plot = opened.page.locator(f"{first} .plot")
        plot.scroll_into_view_if_needed()
        box = plot.bounding_box()
        place = opened.page.locator(first).evaluate(
            "f => f.view.origin()[0] + f.view.padding().left + f.view.scale('x')(20)"
        )
        opened.page.mouse.move(box["x"] + place, box["y"] + 120)
        readout = opened.page.locator(f"{first} .readout")
        assert "lag τ: 20" in readout.inner_text()
        told = float(readout.locator("td").first.inner_text())
        assert told == pytest.approx(result.curve[20], rel=1e-5)
        assert opened.errors == []
