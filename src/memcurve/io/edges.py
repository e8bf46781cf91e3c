"""Edge lists as text: names of nodes, and a sparse A.

An edge source → target of weight w means that the source drives the target: A[target, source] = w.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import require_room, require_room_for_array
from memcurve.core.notes import Note, counted
from memcurve.core.types import Floats
from memcurve.io.arrays import Array, Graph, NetworkFileError, ending_of, reading
from memcurve.io.graphs import DIRECTION, unused_note
from memcurve.io.nodes import whole_number
from memcurve.io.text import Batch, Text, has_decimal_comma, is_missing, real_number

#: Endings of text that lists edges, whatever it looks like.
LISTS = (".edges", ".edgelist")
#: Peak memory of an edge and of a node, as measured. Doubled: half as large networks are refused.
_BYTES_PER_EDGE = 64
_BYTES_PER_NODE = 250
#: Bytes of a name that is read as words of 8; longer ones take twice the time.
_NAME = 24
#: Odd numbers, drawn at random: the hash of a name is the sum of its words times these.
_MULTIPLIERS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0xD6E8FEB86659FD93], np.uint64)
#: Names of columns, by the words in them.
_SOURCE = ("source", "src", "from", "pre", "presynaptic", "origin")
_TARGET = ("target", "tgt", "to", "post", "postsynaptic", "dst", "destination")
_WEIGHT = ("weight", "weights", "w", "synapses", "strength", "count", "value", "nbr", "connections")
#: What nodes may be called in a header that numbers them, Neuron 1 and Neuron 2, Node A and Node B.
_KINDS = ("node", "neuron", "cell", "region", "roi", "area", "vertex", "id", "name", "label")
_NUMBERED = [(kind + first, kind + last) for kind in _KINDS for first, last in ("12", "ab", "ij")]
#: May be a thousand and more as well, where no semicolons hint at a decimal comma.
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}")
_NUMBER = re.compile(r"\(?[+-]?[\d.,][\d.,eE+-]*[ij]?\)?")

#: What is wrong with a line, or with the columns, by kind.
_FAULTS = {
    "no node": "line {number} has no {what}, got {field!r}; name it, or remove the line.",
    "negative": "line {number} has the {what} {field}; number nodes from 0 on, or remove what "
    "marks an unknown node.",
    "no weight": "line {number} has no weight, got {field!r}; write one, or remove the line.",
    "thousands": "line {number} has the weight {field}, which may be {as_integer} or {as_decimal}; "
    "write numbers with a decimal point, and thousands without a sign.",
    "no number": "line {number} has the weight {field!r}, which is not a number; write numbers "
    "with a decimal point; name another column by `matrix`.",
    "infinite": "line {number} has the weight {field}; give a finite one, or remove the line.",
    "braces": "has attributes in braces, as networkx.write_edgelist writes them; write it with "
    "networkx.write_weighted_edgelist or write_graphml.",
    "column": "must have a column {column!r} for `matrix`, which names the weights of edges; "
    "{listed}.",
    "ends": "must have the columns source, target and, optionally, weight; got {width} column(s) "
    "without a header that names them. Write one edge per line, or such a header.",
    "empty": "holds no edges below its header; write some.",
    "names": "must name the same nodes, each once and in the same order, above and before the "
    "numbers; got {rows} rows and {columns} columns. Leave out names that are not those of nodes.",
}


def open_text(file: Path, *, edges: bool | None = None, weight: str | None = None) -> Array | Graph:
    """Open a text as what it is, edges or a matrix, unless that is given."""
    text = Text(file)
    if is_list(text) if edges is None else edges:
        with reading(file):
            return _EdgeTable(text, weight).graph()
    return _read_labelled(text) if _are_labels(text.top[0], text.top[1:]) else text.matrix()


def counts_nodes(text: Text) -> bool:
    """Whether the first two columns could be nodes: names, or numbers, as a matrix has too."""
    nodes = [field for row in _header(text)[1] for field in row[:2]]
    are_nodes = (
        whole_number(node.removeprefix("-")) is not None or _is_name(node) for node in nodes
    )
    return text.width in (2, 3) and all(are_nodes)


def is_list(text: Text) -> bool:
    """Whether these are edges, not a matrix: by names, or by more rows than a matrix has."""
    names, rows, _ = _header(text)
    if ending_of(text.file).removesuffix(".gz") in LISTS:
        return True
    if _are_labels(text.top[0], text.top[1:]):
        return False
    if _ends(names):
        return True
    if text.width not in (2, 3):
        return False
    named = [row for row in rows if any(map(_is_name, row[:2]))]
    if 2 * len(named) > len(rows):
        weighted = [row for row in named if len(row) > 2 and real_number(row[2]) is not None]
        return len(named) > 1 or bool(weighted)
    return counts_nodes(text) and len(rows) > text.width


def _header(text: Text) -> tuple[list[str], list[list[str]], int]:
    """Names of the columns, if any, the first rows below them, and how many rows the names take."""
    first, *below = text.top
    if _is_header(first, below) or _are_labels(first, below):
        return first, below, 1
    is_above = len(text.above) == len(first) and _ends(text.above)
    return (text.above if is_above else []), text.top, 0


def _is_header(first: list[str], below: list[list[str]]) -> bool:
    """Whether a line names columns: by its words, or by words above numbers."""
    if any(real_number(field) is not None for field in first):
        return False
    if ends := _ends(first):
        others = {_word(row[k])[:-1] for row in below for k in ends if k < len(row)}
        # node1 above node2 and node3 is a node
        return ends != _numbered(first) or _word(first[ends[0]])[:-1] not in others
    under = below[0] if below else []
    numbers = [real_number(field) is not None for field in under]
    # a weight that cannot be read, 1_0 or none, is an error, not the name of its column
    is_word = all(field[:1].isalpha() and not is_missing(field) for field in first[2:3])
    if not numbers or len(under) != len(first) or not is_word:
        return False
    return numbers[2:3] == [True] or all(numbers)


def _are_labels(first: list[str], below: list[list[str]]) -> bool:
    """Whether a line names the rows below it, after a corner that is not a number."""
    named = [label for label, _ in zip(first[1:], below, strict=False)]
    return len(named) > 1 and real_number(first[0]) is None and [row[0] for row in below] == named


def _ends(names: list[str]) -> list[int]:
    """The columns called source and target, or whatever else these are called."""
    columns = range(len(names))
    ends = [_first(names, words, columns) for words in (_SOURCE, _TARGET)]
    both = [k for k in ends if k is not None]
    return both if len({*both}) == 2 else _numbered(names)


def _numbered(names: list[str]) -> list[int]:
    """The columns of nodes that a header numbers."""
    words = [_word(name) for name in names]
    pairs = ([words.index(first), words.index(last)] for first, last in _NUMBERED
             if first in words and last in words)  # fmt: skip
    return next(pairs, [])


def _word(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


def _first(names: list[str], words: Sequence[str], among: Iterable[int]) -> int | None:
    """The first column whose name has one of these words, the first word that there is."""
    parts = {k: re.split(r"[\W_]+", names[k].lower()) for k in among if k < len(names)}
    return next((k for word in words for k, part in parts.items() if word in part), None)


def _is_name(field: str) -> bool:
    """Whether it is text, and not a number of any kind: missing, complex, with a decimal comma."""
    return not (is_missing(field) or real_number(field) is not None or _NUMBER.fullmatch(field))


def _fault(file: Path, kind: str, **facts: Any) -> NetworkFileError:
    return NetworkFileError(f"{file}: {_FAULTS[kind].format(**facts)}")


def _read_labelled(text: Text) -> Graph:
    """Read a matrix with the names of its nodes above and before it, as pandas and Excel do."""
    labels, rows, blocks = tuple(text.top[0][1:]), list[str](), list[NDArray[Any]]()
    with reading(text.file):
        require_room_for_array((len(labels), len(labels)), f"the matrix in {text.file}")
        for batch in text.batches(1):
            rows += text.columns(batch)[0]
            if (*rows,) == labels[: len(rows)]:
                blocks.append(text.numbers(batch, range(1, text.width), is_table=False))
    if (*rows,) != labels or len({*labels}) < len(labels):
        raise _fault(text.file, "names", rows=len(rows), columns=len(labels))
    note = f"read as a matrix of {len(labels):,} nodes with their names: A[row, column], the node "
    note += "of the column drives that of the row; transpose it where rows are sources"
    return Graph(text.file, np.concatenate(blocks), labels, (Note("network", note),))


class _Codes(dict[str, int]):
    """Numbers of nodes in the order in which they are first met; each name is checked once."""

    def __missing__(self, name: str) -> int:
        if is_missing(name) or (name.startswith("-") and real_number(name) is not None):
            raise KeyError(name)
        self[name] = len(self)
        return len(self) - 1


class _EdgeTable:
    """An edge list as it is read, a batch of lines at a time."""

    def __init__(self, text: Text, weight: str | None) -> None:
        self.text, self.file, self.codes = text, text.file, _Codes()
        self.names, rows, self.skip = _header(text)
        row = rows[0] if rows else []
        if row and row[-1].endswith("}"):
            raise _fault(self.file, "braces")
        if weight is not None and weight not in self.names:
            columns = f"its columns are {', '.join(self.names)}"
            listed = columns if self.names else "it has no header"
            raise _fault(self.file, "column", column=weight, listed=listed)
        self.ends = _ends(self.names) or ([0, 1] if text.width in (2, 3) else [])
        if not self.ends:
            raise _fault(self.file, "ends", width=text.width)
        # pandas writes its index as a column without a name
        self.others = [
            k for k in range(text.width) if k not in self.ends and (not self.names or self.names[k])
        ]
        self.weight = _first(self.names, _WEIGHT, self.others)
        if weight is not None:
            self.weight = self.names.index(weight)
        elif self.weight is None and len(self.others) == 1:
            only = self.others[0]
            is_weight = not self.names or (len(row) > only and self._is_number(row[only]))
            self.weight = only if is_weight else None

    def graph(self) -> Graph:
        """Read all of it; nodes are in the order of their numbers, or else of their names."""
        from scipy.sparse import coo_array

        batches, count = [], 0
        for batch in self.text.batches(self.skip):
            batches.append(self._read_plain(batch) or self._read(batch))
            count += len(batch.lines)
            at_least = count + batch.rows_left
            need = _BYTES_PER_EDGE * at_least + _BYTES_PER_NODE * len(self.codes)
            what = f"{self.file} is too large: a network of {at_least:,} edges and more"
            require_room(need, what, "Take the part that matters, e.g. the strongest edges.")
        if count == 0:
            raise _fault(self.file, "empty")
        labels, order = _labels(self.codes)
        source, target = order[np.concatenate([ends for ends, _ in batches], axis=1)]
        weights, size = np.concatenate([weights for _, weights in batches]), len(labels)
        del batches
        # sums what is there twice
        A = coo_array((weights, (target, source)), shape=(size, size)).tocsr()
        return Graph(self.file, A, labels, tuple(self._notes(A, count)))

    def _read_plain(self, batch: Batch) -> tuple[NDArray[np.int32], Floats] | None:
        """As `_read`, without a Python object per field; None where some need a closer look."""
        kinds = [f"S{_NAME}" if k in self.ends else "S1" for k in range(self.text.width)]
        if self.weight is not None:
            kinds[self.weight] = "f8"
        rows = self.text.parsed(batch, [(str(k), kind) for k, kind in enumerate(kinds)])
        if rows is None or self.weight in self.ends:
            return None
        weights = np.ones(len(rows)) if self.weight is None else rows[str(self.weight)].copy()
        names = np.concatenate([rows[str(k)] for k in self.ends])
        is_long = names.view(np.uint8)[_NAME - 1 :: _NAME].any()  # and may be cut off
        words = names.view(np.uint64).reshape(len(names), -1)
        keys, which = np.unique(words @ _MULTIPLIERS, return_inverse=True)
        places = np.empty(len(keys), int)
        places[which] = np.arange(len(names))  # one of each name
        if is_long or not np.isfinite(weights).all() or (words[places[which]] != words).any():
            return None
        try:
            codes = self._coded([name.decode().strip() for name in names[places].tolist()])
        except KeyError:
            return None
        return codes[which].reshape(2, -1), weights

    def _read(self, batch: Batch) -> tuple[NDArray[np.int32], Floats]:
        """Codes of sources and targets (2, n), and weights, of some lines."""
        numbers, columns = batch.numbers, self.text.columns(batch)
        ends, weights = np.empty((2, len(numbers)), np.int32), np.ones(len(numbers))
        for k, what in enumerate(("source", "target")):
            nodes = columns[self.ends[k]]
            try:
                ends[k] = self._coded(nodes)
            except KeyError as error:
                name = error.args[0]
                kind = "no node" if is_missing(name) else "negative"
                number = numbers[nodes.index(name)]
                raise _fault(self.file, kind, number=number, what=what, field=name) from None
        if self.weight is not None:
            weights[:] = [*map(self._weight, numbers, columns[self.weight])]
        return ends, weights

    def _coded(self, names: list[str]) -> NDArray[np.int32]:
        return np.fromiter(map(self.codes.__getitem__, names), np.int32, len(names))

    def _is_number(self, field: str) -> bool:
        """Whether a field is a number, which may have a decimal comma where that is free."""
        has_comma = self.text.separator != "," and has_decimal_comma(field)
        return has_comma or real_number(field) is not None

    def _weight(self, number: int, field: str) -> float:
        value, kind = real_number(field), "infinite"
        if value is not None and math.isfinite(value):
            return value
        if is_missing(field):
            kind, value = "no weight", None
        elif value is None and self._is_number(field):  # with a decimal comma
            kind = "thousands"
            if self.text.separator == ";" or not _THOUSANDS.fullmatch(field):
                value = float(field.replace(",", "."))
        elif value is None:
            kind = "no number"
        if value is None or not math.isfinite(value):
            readings = {"as_integer": field.replace(",", ""), "as_decimal": field.replace(",", ".")}
            raise _fault(self.file, kind, number=number, field=field, **readings)
        return value

    def _notes(self, A: Any, count: int) -> Iterable[Note]:
        from scipy.sparse.csgraph import connected_components

        size, names = A.shape[0], self.names
        weights = "each of weight 1" if self.weight is None else "with their weights"
        if self.weight is None and names and self.others:
            weights += " (none of the other columns is called weight, or named by `matrix`)"
        if names and self.weight is not None:
            weights = f"with weights from column {names[self.weight]}"
        header = f"below the header {', '.join(names)}, " if names else ""
        text = (
            f"read as {counted(count, 'edge')} between {counted(size, 'node')}, {header}{weights}"
        )
        text += f": {DIRECTION}"
        if size < len(self.codes):
            text += "; numbers of nodes that are written in several ways are taken as the same"
        yield Note("network", text)
        yield from unused_note(
            "columns", [names[k] for k in self.others if names and k != self.weight]
        )
        if count > A.nnz:
            text = f"{counted(count - A.nnz, 'duplicate edge')}: their weights were summed"
            yield Note("network", text)
        if size <= A.nnz and connected_components(A, connection="strong")[0] == size:
            text = (
                "the graph has no cycle of several nodes: list undirected edges in both directions"
            )
            yield Note("network", text)


def _labels(codes: dict[str, int]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Names in order, and the place there of each; of numbers, 7, 07 and 7.0 are the same."""
    numbers = [whole_number(name) for name in codes]
    keys: list[Any] = [*codes] if None in numbers else numbers
    order = sorted(set(keys))
    place = {key: k for k, key in enumerate(order)}
    return tuple(map(str, order)), np.array([place[key] for key in keys], np.int32)
