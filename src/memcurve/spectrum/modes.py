"""Which modes the mask excites, in floating point: the Popov–Belevitch–Hautus (PBH) test.

A mode λ with unit left eigenvector w (w*A = λw*) is driven if w*C ≠ 0; |w*C| / ‖C‖ is its
*excitation*, the relative change of the mask that would silence it. Rounding blurs it by::

    |δ(w_k*C)| ≤ ‖δA‖ Σ_{j≠k} κ_j |w_j*C| / |λ_k − λ_j|,      κ_j = ‖w_j‖‖v_j‖ / |w_j*v_j|

to first order, v_j the right eigenvectors. Modes that rounding cannot tell apart are judged
together, by :mod:`memcurve.spectrum.clusters`. All of it is done after scaling A, so that rows and
columns are alike in size.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.graph import balanced, separate_parts, submatrix
from memcurve.spectrum.sensitivity import EPS

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Eigenvalues are told apart when discs of this many backward errors around them are disjoint.
DISC = 10 * EPS
#: They are told apart beyond doubt, second-order effects included, with discs this much wider.
WIDE = 1e4
#: A mode counts when its excitation exceeds its blur by this factor; beyond doubt, by its square.
CLEAR = 100.0
#: No mode excited less than this counts beyond doubt.
LEAST_EXCITATION = 1e-6


class EigenBasis(NamedTuple):
    """A = V diag(values) V⁻¹ as LAPACK packs it: a conjugate pair v, v̄ in two real columns.

    ``columns[:, k]`` is a real eigenvector, or for k in ``first`` twice the real part of one, with
    twice its imaginary part in the next; ``mask`` is V⁻¹C, where C was scaled to unit length.
    """

    values: Complexes
    columns: Floats
    first: NDArray[np.intp]
    mask: Complexes


class Screening(NamedTuple):
    """Outcome of the first, cheap look at all modes.

    ``sure``: every mode counts beyond doubt. ``likely``: as far as rounding allows to tell, so
    that the rank up to rounding is full, but the exact rank is to be asked.
    """

    values: Complexes
    excitation: Floats
    sure: bool
    likely: bool
    unstable_radius: float | None
    basis: EigenBasis | None


def screen(A: Any, C: Floats, *, keep_basis: bool = False) -> Screening:
    """Eigenvalues and excitations; whether every mode surely counts, or one is surely unstable.

    ``keep_basis`` keeps the eigenvectors too, where A is one piece and not symmetric.
    """
    C = unit_norm(C)
    parts = [_left_modes(submatrix(A, n), C[n], keep_basis) for n in separate_parts(A)]
    basis = parts[0].basis if len(parts) == 1 else None
    lam, excited, blurred, disc = (
        np.concatenate([part[k] for part in parts]) for k in range(len(LeftModes._fields) - 1)
    )
    noise = blurred + EPS
    clear = excited > CLEAR * noise
    outside = np.abs(lam[clear & (np.abs(lam) - disc >= 1)])
    room = _room(lam, disc)
    beyond_doubt = excited > np.maximum(CLEAR**2 * noise, LEAST_EXCITATION)
    return Screening(
        lam,
        excited,
        sure=bool(beyond_doubt.all()) and room > WIDE,
        likely=bool(clear.all()) and room > 1,
        unstable_radius=float(outside.max()) if len(outside) else None,
        basis=basis,
    )


class LeftModes(NamedTuple):
    """Eigenvalues, excitations |w*C| (unit w), their blur, and discs of eigenvalue uncertainty."""

    values: Complexes
    excitation: Floats
    blur: Floats
    disc: Floats
    basis: EigenBasis | None = None


def _left_modes(A: Floats, C: Floats, keep_basis: bool) -> LeftModes:
    from scipy.linalg import lapack
    from scipy.linalg.blas import dgemv

    size = len(A)
    if size == 1:
        return LeftModes(A.ravel().astype(complex), np.abs(C), np.zeros(1), np.zeros(1))
    basis = None
    if np.array_equal(A, A.T):
        real_values, W = np.linalg.eigh(A)
        values, excitation = real_values.astype(complex), np.abs(W.T @ C)
        condition, norm = np.ones(size), float(np.abs(real_values).max()) * size**0.5
    else:
        share = float(np.sqrt((C**2).sum()))
        A, scale = balanced(A)
        C = unit_norm(C / scale) * share if share > 0 else C
        norm = float(np.sqrt((A**2).sum()))
        lwork = int(lapack.dgeev_lwork(size, compute_vl=1, compute_vr=0)[0])
        re, im, W, _, info = lapack.dgeev(A, compute_vl=1, compute_vr=0, lwork=lwork, overwrite_a=1)
        if info != 0:
            unknown = np.full(size, np.inf)
            return LeftModes(re + 1j * im, np.zeros(size), unknown, unknown)
        values = re + 1j * im
        # LAPACK packs a pair of vectors a ± ib into the columns a, b
        first = np.flatnonzero(im > 0)
        mask = dgemv(1.0, W, C, trans=True).astype(complex)
        mask[first] -= 1j * mask[first + 1].real
        mask[first + 1] = mask[first].conj()
        excitation = np.abs(mask)
        inverse = _inverse(W)
        condition = _conditions(inverse, first, size)
        if keep_basis and inverse is not None:
            basis = EigenBasis(values, scale[:, None] * inverse.T, first, mask)
    blur = EPS * norm * blur_of(values, condition * excitation)
    disc = np.minimum(DISC * norm * condition, norm)
    return LeftModes(values, excitation, blur, disc, basis)


def _gaps(values: Complexes) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Distances |λ_k − λ_j|, some rows k at a time so that they fit; infinite for j = k."""
    for rows in np.array_split(np.arange(len(values)), max(1, len(values) ** 2 // 2**21)):
        gap = np.abs(values[rows, None] - values)
        gap[np.arange(len(rows)), rows] = np.inf
        yield rows, gap


def blur_of(values: Complexes, weight: Floats) -> Floats:
    """Σ_{j≠k} weight_j / |λ_k − λ_j| for every k."""
    blur = np.empty(len(values))
    for rows, gap in _gaps(values):
        blur[rows] = (weight / gap).sum(axis=1)
    return np.where(np.isfinite(blur), blur, np.inf)


def _inverse(W: Floats) -> Floats | None:
    """W⁻¹, which overwrites W; None where W is singular."""
    from scipy.linalg import lapack

    factors, pivots, info = lapack.dgetrf(W, overwrite_a=1)
    if info != 0:
        return None
    lwork = int(lapack.dgetri_lwork(len(W))[0])
    inverse, _ = lapack.dgetri(factors, pivots, lwork=lwork, overwrite_lu=1)
    return np.asarray(inverse)


def _conditions(inverse: Floats | None, first: NDArray[np.intp], size: int) -> Floats:
    """κ of each eigenvalue from the inverse of the packed unit left eigenvectors.

    Its rows α, β that belong to a pair give the right eigenvector (α + iβ)/2.
    """
    if inverse is None:
        return np.full(size, np.inf)
    condition = np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
    condition[first] = condition[first + 1] = np.hypot(condition[first], condition[first + 1]) / 2
    return np.where(np.isfinite(condition), condition, np.inf)


def _room(values: Complexes, radius: Floats) -> float:
    """Factor by which the discs around the eigenvalues could grow before two of them touch."""
    least = np.inf
    for rows, gap in _gaps(values):
        room = gap / (radius[rows, None] + radius)
        least = min(least, float(np.where(np.isnan(room), 0.0, room).min()))
    return least


def unit_norm(C: Floats) -> Floats:
    C = C / np.abs(C).max()  # first, so that no square overflows
    return C / float(np.sqrt((C**2).sum()))
