"""Ensembles whose connectivity is drawn at random and then scaled."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from memcurve.arguments import Seed, require_density, require_number
from memcurve.ensembles.assembly import Mask, assembled, require_nodes, require_radius, streams
from memcurve.network import LinearNetwork
from memcurve.network.scaling import (
    scale_by_circular_law,
    scale_to_spectral_norm,
    scale_to_spectral_radius,
)
from memcurve.result import Floats

#: How each scaling shows in a network's name.
SCALINGS = {"spectral_radius": "ρ=", "spectral_norm": "‖A‖=", "circular_law": "ρ≈"}

#: A rotation that makes an ``sp_c`` matrix denser than wanted by more than this share is redrawn.
DENSITY_TOLERANCE = 0.01


def normal(
    size: int,
    *,
    seed: Seed,
    spectral_radius: float = 0.9,
    scaling: str = "spectral_radius",
    mask: Mask = None,
) -> LinearNetwork:
    """Independent standard normal entries (Ginibre ensemble), then scaled. Mask: normal.

    Examples
    --------
    >>> from memcurve import ensembles
    >>> ensembles.normal(100, seed=1)
    LinearNetwork('normal, N=100, ρ=0.9, seed 1', size=100, inputs=1)
    """
    size, draw = require_nodes(size), _Draw(seed, spectral_radius, scaling, mask)
    return draw.network("normal", draw.rng.standard_normal((size, size)), variance=1.0)


def uniform(
    size: int,
    *,
    seed: Seed,
    spectral_radius: float = 0.9,
    scaling: str = "spectral_radius",
    mask: Mask = None,
) -> LinearNetwork:
    """Independent entries uniform on [−1, 1] (variance 1/3), then scaled. Mask: normal."""
    size, draw = require_nodes(size), _Draw(seed, spectral_radius, scaling, mask)
    return draw.network("uniform", draw.rng.uniform(-1, 1, (size, size)), variance=1 / 3)


def sparse_normal(
    size: int,
    *,
    seed: Seed,
    density: float = 0.1,
    spectral_radius: float = 0.9,
    scaling: str = "spectral_radius",
    sparse: bool = False,
    mask: Mask = None,
) -> LinearNetwork:
    """Entries standard normal with probability ``density``, else zero; then scaled. Mask: normal.

    All entries are independent, so the number of non-zeros is binomial. A very sparse draw may
    have no cycle, and then no spectral radius to scale: an error says so.
    """
    size, density = require_nodes(size, sparse=sparse), require_density(density)
    draw = _Draw(seed, spectral_radius, scaling, mask)
    A = _scattered(size, density, draw.rng, draw.rng.standard_normal, sparse)
    return draw.network("sparse normal", A, f"density {density:g}, ", variance=density)


def sparse_uniform(
    size: int,
    *,
    seed: Seed,
    density: float = 0.1,
    spectral_radius: float = 0.9,
    scaling: str = "spectral_radius",
    sparse: bool = False,
    mask: Mask = None,
) -> LinearNetwork:
    """Entries uniform on [−1, 1] with probability ``density``, else zero; then scaled.

    Independent entries as in :func:`sparse_normal`. Mask: normal.
    """
    size, density = require_nodes(size, sparse=sparse), require_density(density)
    draw = _Draw(seed, spectral_radius, scaling, mask)
    A = _scattered(size, density, draw.rng, lambda n: draw.rng.uniform(-1, 1, n), sparse)
    return draw.network("sparse uniform", A, f"density {density:g}, ", variance=density / 3)


def sp_c(
    size: int,
    *,
    seed: Seed,
    density: float = 0.1,
    reciprocal_condition: float = 0.7,
    spectral_radius: float = 0.9,
    scaling: str = "spectral_radius",
    sparse: bool = False,
    mask: Mask = None,
) -> LinearNetwork:
    """Sparse and well conditioned: the paper's ``sp_C``, MATLAB's ``sprandn(N, N, density, rc)``.

    A diagonal of singular values rc^(k/(N−1)), k = 0 … N − 1, in random order and with its rows
    permuted, is turned by plane rotations of random pairs of rows and of columns by random angles
    until the share of non-zeros reaches ``density``. Rotations leave the singular values alone, so
    the ratio of the smallest to the largest stays rc (``reciprocal_condition``), and scaling keeps
    it. (Without the permutation some nodes would stay alone with their self loops, and sparse masks
    would miss them, against what the paper shows.) The entries are not independent, so there is no
    circular law to scale by. Mask: normal.
    """
    draw = _Draw(seed, spectral_radius, scaling, mask, circular_law=False)
    size, density = require_nodes(size), require_density(density)
    rc = require_number(
        reciprocal_condition, "reciprocal_condition", "above 0 and at most 1", lambda r: 0 < r <= 1
    )
    if density < 1 / size:
        raise ValueError(
            f"`density` must be at least 1/N = {1 / size:g}, since an invertible matrix has at "
            f"least N non-zeros; got {density:g}. Raise the density or take sparse_normal."
        )
    values = draw.rng.permutation(np.geomspace(1, rc, size))
    A = _rotated(values, density, draw.rng, sparse)
    return draw.network("sp_C", A, f"density {density:g}, rc {rc:g}, ")


def symmetric(
    size: int,
    *,
    seed: Seed,
    spectral_radius: float = 0.9,
    scaling: str = "spectral_radius",
    mask: Mask = None,
) -> LinearNetwork:
    """Gaussian orthogonal ensemble B + Bᵀ with B standard normal, then scaled. Mask: normal.

    The eigenvalues are real; the circular law here is Wigner's semicircle, which ends at √(8N).
    """
    size, draw = require_nodes(size), _Draw(seed, spectral_radius, scaling, mask)
    B = draw.rng.standard_normal((size, size))
    return draw.network("symmetric", B + B.T, variance=8.0)


def orthogonal(
    size: int, *, seed: Seed, spectral_radius: float = 0.9, mask: Mask = None
) -> LinearNetwork:
    """``ρQ`` with Q drawn evenly from the orthogonal group (Haar measure). Mask: normal.

    Q is the factor of a normal matrix's QR decomposition with diag(R) > 0 (Mezzadri, *Notices of
    the AMS* 54, 2007). All eigenvalues have modulus ρ, the ``spectral_radius``.
    """
    size, radius = require_nodes(size), require_radius(spectral_radius)
    matrix_rng, mask_rng = streams(seed)
    Q, R = np.linalg.qr(matrix_rng.standard_normal((size, size)))
    A = radius * Q * np.sign(np.diag(R))
    return assembled(A, mask, "normal", "orthogonal", f"ρ={radius:g}", seed, mask_rng=mask_rng)


class _Draw:
    """The streams of a seed, and how the connectivity drawn from them is scaled."""

    def __init__(
        self, seed: Seed, radius: float, scaling: str, mask: Mask, circular_law: bool = True
    ) -> None:
        known = [name for name in SCALINGS if circular_law or name != "circular_law"]
        if scaling not in known:
            raise ValueError(f"`scaling` must be one of {', '.join(known)}; got {scaling!r}.")
        self.seed, self.scaling, self.mask = seed, scaling, mask
        self.radius = require_radius(radius)
        self.rng, self.mask_rng = streams(seed)

    def network(
        self, kind: str, A: Any, details: str = "", *, variance: float = math.nan
    ) -> LinearNetwork:
        """A, whose entries have this variance, scaled and joined with the mask."""
        if self.scaling == "circular_law":
            A = scale_by_circular_law(A, self.radius, variance)
        elif self.scaling == "spectral_norm":
            A = scale_to_spectral_norm(A, self.radius)
        else:
            A = scale_to_spectral_radius(A, self.radius)
        details += f"{SCALINGS[self.scaling]}{self.radius:g}"
        return assembled(A, self.mask, "normal", kind, details, self.seed, mask_rng=self.mask_rng)


def _scattered(
    size: int, density: float, rng: np.random.Generator, draw: Callable[[int], Floats], sparse: bool
) -> Any:
    from scipy.sparse import csr_array

    # a binomial count of places without replacement is the law of independent places
    count = int(rng.binomial(size**2, density))
    places = rng.choice(size**2, count, replace=False, shuffle=False)
    A = csr_array((draw(count), np.divmod(places, size)), shape=(size, size))
    return A if sparse else A.toarray()


def _rotated(values: Floats, density: float, rng: np.random.Generator, sparse: bool) -> Any:
    from scipy.sparse import csr_array

    A = np.diag(values)[rng.permutation(len(values))]
    wanted = density * A.size
    filled, redrawn = len(A), 0
    lines, others = A, A.T
    while filled < wanted:
        pair = rng.choice(len(A), 2, replace=False)
        angle = rng.uniform(-np.pi, np.pi)
        c, s = np.cos(angle), np.sin(angle)
        turned = np.array([[c, s], [-s, c]]) @ lines[pair]
        growth = int(np.count_nonzero(turned)) - int(np.count_nonzero(lines[pair]))
        # small matrices may have no rotation that fits: then the next one is taken as it comes
        if filled + growth > (1 + DENSITY_TOLERANCE) * wanted and redrawn < 100:
            redrawn += 1
            continue
        lines[pair] = turned
        filled += growth
        lines, others = others, lines
    return csr_array(A) if sparse else A
