"""A published statement about memory, the study behind its verdict, and the verdict.

A claim is an entry of ``claims.toml``: who said what, and where, and what a verdict can say; and
one small file: a study that computes both what was computed then and what is true, and a judge,
which sees nothing but the study's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from memcurve.core.notes import Note
from memcurve.core.result import Result, installed_versions
from memcurve.core.types import Floats
from memcurve.rendering import plot

#: What a claim can turn out to be.
Word = Literal["right", "right in another sense", "an artefact"]
#: Numbers of a study, by name.
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Point:
    """One number: as published or recomputed, and the true one with its error."""

    label: str
    then: float
    true: float
    error: float = 0.0


#: What a claim's study computed: points to compare, and the numbers that decide.
Study = tuple[Sequence[Point], Numbers]


class Verdict:
    """A word, and the sentences that say why, by name; filled with numbers and facts."""

    def __init__(self, word: Word, *sentences: str, **facts: float) -> None:
        self.word, self.sentences, self.facts = word, sentences, facts


def differences(points: Sequence[Point]) -> dict[str, float]:
    """The least and the largest of what is compared, and how far the two are apart at most."""
    numbers = {"largest_difference": max(abs(point.then - point.true) for point in points)}
    for name in ("then", "true", "error"):
        values = [getattr(point, name) for point in points]
        numbers |= {f"least_{name}": min(values), f"largest_{name}": max(values)}
    return numbers


@dataclass(frozen=True)
class PublishedClaim:
    """A published statement: ``name`` is that of the command, ``statement`` is in our words.

    ``measured`` is what the authors did, and in what sense they mean it; ``compared`` are the
    columns of the table: what was published, or what the study recomputed by their protocol; and
    what is true, exact or measured. The ``study`` takes a seed and computes, the ``judge`` sees its
    numbers alone; ``sentences`` are what a verdict can say, and ``read`` is what of the authors' it
    rests on, where that is not the whole text. The study ``needs`` these packages.
    """

    name: str
    authors: str
    year: int
    title: str
    source: str
    link: str
    statement: str
    measured: str
    compared: tuple[str, str]
    study: Callable[[int], Study] = field(repr=False)
    judge: Callable[[Numbers], Verdict] = field(repr=False)
    sentences: Mapping[str, str] = field(repr=False)
    needs: tuple[str, ...] = ()
    read: str = ""

    @property
    def citation(self) -> str:
        """In a line."""
        return f"{self.authors} ({self.year}), {self.title}, {self.source}"

    def judged(self, points: Sequence[Point], numbers: Numbers, seed: int) -> JudgedClaim:
        """The claim with the verdict that follows from the study."""
        verdict = self.judge(numbers)
        text = "".join(self.sentences[name] for name in verdict.sentences).rstrip(".")
        rests = f" Judged from {self.read}." if self.read else ""
        cited = ("name", "citation", "link", "statement", "measured", "compared")
        return JudgedClaim(
            **{name: getattr(self, name) for name in cited},
            word=verdict.word,
            verdict=f"{text.format(**numbers, **verdict.facts)}.{rests}",
            points=tuple(points),
            numbers={name: float(value) for name, value in numbers.items()},
            seed=seed,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgedClaim(Result):
    """A claim with the outcome of its study; see :func:`memcurve.judge_claim`.

    ``word`` is ``"right"``, ``"right in another sense"`` or ``"an artefact"``; ``verdict`` says
    why, with the ``numbers`` that decide; ``points`` are what is ``compared``.

    Examples
    --------
    >>> import memcurve
    >>> claim = memcurve.judge_claim("rodan-2011")
    >>> claim.word, len(claim.points)
    ('right', 5)
    """

    FORMAT: ClassVar[str] = "memcurve.JudgedClaim/1"

    name: str
    citation: str
    link: str
    statement: str
    measured: str
    compared: tuple[str, str] = ("as computed then", "true")
    word: Word
    verdict: str
    points: tuple[Point, ...]
    numbers: Mapping[str, float]
    seed: int
    notes: tuple[Note, ...] = ()
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def columns(self) -> Mapping[str, Any]:
        """One row per point: label, then, true, error."""
        names = ("label", "then", "true", "error")
        return {name: [getattr(point, name) for point in self.points] for name in names}

    def plot(self, ax: Any = None) -> Any:
        """Draw what is compared side by side."""
        return plot.then_and_true(self, ax=ax)

    def __repr__(self) -> str:
        then, true = self.compared
        lines = [f"<JudgedClaim {self.name}: {self.word}", f"  {self.statement}"]
        lines += [f"  {p.label}: {then} {p.then:.4g}, {true} {p.true:.4g}" for p in self.points]
        return "\n".join([*lines, f"  {self.verdict}>"])


def usual_input(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Uniform on ±0.8, as reservoirpy drives."""
    return rng.uniform(-0.8, 0.8, shape)


def measured(model: Any, lags: int, seed: int, precision: float = 0.5, budget: float = 20) -> Any:
    """The memory of a driven model, for the usual input; ``budget`` is in seconds."""
    from memcurve.data.measuring import measure

    asked: dict[str, Any] = {"precision": precision, "budget": budget, "seed": seed}
    return measure(model, lags, input=usual_input, progress=False, **asked)
