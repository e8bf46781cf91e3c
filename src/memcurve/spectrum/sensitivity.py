"""How far rounding in the eigenvalues can move the memory curve.

A change δA moves log det(z − A) by −tr((z − A)⁻¹ δA) to first order. On |z| = 1 that is a change of
the phase of the all-pass filter, and hence (Parseval, Cauchy–Schwarz)::

    |δMC_τ| ≤ 4·√(min(MC_τ, 1 − MC_τ)) · ‖δA‖_F · √(Σ_k ‖Aᵏ‖_F²)

Eigenvalue condition numbers do not appear: clusters may be hopeless while the curve is not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.graph import strong_components, submatrix

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
#: LAPACK's eigenvalues are those of A + δA with ‖δA‖_F of about eps·‖A‖_F; this is for "about".
BACKWARD_ERROR = 4 * EPS
#: From here on Σ‖Aᵏ‖² is estimated from random probes where that is cheaper.
PROBES_FROM_SIZE = 200
PROBES = 16
#: The sum is settled where the next power has ‖Aᵏ‖_F² below this: so much is left at most.
SMALL_REST = 0.5
_SEED = 20230501


def pole_sensitivity(A: Any) -> float:
    """Bound on |δMC_τ| / √(min(MC_τ, 1 − MC_τ)) from computing the eigenvalues of A in float64.

    Summed over strongly connected components, as the eigenvalues are computed one component at a
    time; nodes on no cycle have exact eigenvalues.
    """
    from scipy.linalg.lapack import dgebal

    total = 0.0
    for nodes in strong_components(A):
        if len(nodes) > 1:
            block = np.asfortranarray(submatrix(A, nodes))
            block = dgebal(block, scale=True, permute=False, overwrite_a=True)[0]
            total += 4 * np.sqrt((block**2).sum() * power_energy(block))
    return float(BACKWARD_ERROR * total)


def curve_error(memory: Floats, loss: Floats, sensitivity: float, size: int) -> Floats:
    """Per-lag error: poles off by rounding (first and second order) and the lattice's own."""
    slope = np.sqrt(np.minimum(memory, loss))
    drift = 2 * np.sqrt(np.arange(1, len(memory) + 1)) * slope
    lattice = EPS * ((8 * np.sqrt(size) + drift) * slope + 2 * memory)
    error = sensitivity * slope + sensitivity**2 + lattice
    return np.minimum(1.0, np.where(np.isfinite(error), error, 1.0))


def power_energy(A: Floats) -> float:
    """Σ_{k≥0} ‖Aᵏ‖_F², or infinity where the sum does not settle."""
    with np.errstate(over="ignore", invalid="ignore"):
        energy = _probed_energy(A) if len(A) >= PROBES_FROM_SIZE else None
        return _doubled_energy(A) if energy is None else energy


# SciPy's BLAS, as LAPACK is called through SciPy too: NumPy's has threads of its own, and the two
# pools get in each other's way (N = 300 on two cores: 1.9 × eigvals with one pool, 3 × with both).


def _doubled_energy(A: Floats) -> float:
    """Doubling: X ← X + PᵀXP, P ← P², which adds the second half of 2^j powers at once."""
    from scipy.linalg.blas import dgemm

    X = np.eye(len(A), order="F") + dgemm(1.0, A, A, trans_a=True)
    for _ in range(60):
        A = dgemm(1.0, A, A)
        rest = float((A**2).sum())  # the powers not yet added hold at most this share of the sum
        if not np.isfinite(rest):
            break
        if rest <= SMALL_REST:
            return float(np.trace(X)) / (1 - rest)
        X += dgemm(1.0, A, dgemm(1.0, X, A), trans_a=True)
    return np.inf


def _probed_energy(A: Floats) -> float | None:
    """E‖AᵏΩ‖_F² = ‖Aᵏ‖_F²·probes for normal Ω; None where the powers decay too slowly for it."""
    from scipy.linalg.blas import dgemm

    probes = np.random.default_rng(_SEED).standard_normal((len(A), PROBES))
    energy = float(len(A))
    for _ in range(len(A) // 4):  # beyond this, doubling costs less
        probes = dgemm(1.0, A, probes)
        rest = float((probes**2).sum()) / PROBES
        energy += rest
        if rest <= SMALL_REST:
            # the spread of 16 probes may miss the sum by a factor of two, hardly by more
            return 2 * energy / (1 - rest)
    return None
