"""Networks of a given structure: rings, chains, layers upon layers, state-space layers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.arguments import Seed, exact_array, require_number, require_size, table_entry
from memcurve.ensembles.assembly import Mask, assembled, require_nodes, require_radius, streams
from memcurve.network import LinearNetwork
from memcurve.result import Floats


def permutation(
    size: int | None = None,
    *,
    cycles: Sequence[int] | None = None,
    spectral_radius: float = 0.9,
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """Rings of the lengths ``cycles`` side by side, all weights ρ. Mask: normal; it needs a seed.

    ``cycles`` is one ring of all nodes by default; ``size`` is their sum and may be left out. The
    eigenvalues are ρ times the c-th roots of one for each length c: common ones count once.

    Examples
    --------
    >>> from memcurve import ensembles
    >>> ensembles.permutation(cycles=[2, 3], seed=1).name
    'permutation, N=5, cycles 2+3, ρ=0.9, seed 1'
    """
    if cycles is None:
        cycles = [require_size(size)]
    cycles = [require_size(length, "cycles") for length in cycles]
    if not cycles or (size is not None and sum(cycles) != size):
        raise ValueError(
            f"`cycles` must add up to `size`, got {cycles} and {size!r}; leave out either one."
        )
    nodes = require_nodes(sum(cycles))
    A = np.zeros((nodes, nodes))
    for end, length in zip(np.cumsum(cycles), cycles, strict=True):
        A[end - length : end, end - length : end] = np.roll(np.eye(length), 1, axis=0)
    radius = require_radius(spectral_radius)
    details = f"cycles {'+'.join(map(str, cycles))}, ρ={radius:g}"
    return assembled(radius * A, mask, "normal", "permutation", details, seed)


def cyclic(
    size: int, *, spectral_radius: float = 0.9, mask: Mask = None, seed: Seed | None = None
) -> LinearNetwork:
    """One ring of all nodes, ``A[i+1, i] = A[0, N−1] = ρ`` (Rodan and Tiňo 2011). Mask: e₁.

    Aᴺ = ρᴺ I, and MC_τ = (1 − ρ^{2N}) ρ^{2N⌊τ/N⌋}. The seed is for a random mask only.
    """
    size, radius = require_nodes(size), require_radius(spectral_radius)
    A = radius * np.roll(np.eye(size), 1, axis=0)
    return assembled(A, mask, "basis", "cyclic", f"ρ={radius:g}", seed, drawn=False)


def delay_line(
    size: int, *, gain: float = 1.0, mask: Mask = None, seed: Seed | None = None
) -> LinearNetwork:
    """Shift register, ``A[i+1, i] = gain``: node k holds gainᵏ z_{t−k}. Mask: e₁.

    Nilpotent, so its spectral radius is 0; MC_τ = 1 for τ < N and 0 after. The seed is for a
    random mask only.
    """
    gain = require_number(gain, "gain", "of any size")
    A = gain * np.eye(require_nodes(size), k=-1)
    return assembled(A, mask, "basis", "delay line", f"gain {gain:g}", seed, drawn=False)


def chain(
    size: int,
    *,
    loop: ArrayLike = 0.5,
    gain: float = 1.0,
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """Feed-forward chain with self loops, ``diag(loop)`` plus ``A[i+1, i] = gain``. Mask: e₁.

    ``loop`` is one weight for all nodes (a Jordan block for gain 1) or one a node; they are the
    eigenvalues. The seed is for a random mask only.
    """
    size, gain = require_nodes(size), require_number(gain, "gain", "of any size")
    loops = exact_array(loop, "loop")
    if loops.shape not in ((), (size,)):
        raise ValueError(
            f"`loop` must be one number or {size} of them, one a node; got shape {loops.shape}."
        )
    A = np.diag(np.broadcast_to(loops, size)) + gain * np.eye(size, k=-1)
    details = f"gain {gain:g}" if loops.ndim else f"loop {loops[()]:g}, gain {gain:g}"
    return assembled(A, mask, "basis", "chain", details, seed, drawn=False)


def stacked(layers: Sequence[LinearNetwork], *, delayed: bool = False) -> LinearNetwork:
    """Join layers: the first is driven by the input, each other one by the states of the one below.

    x¹_t = A₁x¹_{t−1} + C₁z_t and xᵏ_t = A_k xᵏ_{t−1} + C_k xᵏ⁻¹_t, so that C_k has as many columns
    as the layer below has nodes. Written as one network the blocks of A are
    A_kj = C_k ⋯ C_{j+1} A_j for j < k, and those of C are C_k ⋯ C₁.

    Parameters
    ----------
    layers : sequence of LinearNetwork
        From the input upwards.
    delayed : bool
        Whether a layer sees the one below one step later, xᵏ_t = A_k xᵏ_{t−1} + C_k xᵏ⁻¹_{t−1};
        then A_kj = C_k for j = k − 1 only.

    Returns
    -------
    LinearNetwork
        With the nodes of all layers, the first layer's first; ``readout`` selects layers.

    Examples
    --------
    >>> import memcurve
    >>> import numpy as np
    >>> bottom = memcurve.ensembles.delay_line(3)
    >>> top = memcurve.LinearNetwork(np.eye(2, k=-1), [[0, 0, 1], [0, 0, 0]])
    >>> deep = memcurve.ensembles.stacked([bottom, top], delayed=True)
    >>> memcurve.memory_curve(deep).total
    5.0
    """
    if isinstance(layers, LinearNetwork):
        raise TypeError("`layers` must be a sequence of LinearNetworks, got a single one.")
    layers = list(layers)
    if not layers:
        raise ValueError("`layers` must hold at least one LinearNetwork, got none.")
    for k, layer in enumerate(layers):
        if not isinstance(layer, LinearNetwork):
            raise TypeError(f"`layers` must be LinearNetworks, got {type(layer).__name__}.")
        if layer.readout is not None:
            raise ValueError(
                f"layer {k} of `layers` has a readout; leave it out and give one to the whole, "
                f"stacked(…).replace(readout=…)."
            )
        if k > 0 and layer.inputs != layers[k - 1].size:
            raise ValueError(
                f"layer {k} of `layers` must have one input for each of the {layers[k - 1].size} "
                f"nodes of the layer below, got {layer.inputs}; its C must have shape "
                f"({layer.size}, {layers[k - 1].size})."
            )
    dtype = complex if any(layer.is_complex for layer in layers) else float
    ends = np.cumsum([0, *(layer.size for layer in layers)])
    own = [slice(a, b) for a, b in itertools.pairwise(ends.tolist())]
    A = np.zeros((ends[-1], ends[-1]), dtype=dtype)
    C = np.zeros((ends[-1], layers[0].inputs), dtype=dtype)
    shift = np.zeros(ends[-1], dtype=dtype)
    for k, layer in enumerate(layers):
        weights = layer.C.reshape(layer.size, -1)
        if layer.shift is not None:
            shift[own[k]] = layer.shift
        if k == 0:
            C[own[0]] = weights
        elif delayed:
            A[own[k], own[k - 1]] = weights
        else:  # within the step
            A[own[k]] = weights @ A[own[k - 1]]
            C[own[k]] = weights @ C[own[k - 1]]
            shift[own[k]] += weights @ shift[own[k - 1]]
        A[own[k], own[k]] = layer.A.toarray() if layer.is_sparse else layer.A
    names = [layer.name or f"N={layer.size}" for layer in layers]
    return LinearNetwork(
        A,
        C[:, 0] if C.shape[1] == 1 else C,
        shift=None if all(layer.shift is None for layer in layers) else shift,
        name=f"{len(layers)} layers: {'; '.join(names)}",
        notes=tuple(dict.fromkeys(note for layer in layers for note in layer.notes)),
    )


# --- State-space layers: HiPPO matrices, discretised, and the linear recurrent unit.


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
    details = f"|λ| from {inner:g} to {outer:g}"
    A = diags_array(poles, format="csr")
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
    flow = expm(np.block([[np.zeros((1, len(B) + 1))], [B[:, None], A]]))
    return flow[1:, 1:], flow[1:, 0]


_DISCRETISATIONS = {"bilinear": _bilinear, "zoh": _zero_order_hold}
