"""Sections and charts as what marimo displays."""

from __future__ import annotations

import json
from typing import Any

from memcurve.report import Section, web
from memcurve.report.palette import LIGHT, vega_config
from memcurve.report.vega import specification

#: Vega-Lite, drawn by the page itself.
MIME = "application/vnd.vegalite.v5+json"
_ACTIONS = {"export": True, "source": False, "compiled": False, "editor": False}


class Picture:
    """A Vega-Lite specification that marimo draws.

    Charts are plain dictionaries from the start: building the same ones as altair objects takes
    0.2 s each, which is as long as everything else together.
    """

    def __init__(self, spec: dict[str, Any]) -> None:
        config = vega_config(LIGHT)
        config["legend"] |= {"columns": {"expr": "width < 400 ? 1 : 2"}}  # one below another
        self.spec = spec | {
            "config": config,
            "usermeta": {"embedOptions": {"actions": _ACTIONS}},
        }

    def _mime_(self) -> tuple[str, str]:
        return MIME, json.dumps(self.spec)


def pictured(section: Section, *, titled: bool = False) -> Picture | None:
    """The chart of a section; as a rule the heading above it is title enough."""
    if section.chart is None:
        return None
    spec = specification(section.chart)
    return Picture(spec if titled else {k: v for k, v in spec.items() if k != "title"})


def heading(section: Section, *, busy: bool = False) -> str:
    """Title and sentence of a section as HTML; ``busy`` says that more is on its way."""
    spinner = "<span class='spinner' role='status'>computing …</span>" if busy else ""
    return (
        f"<h2>{web.text(section.title)}{spinner}</h2>\n"
        f"<div class='says'>{web.paragraphs(section.text)}</div>"
    )


def tabled(section: Section) -> str:
    """The table of a section as HTML, in a frame of its own that scrolls."""
    if section.table is None:
        return ""
    table = web.table(section.table, number="class='number'")
    return f"<div class='scrolls' tabindex='0' role='region' aria-label='table'>{table}</div>"


def explained(title: str, text: str) -> str:
    """Why there is nothing to see, as HTML."""
    return (
        f"<div class='explains' role='alert'><strong>{web.text(title)}</strong>"
        f"{web.paragraphs(text)}</div>"
    )
