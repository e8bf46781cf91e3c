"""Sentences of audits, filled with facts by the code that decides.

The sentences are in ``sentences.toml``, by kind.
"""

import math
from collections.abc import Sequence
from typing import Any

from memcurve.core.notes import texts_beside
from memcurve.rendering.report.document import listed

#: Things named in a sentence; the rest are counted. Doubled: longer sentences.
MOST_NAMED = 8
TEXTS: dict[str, dict[str, Any]] = texts_beside(__file__)


def say(kind: str, /, **facts: Any) -> str:
    """The text of a kind, ``section.name``, filled with facts."""
    section, _, name = kind.partition(".")
    return str(TEXTS[section][name].format(**facts))


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
