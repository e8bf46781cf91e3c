"""Null models: networks drawn at random that keep some of what a network is like, and only that.

What a draw keeps is exact, and told by each function. Edges are the non-zero weights of A,
``A[target, source]``; mask, readout and labels stay as they are. Nothing is rescaled here: see
:func:`memcurve.compare_with_nulls`.

Seeds are explicit: an int, a :class:`numpy.random.SeedSequence` or a
:class:`numpy.random.Generator`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.adapters import as_network
from memcurve.arguments import (
    Seed,
    exact_array,
    generator,
    require_number,
    require_options,
    require_size,
    table_entry,
)
from memcurve.limits import require_room
from memcurve.network import LinearNetwork
from memcurve.network.device import DeviceMatrix, on_host
from memcurve.network.operator import Operator
from memcurve.notes import Note
from memcurve.result import Floats

Places = NDArray[np.int64]

#: Rounds after which the share of edges that a round moves is known, and rounds at most.
_FIRST_ROUNDS, _MOST_ROUNDS = 10, 5_000
#: Cells that the groups of one round touch, as a share of all: more would be in each other's way.
_TOUCHED = 1 / 8
#: Bytes by cell of the matrix where all cells are sorted into classes.
_CELL = 24


def rewire(
    network: Any,
    *,
    seed: Seed,
    moves: float = 10.0,
    weights: str = "source",
    self_loops: str = "fixed",
    blocks: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    bins: int = 10,
) -> LinearNetwork:
    """Rewire a network at random; every node keeps its number of edges, in and out.

    Kept: in- and out-degree of every node, the weights; with ``weights="source"`` also what each
    node sends out, so its out-strength and its sign, with ``"target"`` what it receives, so its
    in-strength. With ``blocks`` the number of edges from each block to each, with ``positions`` the
    number of edges in each bin of length. Not kept: reciprocity, motifs, the other strength.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        Dense or sparse, real or complex; a million edges take seconds.
    seed : int, SeedSequence or Generator
        Where the draw starts. Required.
    moves : float
        How often an edge is moved, on average.
    weights : str
        What a weight stays with: its ``"source"`` or its ``"target"``.
    self_loops : str
        ``"fixed"``: self-loops stay where they are, and no others arise. ``"free"``: they are edges
        like others, and may come and go.
    blocks : (N,) array, optional
        The block, class or module of each node, numbers or words.
    positions : (N,) or (N, d) array, optional
        Where each node lies.
    bins : int
        Bins of length that hold about as many edges each.

    Notes
    -----
    Each round takes disjoint pairs, or triples, of edges at random. Their targets change places
    cyclically if no edge would arise twice and no other group of the round touches the same cells
    of A. A move and its reverse are equally likely, so that all networks that can be reached are
    equally likely in the limit of many moves. Without blocks and positions these are all networks
    with these degrees: swaps reach them, and cyclic triples where self-loops are left out (Rao,
    Jana and Bandyopadhyay 1996). With blocks or positions there may be others that are not reached.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(50, density=0.1, seed=1)
    >>> null = memcurve.nulls.rewire(network, seed=1)
    >>> bool(((null.A != 0).sum(axis=0) == (network.A != 0).sum(axis=0)).all())
    True
    """
    moves = require_number(moves, "moves", "above 0", lambda number: number > 0)
    table_entry(dict.fromkeys(("source", "target")), weights, "weights")
    edges = _Edges.of(network, self_loops)
    kinds = _Kinds.of(edges, blocks, positions, bins)
    walk = _Walk(edges, kinds, generator(seed), turned=weights == "target")
    moved = walk.run(moves)
    share = f"each edge was moved {moved:.3g} times on average"
    few = "; the degrees leave hardly anything to rewire" if moved < 1 else ""
    return edges.network(walk.source, walk.target, edges.weights, f"rewired: {share}{few}")


def shuffle(
    network: Any, *, seed: Seed, signs: str = "moved", blocks: ArrayLike | None = None
) -> LinearNetwork:
    """Shuffle the weights over the edges there are.

    Kept: all edges, so every degree, reciprocity and motifs; the weights as a whole. With
    ``signs="fixed"`` also the sign of each edge: only weights of the same sign change places. With
    ``blocks`` the weights between each block and each. Not kept: strengths.

    Parameters
    ----------
    network, seed, blocks
        As for :func:`rewire`. Self-loops take part.
    signs : str
        ``"moved"`` with the weights, or ``"fixed"`` to the edges.

    Examples
    --------
    >>> import memcurve
    >>> null = memcurve.nulls.shuffle(([[0, 0.5], [-0.3, 0]], [1, 0]), seed=1)
    >>> sorted(null.A.ravel().tolist())
    [-0.3, 0.0, 0.0, 0.5]
    """
    table_entry(dict.fromkeys(("moved", "fixed")), signs, "signs")
    edges = _Edges.of(network, "free")
    groups = _Kinds.of(edges, blocks)(edges.source, edges.target)
    if signs == "fixed":
        groups = 2 * groups + (_sign(edges.weights) > 0)
    weights = edges.weights[_shuffled_within(groups, generator(seed))]
    return edges.network(edges.source, edges.target, weights, "weights shuffled over its edges")


def shuffle_signs(network: Any, *, seed: Seed, of: str = "edges") -> LinearNetwork:
    """Shuffle the signs of the weights.

    Kept: all edges, and the size of each weight, where it is. With ``of="edges"`` the number of
    negative weights; with ``of="nodes"`` the number of nodes whose outgoing weights are negative
    (Dale's principle), which every node has to obey.

    Parameters
    ----------
    network, seed
        As for :func:`rewire`; real weights.
    of : str
        What signs belong to: ``"edges"``, or the ``"nodes"`` that these come from.

    Examples
    --------
    >>> import memcurve
    >>> null = memcurve.nulls.shuffle_signs(([[0, 0.5], [-0.3, 0]], [1, 0]), seed=1)
    >>> abs(null.A).tolist()
    [[0.0, 0.5], [0.3, 0.0]]
    """
    table_entry(dict.fromkeys(("edges", "nodes")), of, "of")
    edges, rng = _Edges.of(network, "free"), generator(seed)
    signs = _sign(edges.weights)
    if of == "edges":
        drawn = rng.permutation(signs)
    else:
        of_node = np.zeros(edges.size)
        of_node[edges.source] = signs
        if (of_node[edges.source] != signs).any():
            node = edges.source[np.argmax(of_node[edges.source] != signs)]
            raise ValueError(
                f"`of` must be 'edges' here: node {edges.subject.names([node])[0]} sends out "
                f"weights of both signs, so that nodes have none of their own."
            )
        senders = np.flatnonzero(of_node)
        of_node[senders] = rng.permutation(of_node[senders])
        drawn = of_node[edges.source]
    weights = drawn * np.abs(edges.weights)
    return edges.network(edges.source, edges.target, weights, f"signs shuffled over its {of}")


def erdos_renyi(
    network: Any,
    *,
    seed: Seed,
    self_loops: str = "fixed",
    blocks: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    bins: int = 10,
) -> LinearNetwork:
    """Draw as many edges anywhere, all sets of edges equally likely, and the weights over them.

    Kept: the number of edges, so the density; the weights as a whole. With ``blocks`` the number of
    edges from each block to each (a stochastic block model), with ``positions`` that in each bin of
    length. Not kept: degrees, strengths, reciprocity.

    Parameters
    ----------
    network, seed, self_loops, blocks, positions, bins
        As for :func:`rewire`; self-loops that are fixed keep their weights.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(50, density=0.1, seed=1)
    >>> null = memcurve.nulls.erdos_renyi(network, seed=1)
    >>> bool((null.A != 0).sum() == (network.A != 0).sum())
    True
    """
    edges, rng = _Edges.of(network, self_loops), generator(seed)
    kinds, size, free = _Kinds.of(edges, blocks, positions, bins), edges.size, edges.loops_are_free
    cells = size * (size if free else size - 1)

    def ends(codes: Any) -> tuple[Places, Places]:
        source, target = np.divmod(codes, size if free else max(size - 1, 1))
        return source, target if free else target + (target >= source)

    if kinds.is_one:
        codes = rng.choice(cells, len(edges.weights), replace=False)
    else:
        what = f"`network` is too large for this: sorting the {cells:,} cells of A into classes"
        require_room(_CELL * cells, what, "Leave out `blocks` and `positions`, or take `rewire`.")
        kind = kinds(*ends(np.arange(cells)))
        order = np.argsort(kind, kind="stable")
        found, count = np.unique(kinds(edges.source, edges.target), return_counts=True)
        first, last = (np.searchsorted(kind[order], found, side) for side in ("left", "right"))
        parts = [
            order[low + rng.choice(high - low, k, replace=False)]
            for low, high, k in zip(first, last, count, strict=True)
        ]
        codes = np.concatenate([np.zeros(0, np.int64), *parts])
    weights = rng.permutation(edges.weights)
    return edges.network(*ends(codes), weights, "edges drawn anywhere, as many as there were")


@dataclass(frozen=True)
class Null:
    """A null model by name: the function that draws it, and what it keeps, in words."""

    draw: Callable[..., LinearNetwork]
    keeps: str
    needs: str | None = None


#: Null models by the names that commands and comparisons use.
NULLS = {
    "rewire": Null(rewire, "every in- and out-degree and what each node sends out"),
    "shuffle": Null(shuffle, "all edges, and the weights as a whole"),
    "signs": Null(shuffle_signs, "all edges and the sizes of their weights"),
    "erdos_renyi": Null(erdos_renyi, "the number of edges, and the weights as a whole"),
    "blocks": Null(rewire, "every degree and the edges between blocks", needs="blocks"),
    "spatial": Null(rewire, "every degree and the lengths of edges", needs="positions"),
}


def make(name: str, network: Any, *, seed: Seed, **options: Any) -> LinearNetwork:
    """Draw the null model called ``name``, one of :data:`NULLS`, with its function's options.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(50, density=0.1, seed=1)
    >>> memcurve.nulls.make("rewire", network, seed=1).size
    50
    """
    null = table_entry(NULLS, name, "name")
    require_options(null.draw, {"network": network, "seed": seed, **options})
    if null.needs is not None and options.get(null.needs) is None:
        raise ValueError(f"`{null.needs}` must be given for the null model {name!r}, got none.")
    return null.draw(network, seed=seed, **options)


class _Edges(NamedTuple):
    """The edges of a network that take part, and those that stay."""

    subject: LinearNetwork
    source: Places
    target: Places
    weights: NDArray[Any]
    fixed: tuple[Places, NDArray[Any]]  # nodes with a self-loop that stays, and its weight
    loops_are_free: bool

    @classmethod
    def of(cls, network: Any, self_loops: str) -> _Edges:
        from scipy.sparse import coo_array

        table_entry(dict.fromkeys(("fixed", "free")), self_loops, "self_loops")
        subject = as_network(network)
        if isinstance(subject.A, Operator):
            raise subject.A.needs_matrix("null models")
        entries = coo_array(on_host(subject.A))
        source, target = (places.astype(np.int64) for places in (entries.col, entries.row))
        free = self_loops == "free"
        stays = np.zeros(len(source), dtype=bool) if free else source == target
        fixed = (source[stays], entries.data[stays])
        source, target, weights = source[~stays], target[~stays], entries.data[~stays]
        return cls(subject, source, target, weights, fixed, free)

    @property
    def size(self) -> int:
        return self.subject.size

    def network(
        self, source: Places, target: Places, weights: NDArray[Any], note: str
    ) -> LinearNetwork:
        """The network with these edges instead, stored as it was."""
        from scipy.sparse import coo_array

        nodes, loops = self.fixed
        rows, columns = np.concatenate([target, nodes]), np.concatenate([source, nodes])
        entries = np.concatenate([weights, loops])
        A = coo_array((entries, (rows, columns)), shape=(self.size, self.size))
        notes = (*self.subject.notes, Note("network", f"a null model, {note}"))
        before = self.subject.A
        if isinstance(before, DeviceMatrix):
            return self.subject.replace(A=before.like(A), notes=notes)
        return self.subject.replace(
            A=A.tocsr() if self.subject.is_sparse else A.toarray(), notes=notes
        )


class _Kinds(NamedTuple):
    """Classes of cells of A, whose numbers of edges are kept: by blocks, by length, or one."""

    block: Places | None
    blocks: int
    positions: Floats | None
    limits: Floats

    @classmethod
    def of(cls, edges: _Edges, blocks: Any = None, positions: Any = None, bins: int = 1) -> _Kinds:
        block, count, limits = None, 1, np.zeros(0)
        if blocks is not None:
            given = np.asarray(blocks)
            if given.shape != (edges.size,):
                raise ValueError(
                    f"`blocks` must have one entry for each of the {edges.size} nodes, got shape "
                    f"{given.shape}."
                )
            missing = [k for k, one in enumerate(given.tolist()) if one is None or one != one]
            if missing:
                raise ValueError(
                    f"`blocks` must have an entry for each node, got {given.tolist()[missing[0]]} "
                    f"at index {missing[0]} ({len(missing)} such); give these a block of their own."
                )
            names, block = np.unique(given, return_inverse=True)
            block, count = block.astype(np.int64), len(names)
        if positions is not None:
            places = exact_array(positions, "positions")
            positions = places.reshape(len(places), -1) if places.ndim else places
            if positions.ndim != 2 or len(positions) != edges.size or np.iscomplexobj(positions):
                raise ValueError(
                    f"`positions` must have one row of real numbers for each of the {edges.size} "
                    f"nodes, got shape {np.shape(places)}."
                )
            shares = np.arange(1, require_size(bins, "bins")) / bins
            lengths = _lengths(positions, edges.source, edges.target)
            limits = np.quantile(lengths, shares) if len(lengths) else limits
        return cls(block, count, positions, limits)

    @property
    def is_one(self) -> bool:
        return self.block is None and self.positions is None

    def __call__(self, source: Places, target: Places) -> Places:
        kind = np.zeros(np.shape(source), dtype=np.int64)
        if self.block is not None:
            kind += self.blocks * self.block[source] + self.block[target]
        if self.positions is not None:
            lengths = _lengths(self.positions, source, target)
            kind = kind * (len(self.limits) + 1) + np.searchsorted(self.limits, lengths)
        return kind


class _Walk:
    """Random moves of edges: targets of pairs and triples of edges change places."""

    def __init__(
        self, edges: _Edges, kinds: _Kinds, rng: np.random.Generator, *, turned: bool
    ) -> None:
        # the weight of an edge stays with the end that is fixed: of a turned network, the target
        ends = (edges.target, edges.source) if turned else (edges.source, edges.target)
        self._fixed, self._moving = ends[0], ends[1].copy()
        self._turned, self._kinds, self._rng = turned, kinds, rng
        self._size, self._loops_are_free = edges.size, edges.loops_are_free

    @property
    def source(self) -> Places:
        return self._moving if self._turned else self._fixed

    @property
    def target(self) -> Places:
        return self._fixed if self._turned else self._moving

    def run(self, moves: float) -> float:
        """Move each edge so often, on average; returns how often they were.

        The first rounds tell how many are needed, so that the last one is not chosen by where
        it leads.
        """
        count = len(self._fixed)
        if count < 2:
            return 0.0
        moved = sum(self._round(k) for k in range(_FIRST_ROUNDS))
        share = moved / count / _FIRST_ROUNDS
        left = int(min(np.ceil(moves / share), _MOST_ROUNDS)) if share else _FIRST_ROUNDS**2
        moved += sum(self._round(k) for k in range(left))
        return moved / count

    def _round(self, number: int) -> int:
        """One move of disjoint groups; returns how many edges are new."""
        width, by_kind = 2 + number % 2, not self._kinds.is_one and number % 4 > 1
        chosen = self._groups(width, by_kind)
        if not chosen.shape[1]:
            return 0
        fixed, before = self._fixed[chosen], self._moving[chosen]
        if width == 2:
            lazy, steps = self._rng.random(chosen.shape[1]) < 0.5, np.array([[1], [0]])
        else:
            turn = self._rng.integers(3, size=chosen.shape[1])
            lazy, steps = turn == 0, (np.arange(3)[:, None] + turn) % 3
        after, given_by = (np.take_along_axis(x, steps, axis=0) for x in (before, fixed))
        allowed = ~lazy & ~self._in_the_way(chosen, fixed, after)
        if not self._loops_are_free:
            allowed &= (fixed != after).all(axis=0)
        if not self._kinds.is_one:
            old, new = (np.sort(self._kind(fixed, moving), axis=0) for moving in (before, after))
            allowed &= (old == new).all(axis=0)
        self._moving[chosen[:, allowed]] = after[:, allowed]
        # edges of one node that change places are the same edges
        return int(np.count_nonzero(((after != before) & (fixed != given_by))[:, allowed]))

    def _kind(self, fixed: Places, moving: Places) -> Places:
        return self._kinds(moving, fixed) if self._turned else self._kinds(fixed, moving)

    def _groups(self, width: int, by_kind: bool) -> Places:
        """Disjoint groups of edges, one a column; those of one kind, which no move of them changes.

        Groups of other edges keep their kinds only together.
        """
        order = self._rng.permutation(len(self._fixed))
        if by_kind:
            kind = self._kind(self._fixed[order], self._moving[order])
            order = order[np.argsort(kind, kind="stable")]
        groups = order[: len(order) // width * width].reshape(-1, width).T
        most = max(1, int(_TOUCHED * self._size**2 / width))
        if by_kind or groups.shape[1] > most:
            kept = self._rng.permutation(groups.shape[1])[:most]
            groups = groups[:, kept]
        if by_kind:
            kind = self._kind(self._fixed[groups], self._moving[groups])
            groups = groups[:, (kind == kind[0]).all(axis=0)]
        return groups

    def _in_the_way(self, chosen: Places, fixed: Places, after: Places) -> NDArray[np.bool_]:
        """Groups that touch a cell which an edge or another group touches, or one of them twice."""
        width, count = chosen.shape
        owner = np.full(len(self._fixed), -1)
        owner[chosen] = np.arange(count)
        cells = np.concatenate(
            [self._fixed * self._size + self._moving, (fixed * self._size + after).ravel()]
        )
        owners = np.concatenate([owner, np.tile(np.arange(count), width)])
        is_new = np.arange(len(cells)) >= len(self._fixed)
        order = np.argsort(cells)
        cells, owners, is_new = cells[order], owners[order], is_new[order]
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        several = np.minimum.reduceat(owners, starts) != np.maximum.reduceat(owners, starts)
        several |= np.add.reduceat(is_new, starts, dtype=np.int64) > 1
        blocked = owners[np.repeat(several, np.diff(starts, append=len(cells)))]
        found = np.zeros(count + 1, dtype=bool)
        found[blocked] = True  # that of edges in no group, -1, is the last
        return found[:count]


def _lengths(positions: Floats, source: Places, target: Places) -> Any:
    return np.linalg.norm(positions[source] - positions[target], axis=-1)


def _sign(weights: NDArray[Any]) -> Floats:
    if np.iscomplexobj(weights):
        raise ValueError("`network` must have real weights to have signs, got complex ones.")
    return np.asarray(np.sign(weights))


def _shuffled_within(groups: Places, rng: np.random.Generator) -> Places:
    """Places in random order, each within its group."""
    order = np.argsort(groups, kind="stable")
    drawn = rng.permutation(len(groups))
    shuffled = np.empty_like(order)
    shuffled[order] = drawn[np.argsort(groups[drawn], kind="stable")]
    return shuffled
