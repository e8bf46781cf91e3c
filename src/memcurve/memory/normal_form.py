"""The input-normal realization of a network: the same memory, with white states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import require_room_for_states
from memcurve.core.notes import Note, counted
from memcurve.core.result import Result
from memcurve.core.types import Floats
from memcurve.io.adapters import as_network
from memcurve.memory.curve import fault
from memcurve.memory.entry_points import NetworkLike, memory_curve
from memcurve.network import LinearNetwork
from memcurve.solve import Analysis, input_normal_realization


@dataclass(frozen=True, eq=False, repr=False)
class InputNormal(Result):
    """An input-normal realization ξ_t = A'ξ_{t−1} + C'z_t of a network, and x = Tξ.

    For white input of unit variance the states ξ are uncorrelated and of unit variance,
    A'A'ᵀ + C'C'ᵀ = I, so that MC_τ = ‖A'^τC'‖².

    Attributes
    ----------
    A, C : (n, n) and (n, d) array
        A' and C', n being the rank of the network. Do not ask ``eigvals`` for the eigenvalues,
        which are those of the network: A' is extremely non-normal.
    T : (states, n) array
        The state transformation; rows of unreached states are zero.
    gramian_residual, dynamics_residual, input_residual : float
        Largest entry of A'A'ᵀ + C'C'ᵀ − I; largest row of AT − TA' and of C − TC', relative to the
        deviation of its state, and to its weights where these are larger.

    Examples
    --------
    >>> import memcurve
    >>> realization = memcurve.input_normal(memcurve.ensembles.cyclic(6))
    >>> realization.A.shape, realization.C.shape
    ((6, 6), (6, 1))
    >>> round(memcurve.memory_curve(realization.network()).total, 9)
    6.0
    """

    FORMAT: ClassVar[str] = "memcurve.InputNormal/1"
    ATTRIBUTES: ClassVar[tuple[str, ...]] = (
        "gramian_residual", "dynamics_residual", "input_residual",
    )  # fmt: skip

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
        """[A' C'], one row per state."""
        names = [f"ξ{k}" for k in range(len(self.A))]
        inputs = [f"input {k}" for k in range(self.C.shape[1])]
        values = np.hstack([self.A, self.C]).T
        return {"state": names} | dict(zip(names + inputs, values, strict=True))

    def plot(self, ax: Any = None) -> Any:
        """Draw the memory ‖A'^τC'‖² of the realization, which is that of the network."""
        return memory_curve(self.network()).plot(ax=ax)

    def __repr__(self) -> str:
        return (
            f"<InputNormal of {len(self.A)} states and {counted(self.C.shape[1], 'input')}; "
            f"residuals: Gramian {self.gramian_residual:.1e}, dynamics "
            f"{self.dynamics_residual:.1e}, input {self.input_residual:.1e}>"
        )


def input_normal(network: NetworkLike) -> InputNormal:
    """Return the input-normal realization of a network, without forming its Gramian.

    From the Krylov matrix in graded coordinates, whose columns of T keep directions far below the
    rounding of the largest; where these are nearly parallel, a cascade of all-pass sections with
    the eigenvalues, or the covariance in these coordinates for several inputs. The textbook recipe,
    T = G^{1/2}, fails from some twenty nodes on.

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
    states = Analysis.of(subject)
    require_room_for_states(len(states), "realization")
    if not states.mask.any():
        raise ValueError(fault("nothing_driven"))
    try:
        A, C, T = input_normal_realization(states)
    except UncertainResultError as error:
        raise UncertainResultError(fault("no_realization", error=error)) from None
    gramian = A @ A.T + C @ C.T - np.eye(len(A))
    # row by row, relative to each state
    own_A, own_C, units = states.of_unit_variance
    unit = np.ldexp(T, -units[:, None])
    size = np.maximum(1.0, np.linalg.norm(own_A, axis=1))
    dynamics = np.linalg.norm(own_A @ unit - unit @ A, axis=1) / size
    entry = np.linalg.norm(own_C - unit @ C, axis=1)
    states_of = np.zeros((subject.states, len(A)))
    states_of[states.nodes] = T
    return InputNormal(
        A,
        C,
        states_of,
        float(np.abs(gramian).max()),
        float(dynamics.max()),
        float(entry.max()),
        subject.notes,
    )
