"""A published statement about memory, the study behind its verdict, and the verdict.

A claim is an entry of ``claims.toml``: who said what, and where, and what a verdict can say; and
one small file: a study that computes both what was computed then and what is true, and a judge,
which sees nothing but the study's numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import numpy as np

from memcurve.core.notes import Note
from memcurve.core.progress import Listener
from memcurve.core.result import Result, installed_versions
from memcurve.core.types import Floats

#: What a claim can turn out to be.
Word = Literal["right", "right in another sense", "an artefact"]
#: Numbers of a study, by name.
Numbers = Mapping[str, float]


@dataclass(frozen=True)
class Point:
    """One number: as the authors' method gives it, and the true one with its error."""

    label: str
    then: float
    true: float
    error: float = 0.0


@dataclass(frozen=True)
class Evidence:
    """What a claim's study computed: points to compare, and the numbers that decide."""

    points: tuple[Point, ...]
    numbers: Numbers


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
    study : callable
        Takes a seed and a progress callback, and computes.
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
    study: Callable[[int, Listener], Evidence] = field(repr=False)
    judge: Callable[[Numbers], Verdict] = field(repr=False)
    sentences: Mapping[str, str] = field(repr=False)
    needs: tuple[str, ...] = ()

    @property
    def citation(self) -> str:
        """In a line."""
        return f"{self.authors} ({self.year}), {self.title}, {self.source}"

    def verdict(self, numbers: Numbers) -> tuple[Word, str]:
        """What the claim turns out to be, and why."""
        found = self.judge(numbers)
        text = "".join(self.sentences[name] for name in found.sentences).rstrip(".")
        return found.word, f"{text.format(**numbers, **found.facts)}."


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
    name, citation, link, statement, measured
        Of the claim; see :class:`memcurve.studies.literature.PublishedClaim`.
    word, verdict : str
        ``"right"``, ``"right in another sense"`` or ``"an artefact"``; and why, with the numbers.
    points : tuple of Point
        What the authors' method gives, and what is true.
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
        """Draw the published numbers beside the true ones."""
        from memcurve.rendering import plot

        return plot.then_and_true(self, ax=ax)

    def __repr__(self) -> str:
        lines = [f"<JudgedClaim {self.name}: {self.word}", f"  {self.statement}"]
        lines += [f"  {p.label}: then {p.then:.4g}, true {p.true:.4g}" for p in self.points]
        return "\n".join([*lines, f"  {self.verdict}>"])


def usual_input(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    """Uniform on ±0.8, as reservoirpy drives."""
    return rng.uniform(-0.8, 0.8, shape)


def judged(claim: PublishedClaim, study: Evidence, seed: int) -> JudgedClaim:
    """The claim with the verdict that follows from the study."""
    word, verdict = claim.verdict(study.numbers)
    cited = ("name", "citation", "link", "statement", "measured")
    return JudgedClaim(
        **{name: getattr(claim, name) for name in cited},
        word=word,
        verdict=verdict,
        points=study.points,
        numbers={name: float(value) for name, value in study.numbers.items()},
        seed=seed,
    )
