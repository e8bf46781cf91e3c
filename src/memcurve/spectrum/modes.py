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

from memcurve.network.graph import (
    balanced,
    has_no_zeros,
    in_units,
    is_symmetric,
    separate_parts,
    strong_components,
    submatrix,
)
from memcurve.spectrum.schur import inverse_of, schur_modes
from memcurve.spectrum.sensitivity import EPS
from memcurve.spectrum.symmetric import symmetric_modes

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
    that the rank up to rounding is full, but the exact rank is to be asked. ``symmetric``: A is.
    """

    poles: Complexes
    excitation: Floats
    sure: bool
    likely: bool
    unstable_radius: float | None
    basis: EigenBasis | None
    symmetric: bool


def screen(A: Any, C: Floats, *, keep_basis: bool = False) -> Screening:
    """Eigenvalues and excitations; whether every mode surely counts, or one is surely unstable.

    ``keep_basis`` keeps the eigenvectors too, where A is one piece and not symmetric.
    """
    C = unit_norm(C)
    parts = [_left_modes(submatrix(A, n), C[n], keep_basis) for n in separate_parts(A)]
    basis = parts[0].basis if len(parts) == 1 else None
    poles, lam, excited, blurred, disc = (
        np.concatenate([part[k] for part in parts]) for k in range(5)
    )
    noise = blurred + EPS
    clear = excited > CLEAR * noise
    outside = np.abs(lam[clear & (np.abs(lam) - disc >= 1)])
    # a single node's eigenvalue is exact, but its last digit may be another, as any weight's
    room = room_between(lam, np.maximum(disc, DISC * np.abs(lam)))
    beyond_doubt = excited > np.maximum(CLEAR**2 * noise, LEAST_EXCITATION)
    return Screening(
        poles,
        excited,
        sure=bool(beyond_doubt.all()) and room > WIDE,
        likely=bool(clear.all()) and room > 1,
        unstable_radius=float(outside.max()) if len(outside) else None,
        basis=basis,
        symmetric=all(part.symmetric for part in parts),
    )


class LeftModes(NamedTuple):
    """Eigenvalues, excitations |w*C| (unit w), their blur, and discs of eigenvalue uncertainty.

    ``poles`` are the eigenvalues too, as accurate as they are known, in an order of their own.
    ``symmetric``: the block is.
    """

    poles: Complexes
    values: Complexes
    excitation: Floats
    blur: Floats
    disc: Floats
    basis: EigenBasis | None = None
    symmetric: bool = False


def _left_modes(A: Floats, C: Floats, keep_basis: bool) -> LeftModes:
    """Judge a block in units in which its squares neither vanish nor overflow."""
    A, unit = in_units(A)
    found = _left_modes_in_units(A, C, keep_basis)
    if unit == 1:
        return found
    basis = found.basis and found.basis._replace(values=unit * found.basis.values)
    return found._replace(
        poles=unit * found.poles, values=unit * found.values, disc=unit * found.disc, basis=basis
    )


def _left_modes_in_units(A: Floats, C: Floats, keep_basis: bool) -> LeftModes:
    from scipy.linalg import lapack
    from scipy.linalg.blas import dgemv

    size = len(A)
    if size == 1:
        value = A.ravel().astype(complex)
        return LeftModes(value, value, np.abs(C), np.zeros(1), np.zeros(1), symmetric=True)
    if is_symmetric(A):
        real_values, excitation = symmetric_modes(A, C)
        values, condition = real_values.astype(complex), np.ones(size)
        norm = float(np.abs(real_values).max()) * size**0.5
        return _judged(values, values, excitation, condition, norm, symmetric=True)
    share = float(np.sqrt((C**2).sum()))
    A, scale = balanced(A)
    C = unit_norm(C / scale) * share if share > 0 else C
    norm = float(np.sqrt((A**2).sum()))
    if not keep_basis and (has_no_zeros(A) or len(strong_components(A)) == 1):
        found = schur_modes(A, C)
        if found is not None:
            return _judged(found.poles, found.values, found.excitation, found.condition, norm)
    lwork = int(lapack.dgeev_lwork(size, compute_vl=1, compute_vr=0)[0])
    re, im, W, _, info = lapack.dgeev(A, compute_vl=1, compute_vr=0, lwork=lwork, overwrite_a=1)
    values = re + 1j * im
    if info != 0:
        unknown = np.full(size, np.inf)
        return LeftModes(values, values, np.zeros(size), unknown, unknown)
    # LAPACK packs a pair of vectors a ± ib into the columns a, b
    first = np.flatnonzero(im > 0)
    mask = dgemv(1.0, W, C, trans=True).astype(complex)
    mask[first] -= 1j * mask[first + 1].real
    mask[first + 1] = mask[first].conj()
    inverse = inverse_of(W)
    condition = _conditions(inverse, first, size)
    basis = None
    if keep_basis and inverse is not None:
        basis = EigenBasis(values, scale[:, None] * inverse.T, first, mask)
    return _judged(values, values, np.abs(mask), condition, norm)._replace(basis=basis)


def _judged(
    poles: Complexes,
    values: Complexes,
    excitation: Floats,
    condition: Floats,
    norm: float,
    *,
    symmetric: bool = False,
) -> LeftModes:
    blur = EPS * norm * blur_of(values, condition * excitation)
    disc = np.minimum(DISC * norm * condition, norm)
    return LeftModes(poles, values, excitation, blur, disc, symmetric=symmetric)


def _gaps(values: Complexes) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Distances |λ_k − λ_j|, some rows k at a time so that they fit; infinite for j = k."""
    numbers = values if values.imag.any() else values.real  # real ones are quicker
    for rows in np.array_split(np.arange(len(values)), max(1, len(values) ** 2 // 2**21)):
        gap = np.abs(numbers[rows, None] - numbers)
        gap[np.arange(len(rows)), rows] = np.inf
        yield rows, gap


def blur_of(values: Complexes, weight: Floats) -> Floats:
    """Σ_{j≠k} weight_j / |λ_k − λ_j| for every k."""
    blur = np.empty(len(values))
    for rows, gap in _gaps(values):
        blur[rows] = (weight / gap).sum(axis=1)
    return np.where(np.isfinite(blur), blur, np.inf)


def _conditions(inverse: Floats | None, first: NDArray[np.intp], size: int) -> Floats:
    """κ of each eigenvalue from the inverse of the packed unit left eigenvectors.

    Its rows α, β that belong to a pair give the right eigenvector (α + iβ)/2.
    """
    if inverse is None:
        return np.full(size, np.inf)
    condition = np.sqrt(np.einsum("ij,ij->i", inverse, inverse))
    condition[first] = condition[first + 1] = np.hypot(condition[first], condition[first + 1]) / 2
    return np.where(np.isfinite(condition), condition, np.inf)


def room_between(values: Complexes, radius: Floats) -> float:
    """Factor by which the discs around the eigenvalues could grow before two of them touch."""
    least = np.inf
    for rows, gap in _gaps(values):
        room = gap / (radius[rows, None] + radius)
        least = min(least, float(np.where(np.isnan(room), 0.0, room).min()))
    return least


def unit_norm(C: Floats) -> Floats:
    C = C / np.abs(C).max()  # first, so that no square overflows
    return C / float(np.sqrt((C**2).sum()))
