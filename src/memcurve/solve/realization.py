"""Input-normal realization of a single-input network, and the map to its own states.

The poles in *Leja order* (each one as far from those before as can be, in the pseudo-hyperbolic
sense) make the cascade of all-pass sections a pivoted factorisation. In the eigenbasis A = VΛV⁻¹,
c = V⁻¹C, the states are x = Tξ with::

    T = V diag(c) Φ,    Φ[i, k] = φ_k(λ_i),    φ_k(z) = √(1 − |λ_k|²)/(1 − λ̄_k z) Π_{j<k} b_j(z)

the Takenaka–Malmquist functions of the cascade. Φ is lower triangular with columns that shrink,
each entry a product: its columns have *relative* accuracy however small they are, and so has the
memory that lies below any noise level.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.errors import UncertainResultError
from memcurve.result import EPS, Complexes, Floats
from memcurve.solve.allpass import cascade
from memcurve.solve.several import several_input_cascade
from memcurve.solve.stein import stein

#: A response off by this share of its state is lost: eigenvectors coincide in floating point.
LOST = 1e-3


def leja_order(upper_poles: Complexes) -> NDArray[np.intp]:
    """Indices that order section poles greedily by |λ_k's basis function at itself|."""
    rest = np.arange(len(upper_poles))
    points = upper_poles
    with np.errstate(divide="ignore"):
        weight = -np.log((1 - np.abs(points)) * (1 + np.abs(points)))
        order = []
        while len(rest):
            best = int(np.argmax(weight))
            pole = points[best]
            order.append(rest[best])
            rest, points, weight = (np.delete(a, best) for a in (rest, points, weight))
            weight = weight + 2 * np.log(np.abs((points - pole) / (1 - np.conj(pole) * points)))
            if pole.imag != 0:
                weight = weight + 2 * np.log(np.abs((points - np.conj(pole)) / (1 - pole * points)))
    return np.array(order, dtype=np.intp)


def basis_at(points: Complexes, upper_poles: Complexes) -> Complexes:
    """Values φ_k(z) of the functions of a cascade at ``points``, as (points, states)."""
    passed, columns = np.ones(len(points), complex), []
    for pole in upper_poles:
        r = abs(pole)
        if pole.imag == 0:
            below = 1 - pole.real * points
            columns.append(passed * np.sqrt((1 - r) * (1 + r)) / below)
            passed = passed * ((points - pole.real) / below)
            continue
        k1 = -2 * pole.real / (1 + r**2)
        c1 = abs(1 - pole) * abs(1 + pole) / (1 + r**2)
        c2 = np.sqrt((1 - r) * (1 + r) * (1 + r**2))
        below = (1 - pole * points) * (1 - np.conj(pole) * points)
        columns += [passed * (c1 * c2) / below, passed * c2 * (points + k1) / below]
        passed = passed * ((points - pole) * (points - np.conj(pole)) / below)
    return np.array(columns).T


def eigen_state_map(A: Floats, C: Floats) -> StateMap | None:
    """The map T from the eigenvectors of A, for a network whose mask (n,) excites every mode.

    None where A is unstable or has no basis of eigenvectors in floating point.
    """
    if not np.isfinite(A).all():
        return None
    found = _eigenvectors(A, C)
    if found is None:
        return None
    poles, V, c = found
    if not np.abs(poles).max() < 1 or not np.isfinite(c).all():
        return None
    order = leja_order(poles)
    poles, V, c = poles[order], V[:, order], c[order]
    twice = np.where(poles.imag > 0, 2.0, 1.0)  # a pair is twice the real part of one
    T = _real_product(V, (c * twice)[:, None] * basis_at(poles, poles))
    if not np.isfinite(T).all():
        return None
    A1, C1 = cascade(poles)
    if np.any(np.abs(T @ C1 - C) > LOST * np.abs(T).max(axis=1)):  # the first response is the mask
        return None
    return StateMap(A1, C1[:, None], T)


def _eigenvectors(A: Floats, C: Floats) -> tuple[Complexes, NDArray[Any], NDArray[Any]] | None:
    """Eigenvalues of imaginary part ≥ 0, their eigenvectors, and the same part of V⁻¹C."""
    from scipy.linalg import eig, lapack

    if np.array_equal(A, A.T):
        values, V = np.linalg.eigh(A)
        return values.astype(complex), V, V.T @ C
    poles, V = eig(A, check_finite=False)  # SciPy's LAPACK, as the decomposition that follows
    _, _, c, singular = lapack.zgesv(V, C.astype(complex))
    upper = np.flatnonzero(poles.imag >= 0)
    return None if singular else (poles[upper], V[:, upper], c[upper])


def _real_product(V: NDArray[Any], X: NDArray[Any]) -> Floats:
    """Re(VX), without the half of the work that makes its imaginary part."""
    if not np.iscomplexobj(V):
        return np.asarray(V @ X.real)
    return np.asarray(V.real @ X.real - V.imag @ X.imag)


# --- The map from white states ξ to the network's states x = Tξ, by a Stein equation.


class StateMap(NamedTuple):
    """An input-normal realization (A', C') and the map T from its states ξ to the network's."""

    A: Floats
    C: Floats
    T: Floats


def stein_state_map(A: Floats, C: Floats, realization: tuple[Floats, Floats]) -> StateMap:
    """T = E[x ξᵀ] = Σ_k A^k C C'ᵀ (A'^k)ᵀ for a realization of the network (A, C)."""
    A1, C1 = realization
    return StateMap(A1, C1, stein(A, C @ C1.T, A1))


def residuals(A: Floats, C: Floats, found: StateMap) -> tuple[float, float]:
    """‖AT − TA'‖_F and ‖C − TC'‖_F: how far the map is from one between the two systems."""
    dynamics = A @ found.T - found.T @ found.A
    entry = C - found.T @ found.C
    return float(np.sqrt((dynamics**2).sum())), float(np.sqrt((entry**2).sum()))


def map_error(A: Floats, C: Floats, found: StateMap, power_sum: float) -> float:
    """Bound on √E‖x − Tξ‖² for white input of unit variance.

    What is left, ε = x − Tξ, obeys ε_t = Aε_{t−1} + (AT − TA')ξ_{t−1} + (C − TC')z_t, and is at
    most Σ_k ‖A^k‖ times what enters at each step; ``power_sum`` bounds the former.
    """
    dynamics, entry = residuals(A, C, found)
    size = np.sqrt((found.T**2).sum())
    rounding = EPS * np.sqrt(len(A)) * (np.sqrt((A**2).sum()) + 2) * size
    return float(power_sum * (np.hypot(dynamics, entry) + rounding))
