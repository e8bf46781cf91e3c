"""Notes: caveats to read before quoting a number, with a kind for code."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

NoteKind = Literal[
    "network",  # where the network comes from, e.g. that it is linearised
    "linear",  # that a file does not specify an activation or bias
    "unused",  # what of a file was not used, or may be something else than it was taken for
    "reach",  # states that no input reaches, nodes that are not read
    "rank",  # the rank depends on the last digits: a RankWarning too
    "question",  # the question in words: noise, colour, steps ahead
    "method",  # how the method works, and how that affects the number
    "unbounded",  # the method has no error bound
    "arithmetic",  # floating point was not enough
    "proof",  # what of the result is proven, and what is not
    "lags",  # memory lies beyond the lags listed
    "recording",  # what a recording is like, and what that does to an estimate
    "missing",  # rows of a recording that were left out
    "finding",  # what the checks of a recording warn of
    "sweep",  # cases that failed, are missing, or were left out
    "other",
]
KINDS: tuple[str, ...] = get_args(NoteKind)


class Note(str):
    """A caveat as a string, with a kind that code can test.

    Examples
    --------
    >>> from memcurve.core.notes import Note
    >>> note = Note("reach", "2 of 30 states are never reached from the input")
    >>> print(note)
    2 of 30 states are never reached from the input
    >>> note.kind
    'reach'
    """

    __slots__ = ("kind",)
    kind: NoteKind

    def __new__(cls, kind: NoteKind, text: str) -> Note:
        """Make a note of one of :data:`KINDS`."""
        if kind not in KINDS:
            raise ValueError(f"`kind` must be one of {', '.join(KINDS)}; got {kind!r}.")
        note = super().__new__(cls, text)
        note.kind = kind
        return note

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.kind, str(self)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """As ``{"kind": …, "text": …}`` in JSON."""
        from pydantic_core import core_schema as cs

        kind = cs.typed_dict_field(cs.literal_schema(list(KINDS)))
        entry = cs.typed_dict_schema({"kind": kind, "text": cs.typed_dict_field(cs.str_schema())})
        write = cs.plain_serializer_function_ser_schema(
            lambda note: {"kind": note.kind, "text": str(note)}
        )
        return cs.no_info_after_validator_function(
            lambda content: cls(content["kind"], content["text"]), entry, serialization=write
        )


class Sentences:
    """Sentences by name, in a table, which are filled with facts."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, name: str, /, **facts: Any) -> str:
        return self._texts[name].format(**facts)


class NoteTexts:
    """Notes by name: sentences in a table for each kind, which are filled with facts."""

    def __init__(self, tables: Mapping[Any, Mapping[str, str]]) -> None:
        self._texts = {name: (kind, tables[kind][name]) for kind in tables for name in tables[kind]}

    def __call__(self, name: str, /, **facts: Any) -> Note:
        kind, text = self._texts[name]
        return Note(kind, text.format(**facts))


def notes_of(notes: Iterable[str], kind: NoteKind) -> tuple[Note, ...]:
    """Notes as they are; plain strings become notes of ``kind``."""
    return tuple(note if isinstance(note, Note) else Note(kind, note) for note in notes)


def counted(count: int, noun: str) -> str:
    """A number with its noun: 1 state, 2 states."""
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"


def text_beside(module: str, name: str) -> str:
    """The text of a file in the folder of a module, or below it."""
    return (Path(module).parent / name).read_text(encoding="utf-8")


def texts_beside(module: str, name: str = "") -> dict[str, Any]:
    """Texts from the TOML file beside a module, of the same name or of another."""
    return tomllib.loads(text_beside(module, name or f"{Path(module).stem}.toml"))
