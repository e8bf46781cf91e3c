"""Lists of edges, as text, tables of pyarrow or graphs of networkx: names of nodes, and a sparse A.

An edge source → target of weight w means that the source drives the target: A[target, source] = w.
Every format gives an :class:`EdgeList`, of which :func:`assembled` makes the graph.
"""

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import exact_array, require_number
from memcurve.core.limits import require_room, require_room_for_array
from memcurve.core.notes import Note, counted
from memcurve.core.types import Floats
from memcurve.io.arrays import Array, Graph, NetworkFileError, ending_of, fault_error, note, reading
from memcurve.io.arrow import distinct, open_arrow
from memcurve.io.graphs import graph_labels, networkx_graph
from memcurve.io.nodes import NodeTable, load_nodes, whole_number
from memcurve.io.text import Text, is_missing, is_number, real_number

#: Endings of text that lists edges, whatever it looks like.
LISTS = (".edges", ".edgelist")
#: Peak memory of an edge and of a node, as measured. Doubled: half as large networks are refused.
_BYTES_PER_EDGE = 64
_BYTES_PER_NODE = 250
#: Rows of a table of pyarrow that are read at a time. Doubled: a little faster, 100 MB more.
_ROWS = 2**21
#: Blocks of text that are read at a time. Doubled: a tenth faster, 200 MB more.
_BLOCKS = 16
#: Transmitters of flies that inhibit: GABA, histamine (Hardie 1989), and glutamate, by its chloride
#: channels (Liu and Wilson 2013, PNAS 110:10294); the others are taken as excitatory, as by Shiu et
#: al. (2024, Nature 634:210).
INHIBITORY = ("gaba", "glutamate", "glut", "glu", "histamine", "hist", "his")
#: Words in the name of a column that tells transmitters.
_TRANSMITTER = ("nt", "transmitter", "neurotransmitter", "consensusnt", "predictednt")
#: Names of columns, by the words in them.
_SOURCE = ("source", "src", "from", "pre", "presynaptic", "origin", "start")
_TARGET = ("target", "tgt", "to", "post", "postsynaptic", "dst", "destination", "end")
_WEIGHT = ("weight", "weights", "w", "synapses", "strength", "count", "value", "nbr", "connections")
#: What nodes may be called in a header that numbers them, Neuron 1 and Neuron 2, Node A and Node B.
_KINDS = ("node", "neuron", "cell", "region", "roi", "area", "vertex", "id", "name", "label")
_NUMBERED = [(kind + first, kind + last) for kind in _KINDS for first, last in ("12", "ab", "ij")]
_NUMBER = re.compile(r"\(?[+-]?[\d.,][\d.,eE+-]*[ij]?\)?")


@dataclass(frozen=True)
class EdgeOptions:
    """What is taken of a file, and how; as :func:`memcurve.load_network` takes it."""

    matrix: str | None = None
    edges: bool | None = None
    nodes: str | os.PathLike[str] | NodeTable | None = None
    where: str | None = None
    min_weight: float | None = None
    signs: str | None = None
    inhibitory: str | Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.where is not None and self.nodes is None:
            raise ValueError("`where` is a condition on a table of nodes; give it as `nodes`.")
        if self.min_weight is not None:
            require_number(self.min_weight, "min_weight", "at least 0", lambda number: number >= 0)
        if "" in self.negative:
            raise ValueError(
                f"`inhibitory` must name transmitters, e.g. GABA,glutamate, got "
                f"{self.inhibitory!r}."
            )

    @cached_property
    def table(self) -> NodeTable | None:
        """The table of nodes, as far as it is asked for."""
        if self.nodes is None:
            return None
        table = self.nodes if isinstance(self.nodes, NodeTable) else load_nodes(self.nodes)
        return table if self.where is None else table.selected(self.where)

    @property
    def negative(self) -> set[str]:
        """Transmitters that inhibit, in small letters."""
        given = INHIBITORY if self.inhibitory is None else self.inhibitory
        names = given.split(",") if isinstance(given, str) else given
        return {name.strip().lower() for name in names}

    @property
    def are_about_edges(self) -> bool:
        """Whether anything is asked for that only edges have."""
        return any(part is not None for part in (self.nodes, self.min_weight, self.signs))

    def nodes_with(self, text: Any, labels: Sequence[str] | None) -> list[str] | None:
        """The nodes for which a condition on the table holds, where the text is one; else None."""
        if self.table is None or labels is None or not isinstance(text, str) or text in labels:
            return None
        if not set(text) & set("=<>") or Path(text).is_file():
            return None
        return [labels[place] for place in self.table.places(text, labels)]


class EdgeList(NamedTuple):
    """Edges of a file, before anything is done to them."""

    labels: Sequence[str]
    ends: NDArray[Any]  # (2, n): places of sources and targets in labels
    weights: Floats
    transmitters: tuple[list[str], NDArray[Any]] | None  # names, and the place of each edge's


def open_text(file: Path, options: EdgeOptions) -> Array | Graph:
    """Open a text as what it is, edges or a matrix, unless that is given."""
    text = Text(file)
    if is_list(text) if options.edges is None else options.edges:
        with reading(file):
            return _read_list(text, options)
    return _read_labelled(text) if _are_labels(text.top[0], text.top[1:]) else text.matrix()


def _read_list(text: Text, options: EdgeOptions) -> Graph:
    """Read lines of text, each of them an edge."""
    names, rows, skip = _header(text)
    are_numbers = [is_number(field) for field in rows[0]] if rows else []
    edges = _Edges(
        text.file, names, text.width, lambda k: k < len(are_numbers) and are_numbers[k], options
    )
    numbers = [k for k in edges.taken if k == edges.weight]
    words = [k for k in edges.taken if k != edges.weight]
    for batch in text.batches(skip, blocks=_BLOCKS):
        columns = text.parsed(batch, numbers=numbers, names=words, has_empty=False)
        if columns is None or not edges.add_columns(columns):
            edges.add_fields(batch.numbers, text.columns(batch), text.real)
    return edges.graph()


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
    if _ends(first):
        return True
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
    return fault_error(file, "edges", kind, **facts)


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
    return Graph(
        text.file, np.concatenate(blocks), labels, (note("labelled_matrix", nodes=len(labels)),)
    )


class _Codes(dict[str, int]):
    """Numbers of names in the order in which they are first met."""

    def __init__(self, are_nodes: bool = False) -> None:
        """A KeyError names what cannot be a node, which is looked at once."""
        super().__init__()
        self.are_nodes = are_nodes

    def __missing__(self, name: str) -> int:
        if self.are_nodes and (is_missing(name) or _is_negative(name)):
            raise KeyError(name)
        self[name] = len(self)
        return len(self) - 1

    def coded(self, names: Sequence[str]) -> NDArray[np.int32]:
        """The number of each name."""
        return np.fromiter(map(self.__getitem__, names), np.int32, len(names))

    def column(self, column: Any) -> NDArray[np.int32]:
        """The number of each entry of a column of pyarrow, of which each is looked up once."""
        names, places = distinct(column)
        return np.asarray(self.coded(names)[places])


def _is_negative(name: str) -> bool:
    return name.startswith("-") and real_number(name) is not None


class _Edges:
    """Columns of a list of edges, taken a batch of rows at a time."""

    def __init__(
        self,
        file: Path,
        names: list[str],
        width: int,
        is_number: Callable[[int], bool],
        options: EdgeOptions,
    ) -> None:
        """Find the columns by their names; ``is_number`` says whether one holds numbers."""
        self.file, self.names, self.options = file, names, options
        self.nodes, self.kinds, self.count = _Codes(are_nodes=True), _Codes(), 0
        self._parts: list[tuple[NDArray[Any], Floats, NDArray[Any]]] = []
        weight, signs = options.matrix, options.signs
        if weight is not None and weight not in names:
            columns = f"its columns are {', '.join(names)}"
            listed = columns if names else "it has no header"
            raise _fault(file, "column", column=weight, listed=listed)
        self.ends = _ends(names) or ([0, 1] if width in (2, 3) else [])
        if not self.ends:
            raise _fault(file, "ends", width=width)
        # pandas writes its index as a column without a name
        others = [k for k in range(width) if k not in self.ends and (not names or names[k])]
        self.transmitter = names.index(signs) if signs in names else None
        self.weight = _first(names, _WEIGHT, others)
        if weight is not None:
            self.weight = names.index(weight)
        elif self.weight is None and len(others) == 1 and others[0] != self.transmitter:
            self.weight = others[0] if not names or is_number(others[0]) else None
        if len({*self.taken}) < len(self.taken):
            raise _fault(file, "twice", columns=", ".join(names))
        used = (self.weight, self.transmitter)
        self.unused = [names[k] for k in others if names and k not in used]

    @property
    def taken(self) -> list[int]:
        """The columns that are read: weights, where there are some, sources, targets, signs."""
        return [k for k in (self.weight, *self.ends, self.transmitter) if k is not None]

    def add(self, ends: NDArray[Any], weights: Floats, kinds: NDArray[Any]) -> None:
        """Take a batch of edges."""
        self._parts.append((ends, weights, kinds))
        self.count += len(weights)
        need = _BYTES_PER_EDGE * self.count + _BYTES_PER_NODE * len(self.nodes)
        what = f"{self.file} is too large: a network of {self.count:,} edges and more"
        require_room(need, what, "Take the part that matters, e.g. the strongest edges.")

    def add_columns(self, batch: Any) -> bool:
        """Take columns of pyarrow, unless some field of them needs a closer look."""
        columns = list(batch.columns)
        weights = np.ones(batch.num_rows)
        if self.weight is not None:
            weights = np.asarray(columns.pop(0).cast("float64").to_numpy(), float)
        if not np.isfinite(weights).all():
            return False
        try:
            ends = np.stack([self.nodes.column(end) for end in columns[:2]])
        except KeyError:
            return False
        kinds = [self.kinds.column(column) for column in columns[2:]]
        self.add(ends, weights, kinds[0] if kinds else np.zeros(0, np.int32))
        return True

    def add_fields(
        self,
        numbers: Sequence[int],
        columns: Sequence[Sequence[str]],
        real: Callable[[str], float | None],
    ) -> None:
        """Take the fields of some lines, by column, of which ``numbers`` are the lines."""
        ends, weights = np.empty((2, len(numbers)), np.int32), np.ones(len(numbers))
        for k, what in enumerate(("source", "target")):
            nodes = columns[self.ends[k]]
            try:
                ends[k] = self.nodes.coded(nodes)
            except KeyError as error:
                name = error.args[0]
                kind = "no_node" if is_missing(name) else "negative"
                number = numbers[nodes.index(name)]
                raise _fault(self.file, kind, number=number, what=what, field=name) from None
        if self.weight is not None:
            for k, field in enumerate(columns[self.weight]):
                value = real(field)
                if value is None or not math.isfinite(value):
                    kind = "no_number" if value is None else "infinite"
                    kind = "no_weight" if is_missing(field) else kind
                    raise _fault(self.file, kind, number=numbers[k], field=field)
                weights[k] = value
        kinds = [] if self.transmitter is None else columns[self.transmitter]
        self.add(ends, weights, self.kinds.coded(kinds))

    def graph(self) -> Graph:
        """The graph of all that was taken."""
        if self.count == 0:
            raise _fault(self.file, "empty")
        labels, order = _labels(self.nodes)
        batches = [*zip(*self._parts, strict=True)]
        self._parts.clear()
        ends = order[np.concatenate(batches[0], axis=1)]
        weights, kinds = np.concatenate(batches[1]), np.concatenate(batches[2])
        transmitters = None if self.transmitter is None else ([*self.kinds], kinds)
        header = f"below the header {', '.join(self.names)}, " if self.names else ""
        notes = [
            note(
                "edges" if len(labels) == len(self.nodes) else "edges_merged",
                edges=counted(self.count, "edge"), nodes=counted(len(labels), "node"),
                how=f"{header}{self._weighted()}",
            ),
            *_unused_note("columns", self.unused),
        ]  # fmt: skip
        edges = EdgeList(labels, ends, weights, transmitters)
        return assembled(self.file, edges, self.options, notes, self.names)

    def _weighted(self) -> str:
        """Where the weights come from, for the note."""
        if self.weight is not None:
            return f"with weights from column {(self.names or '123')[self.weight]}"
        others = " (none of the other columns is called weight, or named by `matrix`)"
        return "each of weight 1" + (others if self.unused else "")


def read_table(file: Path, options: EdgeOptions) -> Graph:
    """Read a Feather or Parquet file of edges, whose columns have names."""
    table = open_arrow(file)

    def is_number(k: int) -> bool:
        return str(table.kinds[k]).startswith(("int", "uint", "float", "double", "decimal"))

    edges = _Edges(file, table.names, len(table.names), is_number, options)
    for batch in table.batches([table.names[k] for k in edges.taken], _ROWS):
        if not edges.add_columns(batch):
            raise _fault(file, "row", first=edges.count, last=edges.count + batch.num_rows - 1)
    return edges.graph()


def read_graph(file: Path, options: EdgeOptions) -> Graph:
    """Read a graph by networkx; nodes go by their attribute label or name, if all have one."""
    graph = networkx_graph(file)
    labels, attribute = graph_labels(graph)
    weight = options.matrix or "weight"
    edges = [*graph.to_directed(as_view=True).edges(data=True)]
    names = list(dict.fromkeys(name for *_, data in edges for name in data))
    count = graph.number_of_edges()
    lacking = sum(weight not in data for *_, data in graph.edges(data=True))
    if options.matrix is not None and 0 < lacking == count:
        there = f"they have {', '.join(names) or 'none'}"
        raise _fault(file, "column", column=weight, listed=there)
    try:
        weights = exact_array([data.get(weight, 1.0) for *_, data in edges], weight)
    except (TypeError, ValueError) as error:
        raise _fault(file, "attribute", weight=weight, error=error) from error
    places = {node: place for place, node in enumerate(graph)}
    ends = np.array([[places[node] for node in edge[:2]] for edge in edges], np.int32)
    transmitters, codes = None, _Codes()
    if options.signs in names:
        kinds = codes.coded([str(data.get(options.signs, "")) for *_, data in edges])
        transmitters = ([*codes], kinds)
    ones = f", {lacking:,} of them without a weight, taken as 1" if lacking else ""
    both = "" if graph.is_directed() else ", each in both directions"
    notes = [
        note(
            "edges", edges=counted(count, "edge") + both, nodes=counted(len(labels), "node"),
            how=f"named by their {attribute}{ones}",
        )
    ]  # fmt: skip
    unused = [name for name in names if name not in (weight, "id", options.signs)]
    notes += _unused_note("attributes", unused)
    listed = EdgeList(labels, ends.reshape(-1, 2).T, weights, transmitters)
    return assembled(file, listed, options, notes, names)


def assembled(
    file: Path, edges: EdgeList, options: EdgeOptions, notes: list[Note], names: Sequence[str]
) -> Graph:
    """The graph of edges: signed, of the nodes asked for, summed by pairs, without weak ones."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    labels, ends, weights, _ = edges
    size, least = len(labels), options.min_weight
    is_kept = np.ones(size, bool)
    if options.signs is not None:
        weights, signs = _signed(file, edges, options, names)
        notes.append(signs)
    if (table := options.table) is not None:
        is_kept = table.has(labels)
        is_taken = is_kept[ends].all(axis=0)
        what = f"the {counted(len(table.names), 'node')} of {table.file.name}"
        if not is_taken.any():
            raise _fault(file, "none_left", what=what, label=labels[0])
        ends, weights = ends[:, is_taken], weights[is_taken]
        if not is_kept.all():
            facts = {"nodes": is_kept.sum(), "size": size, "edges": is_taken.sum()}
            notes.append(note("taken", what=what, count=len(is_taken), **facts))

    def summed(values: Any) -> Any:
        return coo_array((values, (ends[1], ends[0])), shape=(size, size)).tocsr()

    A = summed(weights)
    if len(weights) > A.nnz:
        notes.append(note("summed", repeated=counted(len(weights) - A.nnz, "duplicate edge")))
    if least is not None:
        is_weak = summed(np.abs(weights)).data < least
        A.data[is_weak] = 0
        A.eliminate_zeros()
        if not A.nnz:
            raise _fault(file, "weak", least=least)
        is_kept &= (np.diff(A.indptr) > 0) | (np.bincount(A.indices, minlength=size) > 0)
        if is_weak.any() or not is_kept.all():
            pairs = counted(int(is_weak.sum()), "pair")
            notes.append(note("weak", pairs=pairs, least=least, nodes=is_kept.sum()))
    if not is_kept.all():
        A, size = A[is_kept][:, is_kept], int(is_kept.sum())
        labels = [label for label, is_one in zip(labels, is_kept, strict=True) if is_one]
    if size <= A.nnz and connected_components(A, connection="strong")[0] == size:
        notes.append(note("no_cycle"))
    return Graph(file, A, tuple(labels), tuple(notes))


def _signed(
    file: Path, edges: EdgeList, options: EdgeOptions, names: Sequence[str]
) -> tuple[Floats, Note]:
    """Weights with the signs of their transmitters: those of the edges, or else of the sources."""
    column, table = str(options.signs), options.table
    if edges.transmitters is not None:
        kinds, places = edges.transmitters
    elif table is not None and column in table.columns:
        codes = _Codes()
        places = codes.coded(table.entries(column, edges.labels))[edges.ends[0]]
        kinds = [*codes]
    else:
        listed = ", ".join(table.columns) if table is not None else "is not given"
        raise _fault(file, "signs", column=column, edges=", ".join(names) or "none", nodes=listed)
    if (edges.weights < 0).any():
        raise _fault(file, "signed")
    signs = np.array([-1.0 if kind.lower() in options.negative else 1.0 for kind in kinds])
    if (signs > 0).all():
        listed = ", ".join([kind for kind in kinds if kind][:8]) or "none"
        names = ", ".join(sorted(options.negative))
        raise _fault(file, "inhibitory", column=column, names=names, listed=listed)
    counts = np.bincount(places, minlength=len(kinds))
    shown = [
        ", ".join(
            f"{kinds[k] or 'none given'} ({counted(int(counts[k]), 'edge')})"
            for k in np.nonzero(which)[0]
        )
        for which in (signs < 0, signs > 0)
    ]
    missing = sorted(options.negative - {kind.lower() for kind in kinds})
    lacking = f"; there is no {', '.join(missing)}" * bool(missing and options.inhibitory)
    negative, positive = (one or "none" for one in shown)
    return edges.weights * signs[places], note(
        "signs", column=column, negative=negative, positive=positive, lacking=lacking
    )


def _unused_note(what: str, names: Sequence[str]) -> list[Note]:
    """The note on columns, or attributes, that say something else about edges."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    facts = {"what": what, "names": f"{', '.join(names[:8])}{more}"}
    if (k := _first([*names], _TRANSMITTER, range(len(names)))) is not None:
        return [note("unused_transmitters", name=names[k], **facts)]
    return [note("unused", **facts)] if names else []


def _labels(codes: dict[str, int]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Names in order, and the place there of each; of numbers, 7, 07 and 7.0 are the same."""
    numbers = [whole_number(name) for name in codes]
    keys: list[Any] = [*codes] if None in numbers else numbers
    order = sorted(set(keys))
    place = {key: k for k, key in enumerate(order)}
    return tuple(map(str, order)), np.array([place[key] for key in keys], np.int32)
