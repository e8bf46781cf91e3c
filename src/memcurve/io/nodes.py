"""Nodes by their names: tables of cell classes and positions, lists of nodes that are driven."""

from __future__ import annotations

import difflib
import math
import operator
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import exact_array
from memcurve.core.notes import Note, counted
from memcurve.core.types import Floats
from memcurve.io.arrays import NetworkFileError, ending_of, fault_error, note, readable, reading
from memcurve.io.arrow import ARROW, distinct, open_arrow
from memcurve.io.graphs import GRAPHS, read_node_attributes
from memcurve.io.text import Text, content_lines, fields_of, is_missing, real_number, separator_of

#: Names of the column that names nodes; else it is the first.
_NAMES = ("id", "rootid", "bodyid", "body", "skid", "node", "name", "neuron", "label", "cell")
#: Rows of a table of pyarrow that are read at a time.
_ROWS = 2**20
_WHOLE = re.compile(r"\+?\d{1,300}")  # Python reads no number of thousands of digits
_QUOTES = "'\"`"
#: What joins comparisons, outside of quotes; and one of these: a column, a sign, a value.
_JOINT = re.compile(r"""\s+(and|or)\s+(?=(?:[^'"]|'[^']*'|"[^"]*")*$)""")
_COMPARISON = re.compile(
    r"\s*(?P<name>[^=!<>]+?)\s*(?P<sign>[=!<>]=|[=<>])\s*(?P<value>[^=\s].*?)\s*"
)
_COMPARISONS: dict[str, Callable[[Any, float], Any]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _fault(file: Path, kind: str, **facts: Any) -> NetworkFileError:
    return fault_error(file, "nodes", kind, **facts)


@dataclass(frozen=True, repr=False)
class NodeTable:
    """What is known of nodes: columns of text by their names, one entry per node.

    Attributes
    ----------
    file : Path
        Where it was read.
    names : tuple of str
        The nodes.
    columns : dict
        What is known of them, as text.

    Examples
    --------
    >>> from pathlib import Path
    >>> from memcurve.io.nodes import NodeTable
    >>> table = NodeTable(Path("cells.csv"), ("a", "b", "c"), {"class": ("sens", "inter", "sens")})
    >>> table
    <NodeTable cells.csv: 3 nodes with class>
    >>> table.where("class == 'sens'")
    ['a', 'c']
    """

    file: Path
    names: tuple[str, ...]
    columns: Mapping[str, Sequence[str]]

    def __repr__(self) -> str:
        """The file, how many nodes there are, and what is known of them."""
        more = f" and {len(self.columns) - 8} columns more" if len(self.columns) > 8 else ""
        columns = ", ".join([*self.columns][:8]) + more
        return f"<NodeTable {self.file.name}: {counted(len(self.names), 'node')} with {columns}>"

    def where(self, condition: str) -> list[str]:
        """The nodes for which a condition on their columns holds.

        ``"class=sens,asc"`` (one of some values), ``"class == 'sens'"``, ``"side != 'left'"``,
        ``"size >= 100"``, and several of these joined by ``and`` and ``or``.
        """
        holds = self._holds(condition)
        return [name for name, is_one in zip(self.names, holds, strict=True) if is_one]

    def selected(self, condition: str) -> NodeTable:
        """The table of the nodes for which a condition holds."""
        rows = np.flatnonzero(self._holds(condition)).tolist()
        columns = {name: [entries[k] for k in rows] for name, entries in self.columns.items()}
        return NodeTable(self.file, tuple(self.names[k] for k in rows), columns)

    def _holds(self, condition: str) -> NDArray[np.bool_]:
        """Whether it holds, for each node; ``and`` binds closer than ``or``."""
        first, *rest = _JOINT.split(condition)
        either = [self._compared(first, condition)]
        for joint, part in zip(rest[::2], rest[1::2], strict=True):
            one = self._compared(part, condition)
            either = [*either[:-1], either[-1] & one] if joint == "and" else [*either, one]
        holds = np.asarray(np.any(either, axis=0))
        if not holds.any():
            raise _fault(self.file, "nobody", condition=condition)
        return holds

    def _compared(self, part: str, condition: str) -> NDArray[np.bool_]:
        """Whether one comparison holds, for each node."""
        match = _COMPARISON.fullmatch(part)
        if match is None:
            raise _fault(self.file, "condition", got=condition)
        name, sign, text = _unquoted(match["name"]), match["sign"], match["value"]
        entries = self._column(name)
        if sign in _COMPARISONS:
            limit = real_number(text)
            if limit is None or not math.isfinite(limit):
                raise NetworkFileError(f"`where`: {name} {sign} needs a number, got {text!r}.")
            return np.asarray(_COMPARISONS[sign](_numbers(entries), limit))
        is_one = text[:1] in tuple(_QUOTES) and text.count(text[0]) == 2
        wanted = [_unquoted(value.strip()) for value in ([text] if is_one else text.split(","))]
        values = {*entries}
        if unknown := [value for value in wanted if value not in values]:
            near = difflib.get_close_matches(unknown[0], values, 1) or sorted(values)[:8]
            there = ", ".join(map(repr, near))
            raise _fault(self.file, "value", column=name, value=unknown[0], there=there)
        among = np.array([entry in wanted for entry in entries])
        return ~among if sign == "!=" else among

    def places(self, condition: str, labels: Sequence[str]) -> list[int]:
        """Those of the nodes in ``labels`` for which a condition holds, by their places there."""
        among, wanted = self._places(labels), self.where(condition)
        places = [among[name] for name in wanted if name in among]
        if not places:
            facts = {"count": len(wanted), "condition": condition, "label": labels[0]}
            raise _fault(self.file, "elsewhere", **facts)
        return places

    def has(self, labels: Sequence[str]) -> NDArray[np.bool_]:
        """Whether the table has each of these nodes."""
        is_there = np.zeros(len(labels), bool)
        is_there[[*self._places(labels).values()]] = True
        return is_there

    def entries(self, column: str, labels: Sequence[str]) -> list[str]:
        """A column in the order of ``labels``, empty for nodes that the table has not."""
        listed, among = [""] * len(labels), self._places(labels)
        if not among:
            raise _fault(self.file, "others", label=labels[0])
        for name, entry in zip(self.names, self._column(column), strict=True):
            if name in among:
                listed[among[name]] = entry
        return listed

    def numbers(self, columns: Sequence[str], labels: Sequence[str]) -> Floats:
        """Columns of numbers, such as positions, one row for each of ``labels``."""
        values = np.stack([_numbers(self.entries(name, labels)) for name in columns], axis=1)
        if not np.isfinite(values).all():
            row, k = np.argwhere(~np.isfinite(values))[0]
            raise _fault(self.file, "no_number", column=columns[k], label=labels[row])
        return values

    def _places(self, labels: Sequence[str]) -> dict[str, int]:
        """Where in ``labels`` the nodes of the table stand, by their names here."""
        among = {label: place for place, label in enumerate(labels)}
        places = {name: node_place(name, among) for name in self.names}
        return {name: place for name, place in places.items() if place is not None}

    def _column(self, name: str) -> Sequence[str]:
        if name not in self.columns:
            raise _fault(self.file, "column", column=name, columns=", ".join(self.columns))
        return self.columns[name]


def load_nodes(path: str | os.PathLike[str]) -> NodeTable:
    r"""Read what is known of the nodes of a network: cell classes, transmitters, positions.

    Parameters
    ----------
    path : path
        Text with a header and one node per line (``.csv``, ``.tsv``, ``.txt``, packed or not), or a
        ``.feather`` or ``.parquet`` file: a column called id, root_id, bodyId, node, name, neuron,
        label or cell names the nodes, or else the first, if no name is in it twice. Or a graph,
        ``.graphml``, ``.gml`` or ``.gexf``, whose nodes have attributes.

    Returns
    -------
    NodeTable
        ``table.where("class == 'sensory'")`` names nodes, as ``mask=`` and ``readout=`` take them;
        ``load_network(…, nodes=table)`` takes the nodes of the table alone.

    Examples
    --------
    >>> import memcurve
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "cells.csv"
    ...     _ = path.write_text("name,class\na,sensory\nb,motor\n")
    ...     memcurve.load_nodes(path).where("class=sensory")
    ['a']
    """
    file = readable(path)
    ending = ending_of(file)
    if ending.removesuffix(".gz") in GRAPHS:
        return NodeTable(file, *read_node_attributes(file))
    with reading(file):
        heads, columns = _arrow_columns(file) if ending in ARROW else _text_columns(file)
    if len(heads) < 2 or not columns:
        raise _fault(file, "header")
    words = [re.sub(r"[\W_]+", "", head.lower()) for head in heads]
    called = [*(words.index(word) for word in _NAMES if word in words), 0]
    at = next((k for k in called if len({*columns[k]}) == len(columns[k])), called[0])
    names = tuple(columns[at])
    if len({*names}) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise _fault(file, "twice", column=heads[at], name=twice)
    titles = [head or f"column {k + 1}" for k, head in enumerate(heads)]
    return NodeTable(file, names, dict(zip(titles, columns, strict=True)))


def _text_columns(file: Path) -> tuple[list[str], list[Sequence[str]]]:
    text = Text(file)
    batches = [text.columns(batch) for batch in text.batches(1)]
    return text.top[0], [tuple(chain(*parts)) for parts in zip(*batches, strict=True)]


def _arrow_columns(file: Path) -> tuple[list[str], list[Sequence[str]]]:
    """Columns as text, where that can be had of them; equal entries are the same object."""
    table = open_arrow(file)
    names = [
        name
        for name, kind in zip(table.names, table.kinds, strict=True)
        if not str(kind).startswith(("list", "struct", "map", "large_list", "fixed_size"))
    ]
    columns: list[list[str]] = [[] for _ in names]
    for batch in table.batches(names, _ROWS):
        for entries, column in zip(columns, batch.columns, strict=True):
            texts, places = distinct(column)
            entries += [texts[place] for place in places.tolist()]
    return names, [*columns] if columns and columns[0] else []


def _unquoted(text: str) -> str:
    """What stands in quotes, where they are a pair; names such as KCa'b' have some of their own."""
    is_pair = len(text) > 1 and text[0] == text[-1] and text[0] in _QUOTES
    return text[1:-1] if is_pair else text


def _numbers(entries: Sequence[str]) -> Floats:
    """Entries as numbers, NaN where they are none."""
    numbers = [real_number(entry) for entry in entries]
    return np.array([math.nan if number is None else number for number in numbers])


def whole_number(text: str) -> int | None:
    """The number of a node, also written as 7.0 or 7e0."""
    if _WHOLE.fullmatch(text):
        return int(text)
    number = real_number(text)
    is_whole = number is not None and 0 <= number < 2**53 and number == int(number)
    return int(number) if number is not None and is_whole else None


def node_place(name: str, places: Mapping[str, int]) -> int | None:
    """The place of a node, whose number may be written as 7, 07 or 7.0."""
    place = places.get(name)
    number = whole_number(name) if place is None else None
    return place if number is None else places.get(str(number))


def driven_nodes(
    mask: Any, labels: Sequence[Any], *, lists: Sequence[str]
) -> tuple[NDArray[Any], list[Note]]:
    """The mask of nodes in a mapping, a text or a file (``lists``); a note on unknown ones."""
    places = {str(label): k for k, label in enumerate(labels)}
    weights, where, notes = {}, "`mask`", list[Note]()
    if isinstance(mask, Mapping):
        weights = {str(name): weight for name, weight in mask.items()}
    else:
        names = [str(mask)] if isinstance(mask, str | os.PathLike) else [*map(str, mask)]
        if isinstance(mask, str) and mask not in places:  # names may have commas in them
            names = [part.strip() for part in mask.split(",")]
        weights = dict.fromkeys(names, 1.0)
        may_be_file = isinstance(mask, os.PathLike) or (
            isinstance(mask, str) and (ending_of(mask) in lists or Path(mask).is_file())
        )
        if may_be_file and any(node_place(name, places) is None for name in names):
            file = readable(mask)
            weights, notes = _nodes_of_file(file, places)
            where = f"{file}:"
    driven: dict[int, Any] = {}
    for name, weight in weights.items():
        place = node_place(name, places)
        if place is None:
            near = difflib.get_close_matches(name, places, 1)
            meant = f"; did you mean {near[0]!r}?" if near else ", nor is there such a file."
            raise NetworkFileError(
                f"`mask` must name nodes of the network, {labels[0]!r} … {labels[-1]!r}, got "
                f"{name!r}, which is none of them{meant}"
            )
        if place in driven:
            raise NetworkFileError(f"{where} must name each node once, got {name!r} twice.")
        driven[place] = weight
    return node_mask(driven, len(places)), notes


def _nodes_of_file(file: Path, places: Mapping[str, int]) -> tuple[dict[str, float], list[Note]]:
    """The nodes in a file that the network has, and a note on the others."""
    listed = listed_nodes(file, places)
    unknown = [name for name in listed if node_place(name, places) is None]
    if len(unknown) == len(listed):
        raise _fault(file, "unknown", label=next(iter(places)), name=unknown[0])
    few = ", ".join(unknown[:5]) + ", …" * (len(unknown) > 5)
    facts = {"listed": counted(len(listed), "node"), "file": file.name, "few": few}
    notes = [note("unknown_nodes", count=len(unknown), **facts)] if unknown else []
    return {name: listed[name] for name in listed if name not in {*unknown}}, notes


def listed_nodes(file: Path, places: Mapping[str, int]) -> dict[str, float]:
    """Read nodes, one per line, each with a weight or not; known names may have blanks."""
    weights: dict[str, float] = {}
    with reading(file):
        separator = separator_of([line for _, line in islice(content_lines(file), 20)])
        for number, line in content_lines(file):
            fields = [line.strip('"')]
            if separator is not None or node_place(fields[0], places) is None:
                fields = fields_of(line, separator)
            name, *rest = fields
            weight = real_number(rest[0]) if rest else 1.0
            if weight is None and not weights and node_place(name, places) is None:
                continue  # a header
            if len(rest) > 1 or weight is None or not math.isfinite(weight) or is_missing(name):
                raise _fault(file, "line", number=number, line=line)
            if name in weights:
                raise _fault(file, "again", name=name, number=number)
            weights[name] = weight
    if not weights:
        raise _fault(file, "empty")
    return weights


def node_mask(weights: Mapping[int, Any], size: int) -> NDArray[Any]:
    """The mask of nodes with their weights, one for each or one per input; 0 at the others."""
    values = exact_array(list(weights.values()), "mask")
    if values.size == 0:
        raise ValueError("`mask` must name at least one node, got none; name some.")
    C = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    C[list(weights)] = values
    return C
