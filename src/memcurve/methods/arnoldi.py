"""Memory from Arnoldi vectors, as in the paper's published scripts.

With an orthonormal basis Q of the Krylov space, MC_τ = (Qᵀ(QQᵀ + 10⁻¹⁴I)⁻¹Q)_{ττ}, a vector a lag.
The vectors are orthonormal whatever the network is, so this is one for every lag up to the step at
which the iteration breaks down and says nothing about the memory beyond its total.
"""

from __future__ import annotations

import numpy as np

from memcurve.arguments import require_number, require_size
from memcurve.curve import MemoryCurve
from memcurve.krylov import arnoldi_basis
from memcurve.methods.result import dense_single_input, estimated_curve
from memcurve.network import LinearNetwork

REGULARISATION = 1e-14


def arnoldi(network: LinearNetwork, lags: int | None, *, breakdown: float = 1e-13) -> MemoryCurve:
    """Count the Arnoldi vectors.

    Parameters
    ----------
    network, lags
        As for every method; ``lags=None`` means N.
    breakdown : float
        The iteration ends where a step is not longer than this.
    """
    A, C = dense_single_input(network)
    breakdown = require_number(breakdown, "breakdown", "at least 0", lambda b: b >= 0)
    count = require_size(len(C) if lags is None else lags, "lags")
    Q, _ = arnoldi_basis(A, C / np.linalg.norm(C), len(C), breakdown=breakdown)
    regular = Q @ Q.T + REGULARISATION * np.eye(len(C))
    found = np.einsum("ij,ij->j", Q, np.linalg.solve(regular, Q))
    memory = np.zeros(count)
    memory[: min(count, len(found))] = found[:count]
    return estimated_curve(
        network,
        "arnoldi",
        memory,
        total=float(found.sum()),
        notes=[f"one for each of {len(found)} Arnoldi vectors by construction, zero after"],
        options={"breakdown": breakdown},
    )
