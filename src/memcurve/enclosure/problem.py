"""The problem in exact numbers, reduced to states that are excited independently of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.enclosure.balls import Floats, block, diagonal, krylov, power_of_two
from memcurve.enclosure.pivots import Pivots, find_pivots, has_reciprocal_eigenvalues
from memcurve.enclosure.stein import UNSTABLE
from memcurve.errors import UncertainResultError, UnstableNetworkError
from memcurve.inputs import InputProcess
from memcurve.network.graph import balanced, eigenvalues

#: Noise from this on, relative to the input's effect, makes the covariance well-conditioned.
VISIBLE_NOISE = 1e-20
#: Eigenvalues in float64 that may lie on the unit circle.
NEAR_CIRCLE = 1e-6


class Reduced(NamedTuple):
    """x_t = A x_{t−1} + C z_t + state noise, read as ``readout``·x_t + noise, in balls.

    ``state`` and ``noise`` are covariances. ``own_noise`` is the observation noise of the states
    themselves, read or not; where ``reads_all``, it is ``noise`` and the readout is the identity.
    """

    A: Any
    C: Any
    state: Any
    readout: Any
    noise: Any
    own_noise: Any
    reads_all: bool


class Problem(NamedTuple):
    """Exact matrices, scaled by powers of two, without the inputs that have no influence."""

    A: Any
    C: Any
    observation: list[Any]
    own: list[Any]
    state: list[Any]
    processes: list[InputProcess]
    channels: list[int]
    inputs: int
    pivots: Pivots
    is_noisy: bool
    is_plain: bool

    def reduced(self) -> Reduced | None:
        """Keep the pivot nodes R only: x = T x[R] with T = K (K[R])⁻¹, K the Krylov matrix.

        Modes that nothing excites disappear, and may be unstable. None if K[R] cannot be inverted
        at the current precision.
        """
        nodes, outputs = self.pivots.nodes, self.pivots.outputs
        noise = diagonal(self.observation[i] for i in outputs)
        own = diagonal(self.own[i] for i in nodes)
        state = diagonal(self.state[i] for i in nodes)
        size = self.A.nrows()
        if len(nodes) == size:
            readout = block(diagonal([1] * size), outputs, range(size))
            reads_all = len(outputs) == size
            return Reduced(self.A, self.C, state, readout, noise, own, reads_all)
        T = self._from_nodes()
        if T is None:
            return None
        A = block(self.A, nodes, range(size)) * T
        C = block(self.C, nodes, range(self.C.ncols()))
        for rest in (self.A * T - T * A, self.C - T * C):
            if not all(entry.contains(0) for entry in rest.entries()):
                raise UncertainResultError(
                    f"the rank {len(nodes)} found modulo two primes is too low for this network, "
                    f"which is made so that they fail; scale `C` by a factor that is no power of "
                    f"two."
                )
        readout = block(T, outputs, range(len(nodes)))
        return Reduced(A, C, state, readout, noise, own, outputs == nodes)

    def _from_nodes(self) -> Any | None:
        from flint import arb_mat

        size, nodes = self.A.nrows(), self.pivots.nodes
        noisy = [i for i in range(size) if self.state[i] != 0]
        unit = [[self.state[i].sqrt() if i == j else 0 for j in noisy] for i in range(size)]
        masks = arb_mat([c + u for c, u in zip(self.C.tolist(), unit, strict=True)])
        powers = 1 + max(power for power, _ in self.pivots.columns)
        places = [power * masks.ncols() + channel for power, channel in self.pivots.columns]
        K = block(krylov(self.A, masks, powers), range(size), places)
        chosen = block(K, nodes, range(len(nodes)))
        try:
            return chosen.transpose().solve(K.transpose()).transpose()
        except ZeroDivisionError:
            return None


def prepared(
    A: Floats,
    C: Floats,
    processes: Sequence[InputProcess],
    observation: Floats,
    state: Floats,
    rows: Sequence[int],
) -> Problem:
    """Scale by powers of two, which changes no capacity, and find the pivots."""
    from flint import arb, arb_mat, ctx

    size, inputs = C.shape
    observation, state = (np.asarray(noise, dtype=float) for noise in (observation, state))
    channels = np.flatnonzero(C.any(axis=0)).tolist()
    read = sorted({int(row) for row in rows})
    # States that are not read may get any noise, and some makes them well-conditioned.
    floor = float(observation[read].min()) if read else 0.0
    own = np.full(size, floor)
    own[read] = observation[read]
    pivots = find_pivots(A, C[:, channels], state, observation, read)
    # balls cannot tell an eigenvalue on the unit circle from one next to it
    if pivots.nodes and float(np.abs(eigenvalues(A)).max()) > 1 - NEAR_CIRCLE:
        masks = np.hstack([C[:, channels], np.diag(state)[:, state > 0]])
        if has_reciprocal_eigenvalues(A, masks, pivots):
            raise UnstableNetworkError(UNSTABLE)
    exponents = _exponents(A, np.hstack([C, state[:, None]]))
    up = [power_of_two(int(e)) for e in exponents]
    down = [power_of_two(-int(e)) for e in exponents]
    with ctx.workprec(128):  # enough for these products to be exact
        exact_A = [
            arb(a) * up[j] * down[i] for i, row in enumerate(A.tolist()) for j, a in enumerate(row)
        ]
        exact_C = [arb(c) * down[i] for i, row in enumerate(C[:, channels].tolist()) for c in row]
        variances = {
            name: [arb(x) * arb(x) * down[i] * down[i] for i, x in enumerate(noise.tolist())]
            for name, noise in {"observation": observation, "own": own, "state": state}.items()
        }
    driving = [processes[j] for j in channels]
    return Problem(
        A=arb_mat(size, size, exact_A),
        C=arb_mat(size, len(channels), exact_C),
        observation=variances["observation"],
        own=variances["own"],
        state=variances["state"],
        processes=driving,
        channels=channels,
        inputs=inputs,
        pivots=pivots,
        is_noisy=floor > 0 and floor >= VISIBLE_NOISE * float(np.abs(C).max()),
        is_plain=not observation[read].any()
        and not state.any()
        and all(process.is_white for process in driving),
    )


def _exponents(A: Floats, masks: Floats) -> list[int]:
    """Integers e such that x_i·2^−e_i are of similar size, as far as that is easily had.

    The least e with 2^e_i ≥ |masks_ij| and 2^e_i ≥ |A_ij|·2^e_j, the size of what reaches node i
    on the best path; it makes long chains harmless. Cycles that amplify have none: then those that
    balance A.
    """
    size = len(A)
    with np.errstate(divide="ignore"):
        gains, reached = (np.log2(np.abs(x)) for x in (A, masks))
    level = reached.max(axis=1)
    for _ in range(size + 1):
        further = np.maximum(level, (gains + level).max(axis=1))
        if np.array_equal(further, level):
            return [int(e) for e in np.ceil(np.where(np.isfinite(level), level, 0))]
        level = further
    scale = balanced(A)[1]
    usable = bool(np.isfinite(scale).all() and np.all(scale > 0))
    return [int(e) for e in np.rint(np.log2(scale))] if usable else [0] * size
