"""Where memory is lost: states the input does not reach, or cannot drive apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.curve import MemoryCurve
from memcurve.limits import in_words
from memcurve.network import LinearNetwork
from memcurve.network.graph import generically_driven
from memcurve.network.operator import Operator
from memcurve.progress import Listener
from memcurve.report.document import listed
from memcurve.solve.analysis import Analysis
from memcurve.solve.modes import LostModes
from memcurve.solve.modular import proportional_rows
from memcurve.solve.problem import Problem
from memcurve.solve.states import States

#: Nodes named in a sentence; the rest are counted. Doubled: longer sentences.
MOST_NAMED = 8
#: Groups of nodes that are driven alike are told one by one up to this many. Doubled: longer lists.
MOST_GROUPS = 2
#: Seconds that the exact rank of a large network takes, a state and edge. Doubled: it is left out
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

    ``margin`` is the relative change of the mask that would silence a mode; ``rank_robust`` the
    rank up to rounding; ``possible`` what the wiring allows the rank to be, which is looked at
    where the network is large. All of these, ``rank`` and ``reached`` are None where they are not
    known.
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
        known = (self.rank, self.possible, self.read)
        return next(number for number in known if number is not None)

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
        losses += _undriven(states, rank, network)
    elif read - rank > 0:
        text = (
            f"{read} states are read, and their past holds {rank} independent inputs: the others "
            f"repeat what these say"
        )
        losses.append(Loss("unread", read - rank, text))
    # these are about all states, not about those that are read, and known together
    known = curve.diagnostics if network.readout is None else {}
    known = known if known.get("margin") is not None else {}
    return Account(
        states=network.states,
        read=read,
        reached=len(states),
        rank=rank,
        rank_robust=known.get("rank_robust"),
        margin=known.get("margin"),
        losses=tuple(losses),
    )


def account_of_wiring(
    network: LinearNetwork, tell: Listener
) -> tuple[Account, tuple[tuple[str, str], ...]]:
    """What is known of a large network without its curve, and what is not, with the reason."""
    analysis, left_out = Analysis.of(network), list[tuple[str, str]]()
    states, read = analysis, network.read_states
    losses, possible, rank = _unreached(states, network), None, None
    if isinstance(network.A, Operator):
        why = "`A` is known by its products only"
        left_out.append(("rank, and nodes that are never reached", why))
        return Account(network.states, read, None, None, None, None), tuple(left_out)
    if network.readout is None:
        driven = int(np.count_nonzero(generically_driven(states.stored, states.mask)))
        surplus, possible = len(states) - driven, driven
        if surplus:
            what, are = _plural(surplus, "state" if network.is_complex else "node")
            text = f"{surplus:,} {what} {are} more than the wiring can drive independently"
            losses.append(Loss("wiring", surplus, f"{text}, whatever the weights"))
    edges = int(np.count_nonzero(states.stored.data if network.is_sparse else states.stored))
    seconds = RANK_SECONDS * len(states) * edges
    if seconds <= MOST_SECONDS:
        every = Problem.of(network, analysis=analysis)
        rank = analysis.exact_rank(every.rows, tell) if every.is_driven else 0
        if possible is not None and rank < possible:
            losses.append(_rest(possible - rank))
    else:
        why = f"it takes about {in_words(seconds)}; memcurve.rank computes it"
        left_out.append(("exact rank", why))
    account = Account(network.states, read, len(states), rank, None, None, tuple(losses), possible)
    return account, tuple(left_out)


def _unreached(states: States, network: LinearNetwork) -> list[Loss]:
    missing = np.setdiff1d(np.arange(network.states), states.nodes)
    if not len(missing):
        return []
    nodes = _nodes(missing, network.size)
    what, are = _plural(len(missing), "state" if network.is_complex else "node")
    text = f"{len(missing)} {what} {are} never reached from the input: "
    text += _named("node", network.names(nodes))
    return [Loss("unreached", len(missing), text, nodes)]


def _undriven(states: States, rank: int, network: LinearNetwork) -> list[Loss]:
    """Why the input drives fewer modes than it reaches states."""
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
    among = [replace(loss, count=0, text=f"among these, {loss.text}") for loss in nodes]
    return [*modes, *among]


def _same_nodes(states: States, network: LinearNetwork) -> list[Loss]:
    """Nodes that never move, or move alike."""
    losses: list[Loss] = []
    size = network.size
    A, reached = states.stored, states.nodes
    groups, silent = proportional_rows(A, states.mask)
    if silent:
        nodes = _nodes(reached[silent], size)
        are = _plural(len(nodes), "node")[1]
        text = f"{_named('node', network.names(nodes))} {are} reached along paths that cancel"
        losses.append(Loss("silent", len(silent), text, nodes))
    told: set[tuple[int, ...]] = set()
    for group in groups:
        nodes = _nodes(reached[group], size)
        if nodes in told:  # real and imaginary parts of the same nodes
            losses[-1] = replace(losses[-1], count=losses[-1].count + len(group) - 1)
            continue
        told.add(nodes)
        named = _named("node", network.names(nodes))
        what = "are driven alike: they always hold the same state"
        if not np.any(A[group] if isinstance(A, np.ndarray) else A[group].data):
            what = "listen to the input alone: they always hold the same state"
        text = f"{named} {what}, up to a factor, and count once"
        if size < max(reached, default=0) + 1:  # complex nodes
            text = f"real or imaginary parts of {named} are multiples of each other"
        losses.append(Loss("twins", len(group) - 1, text, nodes))
    alike = [loss for loss in losses if loss.kind == "twins"]
    if len(alike) <= MOST_GROUPS + 1:
        return losses
    # the largest groups one by one, the others in one sentence
    alike.sort(key=lambda loss: (-len(loss.nodes), loss.nodes))
    others = alike[MOST_GROUPS:]
    nodes = tuple(sorted({node for loss in others for node in loss.nodes}))
    some = [_named("", network.names(loss.nodes)) for loss in others[:MOST_NAMED]]
    more = f"; and {len(others) - len(some)} more groups" * (len(others) > len(some))
    text = f"nodes {'; '.join(some)}{more} are driven alike: each group counts once"
    together = Loss("twins", sum(loss.count for loss in others), text, nodes)
    return [loss for loss in losses if loss.kind != "twins"] + alike[:MOST_GROUPS] + [together]


def _lost_modes(states: States, network: LinearNetwork) -> list[Loss]:
    """Modes lost to one input, as far as the curve had to tell which they are."""
    lost = Analysis.of(network).spectrum.lost
    losses = [_repeated_part(states, modes, network) for modes in lost if modes.appears > 1]
    silent = [modes for modes in lost if modes.appears == 1]
    losses += [_equal_parts(states, modes, network) for modes in silent if modes.blocks]
    alone = [modes.values for modes in silent if not modes.blocks]
    if alone:
        orthogonal = [*map(_number, np.concatenate(alone))]
        modes, are = _plural(len(orthogonal), "mode")
        text = (
            f"{len(orthogonal)} {modes} {are} orthogonal to the mask, as by a symmetry that the "
            f"mask shares, and never excited: {_named('eigenvalue', orthogonal)}"
        )
        losses.append(Loss("orthogonal", len(orthogonal), text))
    return losses


def _repeated_part(states: States, modes: LostModes, network: LinearNetwork) -> Loss:
    if modes.blocks:
        return _equal_parts(states, modes, network)
    if not modes.values.any():
        return _lost_zeros(modes.appears, modes.counts)
    values = _named("eigenvalue", [*map(_number, modes.values)])
    what = "appears" if len(modes.values) == 1 else "each appear"
    text = f"the {values} {what} {modes.appears} times, of which one input can drive {modes.counts}"
    return Loss("repeated", modes.missing, text)


def _lost_zeros(size: int, rank: int) -> Loss:
    """The eigenvalue zero, and what its loss means."""
    # where zero is lost, some vᵀA = 0 and vᵀC = 0, so that vᵀx = 0 at all times
    text = (
        f"the eigenvalue 0 appears {size} times, of which one input can drive {rank}: some nodes "
        f"only ever hold combinations of what others hold"
    )
    return Loss("repeated", size - rank, text)


def _equal_parts(states: States, shared: LostModes, network: LinearNetwork) -> Loss:
    """Strong components with the same eigenvalues: self-loops of equal weight above all."""
    parts = [states.nodes[states.strong_components[k]] for k in shared.blocks]
    nodes = _nodes(np.concatenate(parts), network.size)
    loops = all(len(part) == 1 for part in parts)
    named = _named("node", network.names(nodes))
    values = _named("eigenvalue", [*map(_number, shared.values)])
    one, what = len(shared.values) == 1, f"the self-loop of {named}"
    if not loops:
        what = f"the {values} of the loops among {named}"
    if shared.appears == 1:
        text = f"{what} {'is' if one else 'are'} never excited"
        return Loss("orthogonal", shared.missing, text, nodes)
    what = f"{what} {'appears' if one else 'each appear'} {shared.appears} times"
    if loops:
        what = f"the self-loops of {named} have the same weight"
    driven = {0: "none of them", 1: "them as one"}.get(shared.counts, f"{shared.counts} of them")
    return Loss("repeated", shared.missing, f"{what}: one input drives {driven}", nodes)


def _rest(count: int) -> Loss:
    modes, are = _plural(count, "mode")
    text = f"{count} {modes} that the input reaches {are} not driven independently of the others"
    return Loss("other", count, text)


def _nodes(states: NDArray[np.intp], size: int) -> tuple[int, ...]:
    """The nodes of these states: real parts come first, then imaginary parts."""
    return tuple(int(node) for node in np.unique(states % size))


def _named(noun: str, things: Sequence[Any]) -> str:
    some = [str(thing) for thing in things]
    if len(some) > MOST_NAMED + 1:
        some = [*some[:MOST_NAMED], f"{len(some) - MOST_NAMED} more"]
    return f"{_plural(len(things), noun)[0]} {listed(some)}" if noun else listed(some)


def _plural(count: int, noun: str) -> tuple[str, str]:
    return (noun, "is") if count == 1 else (f"{noun}s", "are")


def _number(value: complex) -> str:
    real, imag = round(value.real, 4) + 0.0, round(value.imag, 4)
    shown = f"{'−' if real < 0 else ''}{abs(real):g}"
    return shown if imag == 0 else f"{shown} {'+' if imag > 0 else '−'} {abs(imag):g}i"
