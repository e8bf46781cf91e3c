"""What takes part in the comparison: a name, and a function from a network to a memory curve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve import LinearNetwork

Floats = NDArray[np.float64]


class Estimate(NamedTuple):
    """A memory curve as a method gives it: MC at ``first_lag``, ``first_lag + 1``, …."""

    first_lag: int
    values: Floats


Measure = Callable[[LinearNetwork], Estimate]


@dataclass(frozen=True)
class Contender:
    """A way to compute a memory curve.

    Attributes
    ----------
    name, about : str
        What the tables call it, and its settings in words.
    measure : callable
        Network to :class:`Estimate`; all it takes counts as its time.
    needs : tuple of str
        Modules without which it cannot run.
    whose : str
        ``"memcurve"``, ``"paper"`` or ``"neighbour"``.
    """

    name: str
    about: str
    measure: Measure = field(repr=False)
    needs: tuple[str, ...] = ()
    whose: str = "neighbour"

    @property
    def missing(self) -> tuple[str, ...]:
        """Modules that are not there."""
        return tuple(module for module in self.needs if find_spec(module) is None)


def quadratic_forms(A: Floats, C: Floats, inverse: Callable[[Floats], Floats], lags: int) -> Floats:
    """Cᵀ(Aᵀ)^τ G⁻¹ A^τ C for τ = 0 … lags − 1, with G⁻¹ as a function of all A^τ C at once."""
    krylov = np.empty((len(A), lags))
    v = C
    for k in range(lags):
        krylov[:, k] = v
        v = A @ v
    return np.asarray(np.einsum("ij,ij->j", krylov, inverse(krylov)))
