"""Orthogonalised subspace method: MC_τ = (WWᵀ)_{ττ}, K_m = UΣWᵀ (the paper's "Subspace Methods").

The projector on the rows of the truncated Krylov matrix, from its singular value decomposition: no
inverse, but singular vectors that belong to singular values below rounding are arbitrary, and with
them a good part of the curve. The total is the trace of a projector of rank N: it equals N by
construction, for every network, also where the memory is less.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from memcurve.curve import MemoryCurve
from memcurve.krylov import krylov_matrix
from memcurve.methods.result import dense_single_input, estimated_curve, truncation_for
from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]

TOTAL_NOTE = "the total equals the number of states by construction, whatever the memory is"


def osm(network: LinearNetwork, lags: int | None, *, truncation: int | None = None) -> MemoryCurve:
    """Project on the right singular vectors of the Krylov matrix.

    Parameters
    ----------
    network, lags
        As for every method; ``lags=None`` means ``truncation`` lags.
    truncation : int
        Number m of columns of the Krylov matrix, at least N; 5N by default.
    """
    A, C = dense_single_input(network)
    truncation = truncation_for(len(C), truncation, "truncation", lags)
    whole = subspace_memory(A, C, truncation)
    return estimated_curve(
        network,
        "osm",
        whole[: lags or truncation],
        total=float(whole.sum()),
        notes=[TOTAL_NOTE],
        options={"truncation": truncation},
    )


def subspace_memory(A: Floats, C: Floats, truncation: int) -> Floats:
    """Diagonal of the projector on the rows of the Krylov matrix, to all ``truncation`` lags."""
    W = np.linalg.svd(krylov_matrix(A, C, truncation), full_matrices=False)[2]
    return np.asarray(np.einsum("ij,ij->j", W, W))
