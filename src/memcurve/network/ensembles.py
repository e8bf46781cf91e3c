"""Random and structured networks: the paper's, and those with known memory.

Keywords that every ensemble shares:

mask : None, str, (N,) array or (N, d) array
    None is the ensemble's own mask, which its docstring names; a string is one of
    :data:`memcurve.masks.MASKS`; an array is taken as it is.
seed : int, SeedSequence or Generator
    Required wherever something is drawn. Connectivity and mask have streams of their own, so the
    same seed with another mask gives the same connectivity. A Generator moves on with each call.

Keywords of the ensembles that are drawn and then scaled:

spectral_radius : float
    What the scaling aims at. From 1 on the network is unstable and has no memory curve.
scaling : str
    ``"spectral_radius"`` makes the largest modulus of an eigenvalue equal to ``spectral_radius``;
    ``"spectral_norm"`` does so with the largest singular value; ``"circular_law"`` divides by
    the radius expected as N → ∞ instead of the one drawn, see :mod:`memcurve.network.scaling`.
    Sparse networks of independent entries have None by default: the spectral radius, or, where
    it cannot be found among thousands of nodes, as no eigenvalue stands out, the circular law; the
    name then has ``ρ≈`` instead of ``ρ=``.
sparse : bool or None
    Store A as a scipy sparse array: the same numbers as without. None does so from
    5,000 nodes on.
density, degree : float
    Share of non-zero weights, or instead how many a node has on average: with a ``degree``,
    networks of all sizes are alike.

"The paper" is Ballarin, Grigoryeva and Ortega, *Memory of recurrent networks: Do we compute it
right?* (arXiv 2305.01457).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import (
    Seed,
    exact_array,
    generator,
    require_choice,
    require_density,
    require_flag,
    require_number,
    require_options,
    require_size,
    table_entry,
)
from memcurve.core.limits import require_room, require_room_for_array
from memcurve.core.types import Floats
from memcurve.network import LinearNetwork, masks
from memcurve.network.continuous import DISCRETISATIONS, ContinuousNetwork, hippo
from memcurve.network.graph import CrowdedSpectrumError, has_dominant_eigenvalue
from memcurve.network.linear import validated_mask
from memcurve.network.scaling import (
    scale_by_circular_law,
    scale_to_spectral_norm,
    scale_to_spectral_radius,
)

Mask = ArrayLike | None

#: How each scaling shows in a network's name.
RADIUS = "spectral_radius"
CIRCULAR = "circular_law"
SCALINGS = {RADIUS: "ρ=", "spectral_norm": "‖A‖=", CIRCULAR: "ρ≈"}

#: From so many nodes on sparse networks are stored sparse; beyond so many only a short attempt is
#: made to measure their radius: a long one takes minutes, to find moduli too close for ARPACK.
SPARSE_FROM = 5000
MEASURED_UP_TO = 20_000

#: Share of non-zero weights where none is given; and the memory each takes while it is drawn.
DENSITY = 0.1
BYTES_PER_WEIGHT = 80

#: A rotation that makes an ``sp_c`` matrix denser than wanted by more than this share is redrawn.
DENSITY_TOLERANCE = 0.01


def normal(
    size: int, *, seed: Seed, spectral_radius: float = 0.9, scaling: str = RADIUS, mask: Mask = None
) -> LinearNetwork:
    """Independent standard normal entries (Ginibre ensemble), then scaled. Mask: normal.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.normal(100, seed=1)
    LinearNetwork('normal, N=100, ρ=0.9, seed 1', size=100, inputs=1)
    """
    size, draw = _require_nodes(size), _Draw(seed, spectral_radius, scaling, mask)
    return draw.network("normal", draw.rng.standard_normal((size, size)), variance=1.0)


def uniform(
    size: int, *, seed: Seed, spectral_radius: float = 0.9, scaling: str = RADIUS, mask: Mask = None
) -> LinearNetwork:
    """Independent entries uniform on [−1, 1] (variance 1/3), then scaled. Mask: normal.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.uniform(50, seed=1)
    LinearNetwork('uniform, N=50, ρ=0.9, seed 1', size=50, inputs=1)
    """
    size, draw = _require_nodes(size), _Draw(seed, spectral_radius, scaling, mask)
    return draw.network("uniform", draw.rng.uniform(-1, 1, (size, size)), variance=1 / 3)


def sparse_normal(
    size: int,
    *,
    seed: Seed,
    density: float | None = None,
    degree: float | None = None,
    spectral_radius: float = 0.9,
    scaling: str | None = None,
    sparse: bool | None = None,
    mask: Mask = None,
) -> LinearNetwork:
    """Entries standard normal with probability ``density``, else zero; then scaled. Mask: normal.

    The density is 0.1 by default, or degree/N. All entries are independent, so the number of
    non-zeros is binomial. A very sparse draw may have no cycle, and then no spectral radius to
    scale: an error says so.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.sparse_normal(50, degree=5, seed=1).name
    'sparse normal, N=50, degree 5, ρ=0.9, seed 1'
    """
    size, draw = require_size(size), _Draw(seed, spectral_radius, scaling, mask)
    share, details = _share_of_weights(size, density, degree)
    A = _scattered(size, share, draw.rng, draw.rng.standard_normal, sparse)
    return draw.network("sparse normal", A, details, variance=share)


def sparse_uniform(
    size: int,
    *,
    seed: Seed,
    density: float | None = None,
    degree: float | None = None,
    spectral_radius: float = 0.9,
    scaling: str | None = None,
    sparse: bool | None = None,
    mask: Mask = None,
) -> LinearNetwork:
    """Entries uniform on [−1, 1] with probability ``density``, else zero; then scaled.

    Independent entries as in :func:`sparse_normal`. Mask: normal.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.sparse_uniform(50, density=0.2, seed=1).name
    'sparse uniform, N=50, density 0.2, ρ=0.9, seed 1'
    """
    size, draw = require_size(size), _Draw(seed, spectral_radius, scaling, mask)
    share, details = _share_of_weights(size, density, degree)
    A = _scattered(size, share, draw.rng, lambda n: draw.rng.uniform(-1, 1, n), sparse)
    return draw.network("sparse uniform", A, details, variance=share / 3)


def sp_c(
    size: int,
    *,
    seed: Seed,
    density: float = 0.1,
    reciprocal_condition: float = 0.7,
    spectral_radius: float = 0.9,
    scaling: str = RADIUS,
    mask: Mask = None,
) -> LinearNetwork:
    """Sparse and well conditioned: the paper's ``sp_C``, MATLAB's ``sprandn(N, N, density, rc)``.

    A diagonal of singular values rc^(k/(N−1)) in random order, its rows permuted so that no node
    stays alone with its self loop, is turned by plane rotations of random pairs of rows and columns
    until the share of non-zeros reaches ``density``; the ratio of the smallest to the largest
    singular value stays rc (``reciprocal_condition``). Entries are not independent, so there is no
    circular law to scale by. Mask: normal.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.network import ensembles
    >>> sigma = np.linalg.svd(ensembles.sp_c(50, seed=1).A, compute_uv=False)
    >>> float(round(sigma[-1] / sigma[0], 6))
    0.7
    """
    draw = _Draw(seed, spectral_radius, scaling, mask, circular_law=False)
    size, density = _require_nodes(size), require_density(density)
    rc = require_number(
        reciprocal_condition, "reciprocal_condition", "above 0 and at most 1", lambda r: 0 < r <= 1
    )
    if density < 1 / size:
        raise ValueError(
            f"`density` must be at least 1/N = {1 / size:g}, since an invertible matrix has at "
            f"least N non-zeros; got {density:g}. Raise the density or take sparse_normal."
        )
    values = draw.rng.permutation(np.geomspace(1, rc, size))
    A = _rotated(values, density, draw.rng)
    return draw.network("sp_C", A, f"density {density:g}, rc {rc:g}, ")


def symmetric(
    size: int, *, seed: Seed, spectral_radius: float = 0.9, scaling: str = RADIUS, mask: Mask = None
) -> LinearNetwork:
    """Gaussian orthogonal ensemble B + Bᵀ with B standard normal, then scaled. Mask: normal.

    The eigenvalues are real; the circular law here is Wigner's semicircle, which ends at √(8N).

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> A = ensembles.symmetric(20, seed=1).A
    >>> bool((A == A.T).all())
    True
    """
    size, draw = _require_nodes(size), _Draw(seed, spectral_radius, scaling, mask)
    B = draw.rng.standard_normal((size, size))
    return draw.network("symmetric", B + B.T, variance=8.0)


def orthogonal(
    size: int, *, seed: Seed, spectral_radius: float = 0.9, mask: Mask = None
) -> LinearNetwork:
    """``ρQ`` with Q drawn evenly from the orthogonal group (Haar measure). Mask: normal.

    Q is the factor of a normal matrix's QR decomposition with diag(R) > 0 (Mezzadri, *Notices of
    the AMS* 54, 2007). All eigenvalues have modulus ρ, the ``spectral_radius``.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.network import ensembles
    >>> A = ensembles.orthogonal(20, spectral_radius=0.5, seed=1).A
    >>> np.allclose(A @ A.T, 0.25 * np.eye(20))
    True
    """
    size, radius = _require_nodes(size), _require_radius(spectral_radius)
    matrix_rng, mask_rng = generator(seed).spawn(2)
    Q, R = np.linalg.qr(matrix_rng.standard_normal((size, size)))
    A = radius * Q * np.sign(np.diag(R))
    return _assembled(A, mask, "normal", "orthogonal", f"ρ={radius:g}", seed, mask_rng=mask_rng)


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
    >>> from memcurve.network import ensembles
    >>> ensembles.permutation(cycles=[2, 3], seed=1).name
    'permutation, N=5, cycles 2+3, ρ=0.9, seed 1'
    """
    if cycles is None:
        cycles = [require_size(size)]
    if not isinstance(cycles, Sequence | np.ndarray):
        raise TypeError(f"`cycles` must be a list of lengths, got {cycles!r:.80}.")
    cycles = [require_size(length, "cycles") for length in cycles]
    if not cycles or (size is not None and sum(cycles) != size):
        raise ValueError(
            f"`cycles` must add up to `size`, got {cycles} and {size!r}; leave out either one."
        )
    nodes = _require_nodes(sum(cycles))
    A = np.zeros((nodes, nodes))
    for end, length in zip(np.cumsum(cycles), cycles, strict=True):
        A[end - length : end, end - length : end] = np.roll(np.eye(length), 1, axis=0)
    radius = _require_radius(spectral_radius)
    details = f"cycles {'+'.join(map(str, cycles))}, ρ={radius:g}"
    return _assembled(radius * A, mask, "normal", "permutation", details, seed)


def cyclic(
    size: int, *, spectral_radius: float = 0.9, mask: Mask = None, seed: Seed | None = None
) -> LinearNetwork:
    """One ring of all nodes, ``A[i+1, i] = A[0, N−1] = ρ`` (Rodan and Tiňo 2011). Mask: e₁.

    Aᴺ = ρᴺ I, and MC_τ = (1 − ρ^{2N}) ρ^{2N⌊τ/N⌋}. The seed is for a random mask only.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.memory_curve(memcurve.ensembles.cyclic(3), lags=4).values.round(4)
    array([0.4686, 0.4686, 0.4686, 0.249 ])
    """
    size, radius = _require_nodes(size), _require_radius(spectral_radius)
    A = radius * np.roll(np.eye(size), 1, axis=0)
    return _assembled(A, mask, "basis", "cyclic", f"ρ={radius:g}", seed, drawn=False)


def delay_line(
    size: int, *, gain: float = 1.0, mask: Mask = None, seed: Seed | None = None
) -> LinearNetwork:
    """Shift register, ``A[i+1, i] = gain``: node k holds gainᵏ z_{t−k}. Mask: e₁.

    Nilpotent, so its spectral radius is 0; MC_τ = 1 for τ < N and 0 after. The seed is for a
    random mask only.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.memory_curve(memcurve.ensembles.delay_line(3), lags=5).values
    array([1., 1., 1., 0., 0.])
    """
    gain = require_number(gain, "gain", "of any size")
    A = gain * np.eye(_require_nodes(size), k=-1)
    return _assembled(A, mask, "basis", "delay line", f"gain {gain:g}", seed, drawn=False)


def chain(
    size: int,
    *,
    loop: ArrayLike = 0.5,
    gain: float = 1.0,
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """Feed-forward chain with self loops, ``diag(loop)`` plus ``A[i+1, i] = gain``. Mask: e₁.

    ``loop`` is one weight for all nodes (a Jordan block for gain 1) or one per node; they are the
    eigenvalues. The seed is for a random mask only.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.chain(3, loop=[0.1, 0.2, 0.3]).A
    array([[0.1, 0. , 0. ],
           [1. , 0.2, 0. ],
           [0. , 1. , 0.3]])
    """
    size, gain = _require_nodes(size), require_number(gain, "gain", "of any size")
    loops = exact_array(loop, "loop")
    if loops.shape not in ((), (size,)):
        raise ValueError(
            f"`loop` must be one number or {size} of them, one per node; got shape {loops.shape}."
        )
    A = np.diag(np.broadcast_to(loops, size)) + gain * np.eye(size, k=-1)
    details = f"gain {gain:g}" if loops.ndim else f"loop {loops[()]:g}, gain {gain:g}"
    return _assembled(A, mask, "basis", "chain", details, seed, drawn=False)


def stacked(layers: Sequence[LinearNetwork], *, delayed: bool = False) -> LinearNetwork:
    """Join layers: the first is driven by the input, each other one by the states of the one below.

    xᵏ_t = A_k xᵏ_{t−1} + C_k xᵏ⁻¹_t, or xᵏ⁻¹_{t−1} where ``delayed``, so that C_k has as many
    columns as the layer below has nodes. As one network, the first layer's nodes
    first, the blocks of A are A_kj = C_k ⋯ C_{j+1} A_j for j < k, and those of C are C_k ⋯ C₁;
    delayed, A_kj = C_k for j = k − 1 only.

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
    require_flag(delayed, "delayed")
    layers = [layers] if isinstance(layers, LinearNetwork) else layers
    listed = isinstance(layers, Sequence) and len(layers) > 0
    if not listed or not all(isinstance(layer, LinearNetwork) for layer in layers):
        raise TypeError(f"`layers` must be a list of at least one LinearNetwork, got {layers!r}.")
    for k, layer in enumerate(layers):
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
    ends = np.cumsum([0, *(layer.size for layer in layers)])
    span = [slice(a, b) for a, b in itertools.pairwise(ends.tolist())]
    # one row [A, C, shift] for each node
    rows = np.zeros((ends[-1], ends[-1] + layers[0].inputs + 1), dtype=complex)
    rows[span[0], ends[-1] : -1] = layers[0].C.reshape(layers[0].size, -1)
    for k, layer in enumerate(layers):
        if k > 0 and delayed:
            rows[span[k], span[k - 1]] = layer.C.reshape(layer.size, -1)
        elif k > 0:  # within the step
            rows[span[k]] = layer.C.reshape(layer.size, -1) @ rows[span[k - 1]]
        rows[span[k], span[k]] = layer.A.toarray() if layer.is_sparse else layer.A
        rows[span[k], -1] += 0 if layer.shift is None else layer.shift
    if not any(layer.is_complex for layer in layers):
        rows = rows.real
    A, C, shift = rows[:, : ends[-1]], rows[:, ends[-1] : -1], rows[:, -1]
    names = [layer.name or f"N={layer.size}" for layer in layers]
    return LinearNetwork(
        A,
        C[:, 0] if C.shape[1] == 1 else C,
        shift=None if all(layer.shift is None for layer in layers) else shift,
        name=f"{len(layers)} layers: {'; '.join(names)}",
        notes=tuple(dict.fromkeys(note for layer in layers for note in layer.notes)),
    )


def hippo_legs(
    size: int,
    *,
    step: float = 0.01,
    discretisation: str = "bilinear",
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """HiPPO-LegS, time-invariant as in S4, discretised. Mask: its own discretised B.

    The matrices are those of :func:`memcurve.network.continuous.hippo`, ``discretisation``
    (``"bilinear"`` or ``"zoh"``) with the time step ``step`` that of ``discretised``: the result is
    exactly triangular. The seed is for a random mask only.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.hippo_legs(2).A.round(4)
    array([[ 0.99  ,  0.    ],
           [-0.0171,  0.9802]])
    """
    return _discretised(hippo("legs", _require_nodes(size)), step, discretisation, mask, seed)


def hippo_legt(
    size: int,
    *,
    step: float = 0.01,
    discretisation: str = "bilinear",
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """HiPPO-LegT, the Legendre memory unit, discretised. Mask: its own discretised B.

    Over a sliding window of length one, so that ``step`` is the time step as a share of the window.
    Other keywords as in :func:`hippo_legs`.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.hippo_legt(2).A.round(4)
    array([[ 0.9899, -0.0098],
           [ 0.0294,  0.9703]])
    """
    return _discretised(hippo("legt", _require_nodes(size)), step, discretisation, mask, seed)


def delay_reservoir(
    nodes: int,
    *,
    spacing: float = 0.2,
    feedback: float = 0.9,
    shift: int = 0,
    degree: int | None = None,
    mask: Mask = None,
    seed: Seed | None = None,
) -> LinearNetwork:
    """A linear delay reservoir, T x' = −x + ηx(t − τ) + m(t)z(t): virtual nodes on a delay line.

    The input is held for one round of nodes and weighted by the mask. This is the delay equation
    itself, a polynomial on every node (Legendre tau method): holding the feedback over a node, as
    the map of Appeltant et al. (2011) does, moves the curve by 0.1 at a spacing of 0.2. Mask: ±1,
    drawn.

    Parameters
    ----------
    nodes : int
        Number of virtual nodes N, which are read.
    spacing : float
        Length of a node in units of the response time T.
    feedback : float
        Gain η of the delayed feedback.
    shift : int
        The delay is N + ``shift`` nodes: 0 synchronised, 1 the usual desynchronised scheme.
    degree : int, optional
        Polynomial coefficients per node; by default enough for seven digits.
    mask, seed
        As above.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> network = ensembles.delay_reservoir(10, seed=1)
    >>> network.size, len(network.readout)
    (50, 10)
    """
    count = require_size(nodes, "nodes")
    length = require_number(spacing, "spacing", "above 0", lambda x: x > 0)
    gain = require_number(feedback, "feedback", "between -1 and 1", lambda x: abs(x) < 1)
    late = require_size(shift + 1, "shift") - 1
    terms = require_size(degree, "degree") if degree else math.ceil(4 + 1.5 * length)
    if mask is None and seed is None:
        raise ValueError("`seed` must be given, as the mask is drawn: e.g. seed=1.")
    drawn = generator(seed or 0).spawn(2)[1].choice([-1.0, 1.0], count)
    weights = exact_array(drawn if mask is None else mask, "mask")
    if weights.shape != (count,):
        raise ValueError(f"`mask` must have {count} weights, one per node, got {weights.shape}.")
    A, C = _delay_line_of_polynomials(count + late, length, gain, terms, weights)
    details = f"spacing {length:g}, feedback {gain:g}, seed {seed}"
    return LinearNetwork(
        A, C, readout=np.arange(count) * terms, name=f"delay reservoir, N={count}, {details}"
    )


def _delay_line_of_polynomials(
    length: int, spacing: float, feedback: float, terms: int, mask: Floats
) -> tuple[Floats, Floats]:
    """A and C of the last ``length`` nodes, newest first, each by its end and its coefficients.

    On a node x' = −x + f for r in [−1, 1], t = spacing·(r + 1)/2, x(−1) given; Legendre
    coefficients, of which the first is replaced by the value at the end, their sum.
    """
    from numpy.polynomial import legendre

    D = np.zeros((terms, terms))
    for k in range(1, terms):
        derivative = legendre.legder(np.eye(terms)[k])
        D[: len(derivative), k] = derivative
    equation = 2 / spacing * D + np.eye(terms)
    equation[-1] = (-1.0) ** np.arange(terms)  # the last one is the value at the start
    inverse = np.linalg.inv(equation)
    from_start, driven = inverse[:, -1].copy(), inverse
    driven[:, -1] = 0
    ends = np.eye(terms)
    ends[0] = 1.0  # coefficients → the end, and the others
    coefficients = np.linalg.inv(ends)
    on_feedback = ends @ driven @ coefficients * feedback
    on_start, on_input = ends @ from_start, ends @ driven[:, 0]
    states = length * terms
    history = [np.eye(states)[k * terms : (k + 1) * terms] for k in range(length)]
    inputs = [np.zeros(terms) for _ in range(length)]
    for weight in mask:
        newest = on_feedback @ history[-1] + np.outer(on_start, history[0][0])
        drive = on_feedback @ inputs[-1] + on_start * inputs[0][0] + weight * on_input
        history, inputs = [newest, *history[:-1]], [drive, *inputs[:-1]]
    return np.vstack(history), np.concatenate(inputs)


def lru_ring(
    size: int,
    *,
    seed: Seed,
    radius_min: float = 0.9,
    radius_max: float = 0.999,
    phase_max: float = 2 * math.pi,
    mask: Mask = None,
) -> LinearNetwork:
    """Linear recurrent unit as initialised: complex diagonal A, eigenvalues on a ring.

    ``|λ|² = r_min² + u(r_max² − r_min²)`` and ``arg λ = u'·phase_max`` with u, u' uniform on
    [0, 1). The mask is its own: standard complex normal times ``γ = √(1 − |λ|²)``, which gives each
    mode unit expected variance (Orvieto et al., *Resurrecting recurrent neural networks for long
    sequences*, 2023). ``size`` counts the complex modes, each of which is two states. A is a scipy
    sparse array.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.lru_ring(10, seed=1).states
    20
    """
    size = _require_nodes(size)
    inner = require_number(radius_min, "radius_min", "from 0 to below 1", lambda r: 0 <= r < 1)
    outer = require_number(
        radius_max, "radius_max", "from `radius_min` to 1", lambda r: inner <= r <= 1
    )
    phase = require_number(phase_max, "phase_max", "at least 0", lambda p: p >= 0)
    from scipy.sparse import diags_array

    matrix_rng, mask_rng = generator(seed).spawn(2)
    squared = inner**2 + matrix_rng.random(size) * (outer**2 - inner**2)
    poles = np.sqrt(squared) * np.exp(1j * phase * matrix_rng.random(size))
    if mask is None:
        parts = mask_rng.standard_normal((2, size))
        mask = np.sqrt((1 - squared) / 2) * (parts[0] + 1j * parts[1])
    details = f"|λ| from {inner:g} to {outer:g}"
    A = diags_array(poles, format="csr")
    return _assembled(A, mask, mask, "LRU ring", details, seed, mask_rng=mask_rng)


ENSEMBLES: dict[str, Callable[..., LinearNetwork]] = {
    ensemble.__name__: ensemble
    for ensemble in (
        *(normal, uniform, sparse_normal, sparse_uniform, sp_c, symmetric, orthogonal),
        *(permutation, cyclic, delay_line, chain, hippo_legs, hippo_legt, lru_ring),
    )
}

__all__ = ["ENSEMBLES", "delay_reservoir", "make", "stacked", *ENSEMBLES]


def make(name: str, size: int | None = None, **options: Any) -> LinearNetwork:
    """Return a network of the ensemble called ``name``, one of :data:`ENSEMBLES`.

    Examples
    --------
    >>> from memcurve.network import ensembles
    >>> ensembles.make("sparse_normal", 50, density=0.2, seed=3).name
    'sparse normal, N=50, density 0.2, ρ=0.9, seed 3'
    """
    ensemble = table_entry(ENSEMBLES, name, "ensemble")
    require_options(ensemble, options)
    return ensemble(size, **options)


def with_inputs(
    network: LinearNetwork, inputs: int, mask: str | None, seed: int | None
) -> LinearNetwork:
    """A network drawn with this seed and one input, with as many, each with a mask of its own."""
    if inputs == 1:
        return network
    # the first two streams of a seed are the network's own connectivity and mask
    streams = np.random.SeedSequence(seed).spawn(inputs + 1)[2:]
    columns = [masks.make(mask or "normal", network.size, seed=stream) for stream in streams]
    return network.replace(C=np.column_stack([network.C, *columns]))


def _assembled(
    A: Any,
    mask: Mask,
    own_mask: ArrayLike,
    kind: str,
    details: str,
    seed: Seed | None,
    *,
    mask_rng: np.random.Generator | None = None,
    drawn: bool = True,
) -> LinearNetwork:
    """Join connectivity and mask; the label names the seed only if something was ``drawn``."""
    if mask_rng is None and seed is not None:
        mask_rng = generator(seed).spawn(2)[1]
    chosen = own_mask if mask is None else mask
    label = [kind, f"N={A.shape[0]}", details]
    if isinstance(chosen, str):
        C = masks.make(chosen, A.shape[0], seed=mask_rng)
    else:
        C = validated_mask(chosen, A.shape[0], "mask")
    if isinstance(mask, str):
        label.append(f"mask {mask}")
        drawn = drawn or masks.is_random(mask)
    if drawn and isinstance(seed, int | np.integer):
        label.append(f"seed {seed}")
    return LinearNetwork(A, C, name=", ".join(label))


def _require_nodes(size: Any) -> int:
    """The number of nodes, where the weights between them fit."""
    nodes = require_size(size)
    require_room_for_array((nodes, nodes), f"an ensemble of `size`={nodes}")
    return nodes


def _share_of_weights(size: int, density: Any, degree: Any) -> tuple[float, str]:
    """The density that is given in one way or the other, and as the name has it."""
    if degree is None:
        share = require_density(DENSITY if density is None else density)
        return share, f"density {share:g}, "
    if density is not None:
        raise ValueError(
            f"`degree` is another way to give the `density`, degree/N; got {degree!r} and "
            f"{density!r}. Leave out either one."
        )
    rule = f"above 0 and at most N = {size}, the number of weights of a node"
    degree = require_number(degree, "degree", rule, lambda k: 0 < k <= size)
    return degree / size, f"degree {degree:g}, "


def _require_radius(spectral_radius: Any) -> float:
    return require_number(spectral_radius, "spectral_radius", "at least 0", lambda r: r >= 0)


class _Draw:
    """The streams of a seed, and how the connectivity drawn from them is scaled."""

    def __init__(
        self, seed: Seed, radius: float, scaling: str | None, mask: Mask, circular_law: bool = True
    ) -> None:
        if scaling is not None:
            choices = [name for name in SCALINGS if circular_law or name != CIRCULAR]
            require_choice(scaling, "scaling", choices)
        self.seed, self.scaling, self.mask = seed, scaling, mask
        self.radius = _require_radius(radius)
        self.rng, self.mask_rng = generator(seed).spawn(2)

    def network(
        self, kind: str, A: Any, details: str = "", *, variance: float = math.nan
    ) -> LinearNetwork:
        """A, whose entries have this variance, scaled and joined with the mask."""
        scaling = self.scaling or RADIUS
        if self.scaling is None and A.shape[0] > MEASURED_UP_TO and not has_dominant_eigenvalue(A):
            scaling = CIRCULAR
        if scaling == RADIUS:
            try:
                A = scale_to_spectral_radius(A, self.radius)
            except CrowdedSpectrumError:
                if self.scaling is not None:
                    raise
                scaling = CIRCULAR
        if scaling == CIRCULAR:
            A = scale_by_circular_law(A, self.radius, variance)
        elif scaling == "spectral_norm":
            A = scale_to_spectral_norm(A, self.radius)
        details += f"{SCALINGS[scaling]}{self.radius:g}"
        return _assembled(A, self.mask, "normal", kind, details, self.seed, mask_rng=self.mask_rng)


def _scattered(
    size: int,
    density: float,
    rng: np.random.Generator,
    draw: Callable[[int], Floats],
    sparse: bool | None,
) -> Any:
    from scipy.sparse import csr_array

    sparse = size >= SPARSE_FROM if sparse is None else require_flag(sparse, "sparse")
    if sparse:
        subject = f"an ensemble of `size`={size}, with {density * size:.4g} weights per node,"
        fewer = "Take fewer nodes, or fewer weights for each: degree=10, or density=1e-4."
        require_room(int(size**2 * density * BYTES_PER_WEIGHT), subject, fewer)
    else:
        _require_nodes(size)
    # a binomial count of positions without replacement is the law of independent ones
    count = int(rng.binomial(size**2, density))
    positions = rng.choice(size**2, count, replace=False, shuffle=False)
    A = csr_array((draw(count), np.divmod(positions, size)), shape=(size, size))
    return A if sparse else A.toarray()


def _rotated(values: Floats, density: float, rng: np.random.Generator) -> Floats:
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
    return A


def _discretised(
    network: ContinuousNetwork, step: float, discretisation: str, mask: Mask, seed: Seed | None
) -> LinearNetwork:
    table_entry(DISCRETISATIONS, discretisation, "discretisation")
    discrete = network.discretised(step, discretisation)
    label, details = str(network.name).split(",")[0], f"step {step:g}, {discretisation}"
    return _assembled(discrete.A, mask, discrete.C, label, details, seed, drawn=False)
