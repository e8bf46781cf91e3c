"""Choosing the nodes to read."""

import contextlib
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import Seed, generator, require_size
from memcurve.core.errors import UncertainResultError, rank_among_notes
from memcurve.core.notes import Note
from memcurve.core.types import SEED, Floats, Integers
from memcurve.io.adapters import as_network
from memcurve.memory import memory_curve
from memcurve.synthesis.directions import FEW_STATES, UNSURE, directions_of, display_name
from memcurve.synthesis.result import SynthesisResult

#: Random choices of nodes that are compared with. Doubled: twice the time of a tenth of it.
DRAWS = 100
#: Multiplications that the bound may take. Doubled: a bound that is closer, later.
WORK = 8e9
#: A bound this much above the value, relative to it, is not made better. Doubled: some iterations.
CLOSE = 1e-3
#: Nodes whose gains are updated together. Doubled: they leave the cache.
BLOCK = 2048


@dataclass(frozen=True, eq=False, repr=False)
class ReadoutChoice(SynthesisResult):
    """Nodes to read, from :func:`memcurve.best_readout`.

    Attributes
    ----------
    nodes : (count,) int array
        The nodes, in the order in which they were chosen.
    value : float
        Usable memory of these nodes, with ``error``.
    bound : float
        Proven upper bound for all choices of as many nodes.
    steps : (count,) array
        Usable memory of the first node, of the first two, and so on.
    random, random_error : float
        Mean over random choices of as many nodes, and its standard error.
    largest_variance : float
        Usable memory of the nodes with the largest variance.
    all_nodes : float
        Usable memory of all nodes.
    names : tuple of str
        Labels of the nodes.

    Examples
    --------
    >>> import memcurve
    >>> choice = memcurve.best_readout(memcurve.ensembles.delay_line(5), 0.1, 2)
    >>> len(choice.nodes), bool(choice.value <= choice.bound + choice.error)
    (2, True)
    """

    FORMAT: ClassVar[str] = "memcurve.ReadoutChoice/1"

    nodes: Integers
    value: float
    error: float
    bound: float
    steps: Floats
    random: float
    random_error: float
    largest_variance: float
    all_nodes: float
    noise: float
    names: tuple[str, ...]
    network: str
    notes: tuple[Note, ...] = ()

    @property
    def counts(self) -> Integers:
        """How many nodes are read, step by step."""
        return np.arange(1, len(self.nodes) + 1)


def best_readout(network: Any, noise: float, count: int, *, seed: Seed = SEED) -> ReadoutChoice:
    """The nodes with most of the usable memory, chosen greedily.

    In input-normal coordinates x = Tξ the memory usable from nodes S is U(S) = tr J(I + J)⁻¹ with
    J = Σ_{i∈S} t_i t_iᵀ/s². A node adds ‖Pt_i‖²/(s² + t_iᵀPt_i), P = (I + J)⁻¹. U is concave in
    weights w of the nodes, so that for every w of sum ``count`` no choice exceeds
    U(w) + Σ_top g − w·g, g_i = ‖Pt_i‖²/s²; nor Σ_top U({i}), what each holds by itself: the least
    of these is the bound.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        With one input or several; where it has a readout, nodes are chosen among these. Networks of
        10⁵ nodes take seconds: no dense matrix is made.
    noise, seed
        As for :func:`memcurve.best_mask`; the seed is that of random choices of nodes.
    count : int
        Number of nodes to read.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, seed=1)
    >>> choice = memcurve.best_readout(network, 1e-3, 10)
    >>> read = network.replace(readout=choice.nodes)
    >>> abs(memcurve.memory_curve(read, noise=1e-3).total - choice.value) < 1e-9
    True
    >>> choice.random < choice.value <= choice.bound
    True
    """
    subject = as_network(network)
    if subject.is_complex:
        raise ValueError(
            "`network` must be real, as a node of complex states has two to read; give the network "
            "of these, memcurve.LinearNetwork(*network.real_pair())."
        )
    size = require_size(count, "count")
    allowed = np.arange(subject.size) if subject.readout is None else subject.readout
    if size > len(allowed):
        raise ValueError(
            f"`count` must be at most {len(allowed):,}, the nodes that can be read; got {size:,}."
        )
    rng, whole = generator(seed), subject.replace(readout=None)
    directions = directions_of(whole, noise)
    rows = directions.rows(whole)[allowed] / directions.level  # noise of one from here on
    chosen, steps = greedy(rows, size)
    value = _usable(rows, chosen)
    every = float(directions.shares.sum())
    if subject.readout is not None:
        every = _usable(rows, np.arange(len(allowed)))
    error, variances = directions.total_error(size), np.square(rows).sum(axis=1)
    # x/(1 + x) is concave and 0 at 0: several nodes hold no more than each by itself (Rotfel'd)
    single_bound = float(np.sort(variances / (1 + variances))[-size:].sum())
    bound = min(_bound(rows, chosen, value, min(single_bound, every)) + error, float(size))
    if error > UNSURE and subject.states <= FEW_STATES:  # as of nodes in very different units
        with contextlib.suppress(UncertainResultError), rank_among_notes():
            curve = memory_curve(
                subject.replace(readout=allowed[chosen]), 1, noise=directions.level
            )
            if curve.total_error < error:
                value, error = curve.total, curve.total_error
    draws = [_usable(rows, rng.choice(len(allowed), size, replace=False)) for _ in range(DRAWS)]
    largest = np.argsort(-variances, kind="stable")[:size]
    nodes = np.asarray(allowed[chosen], dtype=np.int64)
    return ReadoutChoice(
        nodes, value, error, max(bound, value), steps, float(np.mean(draws)),
        float(np.std(draws) / np.sqrt(DRAWS)), _usable(rows, largest), every, directions.level,
        tuple(subject.names(nodes)), display_name(subject), subject.notes,
    )  # fmt: skip


def _usable(rows: Floats, nodes: Any) -> float:
    """Σσ²/(σ² + 1) of the rows of some nodes."""
    chosen = rows[nodes]
    if len(chosen) > 4 * chosen.shape[1]:
        chosen = np.asarray(np.linalg.qr(chosen, mode="r"))
    squares = np.square(np.linalg.svd(chosen, compute_uv=False))
    return float((squares / (1 + squares)).sum())


def greedy(rows: Floats, count: int) -> tuple[Any, Floats]:
    """Nodes one by one, each of largest gain, and usable memory; no squares are subtracted."""
    Y, Z, size = rows.copy(), rows.copy(), len(rows)
    blocks = [slice(start, start + BLOCK) for start in range(0, size, BLOCK)]
    chosen, gained, gains = list[int](), list[float](), np.empty(size)
    y = change_y = change_z = np.zeros(rows.shape[1])  # of the node chosen last
    for _ in range(count):
        for block in blocks:
            along = (Y[block] @ y)[:, None]
            Y[block] -= along * change_y
            Z[block] -= along * change_z
            squares = 1 + np.einsum("ij,ij->i", Y[block], Y[block])
            gains[block] = np.einsum("ij,ij->i", Z[block], Z[block]) / squares
        gains[chosen] = -1.0
        best = int(np.argmax(gains))
        chosen.append(best)
        gained.append(gains[best])
        y = Y[best].copy()
        square = float(y @ y)
        change_y, change_z = y / (1 + square + np.sqrt(1 + square)), Z[best] / (1 + square)
    return np.array(chosen), np.cumsum(gained)


def _bound(rows: Floats, chosen: Any, value: float, best: float) -> float:
    """The least bound on the way of Frank and Wolfe's method for weights of the nodes.

    U(S) = min_P ‖I − P‖² + Σ_{i∈S} ‖Pt_i‖² over all matrices P, so that every P, rounded as it may
    be, proves U ≤ ‖I − P‖² + Σ_top ‖Pt_i‖². At P = (I + J)⁻¹ that is the tangent at J.
    """
    (size, k), count = rows.shape, len(chosen)
    weights = np.full(size, 0.5 * count / size)
    weights[chosen] += 0.5
    J = (rows.T * weights) @ rows
    for step in range(int(np.clip(WORK / (2 * rows.size * k), 1, 150))):
        if best - value <= CLOSE * value:
            break
        values, vectors = np.linalg.eigh(J)
        P = (vectors / (1 + np.maximum(values, 0.0))) @ vectors.T
        gains = np.square(rows @ P).sum(axis=1)
        top = np.argpartition(-gains, count - 1)[:count]
        best = min(best, float(np.square(np.eye(k) - P).sum() + gains[top].sum()))
        towards = rows[top].T @ rows[top]
        J = J + 2 / (step + 3) * (towards - J)
    return best
