"""Tables of nodes: cell classes and positions by the names of nodes."""

from __future__ import annotations

import difflib
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memcurve.io.arrays import NetworkFileError, ending_of, readable, reading
from memcurve.io.edges import node_place, read_node_attributes
from memcurve.io.tables import content_lines, fields_of, real_number, separator_of
from memcurve.types import Floats

#: Names of the column that names nodes; else it is the first.
_NAMES = ("id", "node", "name", "neuron", "label", "cell", "root_id", "skid", "bodyid")


@dataclass(frozen=True)
class NodeTable:
    """What is known of nodes: columns of text by their names, one entry a node.

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
    >>> table.where("class=sens")
    ['a', 'c']
    """

    file: Path
    names: tuple[str, ...]
    columns: dict[str, tuple[str, ...]]

    def where(self, condition: str) -> list[str]:
        """The nodes for which a column has one of some values: ``"class=sens,asc"``."""
        name, _, listed = condition.partition("=")
        entries, values = self._column(name.strip()), [value.strip() for value in listed.split(",")]
        for value in values:
            if value not in entries:
                known = sorted({*entries})
                near = difflib.get_close_matches(value, known, 1)
                shown = ", ".join(map(repr, near or known[:8]))
                raise NetworkFileError(
                    f"{self.file}: no node has {name.strip()}={value!r}; there is {shown}."
                )
        return [node for node, entry in zip(self.names, entries, strict=True) if entry in values]

    def places(self, condition: str, labels: Sequence[str]) -> list[int]:
        """Those of the nodes in ``labels`` for which a condition holds, by their places there."""
        known, wanted = self._places(labels), self.where(condition)
        places = [known[name] for name in wanted if name in known]
        if not places:
            raise NetworkFileError(
                f"{self.file}: none of the {len(wanted)} nodes with {condition} is in the network, "
                f"whose nodes are called {labels[0]!r} …; name them alike."
            )
        return places

    def entries(self, column: str, labels: Sequence[str]) -> list[str]:
        """A column in the order of ``labels``, empty for nodes that the table has not."""
        found, known = [""] * len(labels), self._places(labels)
        if not known:
            raise NetworkFileError(
                f"{self.file}: has none of the nodes of the network, {labels[0]!r} …; name them "
                f"alike."
            )
        for name, entry in zip(self.names, self._column(column), strict=True):
            if name in known:
                found[known[name]] = entry
        return found

    def numbers(self, columns: Sequence[str], labels: Sequence[str]) -> Floats:
        """Columns of numbers, such as positions, one row for each of ``labels``."""
        values = np.empty((len(labels), len(columns)))
        for k, column in enumerate(columns):
            for row, (label, entry) in enumerate(
                zip(labels, self.entries(column, labels), strict=True)
            ):
                number = real_number(entry)
                if number is None or not np.isfinite(number):
                    raise NetworkFileError(
                        f"{self.file}: column {column!r} must have a number for every node of the "
                        f"network, got {entry!r} for {label!r}."
                    )
                values[row, k] = number
        return values

    def _places(self, labels: Sequence[str]) -> dict[str, int]:
        """Where in ``labels`` the nodes of the table stand, by their names here."""
        among = {label: place for place, label in enumerate(labels)}
        found = {name: node_place(name, among) for name in self.names}
        return {name: place for name, place in found.items() if place is not None}

    def _column(self, name: str) -> tuple[str, ...]:
        if name not in self.columns:
            raise NetworkFileError(
                f"{self.file}: has no column {name!r}; its columns are {', '.join(self.columns)}."
            )
        return self.columns[name]


def load_nodes(path: str | os.PathLike[str]) -> NodeTable:
    """Read what is known of the nodes of a network: cell classes, positions.

    Parameters
    ----------
    path : path
        Text with a header and one node a line (``.csv``, ``.tsv``, ``.txt``, packed or not): its
        first column names the nodes, or one called id, node, name, neuron, label or cell. Or a
        ``.graphml`` or ``.gml`` graph, whose nodes have attributes.

    Returns
    -------
    NodeTable
        ``table.where("class=sens")`` names nodes, as ``mask=`` and ``readout=`` take them.
    """
    file = readable(path)
    if ending_of(file).removesuffix(".gz") in (".graphml", ".gml"):
        return NodeTable(file, *read_node_attributes(file))
    with reading(file):
        lines = [(number, line.decode()) for number, line in content_lines(file, b" \r\n")]
    if not lines:
        raise NetworkFileError(f"{file}: holds no nodes; write a header, and a node a line.")
    separator = separator_of([text for _, text in lines[:20]])
    (_, heads), *rows = [(number, fields_of(text, separator)) for number, text in lines]
    if len(heads) < 2 or not rows:
        raise NetworkFileError(
            f"{file}: must have a header that names at least two columns, and a node a line below."
        )
    for number, fields in rows:
        if len(fields) != len(heads):
            raise NetworkFileError(
                f"{file}: line {number} has {len(fields)} fields, the header {len(heads)}; give "
                f"all lines the same number of fields."
            )
    at = next((k for word in _NAMES for k, head in enumerate(heads) if head.lower() == word), 0)
    names = tuple(fields[at] for _, fields in rows)
    if len({*names}) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise NetworkFileError(
            f"{file}: column {heads[at]!r} must name each node once, got {twice!r} twice."
        )
    columns = {
        head or f"column {k + 1}": tuple(fields[k] for _, fields in rows)
        for k, head in enumerate(heads)
    }
    return NodeTable(file, names, columns)
