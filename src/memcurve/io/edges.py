"""Edge lists as text, and graphs by networkx (.graphml, .gml): names of nodes, and a sparse A.

An edge source → target of weight w means that the source drives the target: A[target, source] = w.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import exact_array
from memcurve.io.arrays import Array, Graph, NetworkFileError, ending_of, reading
from memcurve.io.tables import (
    BYTE_ORDER_MARK,
    DECIMAL_COMMA,
    comment_above,
    content_lines,
    fields_of,
    is_missing,
    open_bytes,
    open_lines,
    open_matrix,
    real_number,
    separator_of,
)
from memcurve.limits import require_room
from memcurve.notes import Note, counted
from memcurve.optional import optional
from memcurve.types import Floats

#: Endings of text that lists edges, whatever it looks like.
LISTS = (".edges", ".edgelist")
#: Lines of a text, by which it is told what it is.
_TOP = 20
#: Bytes read at a time: the lines of one block are Python objects, ten times as large.
_BLOCK = 2**22
#: Bytes of a line; beyond it a packed file may be a decompression bomb.
_LONGEST = 2**24
#: Peak memory of an edge and of a node, as measured; of a graph of networkx by byte of its file.
_EDGE, _NODE, _GRAPH_BYTE = 64, 250, 20
#: Names of columns, by the words in them.
_SOURCE = ("source", "src", "from", "pre", "presynaptic", "origin")
_TARGET = ("target", "tgt", "to", "post", "postsynaptic", "dst", "destination")
_WEIGHT = ("weight", "weights", "w", "synapses", "strength", "count", "value", "nbr", "connections")
#: What nodes may be called in a header that numbers them, Neuron 1 and Neuron 2, Node A and Node B.
_KINDS = ("node", "neuron", "cell", "region", "roi", "area", "vertex", "id", "name", "label")
_NUMBERED = [(kind + first, kind + last) for kind in _KINDS for first, last in ("12", "ab", "ij")]
#: May be a thousand and more as well, where semicolons do not tell of a decimal comma.
_THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}")
_NUMBER = re.compile(r"\(?[+-]?[\d.,][\d.,eE+-]*[ij]?\)?")
_WHOLE = re.compile(r"\+?\d{1,300}")  # Python reads no number of thousands of digits
_COMMENTS = (b"#", b"%")
#: Numbers of nodes with several names: 07 and +7 are 7 only where all names are numbers.
_SEVERAL_NAMES = re.compile(rb"(?<![\d.eE+-])(?:0\d|\+)")
_ORDER = "source drives target, A[target, source]"


@dataclass(frozen=True)
class Layout:
    """How the lines of a text are written, told by the first of them."""

    file: Path
    separator: str | None
    names: list[str] | None  # of the columns, where there is a header
    rows: list[list[str]]  # the first ones
    first: int  # number of the first line below the header

    @classmethod
    def of(cls, file: Path) -> Layout:
        """Look at the first lines."""
        with reading(file):
            top, size = list[tuple[int, bytes]](), 0
            for number, line in content_lines(file, b" \r\n", _COMMENTS):  # tabs: empty fields
                if line.strip():
                    top.append((number, line))
                    size += len(line)
                if len(top) == _TOP or size > _LONGEST:
                    break
            texts = [line.decode() for _, line in top]
            above = comment_above(file, top[0][0], _COMMENTS) if top else ""
        if not texts:
            raise NetworkFileError(
                f"{file}: holds no numbers and no edges; write one row, or one edge, a line."
            )
        separator = separator_of(texts)
        first, *below = (fields_of(text, separator) for text in texts)
        if _is_header(first, below) or _are_labels(first, below):
            return cls(file, separator, first, below, top[0][0] + 1)
        names = fields_of(above, separator)
        if len(names) == len(first) and _ends(names):
            return cls(file, separator, names, [first, *below], top[0][0])
        return cls(file, separator, None, [first, *below], top[0][0])

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.rows[0] if self.names is None else self.names)

    @property
    def counts_nodes(self) -> bool:
        """Whether the first two columns could be nodes: names, or numbers, as a matrix has too."""
        places = [field for row in self.rows for field in row[:2]]
        nodes = (_whole(place.removeprefix("-")) is not None or _is_name(place) for place in places)
        return self.width in (2, 3) and all(nodes)

    @property
    def is_labelled(self) -> bool:
        """Whether rows and columns of a matrix are named alike, as pandas and Excel write it."""
        return self.names is not None and _are_labels(self.names, self.rows)

    @property
    def is_list(self) -> bool:
        """Whether these are edges, not a matrix: by names, or by more rows than a matrix has."""
        if ending_of(self.file).removesuffix(".gz") in LISTS:
            return True
        if self.is_labelled or _ends(self.names or []):
            return not self.is_labelled
        if self.width not in (2, 3):
            return False
        named = [row for row in self.rows if any(map(_is_name, row[:2]))]
        if 2 * len(named) > len(self.rows):
            weighted = [row for row in named if len(row) > 2 and real_number(row[2]) is not None]
            return len(named) > 1 or bool(weighted)
        return self.counts_nodes and len(self.rows) > self.width

    def is_number(self, field: str) -> bool:
        """Whether a field is a number, which may have a decimal comma where that is free."""
        comma = self.separator != "," and DECIMAL_COMMA.fullmatch(field) is not None
        return comma or real_number(field) is not None

    def columns(self, weight: str | None) -> tuple[list[int], str]:
        """Places of source, target and weight (where there is one), and what to say about them."""
        names, row = self.names or [], self.rows[0] if self.rows else []
        if row and row[-1].endswith("}"):
            raise NetworkFileError(
                f"{self.file}: has attributes in braces, as networkx.write_edgelist writes them; "
                f"write it with networkx.write_weighted_edgelist or write_graphml."
            )
        if weight is not None and weight not in names:
            listed = f"its columns are {', '.join(names)}" if names else "it has no header"
            raise NetworkFileError(
                f"{self.file}: must have a column {weight!r} for `matrix`, which names the weights "
                f"of edges; {listed}."
            )
        ends = _ends(names) or ([0, 1] if self.width in (2, 3) else [])
        if not ends:
            raise NetworkFileError(
                f"{self.file}: must have the columns source, target and, if you like, weight; got "
                f"{self.width} column(s) without a header that names them. Write one edge a line, "
                f"or such a header."
            )
        # pandas writes its index as a column without a name
        rest = [k for k in range(self.width) if k not in ends and (not names or names[k])]
        found = names.index(weight) if weight is not None else _first(names, _WEIGHT, rest)
        if found is None and len(rest) == 1:
            is_number = not names or (len(row) > rest[0] and self.is_number(row[rest[0]]))
            found = rest[0] if is_number else None
        used = ends if found is None else [*ends, found]
        said = "each of weight 1" if found is None else "with their weights"
        if found is None and names and rest:
            said += " (none of the other columns is called weight, or named by `matrix`)"
        if names and found is not None:
            said = f"with weights from column {names[found]}"
        return used, f"below the header {', '.join(names)}, {said}" if names else said


def _unused(what: str, names: Sequence[str]) -> list[Note]:
    """What is said of columns, or attributes, that tell something else about edges."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    text = f"{what} of edges that were not used: {', '.join(names[:8])}{more}"
    return [Note("unused", text)] if names else []


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
    # a weight that cannot be read, 1_0 or none, is told, not taken for the name of its column
    if not numbers or len(under) != len(first) or not all(map(_starts_a_word, first[2:3])):
        return False
    return numbers[2:3] == [True] or all(numbers)


def _are_labels(first: list[str], below: list[list[str]]) -> bool:
    """Whether a line names the rows below it, behind a corner that is no number."""
    named = [label for label, _ in zip(first[1:], below, strict=False)]
    return len(named) > 1 and real_number(first[0]) is None and [row[0] for row in below] == named


def _starts_a_word(field: str) -> bool:
    return field[:1].isalpha() and not is_missing(field)


def _ends(names: list[str]) -> list[int]:
    """The columns called source and target, or whatever else these are called."""
    every = range(len(names))
    found = [_first(names, words, every) for words in (_SOURCE, _TARGET)]
    ends = [k for k in found if k is not None]
    return ends if len({*ends}) == 2 else _numbered(names)


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
    """Whether it is text, and no number of any kind: missing, complex, with a decimal comma."""
    return not (is_missing(field) or real_number(field) is not None or _NUMBER.fullmatch(field))


def _whole(text: str) -> int | None:
    """The number of a node, also written as 7.0 or 7e0."""
    if _WHOLE.fullmatch(text):
        return int(text)
    number = real_number(text)
    is_whole = number is not None and 0 <= number < 2**53 and number == int(number)
    return int(number) if number is not None and is_whole else None


def open_text(file: Path, *, edges: bool | None = None, weight: str | None = None) -> Array | Graph:
    """Open a text as what it is, edges or a matrix, unless that is given."""
    layout = Layout.of(file)
    if layout.is_list if edges is None else edges:
        return read_edges(file, weight)
    return _read_labelled(file, layout) if layout.is_labelled else open_matrix(file)


def _read_labelled(file: Path, layout: Layout) -> Graph:
    """Read a matrix with the names of its nodes above and before it."""
    names = layout.names or []
    labels = tuple(names[1:])
    with reading(file):
        lines = islice(content_lines(file, b" \r\n"), 1, None)
        rows = tuple(fields_of(line.decode(), layout.separator)[0] for _, line in lines)
    if rows != labels or len({*labels}) < len(labels):
        raise NetworkFileError(
            f"{file}: must name the same nodes, each once and in the same order, above and before "
            f"the numbers; got {len(rows)} rows and {len(labels)} columns. Leave the names out "
            f"where they are none of nodes."
        )
    array = open_matrix(file, labels=1)
    array.require_room()
    said = f"read as a matrix of {len(labels):,} nodes with their names: A[row, column], the node "
    said += "of the column drives that of the row; transpose it where rows are sources"
    return Graph(file, array.whole(), labels, (Note("network", said),))


def read_edges(file: Path, weight: str | None = None) -> Graph:
    """Read an edge list; the nodes are in the order of their numbers, or else of their names."""
    edges = _Edges(file, weight)
    with reading(file):
        return edges.graph()


class _Edges:
    """An edge list as it is read, block by block."""

    def __init__(self, file: Path, weight: str | None) -> None:
        self.file, self.layout = file, Layout.of(file)
        self.used, self._said = self.layout.columns(weight)
        names = enumerate(self.layout.names or [])
        self.unused = [name for place, name in names if name and place not in self.used]
        self._places: defaultdict[bytes, int] = defaultdict()
        self._places.default_factory = self._places.__len__  # a new name is given the next number
        self._count = 0

    def graph(self) -> Graph:
        """Read all of it."""
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import connected_components

        parts = list(self._parts())
        if self._count == 0:
            raise NetworkFileError(f"{self.file}: holds no edges below its header; write some.")
        labels, order, several = _labels(self._places)
        source, target = order[np.concatenate([ends for ends, _ in parts], axis=1)]
        weights, size = np.concatenate([part for _, part in parts]), len(labels)
        del parts
        # sums what is there twice
        A = coo_array((weights, (target, source)), shape=(size, size)).tocsr()
        said = f"read as {counted(self._count, 'edge')} between {counted(size, 'node')}, "
        said += f"{self._said}: {_ORDER}"
        if several:
            said += "; numbers of nodes that are written in several ways are taken for the same"
        notes = [Note("network", said), *_unused("columns", self.unused)]
        if self._count > A.nnz:
            twice = f"{counted(self._count - A.nnz, 'line')} more for edges that are listed already"
            notes.append(Note("network", f"{twice}: weights are summed"))
        if size <= A.nnz and connected_components(A, connection="strong")[0] == size:
            told = "no path leads back to where it began: undirected edges are to be listed in "
            notes.append(Note("network", f"{told}both directions"))
        return Graph(self.file, A, labels, tuple(notes))

    def _parts(self) -> Iterator[tuple[NDArray[np.int32], Floats]]:
        """Places of sources and targets, and weights, a block at a time."""
        size = None if self.file.suffix.lower() == ".gz" else self.file.stat().st_size
        read = 0
        for number, block in _blocks(self.file, self.layout.first):
            part = self._numbers(block) or self._fields(block) or self._lines(number, block)
            read += len(block)
            self._count += len(part[1])
            # the size of a plain file is known: what will not fit is refused at its first block
            expected = self._count if size is None else round(self._count * max(size / read, 1))
            need = _EDGE * expected + _NODE * len(self._places)
            about = "more than" if size is None else "about"
            what = f"{self.file} is too large: a network of {about} {expected:,} edges"
            require_room(need, what, "Take the part that matters, e.g. the strongest edges.")
            yield part

    def _numbers(self, block: bytes) -> Any:
        """Columns of a block of nothing but numbers, quickly; None where there is more to it."""
        separator, gaps = self.layout.separator, self.layout.width - 1
        if block.isspace() or any(sign in block for sign in (b'"', *_COMMENTS)):
            return None
        if _SEVERAL_NAMES.search(block):
            return None
        if separator is None and self.used != [*range(gaps + 1)]:
            return None
        if separator is not None and block.count(separator.encode()) != gaps * block.count(b"\n"):
            return None
        kinds = [("source", np.int64), ("target", np.int64), ("weight", np.float64)]
        try:
            rows = np.loadtxt(
                block.decode("ascii").split("\n"),
                kinds[: len(self.used)],
                delimiter=separator,
                usecols=None if separator is None else self.used,
                ndmin=1,
            )
        except (ValueError, DeprecationWarning):  # text, ragged lines, 7.0 for 7
            return None
        weights = rows["weight"].copy() if len(self.used) == 3 else np.ones(len(rows))
        both = np.concatenate([rows["source"], rows["target"]])
        if not np.isfinite(weights).all() or (both < 0).any():
            return None
        nodes, inverse = np.unique(both, return_inverse=True)
        texts = [b"%d" % node for node in nodes.tolist()]
        return self._codes(texts)[inverse].reshape(2, -1), weights

    def _fields(self, block: bytes) -> Any:
        """Columns of a block of plain lines; None where some line needs a closer look."""
        width, separator = self.layout.width, (self.layout.separator or " ").encode()
        signs = [b'"', *_COMMENTS]
        if self.layout.separator is None:
            signs += [b"  ", b"\t", b"\n ", b" \n"]
        if any(sign in block for sign in signs):
            return None
        characters = np.frombuffer(block, np.uint8)
        ends, counted = characters == ord("\n"), np.cumsum(characters == ord(separator))
        if (np.diff(counted[ends], prepend=0) != width - 1).any():
            return None
        fields = block[:-1].replace(b"\n", separator).split(separator)
        if separator != b" " and (b" " in block or b"\t" in block):
            fields = [field.strip() for field in fields]
        weights, texts = np.ones(len(fields) // width), [b""]
        if len(self.used) > 2:
            texts = fields[self.used[2] :: width]
            try:
                weights = np.fromiter(map(float, texts), float, len(texts))
            except ValueError:
                return None
        if not np.isfinite(weights).all() or any(b"_" in text for text in texts):
            return None
        known = len(self._places)
        source, target = (fields[column::width] for column in self.used[:2])
        codes = self._codes(source + target).reshape(2, -1)
        new = islice(self._places, known, None)
        if any(is_missing(name.decode()) or name.startswith(b"-") for name in new):
            return None
        return codes, weights

    def _lines(self, first: int, block: bytes) -> Any:
        """Columns of a block of any lines; whatever is wrong is told with its line."""
        names: list[list[bytes]] = [[], []]
        weights: list[float] = []
        for number, line in enumerate(block.split(b"\n"), first):
            if not line.strip() or line.lstrip().startswith(_COMMENTS):
                continue
            row = self._row(number, line)
            names[0].append(row[0].encode())
            names[1].append(row[1].encode())
            weights.append(self._weight(number, row[2]) if len(row) > 2 else 1.0)
        return self._codes(names[0] + names[1]).reshape(2, -1), np.array(weights)

    def _row(self, number: int, line: bytes) -> list[str]:
        """Source, target and weight of a line, checked."""
        fields = fields_of(line.decode(), self.layout.separator)
        if len(fields) != self.layout.width:
            raise self._fault(
                number,
                f"has {len(fields)} fields, the first line {self.layout.width}",
                "give all lines the same number of fields",
            )
        row = [fields[column] for column in self.used]
        for what, node in zip(("source", "target"), row[:2], strict=True):
            if is_missing(node):
                raise self._fault(number, f"has no {what}, got {node!r}", "name it, or remove it")
            if node.startswith("-") and real_number(node) is not None:
                raise self._fault(
                    number,
                    f"has the {what} {node}",
                    "number nodes from 0 on, or remove what marks an unknown node",
                )
        return row

    def _weight(self, number: int, field: str) -> float:
        if is_missing(field):
            raise self._fault(number, f"has no weight, got {field!r}", "write one, or remove it")
        value = real_number(field)
        if value is None and self.layout.is_number(field):  # with a decimal comma
            if self.layout.separator != ";" and _THOUSANDS.fullmatch(field):
                raise self._fault(
                    number,
                    f"has the weight {field}, which may be {field.replace(',', '')} or "
                    f"{field.replace(',', '.')}",
                    "write numbers with a decimal point, and thousands without a sign",
                )
            value = float(field.replace(",", "."))
        if value is None:
            raise self._fault(
                number,
                f"has the weight {field!r}, which is not a number",
                "write numbers with a decimal point; name another column by `matrix`",
            )
        if not np.isfinite(value):
            raise self._fault(number, f"has the weight {field}", "give a finite one, or remove it")
        return value

    def _fault(self, number: int, problem: str, remedy: str) -> NetworkFileError:
        return NetworkFileError(f"{self.file}: line {number} {problem}; {remedy}.")

    def _codes(self, names: list[bytes]) -> NDArray[np.int32]:
        """Numbers of nodes in the order in which they were first met."""
        return np.fromiter(map(self._places.__getitem__, names), np.int32, len(names))


def _blocks(file: Path, first: int) -> Iterator[tuple[int, bytes]]:
    """Whole lines from the first one on, with its number, some megabytes at a time."""
    number, rest = first, b""
    with open_lines(file) as stream:
        for _ in range(first - 1):
            stream.readline()
        while read := stream.read(_BLOCK):
            block = rest + (read.removeprefix(BYTE_ORDER_MARK) if number == 1 else read)
            cut = block.rfind(b"\n") + 1
            rest = block[cut:]
            if len(rest) > _LONGEST:
                number += block.count(b"\n")
                raise NetworkFileError(
                    f"{file}: line {number} is longer than {_LONGEST:,} bytes; write one edge a "
                    f"line."
                )
            if cut:
                yield number, block[:cut].replace(b"\r\n", b"\n")
                number += block.count(b"\n")
    if rest.strip():
        yield number, rest.replace(b"\r\n", b"\n") + b"\n"


def _labels(places: Mapping[bytes, int]) -> tuple[tuple[str, ...], NDArray[np.int32], bool]:
    """Names in order, the place there of each, and whether some were merged.

    Where all of them are whole numbers, 7, 07 and 7.0 are the same.
    """
    names = [name.decode() for name in places]
    numbers = [_whole(name) for name in names]
    keys: list[Any] = names if None in numbers else numbers
    order = sorted(set(keys))
    place = {key: k for k, key in enumerate(order)}
    labels = tuple(map(str, order))
    return labels, np.array([place[key] for key in keys], np.int32), len(order) < len(names)


def read_graph(file: Path, weight: str | None = None) -> Graph:
    """Read a GraphML or GML file; nodes go by their attribute label or name, if all have one."""
    graph = _opened_graph(file)
    given, attribute = _graph_names(graph)
    asked, weight = weight is not None, weight or "weight"
    try:
        A = graph_matrix(graph, weight)
    except (TypeError, ValueError) as error:
        raise NetworkFileError(
            f"{file}: the attribute {weight!r} of edges must hold finite numbers; name another one "
            f"by `matrix`. ({error})"
        ) from error
    lacking = sum(weight not in data for *_, data in graph.edges(data=True))
    names = list(dict.fromkeys(name for *_, data in graph.edges(data=True) for name in data))
    if asked and lacking and lacking == graph.number_of_edges():
        raise NetworkFileError(
            f"{file}: must have an attribute {weight!r} for `matrix`, which names the weights of "
            f"edges; they have {', '.join(names) or 'none'}."
        )
    ones = f", {lacking:,} of them without a weight: these weigh 1" if lacking else ""
    both = "" if graph.is_directed() else ", each in both directions"
    said = f"read as {counted(graph.number_of_edges(), 'edge')}{both} between "
    said += f"{counted(len(given), 'node')}, named by"
    note = Note("network", f"{said} their {attribute}{ones}: {_ORDER}")
    unused = _unused("attributes", [name for name in names if name not in (weight, "id")])
    return Graph(file, A, tuple(given), (note, *unused))


def read_node_attributes(file: Path) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """The nodes of a GraphML or GML file, and what is known of them, as text."""
    graph = _opened_graph(file)
    every = [data for _, data in graph.nodes(data=True)]
    attributes = dict.fromkeys(attribute for data in every for attribute in data)
    columns = {name: tuple(str(data.get(name, "")) for data in every) for name in attributes}
    return tuple(_graph_names(graph)[0]), columns


def _opened_graph(file: Path) -> Any:
    networkx = optional("networkx", f"{file}: reading it", "adapters")
    plain = file.suffix.lower() != ".gz"
    size = file.stat().st_size if plain else _unpacked(file)
    require_room(_GRAPH_BYTE * size, f"{file} is too large: it", "Write it as a list of edges.")
    with reading(file), open_bytes(file) as stream:
        if ending_of(file).startswith(".graphml"):
            graph = networkx.read_graphml(stream)
        else:
            graph = networkx.read_gml(stream, label="id")
    if not len(graph):
        raise NetworkFileError(f"{file}: has no nodes; write it again.")
    return graph


def _graph_names(graph: Any) -> tuple[list[str], str]:
    """What the nodes of a graph are called, and which attribute tells."""
    for attribute in ("label", "name"):
        given = [str(data.get(attribute, "")) for _, data in graph.nodes(data=True)]
        if "" not in given and len({*given}) == len(given):
            return given, attribute
    return node_names(graph.nodes), "id"


def _unpacked(file: Path) -> int:
    """Bytes of a packed file, counted."""
    with reading(file), open_bytes(file) as stream:
        return sum(map(len, iter(lambda: stream.read(_BLOCK), b"")))


def graph_matrix(graph: Any, weight: str | None) -> Any:
    """A of a networkx graph, sparse; edges without the attribute weigh 1, parallel ones add up."""
    from networkx import to_scipy_sparse_array

    directed = graph.to_directed(as_view=True)
    weights = [value for *_, value in directed.edges(data=weight, default=1.0)]
    dtype = exact_array(weights, f"edge attribute {weight}").dtype
    return to_scipy_sparse_array(directed, dtype=dtype, weight=weight).T


def node_names(nodes: Iterable[Any]) -> list[str]:
    """Nodes of any kind as text, each its own."""
    listed = list(nodes)
    names = [str(node) for node in listed]
    return names if len({*names}) == len(names) else [repr(node) for node in listed]


#: Weights of nodes by their names.
Weights = dict[str, float]


def listed_nodes(file: Path, places: Mapping[str, int]) -> Weights:
    """Read a list of nodes, one a line, a second column their weights (else 1).

    ``places`` has the names that there are: a name may have blanks in it.
    """
    found: Weights = {}
    count = 0
    with reading(file):
        lines = content_lines(file)
        top = list(islice(lines, _TOP))
        separator = separator_of([line.decode() for _, line in top])
        for at, (number, line) in enumerate(chain(top, lines)):
            text = line.decode()
            fields = [text.strip('"')]
            if separator is not None or node_place(fields[0], places) is None:
                fields = fields_of(text, separator)
            weight = real_number(fields[1]) if len(fields) == 2 else None
            is_pair = weight is None and len(fields) == 2
            if is_pair and at == 0 and node_place(fields[0], places) is None:
                continue  # a header
            if len(fields) > 2 or is_pair or is_missing(fields[0]):
                raise NetworkFileError(
                    f"{file}: line {number} must be a node, or a node and its weight; got {text!r}."
                )
            weight, count = 1.0 if weight is None else weight, count + 1
            if not math.isfinite(weight):
                raise NetworkFileError(
                    f"{file}: line {number} must have a finite weight; got {text!r}."
                )
            if found.setdefault(fields[0], weight) != weight:
                raise NetworkFileError(
                    f"{file}: line {number} names {fields[0]} again, with another weight; leave "
                    f"one out."
                )
            require_room(_NODE * len(found), f"{file} is too large: it", "List fewer nodes.")
    if not found:
        raise NetworkFileError(f"{file}: names no nodes; write one a line.")
    if len(found) < count == len(places):
        raise NetworkFileError(
            f"{file}: must name each node once; its {count} lines, one a node, have "
            f"{len(found)} names. If they are the numbers of a mask, give it as mask='C.npy'."
        )
    return found


def node_place(name: str, places: Mapping[str, int]) -> int | None:
    """The place of a node, whose number may be written as 7, 07 or 7.0."""
    place = places.get(name)
    number = _whole(name) if place is None else None
    return place if number is None else places.get(str(number))


def node_mask(weights: Mapping[int, Any], size: int) -> NDArray[Any]:
    """The mask of nodes with their weights, one each or one an input; 0 at the others."""
    values = exact_array(list(weights.values()), "mask")
    if values.size == 0:
        raise ValueError("`mask` must name at least one node, got none; name some.")
    C = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    C[list(weights)] = values
    return C
