"""Null models: random surrogates of a network that preserve some of its properties exactly.

Each function says what its surrogates preserve. Edges are the non-zero weights of A,
``A[target, source]``; mask, readout and labels are unchanged. Nothing is rescaled here: see
:func:`memcurve.compare_with_nulls`.

Seeds are explicit: an int, a :class:`numpy.random.SeedSequence` or a
:class:`numpy.random.Generator`.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.core.arguments import (
    Seed,
    exact_array,
    generator,
    require_number,
    require_options,
    require_size,
    table_entry,
)
from memcurve.core.limits import require_room
from memcurve.core.notes import Note
from memcurve.core.types import Floats
from memcurve.io.adapters import as_network
from memcurve.network import LinearNetwork
from memcurve.network.device import DeviceMatrix, on_host
from memcurve.network.operator import Operator

Places = NDArray[np.int64]

#: Moves observed before the number of rounds is decided; doubled: small networks take longer.
_FIRST_MOVES = 20
#: Edges times rounds at most; doubled: networks that are nearly fixed take twice as long.
_MOST_WORK = 20_000_000
#: Rounds that are always allowed; doubled: the same for the largest networks.
_ROUNDS = 50
#: Rounds per node at most, so that all pairs can meet; doubled: the same for the smallest networks.
_ROUNDS_BY_NODE = 10
#: Steps of a detour at most; doubled: more networks are reachable, and detours take twice as long.
_DETOUR = 12
#: Detours per edge; doubled: small networks with blocks or positions take twice as long.
_DETOURS = 15
#: Detours at most; doubled: networks with blocks or positions take half a second longer.
_MOST_DETOURS = 3_000
#: Edges traded at once, which fit into the cache. Doubled: hardly a change.
_PART = 1 << 17
#: Bytes per cell of the matrix when all cells are sorted into classes.
_CELL = 24

#: How the note of a surrogate begins that is the network itself.
UNCHANGED = "unchanged: "
#: Notes on surrogates, by kind.
PROSE: dict[str, str] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


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
    """Rewire a network at random; every node keeps its in- and out-degree.

    Preserved: in- and out-degree of every node, the multiset of weights; with ``weights="source"``
    also the outgoing weights of each node, so its out-strength and sign, with ``"target"`` its
    incoming weights, so its in-strength. With ``blocks`` the number of edges between each pair of
    blocks, with ``positions`` the number of edges in each bin of length. Not preserved:
    reciprocity, motifs, the other strength.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        Dense or sparse, real or complex; a million edges take seconds, 25 million a minute or two.
    seed : int, SeedSequence or Generator
        Seed. Required.
    moves : float
        How often an edge is moved, on average.
    weights : str
        What a weight stays with: its ``"source"`` or its ``"target"``.
    self_loops : str
        ``"fixed"``: self-loops stay in place, and no new ones arise. ``"free"``: they are treated
        like other edges.
    blocks : (N,) array, optional
        Block, class or module of each node, numbers or strings.
    positions : (N,) or (N, d) array, optional
        Coordinates of each node.
    bins : int
        Number of bins of edge length, with about equally many edges each.

    Notes
    -----
    Global curveball trades (Strona et al. 2014; Carstens et al. 2018): nodes meet in pairs at
    random, pool the targets that only one of them has, and deal them out again, as many to each as
    before; then targets do the same with their sources. A trade and its reverse are equally likely,
    so that all networks that can be reached are equally likely in the limit of many rounds. Of
    networks that are more than half full, what is not there is traded. Without blocks and positions
    all networks with these degrees are reached: where self-loops are fixed, trades leave out those
    that differ in cycles of three nodes that no degree can tell apart (Berger and Müller-Hannemann
    2010), which are turned with a chance of one half. With blocks or positions, pools are dealt
    out so that all kinds keep their edges, and short detours lead over networks that do not; the
    rare others that are further away are not reached.

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
    edges = _EdgeList.of(network, self_loops)
    kinds, rng = _Kinds.of(edges, blocks, positions, bins), generator(seed)
    source, target, note = _Trades(edges, kinds, rng).run(moves)
    if note is None:
        owner = edges.source if weights == "source" else edges.target
        note = PROSE["weights only" if _differ(owner, edges.weights) else "no other edges"]
    # the end that keeps its weights has as many edges as before: both are sorted by it
    owner, other = (source, target) if weights == "source" else (target, source)
    owner, other = np.divmod(np.sort(owner * edges.size + other), max(edges.size, 1))
    drawn = rng.permutation(len(edges.weights))
    before = (edges.source if weights == "source" else edges.target)[drawn]
    shuffled = edges.weights[drawn[np.argsort(before, kind="stable")]]
    ends = (owner, other) if weights == "source" else (other, owner)
    return edges.network(*ends, shuffled, note)


def shuffle(
    network: Any, *, seed: Seed, signs: str = "moved", blocks: ArrayLike | None = None
) -> LinearNetwork:
    """Permute the weights over the existing edges.

    Preserved: all edges, so every degree, reciprocity and motifs; the multiset of weights. With
    ``signs="fixed"`` also the sign of each edge: only weights of equal sign are permuted. With
    ``blocks`` the weights between each pair of blocks. Not preserved: strengths.

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
    edges = _EdgeList.of(network, "free")
    groups = _Kinds.of(edges, blocks)(edges.source, edges.target)
    if signs == "fixed":
        groups = 2 * groups + (_sign(edges.weights) > 0)
    weights = edges.weights[_shuffled_within(groups, generator(seed))]
    note = PROSE["shuffled" if _differ(groups, edges.weights) else "equal weights"]
    return edges.network(edges.source, edges.target, weights, note)


def shuffle_signs(network: Any, *, seed: Seed, of: str = "edges") -> LinearNetwork:
    """Permute the signs of the weights.

    Preserved: all edges with the magnitude of their weights. With ``of="edges"`` the number of
    negative weights; with ``of="nodes"`` the number of nodes whose outgoing weights are negative
    (every node must obey Dale's principle).

    Parameters
    ----------
    network, seed
        As for :func:`rewire`; real weights.
    of : str
        What a sign belongs to: ``"edges"``, or their source ``"nodes"``.

    Examples
    --------
    >>> import memcurve
    >>> null = memcurve.nulls.shuffle_signs(([[0, 0.5], [-0.3, 0]], [1, 0]), seed=1)
    >>> abs(null.A).tolist()
    [[0.0, 0.5], [0.3, 0.0]]
    """
    table_entry(dict.fromkeys(("edges", "nodes")), of, "of")
    edges, rng = _EdgeList.of(network, "free"), generator(seed)
    signs = _sign(edges.weights)
    if of == "edges":
        drawn = rng.permutation(signs)
    else:
        of_node = np.zeros(edges.size)
        of_node[edges.source] = signs
        if (of_node[edges.source] != signs).any():
            node = edges.source[np.argmax(of_node[edges.source] != signs)]
            raise ValueError(
                f"`of` must be 'edges' here: node {edges.subject.names([node])[0]} has outgoing "
                f"weights of both signs."
            )
        senders = np.flatnonzero(of_node)
        of_node[senders] = rng.permutation(of_node[senders])
        drawn = of_node[edges.source]
    weights = drawn * np.abs(edges.weights)
    is_mixed = _differ(np.zeros(len(signs), dtype=np.int64), signs)
    note = PROSE["signs"].format(of=of) if is_mixed else PROSE["same sign"]
    return edges.network(edges.source, edges.target, weights, note)


def erdos_renyi(
    network: Any,
    *,
    seed: Seed,
    self_loops: str = "fixed",
    blocks: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    bins: int = 10,
) -> LinearNetwork:
    """Place the same number of edges uniformly at random, and permute the weights over them.

    Preserved: the number of edges, so the density; the multiset of weights. With ``blocks`` the
    number of edges between each pair of blocks (a stochastic block model), with ``positions`` that
    in each bin of length. Not preserved: degrees, strengths, reciprocity.

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
    edges, rng = _EdgeList.of(network, self_loops), generator(seed)
    kinds, size, free = _Kinds.of(edges, blocks, positions, bins), edges.size, edges.loops_are_free
    cells = size * (size if free else size - 1)

    def ends(codes: Any) -> tuple[Places, Places]:
        source, target = np.divmod(codes, size if free else max(size - 1, 1))
        return source, target if free else target + (target >= source)

    if kinds.is_one:
        codes = rng.choice(cells, len(edges.weights), replace=False)
        has_room = 0 < len(codes) < cells
    else:
        what = f"`network` is too large for this: sorting the {cells:,} cells of A into classes"
        require_room(_CELL * cells, what, "Leave out `blocks` and `positions`, or take `rewire`.")
        kind = kinds(*ends(np.arange(cells)))
        order = np.argsort(kind, kind="stable")
        of_edges, count = np.unique(kinds(edges.source, edges.target), return_counts=True)
        first, last = (np.searchsorted(kind[order], of_edges, side) for side in ("left", "right"))
        has_room = bool((count < last - first).any())
        parts = [
            order[low + rng.choice(high - low, k, replace=False)]
            for low, high, k in zip(first, last, count, strict=True)
        ]
        codes = np.concatenate([np.zeros(0, np.int64), *parts])
    weights = rng.permutation(edges.weights)
    can_change = has_room or _differ(np.zeros(len(weights), dtype=np.int64), weights)
    note = PROSE["random edges" if can_change else "no free cell"]
    return edges.network(*ends(codes), weights, note)


@dataclass(frozen=True)
class Null:
    """A null model: the function that draws surrogates, what they preserve, and what it needs.

    Examples
    --------
    >>> from memcurve.studies.nulls import NULLS
    >>> NULLS["shuffle"].keeps
    'all edges and the multiset of weights'
    """

    draw: Callable[..., LinearNetwork]
    keeps: str
    needs: str | None = None


#: Null models by the names that commands and comparisons use.
NULLS = {
    "rewire": Null(rewire, "in- and out-degrees and the outgoing weights of each node"),
    "shuffle": Null(shuffle, "all edges and the multiset of weights"),
    "signs": Null(shuffle_signs, "all edges and the magnitudes of their weights"),
    "erdos_renyi": Null(erdos_renyi, "the number of edges and the multiset of weights"),
    "blocks": Null(rewire, "degrees and the number of edges between blocks", needs="blocks"),
    "spatial": Null(rewire, "degrees and the distribution of edge lengths", needs="positions"),
}


def make(name: str, network: Any, *, seed: Seed, **options: Any) -> LinearNetwork:
    """Draw a surrogate of the null model ``name``, one of :data:`NULLS`, with its options.

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


class _EdgeList(NamedTuple):
    """The edges of a network that take part, and those that stay."""

    subject: LinearNetwork
    source: Places
    target: Places
    weights: NDArray[Any]
    fixed: tuple[Places, NDArray[Any]]  # nodes with a self-loop that stays, and its weight
    loops_are_free: bool

    @classmethod
    def of(cls, network: Any, self_loops: str) -> _EdgeList:
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
        notes = (*self.subject.notes, Note("network", f"a surrogate, {note}"))
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
    def of(
        cls, edges: _EdgeList, blocks: Any = None, positions: Any = None, bins: int = 1
    ) -> _Kinds:
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
    def kinds(self) -> int:
        return self.blocks**2 * (len(self.limits) + 1)

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


class _Trades:
    """Curveball trades of edges between nodes, or of the complement's if that is sparser."""

    def __init__(self, edges: _EdgeList, kinds: _Kinds, rng: np.random.Generator) -> None:
        self._size, self._loops_are_free = edges.size, edges.loops_are_free
        self._kinds, self._rng = kinds, rng
        self._others = edges.size if edges.loops_are_free else edges.size - 1
        self._ends: list[Places] = [edges.source.copy(), edges.target.copy()]
        self._is_complement = 2 * len(edges.source) > self._size * self._others
        if self._is_complement:
            self._complement()
        degrees = [np.bincount(end, minlength=self._size) for end in self._ends]
        can_trade = [(degree > 0) & (degree < self._others) for degree in degrees]
        self._traders = [np.flatnonzero(can) for can in can_trade]
        lonely = np.full(self._size % 2, -1)  # meets the last of an odd number
        self._rest = [np.concatenate([np.flatnonzero(~can), lonely]) for can in can_trade]

    def _complement(self) -> None:
        """Replace the edges by those of the complement."""
        is_gap = np.ones((self._size, self._size), dtype=bool)
        is_gap[tuple(self._ends)] = False
        if not self._loops_are_free:
            np.fill_diagonal(is_gap, False)
        self._ends = list(np.nonzero(is_gap))

    def run(self, moves: float) -> tuple[Places, Places, str | None]:
        """Move each edge so often, on average: sources and targets, and what was done in words.

        None stands for nothing that could be done.

        The first rounds tell how many are needed after them. They end where enough was moved, which
        says something of where they lead; the others do not.
        """
        count = len(self._ends[0])
        most = max(_ROUNDS, min(_MOST_WORK // max(count, 1), _ROUNDS_BY_NODE * self._size))
        moved = rounds = 0
        while moved < _FIRST_MOVES and rounds < most:
            moved, rounds = moved + self._round(), rounds + 1
        left = min(int(np.ceil(moves * count * rounds / moved)), most) if moved else 0
        if not self._kinds.is_one:
            moved += self._detours()
        moved += sum(self._round() for _ in range(left))
        can_turn = self._turn_cycles() if self._kinds.is_one and not self._loops_are_free else False
        if self._is_complement:
            self._complement()
        if not (moved or can_turn):
            return self._ends[0], self._ends[1], None
        what = "cell without an edge" if self._is_complement else "edge"
        few = PROSE["few"].format(moves=moves, rounds=rounds + left)
        few = few if moved < moves * count / 2 else ""
        note = PROSE["rewired"].format(what=what, moved=moved / count, few=few)
        return self._ends[0], self._ends[1], note

    def _round(self) -> int:
        """Trades of all sources, then of all targets; how many edges were moved."""
        return self._trade(0) + self._trade(1)

    def _trade(self, end: int) -> int:
        """Let nodes at this end meet in pairs, pool what only one has, and deal it out again."""
        order = self._rng.permutation(self._traders[end])
        if self._kinds.block is not None and self._rng.random() < 0.5:  # meet in blocks
            order = order[np.argsort(self._kinds.block[order], kind="stable")]
        nodes = np.concatenate([order, self._rest[end]])  # pairs of neighbours
        place = np.empty(self._size, dtype=np.int64)
        place[nodes[: self._size]] = np.arange(self._size)
        # a pair, a cell of its two rows and whose it is, in one integer that can be sorted
        bits = self._size.bit_length() + 1
        row = (place >> 1 << bits) | (place & 1)
        cells = row[self._ends[end]]
        cells += self._ends[1 - end] << 1
        cells.sort()
        self._last_pair = int(cells[-1]) >> bits if len(cells) else 0
        return sum(self._deal(end, cells, part, nodes, bits) for part in self._parts(cells, bits))

    def _parts(self, cells: Places, bits: int) -> Iterator[slice]:
        """Parts of the sorted cells that fit into the cache, each with all cells of its pairs."""
        first, count = 0, len(cells)
        while first < count:
            last = first + _PART if self._kinds.is_one else count
            if last < count:
                next_pair = ((cells[last] >> bits) + 1) << bits
                last = int(np.searchsorted(cells, next_pair))
            yield slice(first, min(last, count))
            first = last

    def _deal(self, end: int, all_cells: Places, part: slice, nodes: Places, bits: int) -> int:
        """Pool and deal out the cells of a part; how many edges were moved."""
        cells = all_cells[part]
        pair, other = cells >> bits, (cells & ((1 << bits) - 1)) >> 1
        is_single = np.ones(len(cells), dtype=bool)
        is_both = (cells[1:] ^ cells[:-1]) == 1
        is_single[1:] &= ~is_both
        is_single[:-1] &= ~is_both
        first, second = nodes[::2], nodes[1::2]
        if not self._loops_are_free:
            is_single &= (other != first[pair]) & (other != second[pair])
        places = np.flatnonzero(is_single)
        group, last_group = pair[places], self._last_pair
        if not self._kinds.is_one:
            places, group = self._by_kind(end, places, first[group], second[group], other[places])
            last_group = int(group[-1]) if len(group) else 0
        before = cells[places] & 1
        after = _dealt(group, last_group, before, self._rng)
        cells[places] ^= before ^ after
        self._ends[end][part] = nodes[(pair << 1) | (cells & 1)]
        self._ends[1 - end][part] = other
        return int(np.count_nonzero(before != after))

    def _by_kind(
        self, end: int, places: Places, first: Places, second: Places, other: Places
    ) -> tuple[Places, Places]:
        """Places in pools that can be dealt out at will: in each, all make the same difference."""
        kinds = [
            self._kinds(*((own, other) if end == 0 else (other, own))) for own in (first, second)
        ]
        difference = np.where(kinds[0] == kinds[1], -1, kinds[0] * self._kinds.kinds + kinds[1])
        order = np.lexsort((difference, first))
        is_new = np.diff(first[order], prepend=-1) != 0
        is_new |= np.diff(difference[order], prepend=-2) != 0
        return places[order], np.cumsum(is_new)

    def _detours(self) -> int:
        """Swaps and turned cycles of three, of which a few together keep all kinds.

        A detour ends where all kinds have their edges again, or where it began if that takes too
        many steps: its reverse is equally likely. Returns how many edges were moved.
        """
        size, count, moved = self._size, len(self._ends[0]), 0
        if count < 2:
            return 0
        draw = random.Random(int(self._rng.integers(2**63)))
        kinds: list[int] = self._kinds(*self._ends).tolist()
        cells: list[int] = (self._ends[0] * size + self._ends[1]).tolist()
        place_of = {cell: place for place, cell in enumerate(cells)}

        @cache
        def kind_of(cell: int) -> int:
            return int(self._kinds(*np.divmod([cell], size))[0])

        def step() -> tuple[list[int], list[int]] | None:
            """Edges by their places, and cells for them; None where these are not free."""
            if not self._loops_are_free and size > 2 and draw.random() < 0.5:
                i, j, k = draw.sample(range(size), 3)
                after = [j * size + i, k * size + j, i * size + k]
                if any(c not in place_of for c in (i * size + j, j * size + k, k * size + i)):
                    return None
                places = [place_of[c] for c in (i * size + j, j * size + k, k * size + i)]
            else:
                places = [draw.randrange(count), draw.randrange(count)]
                (i, j), (k, m) = (divmod(cells[place], size) for place in places)
                after = [i * size + m, k * size + j]
                if not self._loops_are_free and (i == m or k == j):
                    return None
            return None if any(cell in place_of for cell in after) else (places, after)

        def put(places: list[int], after: list[int], kinds_after: list[int]) -> None:
            for place in places:
                del place_of[cells[place]]
            for place, cell, kind in zip(places, after, kinds_after, strict=True):
                cells[place], kinds[place], place_of[cell] = cell, kind, place

        for _ in range(min(_DETOURS * count, _MOST_DETOURS)):
            back, difference = [], Counter[int]()
            for _ in range(_DETOUR):
                if (taken := step()) is not None:
                    places, after = taken
                    back.append((places, [cells[p] for p in places], [kinds[p] for p in places]))
                    put(places, after, [kind_of(cell) for cell in after])
                    difference.subtract(back[-1][2])
                    difference.update(kinds[p] for p in places)
                if not any(difference.values()):
                    moved += sum(len(places) for places, *_ in back)
                    break
            else:
                for before in reversed(back):
                    put(*before)
        self._ends = list(np.divmod(np.array(cells), size))
        return moved

    def _turn_cycles(self) -> bool:
        """Turn cycles of three nodes that no trade can turn, by chance; whether there are any.

        Of these, all three send to the same other nodes and receive from the same: sums of random
        numbers tell, of targets by source and of sources by target, each less its own edge.
        """
        source, target = (end.copy() for end in self._ends)
        degrees = [np.bincount(end, minlength=self._size) for end in (source, target)]
        salts = self._rng.integers(1 << 26, size=(2, self._size)).astype(float)  # sums are exact
        sent = np.bincount(source, salts[0][target], self._size)
        received = np.bincount(target, salts[1][source], self._size)
        alike = np.flatnonzero(np.all([d[source] == d[target] for d in degrees], axis=0))
        first, last = source[alike], target[alike]
        sums = sent[first] - salts[0][last] + 1j * (received[last] - salts[1][first])
        group = np.unique(sums, return_inverse=True)[1]
        # in a group each node sends one edge at most, and receives one: follow them
        order = np.argsort(starts := group * self._size + first)
        alike, starts, ends = alike[order], starts[order], (group * self._size + last)[order]
        second = np.minimum(np.searchsorted(starts, ends), len(ends) - 1)
        is_followed = starts[second] == ends
        third = second[second]
        closes = is_followed & is_followed[second] & is_followed[third]
        closes &= second[third] == np.arange(len(second))
        cycles = np.flatnonzero(closes & (np.arange(len(second)) < np.minimum(second, third)))
        turned = cycles[self._rng.random(len(cycles)) < 0.5]
        places = alike[np.concatenate([turned, second[turned], third[turned]])]
        source[places], target[places] = target[places], source[places]
        self._ends = [source, target]
        return len(cycles) > 0


def _lengths(positions: Floats, source: Places, target: Places) -> Any:
    return np.linalg.norm(positions[source] - positions[target], axis=-1)


def _sign(weights: NDArray[Any]) -> Floats:
    if np.iscomplexobj(weights):
        raise ValueError("`network` must have real weights to have signs, got complex ones.")
    return np.asarray(np.sign(weights))


def _differ(groups: Places, values: NDArray[Any]) -> bool:
    """Whether values differ within a group."""
    _, first, group = np.unique(groups, return_index=True, return_inverse=True)
    return bool((values != values[first][group]).any())


def _dealt(group: Places, last: int, belongs: Places, rng: np.random.Generator) -> Places:
    """Zeros and ones permuted within groups, which are in ascending order up to ``last``."""
    # sorted by group and a random key, whose ties are negligible; the last bit goes along
    bits = 62 - last.bit_length()
    keys = rng.integers(1 << bits, size=len(group))
    keys <<= 1
    keys |= belongs
    keys |= group << (bits + 1)
    keys.sort()
    keys &= 1
    return keys


def _shuffled_within(groups: Places, rng: np.random.Generator) -> Places:
    """Places in random order, each within its group."""
    order = np.argsort(groups, kind="stable")
    drawn = rng.permutation(len(groups))
    shuffled = np.empty_like(order)
    shuffled[order] = drawn[np.argsort(groups[drawn], kind="stable")]
    return shuffled
