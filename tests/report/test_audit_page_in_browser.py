"""The page that ``memcurve audit --html`` writes, in a real browser."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from browser import open_page
from memcurve import Audit, LinearNetwork, audit, ensembles
from repository import real_data

pytestmark = pytest.mark.browser

#: Windows of a desk and of a phone.
WINDOWS = [(1280, 800), (390, 844)]
#: What A4 leaves between margins of 1 and of 2.5 centimetres, in pixels.
PAPER = [718, 605]


def two_inputs() -> Audit:
    network = ensembles.normal(12, spectral_radius=0.9, seed=1)
    mask = np.random.default_rng(1).standard_normal((12, 2))
    return audit(LinearNetwork(network.A, mask), claimed=9)


def worm() -> Audit:
    A = np.load(real_data("celegans_299.npy")).astype(float)
    A *= 0.9 / np.abs(np.linalg.eigvals(A)).max()
    return audit(LinearNetwork(A, np.ones(len(A))), claimed=299)


def sparse() -> Audit:
    return audit(ensembles.sparse_normal(40, density=0.1, seed=2), claimed=40, noise=1e-3)


#: Claims that are right and wrong, and none; few nodes, many, several inputs, and real wiring.
AUDITS = {
    "sparse": sparse,
    "no claim": lambda: audit(ensembles.normal(20, spectral_radius=0.9, seed=1)),
    "two inputs": two_inputs,
    "worm": worm,
}


@pytest.fixture(scope="module", params=[*AUDITS])
def audited(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Audit, Path]:
    return written(AUDITS[request.param](), tmp_path_factory)


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> tuple[Audit, Path]:
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


def test_the_answer_is_seen_first_and_nothing_is_cut(
    chromium: Any, audited: tuple[Audit, Path]
) -> None:
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
        assert opened.errors == []
        assert opened.requests == []


@pytest.mark.parametrize("dark", [False, True])
def test_paper_gets_every_page(chromium: Any, example: tuple[Audit, Path], dark: bool) -> None:
    """Charts drawn anew while the browser counts pages would push the last ones off the paper."""
    with open_page(chromium, example[1], dark=dark) as opened:
        mark = "for (const f of document.querySelectorAll('figure')) f.view.mark = true"
        opened.page.evaluate(mark)
        opened.page.pdf(format="A4")
        kept = "[...document.querySelectorAll('figure')].every(f => f.view.mark)"
        assert opened.page.evaluate(kept)
