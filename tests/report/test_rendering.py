"""Reports as Markdown, as a page and within a notebook."""

import itertools
import json
import re
import sys
from html.parser import HTMLParser

import altair as alt
import numpy as np
import pytest
import vl_convert
from markdown_it import MarkdownIt

import report_example
from memcurve.rendering.report import Chart, Document, Series, html, markdown
from memcurve.rendering.report.vega import DARK, LIGHT, remarks, specification
from refusals import refuses
from report_example import LONG, NASTY, document

CHARTS = {
    "memory": report_example.memory_chart(),
    "noise": report_example.noise_chart(),
    "disc": report_example.disc_chart(),
    "squeezing": report_example.squeezing_chart(),
    "long": report_example.long_chart(),
    "nasty": document().sections[4].chart,
    "strip": Chart(
        "t",
        "x",
        "y",
        (Series("a", *np.zeros((2, 9))), Series("b", np.arange(9.0), np.ones(9))),
        kind="strip",
        marks=(("own", 0.5),),
    ),
}
EMPTY = Document("t", "", (), None, (), ())


class Outline(HTMLParser):
    """Elements that are opened and not closed, text, and every element seen."""

    VOID = ("meta", "link", "br", "img")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def outline(text: str) -> Outline:
    parser = Outline()
    parser.feed(text)
    parser.close()
    assert parser.open == []
    return parser


def test_markdown_says_what_the_document_says() -> None:
    """A Markdown parser gives back every string as it was, however odd."""
    parser = MarkdownIt("commonmark").enable("table")
    parser.enable("strikethrough")
    tokens = parser.parse(markdown(document()))
    said = ["".join(c.content for c in t.children or ()) for t in tokens if t.type == "inline"]
    plain = [s for t in tokens if t.type == "inline" for s in (t.children or ())]
    assert {s.type for s in plain} <= {"text", "text_special", "strong_open", "strong_close"}
    for text in (NASTY, LONG, "1|2", "osm_plus", "- a dash first", "1. a number first"):
        assert text in said, text
    assert "# a hash first" in said
    tables = [t for t in tokens if t.type == "table_open"]
    assert len(tables) == 4
    headings = [t.tag for t in tokens if t.type == "heading_open"]
    assert headings == ["h1", *["h2"] * 7]
    right = [t for t in tokens if t.type == "th_open" and "right" in str(t.attrs)]
    assert len(right) == 1 + 3 + 3 + 1


def test_small_documents() -> None:
    assert markdown(EMPTY) == "# t\n"
    page = outline(html(EMPTY))
    assert [tag for tag, _ in page.seen].count("h1") == 1
    assert "vegaEmbed=" not in html(EMPTY)  # no charts, no library


def test_page_is_whole_and_escaped() -> None:
    text = html(document())
    assert len(text.encode()) < 3_000_000
    page = outline(text)
    tags = [tag for tag, _ in page.seen]
    assert tags.count("script") == 4  # theme, content, library, page: none of the names is one
    assert tags.count("table") == 3
    assert all(a.get("scope") for tag, a in page.seen if tag == "th")
    assert not [a for _, a in page.seen if "src" in a or str(a.get("href", "#"))[0] not in "#d"]
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(b <= a + 1 for a, b in itertools.pairwise(levels))
    assert NASTY in page.text
    assert "<b>λ" not in text
    content = re.search(r'id="report-content">(.*?)</script>', text, re.DOTALL)
    kept = json.loads(content[1])
    assert kept["charts"][4]["names"] == [NASTY, LONG]


@pytest.mark.parametrize("name", [name for name in CHARTS if name != "long"])
def test_specifications_are_valid(name: str, capfd) -> None:
    spec = specification(CHARTS[name])
    alt.Chart.from_dict(spec)  # validates
    compiled = vl_convert.vegalite_to_vega(spec, show_warnings=True)
    assert "WARN" not in "".join(capfd.readouterr())
    assert {s["name"] for s in compiled["signals"]} >= {"hidden", "zoom"}


def test_rows_are_the_data() -> None:
    chart = CHARTS["memory"]
    rows = specification(chart)["data"]["values"]
    for k, series in enumerate(chart.series):
        mine = [row for row in rows if row["s"] == k]
        values = [np.nan if row["y"] is None else row["y"] for row in mine]
        assert [row["x"] for row in mine] == series.x.tolist()
        assert np.allclose(values, series.y, rtol=1e-5, atol=0, equal_nan=True)
    assert specification(chart)["params"][0]["value"] == [3]
    assert rows[-1]["lo"] < rows[-1]["y"] < rows[-1]["hi"]


def test_long_series_keep_their_shape() -> None:
    chart = CHARTS["long"]
    rows = specification(chart)["data"]["values"]
    assert len(rows) <= 2000
    drawn = {row["x"]: row["y"] for row in rows}
    assert drawn[33333] == 3.0
    whole = chart.series[0].y
    x = np.array(sorted(drawn))
    strips = np.array_split(np.arange(100_000), 100)
    for strip in strips:  # highest and lowest of each hundredth
        part = [drawn[v] for v in x if strip[0] <= v <= strip[-1]]
        assert max(part) == pytest.approx(whole[strip].max(), abs=0.01)
        assert min(part) == pytest.approx(whole[strip].min(), abs=0.01)
    [remark] = remarks(chart)
    assert f"{len(rows):,} of 100,000" in remark


def test_many_points_in_the_plane() -> None:
    z = np.random.default_rng(1).standard_normal((2, 50_000))
    chart = Chart("", "", "", (Series("z", *z),), kind="disc")
    rows = specification(chart)["data"]["values"]
    assert 500 < len(rows) <= 2000
    furthest = np.hypot(*z).max()
    assert max(np.hypot(row["x"], row["y"]) for row in rows) == pytest.approx(furthest, rel=1e-5)


def test_what_axes_cannot_show() -> None:
    x = np.array([-1.0, 0.0, 1.0, 10.0, np.nan, 100.0])
    y = np.array([1.0, 1.0, 0.0, 2.0, 3.0, np.inf])
    series = Series("s", x, y, low=y - 2, high=y + 1)
    chart = Chart("", "", "", (series,), log_x=True, log_y=True, marks=(("zero", 0.0),))
    rows = specification(chart)["data"]["values"]
    assert [row["x"] for row in rows] == [1, 10, 100]
    assert [row["y"] for row in rows] == [None, 2, None]
    assert rows[1]["lo"] > 0
    [remark] = remarks(chart)
    assert remark.endswith(": 3.")
    json.dumps(specification(chart), allow_nan=False)
    for nothing in (np.zeros(0), np.full(3, np.nan)):
        empty = Chart("", "", "", (Series("s", nothing, nothing),), log_y=True)
        json.dumps(specification(empty), allow_nan=False)


def test_without_the_library(monkeypatch) -> None:
    from memcurve.rendering.report import web

    web.library.cache_clear()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    refuses(ModuleNotFoundError, "`report`", html, document())


def luminance(colour: str) -> float:
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("colours", [LIGHT, DARK])
def test_contrast(colours: dict[str, str]) -> None:
    for name, colour in colours.items():
        if name in ("page", "surface", "edge", "grid"):
            continue
        for behind in ("page", "surface"):
            a, b = sorted([luminance(colour), luminance(colours[behind])])
            least = 3 if name.startswith("series") else 4.5
            assert (b + 0.05) / (a + 0.05) >= least, (name, behind)
