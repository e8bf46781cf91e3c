"""State-space layers: HiPPO matrices, discretised, and the linear recurrent unit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from memcurve.arguments import Seed, require_number, table_entry
from memcurve.ensembles.assembly import Floats, Mask, assembled, require_nodes, streams
from memcurve.network import LinearNetwork


def hippo_legs(
    size: int,
    *,
    step: float = 0.01,
    discretisation: str = "bilinear",
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """HiPPO-LegS, time-invariant as in S4, discretised. Mask: its own discretised B.

    ``x' = Ax + Bz`` with ``B_n = √(2n+1)`` and, for n, k = 0 … N − 1::

        A_nk = −√((2n+1)(2k+1)) for n > k,   −(n+1) for n = k,   0 for n < k

    (Gu, Dao, Ermon, Rudra and Ré 2020, theorem 2). ``discretisation`` with the time step h, the
    ``step``: ``"bilinear"`` gives ``(I − hA/2)⁻¹(I + hA/2)`` and ``(I − hA/2)⁻¹hB``; ``"zoh"``, the
    zero-order hold, gives ``exp(hA)`` and ``∫₀ʰ exp(sA)B ds``. The result is exactly triangular.
    The seed is for a random mask only.
    """
    root = np.sqrt(2 * np.arange(require_nodes(size)) + 1.0)
    A = -np.tril(np.outer(root, root), -1) - np.diag(np.arange(1.0, len(root) + 1))
    return _state_space("HiPPO-LegS", A, root, step, discretisation, mask, seed)


def hippo_legt(
    size: int,
    *,
    step: float = 0.01,
    discretisation: str = "bilinear",
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """HiPPO-LegT, the Legendre memory unit, discretised. Mask: its own discretised B.

    ``x' = Ax + Bz`` over a sliding window of length one, so that ``step`` is the time step as a
    share of the window; ``B_n = (2n+1)(−1)ⁿ`` and, for n, k = 0 … N − 1::

        A_nk = −(2n+1)(−1)ⁿ⁻ᵏ for n ≥ k,   −(2n+1) for n < k

    (Voelker, Kajić and Eliasmith 2019). Other keywords as in :func:`hippo_legs`.
    """
    odd = 2 * np.arange(require_nodes(size)) + 1.0
    sign = (-1.0) ** np.arange(len(odd))
    signs = np.tril(np.outer(sign, sign)) + np.triu(np.ones((len(odd), len(odd))), 1)
    return _state_space(
        "HiPPO-LegT", -odd[:, None] * signs, odd * sign, step, discretisation, mask, seed
    )


def lru_ring(
    size: int,
    *,
    seed: Seed,
    radius_min: float = 0.9,
    radius_max: float = 0.999,
    phase_max: float = 2 * math.pi,
    mask: Mask = None,
) -> LinearNetwork:
    """Linear recurrent unit at its start: complex diagonal A, evenly spread on a ring.

    ``|λ|² = r_min² + u(r_max² − r_min²)`` and ``arg λ = u'·phase_max`` with u, u' uniform on
    [0, 1). The mask is its own: standard complex normal times ``γ = √(1 − |λ|²)``, which gives each
    mode unit expected variance (Orvieto et al., *Resurrecting recurrent neural networks for long
    sequences*, 2023). ``size`` counts the complex modes, each of which is two states. A is a scipy
    sparse array.
    """
    size = require_nodes(size)
    inner = require_number(radius_min, "radius_min", "from 0 to below 1", lambda r: 0 <= r < 1)
    outer = require_number(
        radius_max, "radius_max", "from `radius_min` to 1", lambda r: inner <= r <= 1
    )
    phase = require_number(phase_max, "phase_max", "at least 0", lambda p: p >= 0)
    from scipy.sparse import diags_array

    matrix_rng, mask_rng = streams(seed)
    squared = inner**2 + matrix_rng.random(size) * (outer**2 - inner**2)
    poles = np.sqrt(squared) * np.exp(1j * phase * matrix_rng.random(size))
    if mask is None:
        parts = mask_rng.standard_normal((2, size))
        mask = np.sqrt((1 - squared) / 2) * (parts[0] + 1j * parts[1])
    A = diags_array(poles, format="csr")
    details = f"|λ| from {inner:g} to {outer:g}"
    return assembled(A, mask, mask, "LRU ring", details, seed, mask_rng=mask_rng)


def _state_space(
    kind: str, A: Floats, B: Floats, step: float, discretisation: str, mask: Mask, seed: Seed | None
) -> LinearNetwork:
    step = require_number(step, "step", "above 0", lambda h: h > 0)
    rule = table_entry(_DISCRETISATIONS, discretisation, "discretisation")
    discrete, own_mask = rule(step * A, step * B)
    details = f"step {step:g}, {discretisation}"
    return assembled(discrete, mask, own_mask, kind, details, seed, drawn=False)


def _bilinear(A: Floats, B: Floats) -> tuple[Floats, Floats]:
    from scipy.linalg import solve_triangular

    one = np.eye(len(B))
    both: Any = np.column_stack([one + A / 2, B])
    if np.triu(A, 1).any():
        both = np.linalg.solve(one - A / 2, both)
    else:  # substitution keeps a triangular A exactly triangular
        both = solve_triangular(one - A / 2, both, lower=True)
    return both[:, :-1], both[:, -1]


def _zero_order_hold(A: Floats, B: Floats) -> tuple[Floats, Floats]:
    from scipy.linalg import expm

    # the held input is a state of its own; put first, it keeps a lower triangular A so
    held = np.zeros((len(B) + 1, len(B) + 1))
    held[1:, 0] = B
    held[1:, 1:] = A
    flow = expm(held)
    return flow[1:, 1:], flow[1:, 0]


_DISCRETISATIONS = {"bilinear": _bilinear, "zoh": _zero_order_hold}
