"""Where memory is lost: states that the input does not reach, or cannot control."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import in_words
from memcurve.core.notes import counted
from memcurve.core.progress import Listener
from memcurve.memory import MemoryCurve
from memcurve.network import LinearNetwork
from memcurve.network.graph import generically_driven
from memcurve.network.operator import Operator
from memcurve.solve import Analysis, LostModes, Problem, proportional_rows
from memcurve.studies.auditing.sentences import MOST_NAMED, complex_number, named, say

#: Groups of proportional nodes listed one by one; the others are listed together. Doubled: longer.
MOST_GROUPS = 2
#: Seconds that the exact rank of a large network takes, per state and edge. Doubled: it is left out
#: of audits of networks that are smaller by 1/√2.
RANK_SECONDS = 5e-9
#: Seconds it may take in all. Doubled: larger networks have it.
MOST_SECONDS = 60.0


@dataclass(frozen=True)
class Loss:
    """Memory that is not there, and why.

    ``count`` is 0 where the same states are counted by another entry already. ``kind`` is
    ``"unreached"``, ``"silent"``, ``"twins"``, ``"repeated"``, ``"orthogonal"``, ``"unread"``,
    ``"wiring"`` or ``"other"``; ``nodes`` are those concerned, where it is nodes.
    """

    kind: str
    count: int
    text: str
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class Account:
    """How many states there are, and what became of them.

    ``margin`` is the relative perturbation of the mask that makes a mode uncontrollable;
    ``rank_robust`` the rank up to rounding; ``possible`` the structural rank, of large networks.
    All of these, ``rank`` and ``reached`` are None where they are not known.
    """

    states: int
    read: int
    reached: int | None
    rank: int | None
    rank_robust: int | None
    margin: float | None
    losses: tuple[Loss, ...] = ()
    possible: int | None = None

    @property
    def most(self) -> int:
        """The rank, or what it is at most."""
        bounds = (self.rank, self.possible, self.read)
        return next(bound for bound in bounds if bound is not None)

    @property
    def lost(self) -> int:
        """States that hold no memory of their own, as far as that is known."""
        return self.read - self.most


def account_of(network: LinearNetwork, curve: MemoryCurve) -> Account:
    """Find out where a network's memory is lost; ``curve`` is its exact one."""
    states = Analysis.of(network)
    rank, read = int(curve.rank or 0), network.read_states
    losses = _unreached(states, network)
    if network.readout is None:
        losses += _uncontrollable(states, rank, network)
    elif read > rank:
        losses.append(_loss("unread", read - rank, read=read, rank=rank))
    # these are about all states, not about those that are read, and known together
    diagnostics = curve.diagnostics if network.readout is None else {}
    margin = diagnostics.get("margin")
    return Account(
        states=network.states,
        read=read,
        reached=len(states),
        rank=rank,
        rank_robust=None if margin is None else diagnostics.get("rank_robust"),
        margin=margin,
        losses=tuple(losses),
    )


def account_of_wiring(
    network: LinearNetwork, tell: Listener
) -> tuple[Account, tuple[tuple[str, str], ...]]:
    """What is known of a large network without its curve, and what is not, with the reason."""
    analysis, read = Analysis.of(network), network.read_states
    if isinstance(network.A, Operator):
        unknown = ((say("left_out.rank"), say("reasons.products")),)
        return Account(network.states, read, None, None, None, None), unknown
    states, left_out = analysis, list[tuple[str, str]]()
    losses, possible, rank = _unreached(states, network), None, None
    if network.readout is None:
        possible = int(np.count_nonzero(generically_driven(states.stored, states.mask)))
        if surplus := len(states) - possible:
            losses.append(_loss("wiring", surplus, count=_states(surplus, network)))
    edges = int(np.count_nonzero(states.stored.data if network.is_sparse else states.stored))
    seconds = RANK_SECONDS * len(states) * edges
    if seconds <= MOST_SECONDS:
        every = Problem.of(network, analysis=analysis)
        rank = analysis.exact_rank(every.rows, tell) if every.is_driven else 0
        if possible is not None and rank < possible:
            losses.append(_rest(possible - rank))
    else:
        reason = say("reasons.rank_time", time=in_words(seconds))
        left_out.append((say("left_out.exact_rank"), reason))
    account = Account(network.states, read, len(states), rank, None, None, tuple(losses), possible)
    return account, tuple(left_out)


def _loss(
    kind: str, count: int, sentence: str = "", nodes: tuple[int, ...] = (), /, **facts: Any
) -> Loss:
    """A loss, in a sentence of its kind unless it has one of its own."""
    return Loss(kind, count, say(f"losses.{sentence or kind}", **facts), nodes)


def _unreached(states: Analysis, network: LinearNetwork) -> list[Loss]:
    missing = np.setdiff1d(np.arange(network.states), states.nodes)
    if not len(missing):
        return []
    nodes, count = _nodes(missing, network.size), len(missing)
    facts = {"count": _states(count, network), "nodes": named("node", network.names(nodes))}
    return [_loss("unreached", count, "", nodes, **facts)]


def _uncontrollable(states: Analysis, rank: int, network: LinearNetwork) -> list[Loss]:
    """Why the input controls fewer modes than it reaches states."""
    missing = len(states) - rank
    if missing <= 0:
        return []
    nodes = _same_nodes(states, network)
    if sum(loss.count for loss in nodes) == missing:
        return nodes
    # the nodes concerned and the modes lost are two views of one loss: the counts are the modes'
    modes = _lost_modes(states, network) if states.mask.shape[1] == 1 else []
    rest = missing - sum(loss.count for loss in modes)
    modes += [_rest(rest)] if rest else []
    among = [replace(one, count=0, text=say("losses.among", text=one.text)) for one in nodes]
    return [*modes, *among]


def _same_nodes(states: Analysis, network: LinearNetwork) -> list[Loss]:
    """Nodes that never move, or move in proportion."""
    A, reached, size = states.stored, states.nodes, network.size
    groups, silent = proportional_rows(A, states.mask)
    losses, twins = list[Loss](), dict[tuple[int, ...], Loss]()
    if silent:
        nodes = _nodes(reached[silent], size)
        facts = {"nodes": named("node", network.names(nodes))}
        losses.append(_loss("silent", len(silent), "", nodes, **facts))
    for group in groups:
        nodes, count = _nodes(reached[group], size), len(group) - 1
        if nodes in twins:  # real and imaginary parts of the same nodes
            twins[nodes] = replace(twins[nodes], count=twins[nodes].count + count)
            continue
        sentence = "twins"
        if not np.any(A[group] if isinstance(A, np.ndarray) else A[group].data):
            sentence = "input_only"
        if size < max(reached, default=0) + 1:
            sentence = "complex_twins"
        facts = {"nodes": named("node", network.names(nodes))}
        twins[nodes] = _loss("twins", count, sentence, nodes, **facts)
    if len(twins) <= MOST_GROUPS + 1:
        return [*losses, *twins.values()]
    # the largest groups one by one, the others in one sentence
    ordered = sorted(twins.values(), key=lambda loss: (-len(loss.nodes), loss.nodes))
    others = ordered[MOST_GROUPS:]
    some = [named("", network.names(loss.nodes)) for loss in others[:MOST_NAMED]]
    some += [f"and {len(others) - len(some)} more groups"] * (len(others) > len(some))
    nodes = tuple(sorted({node for loss in others for node in loss.nodes}))
    count = sum(loss.count for loss in others)
    together = _loss("twins", count, "groups", nodes, groups="; ".join(some))
    return [*losses, *ordered[:MOST_GROUPS], together]


def _lost_modes(states: Analysis, network: LinearNetwork) -> list[Loss]:
    """Modes lost to one input, as far as the curve had to tell which they are."""
    lost = Analysis.of(network).spectrum.lost
    several = [modes for modes in lost if modes.appears > 1]
    silent = [modes for modes in lost if modes.appears == 1]
    losses = [_lost(states, modes, network) for modes in several]
    losses += [_lost(states, modes, network) for modes in silent if modes.blocks]
    alone = [modes.values for modes in silent if not modes.blocks]
    if alone:
        values = np.concatenate(alone)
        facts = {"count": counted(len(values), "mode"), "eigenvalues": _eigenvalues(values)}
        losses.append(_loss("orthogonal", len(values), **facts))
    return losses


def _lost(states: Analysis, modes: LostModes, network: LinearNetwork) -> Loss:
    """Equal eigenvalues, of strong components where it is known of which: self-loops above all."""
    facts: dict[str, Any] = {"eigenvalues": _eigenvalues(modes.values), "appears": modes.appears}
    facts["driven"] = modes.counts or "none"
    if not modes.blocks:
        # where zero is lost, some vᵀA = 0 and vᵀC = 0, so that vᵀx = 0 at all times
        return _loss("repeated", modes.missing, "" if modes.values.any() else "zeros", **facts)
    parts = [states.nodes[states.strong_components[k]] for k in modes.blocks]
    nodes = _nodes(np.concatenate(parts), network.size)
    facts["nodes"] = named("node", network.names(nodes))
    loops = all(len(part) == 1 for part in parts)
    kind, sentence = "repeated", "equal_self_loops" if loops else "equal_cycles"
    if modes.appears == 1:
        kind, sentence = "orthogonal", "self_loop_unexcited" if loops else "cycle_unexcited"
    return _loss(kind, modes.missing, sentence, nodes, **facts)


def _rest(count: int) -> Loss:
    return _loss("other", count, count=counted(count, "mode"))


def _eigenvalues(values: Any) -> str:
    return named("eigenvalue", [*map(complex_number, values)])


def _states(count: int, network: LinearNetwork) -> str:
    return counted(count, "state" if network.is_complex else "node")


def _nodes(states: NDArray[np.intp], size: int) -> tuple[int, ...]:
    """The nodes of these states: real parts come first, then imaginary parts."""
    return tuple(int(node) for node in np.unique(states % size))
