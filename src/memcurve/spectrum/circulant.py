"""Circulant networks, A[i, j] = a[i − j mod N]: the Fourier transform has all the answers.

The eigenvectors are those of the shift, f_k[i] = e^{2πi·ik/N}, whatever a is. So the eigenvalues
are λ_k = Σ_j a_j e^{−2πi·jk/N}, the excitations |f_k*C|/(√N‖C‖), and rounding mixes no two modes.
If a is symmetric, λ_k = λ_{−k} exactly, and each such pair counts once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UnstableNetworkError
from memcurve.network.graph import Indices, in_units
from memcurve.spectrum.modes import LEAST_EXCITATION, WIDE, room_between
from memcurve.spectrum.result import Spectrum
from memcurve.spectrum.sensitivity import EPS, normal_sensitivity

Floats = NDArray[np.float64]


def circulant_column(A: Any) -> Floats | None:
    """The first column a of a circulant A, dense; None for any other A."""
    if not isinstance(A, np.ndarray) or len(A) < 3:
        return None
    if A[1, 1] != A[0, 0] or A[2, 1] != A[1, 0] or A[1, 2] != A[0, 1]:  # nearly always one is
        return None
    around = np.array_equal(A[0, 1:], A[:0:-1, 0])
    return A[:, 0] if around and np.array_equal(A[1:, 1:], A[:-1, :-1]) else None


def circulant_spectrum(column: Floats, C: Floats, nodes: Indices) -> Spectrum | None:
    """The spectrum, where every mode stands apart and is excited beyond doubt; else None."""
    size = len(column)
    column, scale = in_units(column)
    half = np.fft.rfft(column)
    unit = C / np.abs(C).max()
    excitation = np.abs(np.fft.rfft(unit)) / np.sqrt(size * (unit**2).sum())
    double = np.arange(1, (size + 1) // 2)  # all but k = 0 and N/2 have a partner −k
    if np.array_equal(column[1:], column[:0:-1]):
        poles = half.real.astype(complex)
        excitation[double] *= np.sqrt(2)
    else:
        poles = np.concatenate([half, half[double].conj()])
    # ‖δλ‖₂ of a fast transform, with room for lengths that are no product of small factors
    rounding = 8 * EPS * np.log2(2 * size) * float(np.sqrt(size * (column**2).sum()))
    apart = room_between(poles, np.full(len(poles), max(rounding, float(np.finfo(float).tiny))))
    if not apart > WIDE or not excitation.min() > LEAST_EXCITATION:
        return None
    poles, rounding = np.asarray(scale * poles, dtype=np.complex128), scale * rounding
    radius = float(np.abs(poles).max())
    if radius - rounding >= 1:
        raise UnstableNetworkError(
            f"the network is unstable: its mask excites an eigenvalue of modulus {radius:.6g}, so "
            f"that the states grow without bound. Scale `A` below spectral radius 1."
        )
    rank, margin = len(poles), float(excitation.min())
    sensitivity = normal_sensitivity(poles, rounding)
    return Spectrum(poles, rank, rank, nodes, margin, *sensitivity)
