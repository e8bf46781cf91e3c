"""Leaky integration of a linear reservoir: (W, Win, lr) → the matrices of one linear step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.arguments import exact_array, require_finite


def leaky_pair(W: Any, Win: Any, lr: Any) -> tuple[Any, NDArray[Any]]:
    """Return A and C of x_t = A x_{t−1} + C z_t for a linear reservoir with leak.

    x_t = (1 − lr)·x_{t−1} + lr·(W x_{t−1} + Win z_t) gives::

        A = (1 − lr)·I + lr·W,        C = lr·Win

    Parameters
    ----------
    W : (N, N) array or scipy sparse array
        Recurrent weights; a sparse W gives a sparse A.
    Win : (N,) or (N, d) array or scipy sparse array
        Input weights.
    lr : float or (N,) array
        Leak rates from 0 to 1, for all nodes or each; 1 leaves W and Win as they are.
    """
    mask = exact_array(Win.toarray() if hasattr(Win, "toarray") else Win, "Win")
    rates = exact_array(lr, "lr")
    matrix = W if hasattr(W, "tocsr") else exact_array(W, "W")
    shape = tuple(matrix.shape)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(
            f"`W` must be a square matrix, got shape {shape}; W[i, j] is the weight from node j to "
            f"node i."
        )
    if mask.ndim not in (1, 2) or len(mask) != shape[0]:
        hint = "; transpose it" if mask.ndim == 2 and mask.shape[1] == shape[0] else ""
        raise ValueError(
            f"`Win` must have shape ({shape[0]},) or ({shape[0]}, d) to fit `W` of {shape[0]} "
            f"nodes, got {mask.shape}{hint}."
        )
    rates = rates.reshape(()) if rates.size == 1 else rates
    allowed = rates.dtype.kind == "f" and bool(((rates >= 0) & (rates <= 1)).all())
    if not allowed or rates.shape not in ((), shape[:1]):
        raise ValueError(
            f"`lr` must be one number from 0 to 1, or {shape[0]} of them, one a node; got {lr!r}."
        )
    if (rates == 1).all():
        return matrix, mask
    each = np.broadcast_to(rates, shape[:1])
    C = (each * mask.T).T
    if isinstance(matrix, np.ndarray):
        return np.diag(1 - each) + each[:, None] * matrix, C
    from scipy.sparse import csr_array, diags_array

    stored = csr_array(matrix)
    require_finite(stored.data, "W")
    return diags_array(1 - each) + diags_array(each) @ stored, C
