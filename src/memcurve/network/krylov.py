"""The Krylov matrix K = [C, AC, A²C, …] and its squeezing: why standard methods fail.

The part θ_{j+1} of A^jC orthogonal to the columns before it shrinks faster than exponentially
("Krylov subspace squeezing" in the paper), so that K is numerically of much lower rank than it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.core.arguments import require_choice, require_number, require_size
from memcurve.core.types import Floats
from memcurve.network import LinearNetwork
from memcurve.network.graph import eigenvalues


def krylov_matrix(A: Any, C: Floats, columns: int) -> Floats:
    """Return [C, AC, …, A^{columns−1}C], one power per column."""
    K = np.empty((len(C), columns), order="F")
    K[:, 0] = C
    with np.errstate(over="ignore", invalid="ignore"):  # callers see what is infinite
        for k in range(1, columns):
            K[:, k] = A @ K[:, k - 1]
    return K


def arnoldi_basis(
    A: Any, C: Floats, steps: int, *, breakdown: float = 0.0
) -> tuple[Floats, Floats]:
    """Orthonormal Krylov basis and the lengths of its steps, until one is at most ``breakdown``."""
    steps = min(steps, len(C))
    Q = np.zeros((len(C), steps), order="F")
    lengths = np.zeros(steps)
    v = C
    for k in range(steps):
        for _ in range(2):
            v = v - Q[:, :k] @ (Q[:, :k].T @ v)
        lengths[k] = np.linalg.norm(v)
        if lengths[k] <= breakdown:
            return Q[:, :k], lengths[:k]
        Q[:, k] = v / lengths[k]
        v = A @ Q[:, k]
    return Q, lengths


def orthogonal_components(network: LinearNetwork, count: int, *, by: str = "arnoldi") -> Floats:
    """‖θ_j‖, j = 1 … count, the component of A^{j−1}C orthogonal to the Krylov vectors before it.

    Parameters
    ----------
    network : LinearNetwork
        A network with one input.
    count : int
        At most the number of states.
    by : str
        ``"arnoldi"``: ‖C‖ times the product of the lengths h_{k+1,k} of Arnoldi's steps, which has
        no floor; ``"svd"``: ‖(I − U_jU_jᵀ)A^jC‖ with the left singular vectors of K_j, the paper's
        "orthogonal method", which ends in rounding noise.
    """
    require_choice(by, "by", ("arnoldi", "svd"))
    A, C = _single_input(network)
    count = require_size(count, "count")
    if count > len(C):
        raise ValueError(f"`count` must be at most {len(C)}, the number of states; got {count}.")
    if by == "arnoldi":
        _, lengths = arnoldi_basis(A, C, count)
        return np.asarray(np.cumprod(np.pad(lengths, (0, count - len(lengths)))))
    K = krylov_matrix(A, C, count)
    components = [float(np.linalg.norm(C))]
    for j in range(1, count):
        U = np.linalg.svd(K[:, :j], full_matrices=False)[0]
        components.append(float(np.linalg.norm(K[:, j] - U @ (U.T @ K[:, j]))))
    return np.array(components)


def numerical_rank(network: LinearNetwork, columns: int | None = None) -> int:
    """Rank of the truncated Krylov matrix as ``numpy.linalg.matrix_rank`` sees it."""
    A, C = _single_input(network)
    count = 5 * len(C) if columns is None else require_size(columns, "columns")
    return int(np.linalg.matrix_rank(krylov_matrix(A, C, count)))


def eigenvalue_products(network: LinearNetwork, count: int) -> Floats:
    """The paper's estimate of ‖θ_j‖: ``Π_{i<j} |λ_i|``, by falling modulus, for j = 1 … count."""
    moduli = np.sort(np.abs(eigenvalues(network.real_pair()[0])))[::-1]
    if require_size(count, "count") > len(moduli) + 1:
        raise ValueError(f"`count` must be at most {len(moduli) + 1}, got {count}; take less.")
    return np.asarray(np.cumprod(np.concatenate([[1.0], moduli]))[:count])


def decay_law(size: int, spectral_radius: float, count: int, *, as_printed: bool = False) -> Floats:
    """κ_j, j = 1 … count: the root mean square of ‖θ_j‖ over Gaussian networks.

    κ_{j+1} = ρ^j √((N−1)!/(N^j (N−1−j)!)), exact where entries of A are independent Gaussians of
    variance ρ²/N and C of length one is independent of A: rotations do not change such a matrix, so
    the k-th length of Arnoldi's method has the law of √(ρ²/N · χ²) with N − k degrees of freedom.
    Scaling A by its own largest eigenvalue makes all of them smaller. The paper prints
    √(ρ N!/(N^j (N−j)!)) (``as_printed``): √ρ in place of ρ^j, and N where N − 1 belongs.
    """
    from scipy.special import gammaln

    size = require_size(size)
    radius = require_number(spectral_radius, "spectral_radius", "above 0", lambda r: r > 0)
    if require_size(count, "count") > size + 1:
        raise ValueError(f"`count` must be at most N + 1 = {size + 1}, got {count}; take less.")
    j = np.arange(count)
    top = size + 1 if as_printed else size  # gammaln of it is ln (top − 1)!
    log_shares = 0.5 * (gammaln(top) - j * np.log(size) - gammaln(top - j))
    powers = np.where(j > 0, 0.5, 0.0) if as_printed else j
    return np.asarray(np.exp(powers * np.log(radius) + log_shares))


def _single_input(network: LinearNetwork) -> tuple[Any, Floats]:
    A, C = network.real_pair()
    if C.shape[1] != 1:
        raise ValueError(
            f"`network` must have one input, got {C.shape[1]}; pass one column of C at a time."
        )
    return A, C[:, 0]
