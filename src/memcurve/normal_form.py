"""The input-normal form of a network: the same memory, in states that are white."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.adapters import as_network
from memcurve.errors import UncertainResultError
from memcurve.limits import require_room_for_states
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.notes import Note, counted
from memcurve.optional import optional
from memcurve.result import Floats, Result
from memcurve.solve.analysis import Analysis
from memcurve.solve.realization import StateMap, residuals


@dataclass(frozen=True, eq=False, repr=False)
class InputNormal(Result):
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

    FORMAT: ClassVar[str] = "memcurve.InputNormal/1"

    A: Floats
    C: Floats
    T: Floats
    gramian_residual: float
    dynamics_residual: float
    input_residual: float
    notes: tuple[Note, ...] = ()

    def network(self) -> LinearNetwork:
        """The realization as a network of its own."""
        return LinearNetwork(self.A, self.C, name=f"input-normal, n={len(self.A)}")

    def columns(self) -> Mapping[str, Any]:
        """[A' C'], one row a state."""
        names = [f"ξ{k}" for k in range(len(self.A))]
        inputs = [f"input {k}" for k in range(self.C.shape[1])]
        values = np.hstack([self.A, self.C]).T
        return {"state": names} | dict(zip(names + inputs, values, strict=True))

    def to_xarray(self) -> Any:
        """An xarray Dataset of A', C' and T, the residuals among its attributes."""
        xr = optional("xarray", "this", "frames")
        data = {
            "A": (("white", "white_before"), self.A),
            "C": (("white", "input"), self.C),
            "T": (("state", "white"), self.T),
        }
        residuals = ("gramian_residual", "dynamics_residual", "input_residual")
        return xr.Dataset(data, attrs={name: getattr(self, name) for name in residuals})

    def plot(self, ax: Any = None) -> Any:
        """Draw the memory ‖A'^τC'‖² of the realization, which is that of the network."""
        return memory_curve(self.network()).plot(ax=ax)

    def __repr__(self) -> str:
        return (
            f"<InputNormal of {len(self.A)} states and {counted(self.C.shape[1], 'input')}; "
            f"residuals: Gramian {self.gramian_residual:.1e}, dynamics "
            f"{self.dynamics_residual:.1e}, input {self.input_residual:.1e}>"
        )


def input_normal(network: Any) -> InputNormal:
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
    subject = as_network(network)
    analysis = Analysis.of(subject)
    states = analysis.reached
    require_room_for_states(len(states), "realization")
    if not states.mask.any():
        raise ValueError(
            "`network` has a zero mask: nothing drives it, there is nothing to realize."
        )
    found = _best_map(analysis)
    gramian = found.A @ found.A.T + found.C @ found.C.T - np.eye(len(found.A))
    dynamics, entry = residuals(states.A, states.C, found)
    sizes = np.sqrt((states.A**2).sum() * (found.T**2).sum()), np.sqrt((states.C**2).sum())
    T = np.zeros((subject.states, len(found.A)))
    T[states.nodes] = np.ldexp(found.T, states.exponents[:, None])
    return InputNormal(
        found.A,
        found.C,
        T,
        float(np.abs(gramian).max()),
        dynamics / float(sizes[0]) if sizes[0] > 0 else dynamics,
        entry / float(sizes[1]),
        subject.notes,
    )


def _best_map(analysis: Analysis) -> StateMap:
    """The map with the smaller residuals, of those from eigenvectors and from a Stein equation."""
    states, maps = analysis.reached, []
    if analysis.inputs == 1 and analysis.rank == len(states):
        by_vectors = analysis.eigen_map(states)
        maps += [] if by_vectors is None else [by_vectors]
    try:
        maps.append(analysis.stein_map(states))
    except UncertainResultError as error:
        if not maps:
            raise UncertainResultError(
                f"no input-normal realization in floating point: {error} method='certified' of "
                f"memory_curve gives the curve without one."
            ) from None
    return min(maps, key=lambda found: sum(residuals(states.A, states.C, found)))
