"""All that an audit says: the code that decides fills in facts and knows no sentence.

The sentences are in ``sentences.toml``, by kind.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memcurve.rendering.report.document import listed

#: Things named in a sentence; the rest are counted. Doubled: longer sentences.
MOST_NAMED = 8

_TEXTS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
LOSSES: dict[str, str] = _TEXTS["LOSSES"]
LOST: dict[str, str] = _TEXTS["LOST"]
EXPLANATIONS: dict[str, str] = _TEXTS["EXPLANATIONS"]
CLAIMS: dict[str, str] = _TEXTS["CLAIMS"]
WORDS: dict[str, str] = _TEXTS["WORDS"]
VERDICT: dict[str, str] = _TEXTS["VERDICT"]
READ: dict[str, str] = _TEXTS["READ"]
FIGURES: dict[str, str] = _TEXTS["FIGURES"]
BARS: dict[str, str] = _TEXTS["BARS"]
TITLES: dict[str, str] = _TEXTS["TITLES"]
SECTIONS: dict[str, str] = _TEXTS["SECTIONS"]
STATES: dict[str, str] = _TEXTS["STATES"]
SERIES: dict[str, str] = _TEXTS["SERIES"]
REASONS: dict[str, str] = _TEXTS["REASONS"]
LEFT_OUT: dict[str, str] = _TEXTS["LEFT_OUT"]
GAINS: dict[str, str] = _TEXTS["GAINS"]
HEADS: dict[str, tuple[str, ...]] = {kind: (*heads,) for kind, heads in _TEXTS["HEADS"].items()}
#: Title, x axis and y axis.
CHARTS: dict[str, tuple[str, str, str]] = _TEXTS["CHARTS"]


def named(noun: str, things: Sequence[Any]) -> str:
    """Some of the things by name, the others by number: nodes 1, 2 and 7 more."""
    some = [str(thing) for thing in things]
    if len(some) > MOST_NAMED + 1:
        some = [*some[:MOST_NAMED], f"{len(some) - MOST_NAMED} more"]
    plural = "s" * (len(things) != 1)
    return f"{noun}{plural} {listed(some)}" if noun else listed(some)


def capital(text: str) -> str:
    """A text that begins a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def number(value: float) -> str:
    """A total in a sentence."""
    if not math.isfinite(value):
        return "no number"
    if abs(value) >= 1e7:  # nonsense, whose size is all there is to it
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


def small(value: float) -> str:
    """An error in a table."""
    if math.isnan(value):
        return "unknown"
    return f"{value:.1e}" if 0 < value < 0.01 else f"{value:.3g}"


def complex_number(value: complex) -> str:
    """An eigenvalue."""
    real, imag = round(value.real, 4) + 0.0, round(value.imag, 4)
    shown = f"{'−' if real < 0 else ''}{abs(real):g}"
    return shown if imag == 0 else f"{shown} {'+' if imag > 0 else '−'} {abs(imag):g}i"
