"""What is known of a problem's modes: how many count, and for one input which and how well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.general.problem import Problem
from memcurve.spectrum import Spectrum, controllable_spectrum
from memcurve.spectrum.block import block_rank
from memcurve.spectrum.modes import EigenBasis
from memcurve.spectrum.sensitivity import pole_sensitivity

Complexes = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes that count.

    Attributes
    ----------
    rank : int
        How many, exactly.
    sure : bool
        Whether floating point knows them well enough to go on.
    poles : complex array or None
        Their eigenvalues, for a single input.
    gap : float
        How far the space of remembered inputs may be turned by rounding in them.
    basis : EigenBasis or None
        Eigenvectors, where they were asked for and are at hand.
    spectrum : Spectrum or None
        Where this comes from, for a single input.
    """

    rank: int
    sure: bool = True
    poles: Complexes | None = None
    gap: float = 0.0
    basis: EigenBasis | None = None
    spectrum: Spectrum | None = None


def modes_of(problem: Problem) -> Modes:
    """The modes of a problem, with the eigenvectors where its states are to be read."""
    if problem.C.shape[1] > 1:
        # rounding must not move an eigenvalue across the unit circle
        stable = bool(np.isfinite(pole_sensitivity(problem.A).gap))
        return Modes(block_rank(problem.A, problem.C), stable)
    maps = problem.noise is not None or not problem.reads_all
    spectrum = controllable_spectrum(problem.network, keep_basis=maps)
    known = spectrum.poles is not None and np.isfinite(spectrum.gap)
    basis = spectrum.basis
    if len(spectrum.reachable) < len(problem.reachable):
        basis = None  # noise enters states that the input does not reach
    if basis is not None:  # in the problem's measure of the states
        columns = np.ldexp(basis.columns, -problem.exponents[:, None])
        basis = basis._replace(columns=columns)
    return Modes(spectrum.rank, bool(known), spectrum.poles, spectrum.gap, basis, spectrum)
