"""Colours: Okabe and Ito's, moved until they stand out from a white and from a dark page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# on a light and on a dark page: lines need a contrast of 3 with what is behind them, text one of
# 4.5; the light colours of series are chosen to stand out from dark notebooks as well
_COLOURS = {
    "page": ("#f6f7f9", "#0f1216"),
    "surface": ("#ffffff", "#171b21"),
    "ink": ("#1c2430", "#eef1f5"),
    "muted": ("#566170", "#a3aebb"),
    "edge": ("#dce1e7", "#2d343d"),
    "grid": ("#e9ecf0", "#262c34"),
    "link": ("#0b63ad", "#7cc0ff"),
    "good": ("#0a7a4b", "#3fcf8e"),
    "bad": ("#b3261e", "#ff8a80"),
    "neutral": ("#566170", "#a3aebb"),
    "series-0": ("#0072b2", "#4aa8e8"),
    "series-1": ("#d55e00", "#ff8a4c"),
    "series-2": ("#00926b", "#2cc79a"),
    "series-3": ("#c25f98", "#e79ac6"),
    "series-4": ("#b47a00", "#f0b840"),
    "series-5": ("#3a92c8", "#93d2f8"),
    "series-6": ("#1c2430", "#eef1f5"),
}
LIGHT: Mapping[str, str] = {name: light for name, (light, _) in _COLOURS.items()}
DARK: Mapping[str, str] = {name: dark for name, (_, dark) in _COLOURS.items()}
#: Pictures within a page of unknown colours: text and axes take the colour of the text around.
AROUND: Mapping[str, str] = {
    **LIGHT,
    **dict.fromkeys(("ink", "muted", "edge", "series-6"), "currentColor"),
    "surface": "transparent",
    "grid": "#80808033",
}
#: How many series have a colour of their own.
COLOURS = 7

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def variables(colours: Mapping[str, str]) -> str:
    """The colours as CSS variables."""
    return " ".join(f"--{name}: {value};" for name, value in colours.items())


def vega_config(colours: Mapping[str, str], font: str = FONT) -> dict[str, Any]:
    """How Vega-Lite draws: everything that depends on the colours of the page."""
    ink, muted, surface = colours["ink"], colours["muted"], colours["surface"]
    return {
        "background": surface,
        "font": font,
        "aria": False,  # the page itself describes each chart, once
        "padding": 4,
        "view": {"stroke": None},
        "axis": {
            "domainColor": colours["edge"], "gridColor": colours["grid"], "ticks": False,
            "labelColor": muted, "labelFontSize": 12, "labelPadding": 7,
            "titleColor": muted, "titleFontSize": 12, "titleFontWeight": "normal",
            "titleLimit": 1000,
        },
        "axisY": {"domain": False},
        "legend": {
            "labelColor": ink, "labelFontSize": 12, "labelLimit": 1000,
            "columns": 2, "orient": "bottom", "title": None,
            "symbolOpacity": 1, "symbolType": "stroke", "symbolSize": 240,
            "symbolStrokeWidth": 2.4,
        },
        "title": {"color": ink, "fontSize": 15, "anchor": "start", "offset": 12},
        "range": {"category": [colours[f"series-{k}"] for k in range(COLOURS)]},
        "style": {
            "mark": {"color": muted, "strokeDash": [2, 3], "strokeWidth": 1},
            "mark-label": {"color": muted, "fontSize": 12},
            "level": {"color": muted, "strokeDash": [6, 4], "strokeWidth": 1},
            "level-label": {"color": muted, "fontSize": 12},
            "level-halo": {
                "color": surface, "stroke": surface, "strokeWidth": 4, "strokeJoin": "round",
                "fontSize": 12,
            },
            "circle": {"color": muted, "strokeWidth": 1.2},
        },
    }  # fmt: skip
