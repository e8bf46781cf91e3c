"""Fisher memory: how sharply the states, under noise of their own, tell past inputs apart.

With Gaussian noise of variance s² entering every state at every step, the states have covariance
s²R around their mean, R = Σ_j A^j (A^j)ᵀ, and the Fisher information about the input τ steps ago is
(Ganguli, Huh and Sompolinsky 2008; the paper's section "Fischer Memory")::

    F_τ = Cᵀ(Aᵀ)^τ R⁻¹ A^τ C / s²,        Σ_τ F_τ = tr(R⁻¹ G) / s²,    G = Σ_j A^j C Cᵀ (A^j)ᵀ

R is at least the identity, so that solving with it is harmless. For normal A and a mask of unit
length the total is 1/s². The memory with state noise s tends to F_τ as the noise grows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.allpass import MOST_DEFAULT_LAGS, enough_lags
from memcurve.arguments import require_limit, require_number, require_size
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError
from memcurve.limits import require_room_for_states
from memcurve.network import LinearNetwork, require_network
from memcurve.spectrum.sensitivity import EPS, power_norms
from memcurve.stein import residual_norm, stein

Floats = NDArray[np.float64]

#: A relative error above this is not given out: ball arithmetic takes over.
LARGEST_ERROR = 1e-6
MOST_LAGS = 10_000_000


class _Fisher(NamedTuple):
    values: Floats  # (lags, inputs), for noise of unit variance
    error: Floats
    total: float
    total_error: float


def fisher_curve(
    network: LinearNetwork,
    noise: float = 1.0,
    lags: int | None = None,
    *,
    certify_up_to: int = 300,
) -> MemoryCurve:
    """Fisher memory of a network lag by lag, and in total.

    Parameters
    ----------
    network : LinearNetwork
        A stable network; of a complex one the real and imaginary parts are states with noise each.
    noise : float
        Standard deviation s of the noise that enters every state at every step.
    lags : int, optional
        Number of lags from 0 on; by default enough to hold nearly all of the total.
    certify_up_to : int
        Number of states up to which ball arithmetic takes over where floating point is too
        uncertain.

    Returns
    -------
    MemoryCurve
        With ``kind="Fisher"``; values may exceed one, and ``total`` is over all lags.

    Examples
    --------
    >>> import memcurve
    >>> curve = memcurve.fisher_curve(memcurve.ensembles.symmetric(30, seed=1))
    >>> round(curve.total, 12)
    1.0
    """
    require_network(network)
    s = require_number(noise, "noise", "above 0, the standard deviation", lambda x: x > 0)
    count = None if lags is None else require_size(lags, "lags")
    if count is not None and count > MOST_LAGS:
        raise ValueError(f"`lags` must be at most {MOST_LAGS:,}, got {count:,}.")
    certify_up_to = require_limit(certify_up_to, "certify_up_to")
    if network.readout is not None:
        raise ValueError(
            "`network` must be read from all its nodes: Fisher memory is a property of the whole "
            "state; use network.replace(readout=None)."
        )
    require_room_for_states(network.states, "Fisher")
    sparse_or_dense, C = network.real_pair()
    A = sparse_or_dense if isinstance(sparse_or_dense, np.ndarray) else sparse_or_dense.toarray()
    exponent = int(np.frexp(np.abs(C).max())[1])
    C = np.ldexp(C, -exponent)
    with np.errstate(all="ignore"):  # overflow ends in errors that are not finite
        found, reason = _in_floats(A, C, count)
    if found is None:
        if len(A) > certify_up_to:
            raise UncertainResultError(
                f"floating point cannot give this curve: {reason}. Ball arithmetic can, but the "
                f"network has {len(A)} states and `certify_up_to` is {certify_up_to}; raise it, or "
                f"scale `A` further below spectral radius 1."
            )
        found = _in_balls(A, C, count)
    notes = list(network.notes)
    if reason:
        notes.append(f"computed in ball arithmetic, since in floating point {reason}")
    # the mask is about one inside; a power of two brings its size back, with the noise
    scale = math.ldexp(1.0, exponent) / s if abs(exponent) < 1000 else math.inf
    scale = scale * scale
    if not scale < 1e300 or (scale < 1e-290 and found.total > 0):
        raise ValueError(
            f"`noise` must leave Fisher memory, which is about (mask/noise)², within the range of "
            f"floating point; got {s!r} with a mask of size {2.0**exponent:.1e}."
        )
    values, error = scale * found.values, scale * found.error
    summed = values.sum(axis=1)
    return MemoryCurve(
        lags=np.arange(len(summed)),
        values=summed,
        error=error.sum(axis=1) + 2 * EPS * summed,
        loss=np.full(len(summed), np.nan),
        total=scale * found.total,
        total_error=scale * found.total_error + 2 * EPS * scale * found.total,
        rank=None,
        channels=values,
        kind="Fisher",
        method="exact",
        notes=tuple(notes),
        options={"noise": s, "certify_up_to": certify_up_to},
        diagnostics={"arithmetic": "ball" if reason else "float64"},
        network=network.name or f"N = {network.size}",
    )


def _in_floats(A: Floats, C: Floats, lags: int | None) -> tuple[_Fisher | None, str]:
    """Fisher memory for unit noise, or the reason why not."""
    from scipy.linalg import solve_triangular

    if not C.any():
        none = np.zeros((lags or 1, C.shape[1]))
        return _Fisher(none, none, 0.0, 0.0), ""
    norms = power_norms(np.asfortranarray(A))
    if not np.isfinite(norms.squares):
        return None, "the powers of A grow too far for an error estimate"
    identity = np.eye(len(A))
    R, G = stein(A, identity), stein(A, C @ C.T)
    root, width = np.sqrt(len(A)), np.sqrt((A**2).sum())
    # errors of R and G are between ∓off·R: relative for the one, off·tr(R⁻¹R) for the other
    off_R, off_G = residual_norm(A, R, identity), residual_norm(A, G, C @ C.T)
    relative = off_R + 4 * EPS * root
    L = np.asarray(np.linalg.cholesky(R))
    inverse = solve_triangular(L, identity, lower=True)
    total = float(np.einsum("ij,ij->", inverse @ G, inverse))
    total_error = total * relative + len(A) * off_G
    F, largest = _curve(A, C, L, lags, total, total_error)
    moved = EPS * root * width * norms.sum * largest  # rounding in A^τ C; R⁻¹ is at most one
    error = relative * F + 2 * np.sqrt(F) * moved + moved**2
    worst = max(float(error.max()), total_error) / max(total, np.finfo(float).tiny)
    if not worst <= LARGEST_ERROR:
        return None, f"the relative error would be {worst:.1e}"
    return _Fisher(F, error, total, total_error), ""


def _curve(
    A: Floats, C: Floats, L: Floats, lags: int | None, total: float, total_error: float
) -> tuple[Floats, float]:
    """‖L⁻¹A^τC‖² for each lag and input, and the largest ‖A^τC‖ on the way."""
    from scipy.linalg import solve_triangular

    values: list[Floats] = []
    x, largest = C, 0.0
    count = lags or 4 * len(A) + 16
    while True:
        while len(values) < count:
            half = solve_triangular(L, x, lower=True)
            values.append(np.einsum("ij,ij->j", half, half))
            largest = max(largest, float(np.sqrt((x**2).sum(axis=0)).max()))
            x = A @ x
        if lags is None:
            share = np.sum(values, axis=1) / max(total, np.finfo(float).tiny)
            lags = enough_lags(share, 1.0 - total_error / max(total, np.finfo(float).tiny))
        if lags is not None or count >= MOST_DEFAULT_LAGS:
            return np.array(values[:lags]), largest
        count = min(2 * count, MOST_DEFAULT_LAGS)


def _in_balls(A: Floats, C: Floats, lags: int | None) -> _Fisher:
    from memcurve.enclosure import enclose_fisher

    return _Fisher(*enclose_fisher(A, C, lags))
