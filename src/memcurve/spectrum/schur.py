"""Condition numbers and excitations of all modes without eigenvectors of A itself.

The Schur factor T = ZᵀAZ alone takes hardly longer than the eigenvalues: it is the orthogonal Z
that is expensive. All that is needed of Z is ZᵀC, and that comes for free as the last column of the
Schur factor of [A C; 0 0], whose last row is left alone.

The eigenvectors of T = [T₁ T₁₂; 0 T₂] follow from those of its parts, T_iX_i = X_iD_i::

    X = [X₁ X₁Y; 0 X₂],    X⁻¹ = [X₁⁻¹ −YX₂⁻¹; 0 X₂⁻¹],    D₁Y − YD₂ = −X₁⁻¹T₁₂X₂

which is a few matrix products and a division entry by entry, as the D are diagonal. Row k of X⁻¹
is the left eigenvector, so that ‖X e_k‖ and ‖e_kᵀX⁻¹‖ give the condition of mode k, and X⁻¹ZᵀC how
far it is excited.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.spectrum.sensitivity import EPS

Floats = NDArray[np.float64]
Complexes = NDArray[np.complex128]

#: Blocks of T up to this size are left to LAPACK.
LEAF = 64
#: The eigenvectors are trusted where rounding in them, √N·eps·κ(X), is at most this share of the
#: least excitation, or the lower of these bounds; in any case it must not be above the higher.
SMALL_SHARE = 1e-3
SMALL_ROUNDING, LARGEST_ROUNDING = 1e-8, 1e-6


class SchurModes(NamedTuple):
    """Eigenvalues with condition numbers, and excitations |w*C| by unit left eigenvectors w.

    ``poles`` are the eigenvalues as LAPACK finds them for A; ``values``, in the order of the other
    figures, went through one more rounding.
    """

    poles: Complexes
    values: Complexes
    condition: Floats
    excitation: Floats


def schur_modes(A: Floats, C: Floats) -> SchurModes | None:
    """Judge all modes of a strongly connected A; None where the eigenvectors are nearly parallel.

    A that falls into parts would be permuted by LAPACK, and the last row with it.
    """
    from scipy.linalg import lapack
    from scipy.linalg.blas import dgemv

    size = len(A)
    joint = np.zeros((size + 1, size + 1), order="F")
    joint[:size, :size], joint[:size, size] = A, C
    lwork = int(lapack.dgeev_lwork(size + 1, compute_vl=1, compute_vr=0)[0])
    T, _, re, im, _, _, info = lapack.dgees(
        lambda *_: 0, joint, compute_v=0, lwork=lwork, overwrite_a=1
    )
    mask = T[:size, size].copy()
    moved = abs(float(mask @ mask) - float(C @ C)) > SMALL_ROUNDING * float(C @ C)
    if info != 0 or moved or T[size, size] != 0:
        return None
    basis = _EigenvectorsOfT.of(T[:size, :size])
    if basis is None:
        return None
    columns = np.sqrt(np.einsum("ij,ij->j", basis.X, basis.X))
    rows = np.sqrt(np.einsum("ij,ij->i", basis.inverse, basis.inverse))
    driven = dgemv(1.0, basis.inverse, mask)
    first = basis.first
    for packed in (columns, rows, driven):  # a pair a ± ib is stored as a, b
        packed[first] = packed[first + 1] = np.hypot(packed[first], packed[first + 1])
    condition, excitation = columns * rows, np.abs(driven) / rows
    condition[first] /= 2
    condition[first + 1] /= 2
    # the condition of X with columns of unit length is at most √(N Σκ²)
    rounding = EPS * size * float(np.sqrt((condition**2).sum()))
    allowed = np.clip(SMALL_SHARE * excitation.min(), SMALL_ROUNDING, LARGEST_ROUNDING)
    if not rounding <= allowed:  # NaN where two eigenvalues are the same
        return None
    return SchurModes(re[:size] + 1j * im[:size], basis.values, condition, excitation)


class _EigenvectorsOfT:
    """X and X⁻¹ of a quasi-triangular T, filled in from the diagonal outwards.

    As LAPACK packs them: a pair a ± ib in two columns a, b, where ``first`` has the place of a;
    ``values`` are the eigenvalues of the blocks on the diagonal.
    """

    def __init__(self, T: Floats) -> None:
        self.T = T
        self.X = np.zeros(T.shape, order="F")
        self.inverse = np.zeros(T.shape, order="F")
        self.values = np.zeros(len(T), dtype=complex)

    @classmethod
    def of(cls, T: Floats) -> _EigenvectorsOfT | None:
        """All of them; None where some are parallel."""
        basis = cls(T)
        return basis if basis._fill(0, len(T)) else None

    @property
    def first(self) -> NDArray[np.intp]:
        return np.flatnonzero(self.values.imag > 0)

    def _fill(self, start: int, stop: int) -> bool:
        from scipy.linalg.blas import dgemm

        if stop - start <= LEAF:
            return self._fill_leaf(slice(start, stop))
        middle = (start + stop) // 2
        middle += self.T[middle, middle - 1] != 0  # never between the two of a pair
        if not self._fill(start, middle) or not self._fill(middle, stop):
            return False
        one, two = slice(start, middle), slice(middle, stop)
        coupling = dgemm(
            1.0, self.inverse[one, one], dgemm(1.0, self.T[one, two], self.X[two, two])
        )
        Y = _divided(coupling, self.values[one], self.values[two])
        self.X[one, two] = dgemm(1.0, self.X[one, one], Y)
        self.inverse[one, two] = dgemm(-1.0, Y, self.inverse[two, two])
        return True

    def _fill_leaf(self, own: slice) -> bool:
        from scipy.linalg import lapack

        re, im, _, X, info = lapack.dgeev(self.T[own, own], compute_vl=0, compute_vr=1)
        inverse = inverse_of(X.copy(order="F"))
        if info != 0 or inverse is None:
            return False
        self.values[own] = re + 1j * im
        self.X[own, own], self.inverse[own, own] = X, inverse
        return True


def _divided(M: Floats, rows: Complexes, columns: Complexes) -> Floats:
    """The Y with D₁Y − YD₂ = −M, where D has the blocks [α β; −β α] for a pair α ± iβ.

    The eigenvectors of such a block are (1, ±i): with rows and columns combined accordingly the
    equation is one for each entry. The row of a lower eigenvalue is the conjugate of the upper
    one's, and is left out.
    """
    first, second = np.flatnonzero(rows.imag > 0), np.flatnonzero(columns.imag > 0)
    upper = np.flatnonzero(rows.imag >= 0)
    entries = M[upper].astype(complex)
    in_pair = rows.imag[upper] > 0
    entries[in_pair] = (M[first] - 1j * M[first + 1]) / 2
    a, b = entries[:, second], 1j * entries[:, second + 1]
    entries[:, second], entries[:, second + 1] = a + b, a - b
    entries /= columns - rows[upper, None]
    a, b = entries[:, second], entries[:, second + 1]
    entries[:, second], entries[:, second + 1] = (a + b) / 2, (a - b) / 2j
    Y = np.empty(M.shape, order="F")
    Y[upper] = entries.real
    Y[first] *= 2
    Y[first + 1] = -2 * entries.imag[in_pair]
    return Y


def inverse_of(W: Floats) -> Floats | None:
    """W⁻¹, which overwrites W; None where W is singular."""
    from scipy.linalg import lapack

    factors, pivots, info = lapack.dgetrf(W, overwrite_a=1)
    if info != 0:
        return None
    lwork = int(lapack.dgetri_lwork(len(W))[0])
    inverse, _ = lapack.dgetri(factors, pivots, lwork=lwork, overwrite_lu=1)
    return np.asarray(inverse)
