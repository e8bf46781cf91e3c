"""Scaling a connectivity: by its spectral radius, its norm, or in expectation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from memcurve.core.arguments import require_number
from memcurve.core.types import EPS
from memcurve.network.graph import largest_modulus
from memcurve.network.linear import validated_matrix

#: A scaled matrix whose measured radius is off by more (relative) has no radius that rounding
#: leaves alone: its largest eigenvalue is defective or nearly so.
RADIUS_TOLERANCE = 1e-10


def scale_to_spectral_radius(A: Any, radius: float) -> Any:
    """Return ``A · radius / ρ(A)``, where ρ(A) is the largest modulus of an eigenvalue.

    A is dense or sparse, and so is the result. Its radius is measured again, and agrees to
    rounding; a ValueError says where ρ(A) is zero, as for a nilpotent matrix, or so sensitive that
    rounding alone moves it by more than :data:`RADIUS_TOLERANCE`.
    """
    A = validated_matrix(A)
    radius = require_number(radius, "radius", "at least 0", lambda r: r >= 0)
    if radius == 0:
        return A * 0.0
    measured = largest_modulus(A)
    if measured == 0:
        raise ValueError(
            "`A` has spectral radius 0 and cannot be scaled to another: no cycle of its graph "
            "carries weight, and it is stable as it is. Leave it so, raise the density, take "
            "another seed, or scale by the spectral norm or the circular law instead."
        )
    for _ in range(3):  # the second pass takes away the rounding of the first
        A = A * (radius / measured)
        measured = largest_modulus(A)
        error = abs(measured / radius - 1)
        if error <= A.shape[0] * EPS:
            break
    if error > RADIUS_TOLERANCE:
        raise ValueError(
            f"`A` has a spectral radius that rounding moves: scaled to {radius:g} it measures "
            f"{measured:.10g} (A is nilpotent or nearly so, and what LAPACK finds is noise). "
            f"Scale by the spectral norm or the circular law instead."
        )
    return A


def scale_to_spectral_norm(A: Any, norm: float) -> Any:
    """Return ``A · norm / ‖A‖₂``; ``norm < 1`` makes any network stable, since ρ(A) ≤ ‖A‖₂."""
    A = validated_matrix(A)
    norm = require_number(norm, "norm", "at least 0", lambda n: n >= 0)
    measured = np.linalg.norm(A if isinstance(A, np.ndarray) else A.toarray(), 2)
    if measured == 0 and norm > 0:
        raise ValueError(
            f"`A` is zero and cannot be scaled to norm {norm:g}; raise the density or take "
            f"another seed."
        )
    return A * (norm / measured if norm > 0 else 0.0)


def scale_by_circular_law(A: Any, radius: float, variance: float) -> Any:
    """Return ``A · radius / √(N·variance)``, whose spectral radius tends to ``radius``.

    The eigenvalues of N × N matrices with independent entries of mean 0 and the given variance
    fill the disc of radius √(N·variance) evenly as N → ∞ (Tao and Vu, *Ann. Probab.* 38, 2010).
    At finite N the largest one lies somewhat beside the edge. Nothing is decomposed, so this is
    the scaling for very large sparse networks.
    """
    A = validated_matrix(A)
    radius = require_number(radius, "radius", "at least 0", lambda r: r >= 0)
    variance = require_number(variance, "variance", "above 0", lambda v: v > 0)
    return A * (radius / math.sqrt(A.shape[0] * variance))
