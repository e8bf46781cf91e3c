"""Documents within a notebook: HTML without scripts, in whatever colours the notebook has."""

from __future__ import annotations

import hashlib
import re

from memcurve.report import markup, palette, vega
from memcurve.report.document import Chart, Document, Section
from memcurve.report.wording import NOTES

#: Width and height of the picture, and points drawn of each of its series.
_WIDTH, _HEIGHT, _POINTS = 600, 240, 600
_FONT = "Helvetica, Arial, sans-serif"

_TONES = {True: "#00926b", False: "#d5443a", None: "#808a96"}
# notebooks style tables with rules of their own, which only styles of the elements outdo
_LEFT = "style='text-align:left;padding:2px 16px 2px 0;font-weight:normal;background:none'"
_RIGHT = (
    "style='text-align:right;padding:2px 16px 2px 0;font-weight:normal;background:none;"
    "white-space:nowrap;font-variant-numeric:tabular-nums'"
)


def fragment(document: Document) -> str:
    """A document as a piece of HTML for a notebook.

    It has the verdict, the figures, the tables and the notes and, where vl-convert-python is
    installed, a picture of the first chart. There are no scripts, so that it is shown in
    notebooks that are not trusted too; text takes the colour of the notebook.

    Parameters
    ----------
    document : Document
        What to write.

    Returns
    -------
    str
        One ``div`` element.
    """
    parts = [f"<p style='font-size:1.25em;margin:0'><b>{markup.text(document.title)}</b></p>\n"]
    if document.subtitle.strip():
        parts.append(f"<p style='margin:2px 0;opacity:.75'>{markup.text(document.subtitle)}</p>\n")
    parts.append(_verdict(document))
    if document.figures:
        cells = "".join(
            "<div style='padding:0 0 4px'>"
            f"<div style='font-size:.85em;opacity:.75'>{markup.text(name)}</div>"
            f"<div style='font-size:1.2em'><b>{markup.text(value)}</b></div></div>\n"
            for name, value in document.figures
        )
        parts.append(
            f"<div style='display:flex;flex-wrap:wrap;gap:4px 32px;margin:12px 0'>\n{cells}</div>\n"
        )
    pictured = next((s.chart for s in document.sections if s.chart is not None), None)
    for section in document.sections:
        is_first = section.chart is not None and section.chart is pictured
        picture = _picture(section.chart) if is_first and section.chart is not None else ""
        if picture or section.table is not None or section.points:
            parts.append(_section(section, picture))
    if document.notes:
        parts.append(f"{_heading(NOTES)}{markup.points(document.notes)}")
    if document.footer.strip():
        parts.append(
            f"<p style='margin:12px 0 0;font-size:.85em;opacity:.75'>"
            f"{markup.text(document.footer)}</p>\n"
        )
    inner = "".join(parts)
    return (
        "<div class='memcurve-report' style='color:inherit;background:transparent;"
        f"line-height:1.5;max-width:56em;overflow-wrap:anywhere'>\n{inner}</div>\n"
    )


def _verdict(document: Document) -> str:
    if not document.verdict:
        return ""
    word, tone = markup.text(document.word), _TONES[document.good]
    first, *others = document.verdict
    rest = "".join(f"<p style='margin:4px 0 0'>{markup.text(text)}</p>\n" for text in others)
    return (
        f"<div style='border-left:4px solid {tone};padding:4px 0 4px 12px;margin:10px 0'>\n"
        f"<p style='margin:0'><b>{word}.</b> {markup.text(first)}</p>\n{rest}</div>\n"
    )


def _heading(title: str) -> str:
    return f"<p style='margin:14px 0 4px'><b>{markup.text(title)}</b></p>\n"


def _section(section: Section, picture: str) -> str:
    parts = [_heading(section.title), markup.prose(section.text), picture]
    if section.table is not None:
        table = markup.table(section.table, number=_RIGHT, wordy=_LEFT, cell=_LEFT)
        style = "overflow-x:auto;overflow-wrap:normal;margin:6px 0"
        parts.append(f"<div style='{style}'>\n{table}</div>\n")
    parts.append(markup.points(section.points))
    return "".join(parts)


def _picture(chart: Chart) -> str:
    """A chart as SVG within the text; nothing where the package that draws it is missing."""
    try:
        import vl_convert
    except ImportError:
        return ""
    spec = vega.specification(chart, _POINTS)
    if chart.kind == "lines":
        spec |= {"width": _WIDTH, "height": _HEIGHT}
        del spec["autosize"]
    config = palette.vega_config(palette.AROUND, _FONT)
    svg: str = vl_convert.vegalite_to_svg(spec, config=config)
    # names within a picture are seen in the whole notebook: two pictures must not share them
    own = hashlib.sha256(svg.encode()).hexdigest()[:12]
    svg = re.sub(r"\b(clip|gradient_?)(\d+)\b", rf"memcurve-{own}-\g<1>\g<2>", svg)
    label = markup.text(vega.described(chart))
    svg = re.sub(
        r"^<svg\b",
        f"<svg role='img' aria-label='{label}' style='max-width:100%;height:auto'",
        svg,
        count=1,
    )
    return f"<div style='margin:8px 0'>{svg}</div>\n"
