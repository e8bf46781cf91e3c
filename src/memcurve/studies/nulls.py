"""Null models: random surrogates of a network that preserve some of its properties exactly.

Each function says what its surrogates preserve. Edges are the non-zero weights of A,
``A[target, source]``; mask, readout and labels are unchanged. Nothing is rescaled here: see
:func:`memcurve.compare_with_nulls`.

Seeds are explicit: an int, a :class:`numpy.random.SeedSequence` or a
:class:`numpy.random.Generator`.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.core import arguments
from memcurve.core.notes import Note, texts_beside
from memcurve.core.types import Floats
from memcurve.io.adapters import as_network
from memcurve.network import LinearNetwork
from memcurve.network.device import DeviceMatrix, on_host
from memcurve.network.operator import Operator

Places = NDArray[np.integer[Any]]

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
#: Edges up to which there are detours; doubled: networks that large take a second longer.
_DETOUR_EDGES = 100_000
#: Edges dealt out at once, which fit into the cache; doubled: hardly a change.
_PART = 1 << 17
#: Threads that deal, on different parts; more: hardly a gain, sorting takes as long as before.
_THREADS = 2
#: Nodes in a box of space whose nodes meet; doubled: lengths differ more, and fewer edges move.
_NEIGHBOURS = 32
#: Distances at which pooled edges are swapped; one more: a twentieth more edges are moved a round.
_STRIDES = (1, 2, 4)

#: How the note of a surrogate begins that is the network itself.
UNCHANGED = "unchanged: "
#: Notes on surrogates, by kind.
PROSE: dict[str, str] = texts_beside(__file__)


def rewire(
    network: Any,
    *,
    seed: arguments.Seed,
    moves: float = 10.0,
    blocks: ArrayLike | None = None,
    positions: ArrayLike | None = None,
    bins: int = 10,
) -> LinearNetwork:
    """Rewire a network at random; every node keeps its in- and out-degree.

    Preserved: in- and out-degree of every node, and its outgoing weights, so its out-strength and
    sign. With ``blocks`` the number of edges between each pair of blocks, with ``positions`` the
    number of edges in each bin of length. Self-loops stay in place, and no new ones arise. Not
    preserved: reciprocity, motifs, in-strengths.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        Dense or sparse, real or complex; a million edges take seconds, 25 million a minute or two.
    seed : int, SeedSequence or Generator
        Seed. Required.
    moves : float
        How often an edge is moved, on average.
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
    all networks with these degrees are reached: trades leave out those that differ in cycles of
    three nodes that no degree can tell apart (Berger and Müller-Hannemann 2010), which are turned
    with a chance of one half. With blocks or positions, pools are dealt
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
    moves = arguments.require_number(moves, "moves", "above 0", lambda number: number > 0)
    edges = _Wiring.of(network, loops=False)
    kinds, rng = _Kinds.of(edges, blocks, positions, bins), arguments.generator(seed)
    source, target, note = _Trades(edges, kinds, rng).run(moves)
    if note is None:
        note = PROSE["weights only" if _differ(edges.source, edges.weights) else "no other edges"]
    # each node sends as many edges as before: they and their weights are sorted by source
    target, bounds = _bucketed(source, target, edges.size)
    source = np.repeat(np.arange(edges.size, dtype=source.dtype), np.diff(bounds))
    drawn = rng.permutation(len(source))
    shuffled, _ = _bucketed(edges.source[drawn], edges.weights[drawn], edges.size)
    return edges.network(source, target, shuffled, note)


def shuffle(
    network: Any, *, seed: arguments.Seed, signs: str = "moved", blocks: ArrayLike | None = None
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
    arguments.table_entry(dict.fromkeys(("moved", "fixed")), signs, "signs")
    edges = _Wiring.of(network, loops=True)
    kinds = _Kinds.of(edges, blocks)
    groups = kinds(edges.source, edges.target)
    if signs == "fixed":
        groups = 2 * groups + (_sign(edges.weights) > 0)
    if kinds.blocks > 1:
        groups = np.unique(groups, return_inverse=True)[1]
    weights = edges.weights[_shuffled_within(groups, arguments.generator(seed))]
    note = PROSE["shuffled" if _differ(groups, edges.weights) else "equal weights"]
    return edges.network(edges.source, edges.target, weights, note)


def shuffle_signs(network: Any, *, seed: arguments.Seed, of: str = "edges") -> LinearNetwork:
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
    arguments.table_entry(dict.fromkeys(("edges", "nodes")), of, "of")
    edges, rng = _Wiring.of(network, loops=True), arguments.generator(seed)
    signs = _sign(edges.weights)
    if of == "edges":
        drawn = rng.permutation(signs)
    else:
        of_node = np.zeros(edges.size)
        of_node[edges.source] = signs
        if (of_node[edges.source] != signs).any():
            node = edges.source[np.argmax(of_node[edges.source] != signs)]
            raise ValueError(PROSE["signs of a node"].format(node=edges.subject.names([node])[0]))
        senders = np.flatnonzero(of_node)
        of_node[senders] = rng.permutation(of_node[senders])
        drawn = of_node[edges.source]
    weights = drawn * np.abs(edges.weights)
    is_mixed = _differ(np.zeros(len(signs), dtype=np.int64), signs)
    note = PROSE["signs"].format(of=of) if is_mixed else PROSE["same sign"]
    return edges.network(edges.source, edges.target, weights, note)


def erdos_renyi(
    network: Any, *, seed: arguments.Seed, blocks: ArrayLike | None = None
) -> LinearNetwork:
    """Place the same number of edges uniformly at random, and permute the weights over them.

    Preserved: the number of edges, so the density; the multiset of weights; self-loops. With
    ``blocks`` the number of edges between each pair of blocks (a stochastic block model). Not
    preserved: degrees, strengths, reciprocity.

    Parameters
    ----------
    network, seed, blocks
        As for :func:`rewire`.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(50, density=0.1, seed=1)
    >>> null = memcurve.nulls.erdos_renyi(network, seed=1)
    >>> bool((null.A != 0).sum() == (network.A != 0).sum())
    True
    """
    edges, rng = _Wiring.of(network, loops=False), arguments.generator(seed)
    kinds = _Kinds.of(edges, blocks)
    edges_by_kind = np.unique(kinds(edges.source, edges.target), return_counts=True)
    source, target, has_room = _cells_between_blocks(edges, kinds, *edges_by_kind, rng)
    weights = rng.permutation(edges.weights)
    can_change = has_room or _differ(np.zeros(len(weights), dtype=np.int64), weights)
    note = PROSE["random edges" if can_change else "no free cell"]
    return edges.network(source, target, weights, note)


#: Null models by the names that commands and comparisons use.
NULLS: dict[str, Callable[..., LinearNetwork]] = {
    "rewire": rewire, "shuffle": shuffle, "signs": shuffle_signs, "erdos_renyi": erdos_renyi,
    "blocks": rewire, "spatial": rewire,
}  # fmt: skip
#: Options that a null model must have.
NEEDS = {"blocks": "blocks", "spatial": "positions"}


def make(name: str, network: Any, *, seed: arguments.Seed, **options: Any) -> LinearNetwork:
    """Draw a surrogate of the null model ``name``, one of :data:`NULLS`, with its options.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.sparse_normal(50, density=0.1, seed=1)
    >>> memcurve.nulls.make("rewire", network, seed=1).size
    50
    """
    draw = arguments.table_entry(NULLS, name, "name")
    arguments.require_options(draw, {"network": network, "seed": seed, **options})
    if (needed := NEEDS.get(name)) and options.get(needed) is None:
        raise ValueError(f"`{needed}` must be given for the null model {name!r}, got none.")
    return draw(network, seed=seed, **options)


class _Wiring(NamedTuple):
    """The edges of a network that take part, and those that stay."""

    subject: LinearNetwork
    source: Places
    target: Places
    weights: NDArray[Any]
    fixed: tuple[Places, NDArray[Any]]  # nodes with a self-loop that stays, and its weight

    @classmethod
    def of(cls, network: Any, *, loops: bool) -> _Wiring:
        """Self-loops stay unless they take part, too."""
        from scipy.sparse import coo_array

        subject = as_network(network)
        if isinstance(subject.A, Operator):
            raise subject.A.needs_matrix("null models")
        entries = coo_array(on_host(subject.A))
        integer = np.int32 if subject.size < 2**30 else np.int64  # a node and a bit are packed
        source, target = (nodes.astype(integer) for nodes in (entries.col, entries.row))
        stays = (source == target) & (not loops)
        fixed = (source[stays], entries.data[stays])
        source, target, weights = source[~stays], target[~stays], entries.data[~stays]
        return cls(subject, source, target, weights, fixed)

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
    """Kinds of cells of A, whose numbers of edges are kept: by blocks, by length, or one."""

    block: Places
    blocks: int
    coordinates: Floats  # a row per dimension; none where lengths do not matter
    limits: Floats  # of the bins of length, squared

    @classmethod
    def of(cls, edges: _Wiring, blocks: Any = None, positions: Any = None, bins: int = 1) -> _Kinds:
        block: Places = np.zeros(edges.size, dtype=np.int32)
        count = 1
        coordinates, limits = np.zeros((0, edges.size)), np.zeros(0)
        if blocks is not None:
            given = np.asarray(blocks)
            if given.shape != (edges.size,):
                raise ValueError(PROSE["blocks"].format(size=edges.size, shape=given.shape))
            missing = [k for k, one in enumerate(given.tolist()) if one is None or one != one]
            if missing:
                facts = {"got": given.tolist()[missing[0]], "place": missing[0]}
                raise ValueError(PROSE["missing block"].format(count=len(missing), **facts))
            names, block = np.unique(given, return_inverse=True)
            block, count = block.astype(np.int32), len(names)
        if positions is not None:
            places = arguments.exact_array(positions, "positions")
            if places.ndim not in (1, 2) or len(places) != edges.size or np.iscomplexobj(places):
                raise ValueError(PROSE["positions"].format(size=edges.size, shape=np.shape(places)))
            coordinates = np.ascontiguousarray(places.reshape(len(places), -1).T)
            shares = np.arange(1, arguments.require_size(bins, "bins")) / bins
            if len(edges.source):
                limits = np.quantile(_squares(coordinates, [edges.source], edges.target)[0], shares)
        return cls(block, count, coordinates, limits)

    @property
    def bins(self) -> int:
        return len(self.limits) + 1

    def __call__(self, source: Places, target: Places) -> Places:
        """The kind of each cell."""
        between = np.int64(self.blocks) * self.block[source] + self.block[target]
        return between * self.bins + self._bins_of([source], target)[0]

    def differences(self, pairs: Places, other: Places) -> Places:
        """What a move of an edge from the first of a pair to the second changes.

        Zero where it changes nothing, and below :attr:`changes`. Moves between the same two nodes
        that have the same number cancel each other if one is made back.
        """
        bins, is_same = self._bins_of(pairs, other), np.True_
        change: Places = np.zeros(len(other), dtype=np.int32)
        if self.blocks > 1:
            change += self.block.take(other)
            is_same = self.block.take(pairs[0]) == self.block.take(pairs[1])
        for of_end in bins:
            change *= np.int32(self.bins)
            change += of_end
        change += 1
        change *= ~(is_same & (bins[0] == bins[1]))
        return change

    @property
    def changes(self) -> int:
        return 1 + self.blocks * self.bins**2

    def neighbourhoods(self, rng: np.random.Generator) -> Places:
        """Boxes of some :data:`_NEIGHBOURS` nodes at random offsets, a number per dimension."""
        dimensions, size = self.coordinates.shape
        boxes = max(1.0, size / _NEIGHBOURS) ** (1 / max(dimensions, 1))
        width = np.ptp(self.coordinates, axis=1, keepdims=True) / boxes
        offsets = rng.random((dimensions, 1))
        scaled = self.coordinates / np.where(width > 0, width, 1.0) + offsets
        return np.floor(scaled).astype(np.int64)

    def _bins_of(self, ends: Any, other: Places) -> list[Places]:
        """The bin of length between each of the ends and the other."""
        bins = np.zeros((len(ends), len(other)), dtype=np.min_scalar_type(self.bins))
        for of_end, squares in zip(bins, _squares(self.coordinates, ends, other), strict=True):
            for limit in self.limits:  # faster than a bisection for some ten limits
                of_end += squares > limit
        return [*bins]


class _Trades:
    """Trades of edges between nodes, or of the complement's if that is sparser.

    Nodes meet in pairs. Which of a pair's edges are pooled, and in which order, does not depend on
    whose they are; those at a distance of 1, 2, 4, … in the pool are swapped with a chance of one
    half. So every trade is as likely as its reverse.
    """

    def __init__(self, edges: _Wiring, kinds: _Kinds, rng: np.random.Generator) -> None:
        self._size, self._kinds, self._rng = edges.size, kinds, rng
        self._is_one_kind = kinds.changes == 2
        self._is_complement = 2 * len(edges.source) > self._size * (self._size - 1)
        ends = [edges.source, edges.target]
        if self._is_complement:
            ends = self._complement(ends)
        self._degrees = [np.bincount(end, minlength=self._size) for end in ends]
        self._log_degrees = [np.log(np.maximum(degree, 1)) for degree in self._degrees]
        can_trade = [(degree > 0) & (degree < self._size - 1) for degree in self._degrees]
        self._traders = [np.flatnonzero(can) for can in can_trade]
        lonely = np.full(self._size % 2, -1)  # meets the last of an odd number
        self._rest = [np.concatenate([np.flatnonzero(~can), lonely]) for can in can_trade]
        self._rounds = 0
        self._list(ends)

    def _complement(self, ends: list[Places]) -> list[Places]:
        """The edges of the complement."""
        is_gap = np.ones((self._size, self._size), dtype=bool)
        is_gap[tuple(ends)] = False
        np.fill_diagonal(is_gap, False)
        return [end.astype(ends[0].dtype) for end in np.nonzero(is_gap)]

    def _list(self, ends: list[Places]) -> None:
        """List the sources by their targets, which are in random order."""
        self._order = self._rng.permutation(self._size).astype(ends[0].dtype)
        place = np.argsort(self._order).astype(ends[0].dtype)
        self._listed, _ = _bucketed(place[ends[1]], ends[0], self._size)

    @property
    def _ends(self) -> list[Places]:
        """Sources and targets, between rounds."""
        return [self._listed, np.repeat(self._order, self._degrees[1][self._order])]

    def run(self, moves: float) -> tuple[Places, Places, str | None]:
        """Move each edge so often, on average: sources and targets, and what was done in words.

        None stands for nothing that could be done.

        The first rounds tell how many are needed after them. They end where enough was moved, which
        says something of where they lead; the others do not.
        """
        count = len(self._listed)
        limit = max(_ROUNDS, min(_MOST_WORK // max(count, 1), _ROUNDS_BY_NODE * self._size))
        limit = limit if any(len(traders) > 1 for traders in self._traders) else 0
        moved = 0
        while moved < _FIRST_MOVES and self._rounds < limit:
            moved += self._round()
        left = min(int(np.ceil(moves * count * self._rounds / moved)), limit) if moved else 0
        if not self._is_one_kind and 2 <= count <= _DETOUR_EDGES:
            moved += self._detours()
        moved += sum(self._round() for _ in range(left))
        can_turn = self._is_one_kind and self._turn_cycles()
        source, target = self._complement(self._ends) if self._is_complement else self._ends
        if not (moved or can_turn):
            return source, target, None
        what = "cell without an edge" if self._is_complement else "edge"
        few = PROSE["few"].format(moves=moves, rounds=self._rounds)
        few = few if moved < moves * count / 2 else ""
        return source, target, PROSE["rewired"].format(what=what, moved=moved / count, few=few)

    def _round(self) -> int:
        """Trades of all sources, then of all targets; how many edges were moved."""
        self._rounds += 1
        return self._trade(0) + self._trade(1)

    def _meeting(self, end: int) -> Places:
        """Nodes in pairs that are neighbours, in random order."""
        meeting = self._rng.permutation(self._traders[end])
        if (self._rounds + end) % 2:  # those of similar degree, of one block and near exchange more
            similar = self._log_degrees[end][meeting] + self._rng.random(len(meeting))
            near = self._kinds.neighbourhoods(self._rng)[:, meeting]
            meeting = meeting[np.lexsort((similar, *near, self._kinds.block[meeting]))]
            pairs = meeting[: len(meeting) // 2 * 2].reshape(-1, 2)
            self._rng.shuffle(pairs)
        return np.concatenate([meeting, self._rest[end]]).astype(self._listed.dtype)

    def _trade(self, end: int) -> int:
        """Let nodes at this end meet in pairs and trade; how many edges were moved.

        Before, nodes at this end are listed by those at the other end, in the order in which these
        met; after it, those at the other end by the nodes at this one. So all that a pair has is in
        an order which says nothing of whose it is.
        """
        from scipy.sparse import csr_array

        nodes, order = self._meeting(end), self._order
        seat = np.empty(self._size, dtype=nodes.dtype)
        seat[nodes[: self._size]] = np.arange(self._size)
        seats = seat[self._listed]
        starts = np.cumsum(self._degrees[1 - end][order])
        parts_of = (seats & 1).astype(bool), seats >> 1, np.append(0, starts)
        by_pair = csr_array(parts_of, shape=(self._size, len(nodes) // 2)).tocsc()
        whose, places, bounds = by_pair.data, by_pair.indices, by_pair.indptr
        cuts = np.searchsorted(bounds, np.arange(_PART, len(places), _PART))
        parts = [*pairwise(np.unique([0, *cuts, len(bounds) - 1]))]

        def deal(part: tuple[int, int], rng: np.random.Generator) -> int:
            first, last = part
            counts = np.diff(bounds[first : last + 1])
            pair = np.repeat(np.arange(last - first, dtype=nodes.dtype), counts)
            mine = slice(bounds[first], bounds[last])
            pairs, other = nodes[2 * first : 2 * last].reshape(-1, 2).T, order[places[mine]]
            moved = self._deal(whose[mine], other, pair, pairs, rng)
            self._listed[mine], _ = _bucketed(2 * pair + whose[mine], other, 2 * (last - first))
            return moved

        self._order = nodes[: self._size]
        if len(parts) == 1:
            return deal(parts[0], self._rng)
        with ThreadPoolExecutor(_THREADS) as pool:  # the same numbers whatever their number
            return sum(pool.map(deal, parts, self._rng.spawn(len(parts))))

    def _deal(
        self, whose: NDArray[np.bool_], other: Places, pair: Places, pairs: Places,
        rng: np.random.Generator,
    ) -> int:  # fmt: skip
        """Pool what only one of a pair has, and deal it out again; how many edges were moved."""
        is_single = np.ones(len(other), dtype=bool)
        is_both = (other[1:] == other[:-1]) & (pair[1:] == pair[:-1])
        is_single[1:] &= ~is_both
        is_single[:-1] &= ~is_both
        for nodes in pairs:
            is_single &= other != nodes[pair]
        pool = np.flatnonzero(is_single)
        group = pair[pool]
        change: Places = np.zeros(0, dtype=np.int32)
        if not self._is_one_kind:  # a pool for each difference that a move makes
            change = self._kinds.differences(pairs.take(group, axis=1), other[pool])
        if change.any():
            order, _ = _bucketed(change, np.arange(len(pool), dtype=np.int32), self._kinds.changes)
            order, _ = _bucketed(group[order], order, int(group[-1]) + 1)
            pool, group, change = pool[order], group[order], change[order]
            is_new = (np.diff(group, prepend=-1) != 0) | (np.diff(change, prepend=-1) != 0)
            group = np.cumsum(is_new, dtype=group.dtype)
        before = whose[pool]
        after = before.copy()
        for stride in _STRIDES:
            for start in np.arange(stride) + rng.integers(2 * stride):
                one, two = (slice(first, None, 2 * stride) for first in (start, start + stride))
                count = len(after[two])
                swapped = rng.integers(2, size=count, dtype=bool)
                swapped &= after[one][:count] != after[two]
                swapped &= group[one][:count] == group[two]
                after[one][:count] ^= swapped
                after[two] ^= swapped
        whose[pool] = after
        return int(np.count_nonzero(before != after))

    def _detours(self) -> int:
        """Swaps and turned cycles of three, of which a few together keep all kinds.

        A detour ends where all kinds have their edges again, or where it began if that takes too
        many steps: its reverse is equally likely. Returns how many edges were moved.
        """
        size, count, moved = self._size, len(self._listed), 0
        source, target = self._ends
        draw = random.Random(int(self._rng.integers(2**63)))
        kinds: list[int] = self._kinds(source, target).tolist()
        cells: list[int] = (source * np.int64(size) + target).tolist()
        place_of = {cell: place for place, cell in enumerate(cells)}

        @cache
        def kind_of(cell: int) -> int:
            return int(self._kinds(*np.divmod([cell], size))[0])

        def step() -> tuple[list[int], list[int]] | None:
            """Edges by their places, and cells for them; None where these are not free."""
            if size > 2 and draw.random() < 0.5:
                i, j, k = draw.sample(range(size), 3)
                after = [j * size + i, k * size + j, i * size + k]
                if any(c not in place_of for c in (i * size + j, j * size + k, k * size + i)):
                    return None
                places = [place_of[c] for c in (i * size + j, j * size + k, k * size + i)]
            else:
                places = [draw.randrange(count), draw.randrange(count)]
                (i, j), (k, m) = (divmod(cells[place], size) for place in places)
                after = [i * size + m, k * size + j]
                if i == m or k == j:
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
                    first = dict[int, int]()  # edges before the detour, by their places
                    for there, was, _ in reversed(back):
                        first.update(zip(there, was, strict=True))
                    moved += len({*first.values()} - place_of.keys())
                    break
            else:
                for undone in reversed(back):
                    put(*undone)
        self._list([end.astype(source.dtype) for end in np.divmod(np.array(cells), size)])
        return moved

    def _turn_cycles(self) -> bool:
        """Turn cycles of three nodes that no trade can turn, by chance; whether there are any.

        Of these, all three send to the same other nodes and receive from the same: sums of random
        numbers tell, of targets by source and of sources by target, each less its own edge.
        """
        source, target = self._ends
        salts = self._rng.integers(1 << 26, size=(2, self._size)).astype(float)  # sums are exact
        sent = np.bincount(source, salts[0][target], self._size)
        received = np.bincount(target, salts[1][source], self._size)
        alike = np.flatnonzero(np.all([d[source] == d[target] for d in self._degrees], axis=0))
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
        self._list([source, target])
        return len(cycles) > 0


def _squares(coordinates: Floats, ends: Any, other: Places) -> Floats:
    """Squared distances between each of the ends and the other."""
    squares = np.zeros((len(ends), len(other)))
    for coordinate in coordinates:
        there = coordinate.take(other)
        for nodes, of_end in zip(ends, squares, strict=True):
            distance = coordinate.take(nodes)
            distance -= there
            distance *= distance
            of_end += distance
    return squares


def _sign(weights: NDArray[Any]) -> Floats:
    if np.iscomplexobj(weights):
        raise ValueError("`network` must have real weights to have signs, got complex ones.")
    return np.asarray(np.sign(weights))


def _differ(groups: Places, values: NDArray[Any]) -> bool:
    """Whether values differ within a group."""
    if not len(values):
        return False
    one_of = np.empty(int(groups.max()) + 1, dtype=values.dtype)
    one_of[groups] = values
    return bool((one_of[groups] != values).any())


def _bucketed(keys: Places, values: NDArray[Any], buckets: int) -> tuple[NDArray[Any], Places]:
    """Values in the order of their keys, stably, and where each key begins, by a counting sort."""
    from scipy.sparse import csr_array

    by_key = csr_array((values, keys, [0, len(keys)]), shape=(1, buckets)).tocsc()
    return by_key.data, by_key.indptr


def _shuffled_within(groups: Places, rng: np.random.Generator) -> Places:
    """Places in random order, each within its group."""
    count, drawn = int(groups.max(initial=0)) + 1, rng.permutation(len(groups))
    in_order, _ = _bucketed(groups, np.arange(len(groups)), count)
    at_random, _ = _bucketed(groups[drawn], drawn, count)
    shuffled = np.empty_like(drawn)
    shuffled[in_order] = at_random
    return shuffled


def _cells_between_blocks(
    edges: _Wiring, kinds: _Kinds, pairs: Places, counts: Places, rng: np.random.Generator
) -> tuple[Places, Places, bool]:
    """So many cells between each two blocks, uniformly, and whether others were possible."""
    members = [np.flatnonzero(kinds.block == block) for block in range(kinds.blocks)]
    ends, has_room = [np.zeros((2, 0), dtype=edges.source.dtype)], False
    for kind, count in zip(pairs, counts, strict=True):
        senders, receivers = (members[block] for block in divmod(kind, kinds.blocks))
        skips = senders is receivers
        width = len(receivers) - skips
        codes = rng.choice(len(senders) * width, count, replace=False, shuffle=False)
        has_room |= len(codes) < len(senders) * width
        row, column = np.divmod(codes, width)
        column += skips & (column >= row)
        ends.append(np.stack([senders[row], receivers[column]]).astype(edges.source.dtype))
    source, target = np.concatenate(ends, axis=1)
    return source, target, has_room
