"""What is found out about a network's spectrum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.network.graph import Indices
from memcurve.spectrum.modes import EigenBasis

Complexes = NDArray[np.complex128]


class Ring(NamedTuple):
    """Poles zero, ``tail`` times, and the roots of λ^length = p, 0 < |p| < 1; none for length 0.

    ``log_square`` is log p² and ``complement`` 1 − p², each known to its last digits.
    """

    tail: int
    length: int
    log_square: float
    complement: float


@dataclass(frozen=True, eq=False)
class Spectrum:
    """The controllable spectrum of a single-input network.

    Attributes
    ----------
    poles : complex array or None
        The eigenvalues that count, with multiplicity; None where floating point cannot single
        them out.
    rank : int
        Exact rank of [C, AC, A²C, …] for the stored numbers: the total memory.
    rank_robust : int
        The rank up to rounding: modes that a change in the last digits would silence left out.
    reachable : int array
        States that the input reaches along the edges of the network.
    margin : float
        Smallest excitation ``|w*C|/‖C‖`` among the modes, in scaled coordinates: the relative
        change of the mask that would silence one. NaN for an empty spectrum, and where the numbers
        in A and C differ so much in size that float64 cannot tell (``rank_robust`` is then the
        rank).
    sensitivity : float
        Bound on ``|δMC_τ| / √(min(MC_τ, 1 − MC_τ))`` due to rounding in the poles.
    gap : float
        Bound on the sine of the largest angle by which that rounding turns the space of inputs
        that the states remember.
    basis : EigenBasis or None
        Eigenvectors of the reachable part, where they were asked for and every mode counts.
    ring : Ring or None
        Where all poles count and are zero or the roots of one number, that number.
    assumed : bool
        Whether all modes were taken to count without being asked.
    """

    poles: Complexes | None
    rank: int
    rank_robust: int
    reachable: Indices
    margin: float
    sensitivity: float
    gap: float
    basis: EigenBasis | None = None
    ring: Ring | None = None
    assumed: bool = False
