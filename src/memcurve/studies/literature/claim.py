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


@dataclass(frozen=True)
class PublishedClaim:
    """A published statement.

    Attributes
    ----------
    name : str
        Short, for the command: first author and year.
    authors, year, title, source, link
        The citation; ``link`` is a DOI or an address.
    statement : str
        What is claimed, in our words.
    measured : str
        What the authors did: model, length, and in what sense their statement is meant.
    compared : tuple of str
        What is compared, the columns of the table: what was published, a formula or numbers, or
        what the study recomputed by its protocol; and what is true, exact or measured.
    study : callable
        Takes a seed, and computes.
    judge : callable
        From the numbers of the study alone to the verdict.
    sentences : dict
        What a verdict can say, by name.
    needs : tuple of str
        Packages that the study needs besides memcurve's own.
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

    @property
    def citation(self) -> str:
        """In a line."""
        return f"{self.authors} ({self.year}), {self.title}, {self.source}"

    def judged(self, points: Sequence[Point], numbers: Numbers, seed: int) -> JudgedClaim:
        """The claim with the verdict that follows from the study."""
        verdict = self.judge(numbers)
        text = "".join(self.sentences[name] for name in verdict.sentences).rstrip(".")
        cited = ("name", "citation", "link", "statement", "measured", "compared")
        return JudgedClaim(
            **{name: getattr(self, name) for name in cited},
            word=verdict.word,
            verdict=f"{text.format(**numbers, **verdict.facts)}.",
            points=tuple(points),
            numbers={name: float(value) for name, value in numbers.items()},
            seed=seed,
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class JudgedClaim(Result):
    """A claim with the outcome of its study; see :func:`memcurve.judge_claim`.

    Examples
    --------
    >>> import memcurve
    >>> claim = memcurve.judge_claim("rodan-2011")
    >>> claim.word, len(claim.points)
    ('right', 5)

    Attributes
    ----------
    name, citation, link, statement, measured, compared
        Of the claim; see :class:`memcurve.studies.literature.PublishedClaim`.
    word, verdict : str
        ``"right"``, ``"right in another sense"`` or ``"an artefact"``; and why, with the numbers.
    points : tuple of Point
        What is ``compared``: what the authors' method gives, and what is true.
    numbers : dict
        Those that decide.
    seed : int
        Of everything drawn at random.
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
        from memcurve.rendering import plot

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
