"""Sentences about recordings and measurements: all are in ``prose.toml``, by kind.

The code that decides names a kind and gives the facts.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, get_args

from memcurve.core.notes import NoteTexts, Sentences, texts_beside
from memcurve.data.findings import Finding, Level

_TEXTS = texts_beside(__file__)
#: The note of a name, filled with facts.
note = NoteTexts(_TEXTS["notes"])
#: What is wrong with a recording, a model or a question.
fault = Sentences(_TEXTS["faults"])
#: Why a measurement ended before it was precise.
ENDED: dict[str, str] = _TEXTS["ended"]
#: Sentences of the measurement report.
REPORT: dict[str, str] = _TEXTS["report"]


def finding(kind: str, *, level: Level | None = None, **facts: Any) -> Finding:
    """The finding of a kind, filled with facts; ``level`` where it is not the usual one."""
    texts = _TEXTS["findings"][kind]
    message, remedy = (texts[part].format(**facts) for part in ("message", "remedy"))
    return Finding(level or texts["level"], kind.partition(".")[0], message, remedy)


class Collected(list[Finding]):
    """A list of findings, about columns that may have names."""

    def __init__(self, names: Sequence[str] = ()) -> None:
        super().__init__()
        self.names = names

    def few(self, columns: Iterable[int]) -> str:
        """The first columns, by their names where they have some, separated by commas."""
        return shortened(self.names[i] if len(self.names) else int(i) for i in columns)

    def add(self, kind: str, *, level: Level | None = None, **facts: Any) -> None:
        """One more, filled with facts."""
        self.append(finding(kind, level=level, **facts))

    def columns(self, kind: str, which: Collection[int], of: int, **facts: Any) -> None:
        """One more, about some ``of`` so many columns."""
        self.add(kind, count=len(which), columns=of, names=self.few(which), **facts)

    def worst_first(self) -> tuple[Finding, ...]:
        """Errors, then warnings, each in the order in which they were found."""
        return tuple(sorted(self, key=lambda one: get_args(Level).index(one.level)))


def shortened(things: Iterable[Any]) -> str:
    """The first five, separated by commas."""
    texts = [str(thing) for thing in things]
    return ", ".join(texts[:5]) + (" …" if len(texts) > 5 else "")
