"""The standardised realization of a network: the same memory, in states that are white."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.general import Problem, modes_of, realization_of
from memcurve.limits import require_room_for_states
from memcurve.network import LinearNetwork, require_network
from memcurve.realization import StateMap, eigen_state_map, residuals, stein_state_map

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class InputNormal:
    """An input-normal realization ξ_t = A'ξ_{t−1} + C'z_t of a network, and x = Tξ.

    For white input of unit variance the states ξ are uncorrelated and of unit variance,
    A'A'ᵀ + C'C'ᵀ = I, so that MC_τ = ‖A'^τC'‖².

    Attributes
    ----------
    A : (n, n) array
        A', n being the rank of the network; block lower triangular, its diagonal blocks hold the
        eigenvalues. Do not ask ``eigvals`` for them: A' is extremely non-normal.
    C : (n, d) array
        C'.
    T : (states, n) array
        The map to the network's own states; rows of states that no input reaches are zero.
    gramian_residual : float
        Largest entry of A'A'ᵀ + C'C'ᵀ − I.
    dynamics_residual : float
        ‖AT − TA'‖ relative to ‖A‖‖T‖ (Frobenius norms).
    input_residual : float
        ‖C − TC'‖ relative to ‖C‖.
    """

    A: Floats
    C: Floats
    T: Floats
    gramian_residual: float
    dynamics_residual: float
    input_residual: float

    def network(self) -> LinearNetwork:
        """The realization as a network of its own."""
        return LinearNetwork(self.A, self.C, name=f"input-normal, n={len(self.A)}")

    def __repr__(self) -> str:
        return (
            f"<InputNormal of {len(self.A)} states and {self.C.shape[1]} input(s); residuals: "
            f"Gramian {self.gramian_residual:.1e}, dynamics {self.dynamics_residual:.1e}, "
            f"input {self.input_residual:.1e}>"
        )


def input_normal(network: LinearNetwork) -> InputNormal:
    """Return the input-normal realization of a network, without forming its Gramian.

    A cascade of all-pass sections built from the eigenvalues (Schur form and Blaschke–Potapov
    factors for several inputs). The textbook recipe, T = G^{1/2}, fails from some twenty nodes on.

    Examples
    --------
    >>> import memcurve
    >>> import numpy as np
    >>> network = memcurve.ensembles.normal(30, seed=1)
    >>> white = memcurve.input_normal(network)
    >>> response = np.linalg.matrix_power(white.A, 9) @ white.C
    >>> abs(memcurve.memory_curve(network)[9] - (response**2).sum()) < 1e-13
    np.True_
    >>> white.gramian_residual < 1e-14
    True
    """
    require_network(network)
    problem = Problem.of(network, None, input=None, noise=None)
    require_room_for_states(len(problem.reachable), "realization")
    if not problem.C.any():
        raise ValueError(
            "`network` has a zero mask: nothing drives it, there is nothing to realize."
        )
    found = _best_map(problem)
    gramian = found.A @ found.A.T + found.C @ found.C.T - np.eye(len(found.A))
    dynamics, entry = residuals(problem.A, problem.C, found)
    sizes = np.sqrt((problem.A**2).sum() * (found.T**2).sum()), np.sqrt((problem.C**2).sum())
    T = np.zeros((network.states, len(found.A)))
    T[problem.reachable] = np.ldexp(found.T, problem.exponents[:, None])
    return InputNormal(
        found.A,
        found.C,
        T,
        float(np.abs(gramian).max()),
        dynamics / float(sizes[0]) if sizes[0] > 0 else dynamics,
        entry / float(sizes[1]),
    )


def _best_map(problem: Problem) -> StateMap:
    """The map with the smaller residuals, of those from eigenvectors and from a Stein equation."""
    maps: list[StateMap] = []
    modes = modes_of(problem)
    if problem.C.shape[1] == 1 and modes.rank == len(problem.A):
        by_vectors = eigen_state_map(problem.A, problem.C[:, 0])
        maps += [] if by_vectors is None else [by_vectors]
    try:
        realization = realization_of(problem, modes)
        maps.append(stein_state_map(problem.A, problem.C, realization))
    except UncertainResultError as error:
        if not maps:
            raise UncertainResultError(
                f"no input-normal realization in floating point: {error} method='certified' of "
                f"memory_curve gives the curve without one."
            ) from None
    return min(maps, key=lambda found: sum(residuals(problem.A, problem.C, found)))
