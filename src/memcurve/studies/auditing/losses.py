"""States without memory of their own: unreachable, uncontrollable or redundant ones."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import in_words
from memcurve.core.notes import counted
from memcurve.core.progress import ProgressCallback
from memcurve.core.types import Complexes
from memcurve.memory import MemoryCurve
from memcurve.network import LinearNetwork
from memcurve.network.graph import generically_driven
from memcurve.network.modular import proportional_rows
from memcurve.network.operator import Operator
from memcurve.solve import Analysis, Problem
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
    """A number of states that add no memory, with the reason.

    ``count`` is 0 where the same states are counted by another entry already. ``kind`` is
    ``"unreached"``, ``"cancelled"``, ``"proportional"``, ``"repeated"``, ``"orthogonal"``,
    ``"unread"``, ``"wiring"`` or ``"other"``; ``nodes`` are those concerned, where it is nodes.
    """

    kind: str
    count: int
    text: str
    nodes: tuple[int, ...] = ()


@dataclass(frozen=True)
class RankBudget:
    """How many states are reachable and controllable, and why others are not.

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


def rank_budget_of(network: LinearNetwork, curve: MemoryCurve) -> RankBudget:
    """The rank budget of a network; ``curve`` is its exact curve."""
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
    return RankBudget(
        states=network.states,
        read=read,
        reached=len(states),
        rank=rank,
        rank_robust=None if margin is None else diagnostics.get("rank_robust"),
        margin=margin,
        losses=tuple(losses),
    )


def rank_budget_of_wiring(
    network: LinearNetwork, notify: ProgressCallback
) -> tuple[RankBudget, tuple[tuple[str, str], ...]]:
    """The rank budget of a large network without its curve, and what is unknown, with reasons."""
    analysis, read = Analysis.of(network), network.read_states
    if isinstance(network.A, Operator):
        unknown = ((say("left_out.rank"), say("reasons.products")),)
        return RankBudget(network.states, read, None, None, None, None), unknown
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
        rank = analysis.exact_rank(every.rows, notify=notify) if every.is_driven else 0
        if possible is not None and rank < possible:
            losses.append(_rest(possible - rank))
    else:
        reason = say("reasons.rank_time", time=in_words(seconds))
        left_out.append((say("left_out.exact_rank"), reason))
    budget = RankBudget(
        network.states, read, len(states), rank, None, None, tuple(losses), possible
    )
    return budget, tuple(left_out)


def _loss(
    kind: str, number: int, sentence: str = "", at: tuple[int, ...] = (), /, **facts: Any
) -> Loss:
    """A loss, in a sentence of its kind unless it has one of its own."""
    return Loss(kind, number, say(f"losses.{sentence or kind}", **facts), at)


def _of_nodes(
    kind: str, number: int, at: tuple[int, ...], network: LinearNetwork, sentence: str = "", /,
    **facts: Any,
) -> Loss:  # fmt: skip
    """The same, of some nodes, which are named."""
    return _loss(kind, number, sentence, at, nodes=named("node", network.names(at)), **facts)


def _unreached(states: Analysis, network: LinearNetwork) -> list[Loss]:
    missing = np.setdiff1d(np.arange(network.states), states.nodes)
    if not len(missing):
        return []
    nodes, count = _nodes(missing, network.size), len(missing)
    return [_of_nodes("unreached", count, nodes, network, count=_states(count, network))]


def _uncontrollable(states: Analysis, rank: int, network: LinearNetwork) -> list[Loss]:
    """Why the input controls fewer modes than it reaches states."""
    missing = len(states) - rank
    if missing <= 0:
        return []
    nodes = _redundant_nodes(states, network)
    if sum(loss.count for loss in nodes) == missing:
        return nodes
    # nodes and uncontrollable modes are two views of one loss: the counts are those of modes
    modes = _uncontrollable_modes(states, network) if states.mask.shape[1] == 1 else []
    rest = missing - sum(loss.count for loss in modes)
    modes += [_rest(rest)] if rest else []
    among = [replace(one, count=0, text=say("losses.among", text=one.text)) for one in nodes]
    return [*modes, *among]


def _redundant_nodes(states: Analysis, network: LinearNetwork) -> list[Loss]:
    """Nodes that never move, or move in proportion."""
    groups, constant = proportional_rows(states.stored, states.mask)
    losses, surplus = list[Loss](), Counter[tuple[int, ...]]()
    if constant:
        nodes = _nodes(states.nodes[constant], network.size)
        losses.append(_of_nodes("cancelled", len(constant), nodes, network))
    for group in groups:  # real and imaginary parts of the same nodes are one
        surplus[_nodes(states.nodes[group], network.size)] += len(group) - 1
    # the largest groups one by one, the others in one sentence
    ordered = sorted(surplus, key=lambda nodes: (-len(nodes), nodes))
    count = MOST_GROUPS if len(ordered) > MOST_GROUPS + 1 else len(ordered)
    losses += [
        _of_nodes("proportional", surplus[nodes], nodes, network) for nodes in ordered[:count]
    ]
    if others := ordered[count:]:
        listing = [named("", network.names(nodes)) for nodes in others[:MOST_NAMED]]
        listing += [f"and {len(others) - len(listing)} more groups"] * (len(others) > len(listing))
        total, nodes = sum(surplus[nodes] for nodes in others), tuple(sorted({*chain(*others)}))
        losses.append(_loss("proportional", total, "groups", nodes, groups="; ".join(listing)))
    return losses


def _uncontrollable_modes(states: Analysis, network: LinearNetwork) -> list[Loss]:
    """Uncontrollable modes of one input, as far as the curve identified them."""
    losses, alone = list[Loss](), list[Complexes]()
    for modes in sorted(states.spectrum.uncontrollable, key=lambda modes: modes.multiplicity == 1):
        facts: dict[str, Any] = {
            "eigenvalues": _eigenvalues(modes.values),
            "appears": modes.multiplicity,
            "driven": modes.controllable or "none",
        }
        count = len(modes.values) * modes.times
        kind = "repeated" if modes.multiplicity > 1 else "orthogonal"
        if modes.blocks and modes.values.any():  # strong components of which it is known
            parts = [states.nodes[states.strong_components[k]] for k in modes.blocks]
            nodes = _nodes(np.concatenate(parts), network.size)
            losses.append(_of_nodes(kind, count, nodes, network, f"{kind}_nodes", **facts))
        elif modes.multiplicity > 1:
            # where zero is lost, some vᵀA = 0 and vᵀC = 0, so that vᵀx = 0 at all times
            sentence = kind if modes.values.any() else "zeros"
            losses.append(_loss(kind, count, sentence, **facts))
        else:
            alone.append(modes.values)
    if alone:
        values = np.concatenate(alone)
        facts = {"count": counted(len(values), "mode"), "eigenvalues": _eigenvalues(values)}
        losses.append(_loss("orthogonal", len(values), **facts))
    return losses


def _rest(count: int) -> Loss:
    return _loss("other", count, count=counted(count, "mode"))


def _eigenvalues(values: Any) -> str:
    return named("eigenvalue", [*map(complex_number, values)])


def _states(count: int, network: LinearNetwork) -> str:
    return counted(count, "state" if network.is_complex else "node")


def _nodes(states: NDArray[np.intp], size: int) -> tuple[int, ...]:
    """The nodes of these states: real parts come first, then imaginary parts."""
    return tuple(int(node) for node in np.unique(states % size))
