"""State-affine networks: bilinear, of functions, of each other, and selective layers."""

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array

from memcurve.core.arguments import exact_array, require_number, require_size
from memcurve.core.types import Floats
from memcurve.network import LinearNetwork
from memcurve.state_affine.faults import fault
from memcurve.state_affine.laws import law_of
from memcurve.state_affine.network import ROUNDINGS, Formula, Power, StateAffineNetwork

ROUNDING = 1e-13  # functions below this share of the largest are rounding of p and q
MOST_STATES = 4096  # of products and features


def bilinear(
    A: ArrayLike,
    B: ArrayLike,
    C: ArrayLike,
    *,
    bias: ArrayLike | None = None,
    input: Any = "uniform",
    readout: ArrayLike | None = None,
    name: str | None = None,
) -> StateAffineNetwork:
    """The bilinear network x_t = A x_{t−1} + z_t B x_{t−1} + C z_t + bias.

    Parameters
    ----------
    A, B : (N, N) arrays
        Connectivity, and the weights that the input multiplies.
    C : (N,) array
        Input mask.
    bias : (N,) array, optional
        Constant added at each step.
    input, readout, name
        As for :class:`memcurve.StateAffineNetwork`.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.bilinear([[0.5]], [[0.2]], [1.0])
    StateAffineNetwork(size=1, degree 1, uniform on [-1, 1])
    """
    mask = exact_array(C, "C")
    constant = np.zeros(mask.shape) if bias is None else exact_array(bias, "bias")
    shapes = np.shape(A), np.shape(B), constant.shape
    if mask.ndim != 1 or shapes != ((len(mask),) * 2, (len(mask),) * 2, mask.shape):
        listed = ", ".join(map(str, shapes))
        raise ValueError(fault("bilinear", shapes=listed, mask=mask.shape))
    return StateAffineNetwork([A, B], [constant, mask], input, readout=readout, name=name)


def from_functions(
    p: Callable[[float], ArrayLike],
    q: Callable[[float], ArrayLike],
    input: Any = "uniform",
    *,
    readout: ArrayLike | None = None,
    name: str | None = None,
) -> StateAffineNetwork:
    """A network from functions p(z), an (N, N) matrix, and q(z), a vector.

    As many functions of z are found as p and q are made of, down to 1e-13 of the largest. What
    rounding of p and q does to capacities is part of their error; formulas with more digits, see
    :class:`memcurve.state_affine.Formula`, do without.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> from memcurve.state_affine import from_functions
    >>> network = from_functions(lambda z: [[0.5 * np.cos(z)]], lambda z: [np.sin(z)])
    >>> memcurve.capacities(network).total
    1.0
    """
    law = law_of(input)

    def flat(z: float) -> Floats:
        P, Q = exact_array(p(z), "p"), exact_array(q(z), "q")
        if Q.ndim != 1 or P.shape != (len(Q), len(Q)) or np.iscomplexobj(P) or np.iscomplexobj(Q):
            raise ValueError(fault("values", p=P.shape, q=Q.shape))
        return np.concatenate([P, Q[:, None]], axis=1).ravel()

    samples = np.array([flat(z) for z in law.nodes.tolist()])
    law.require_finite((samples**2).sum(axis=1), "mean square of `p` and `q`")
    mean = law.weights @ samples
    _, s, V = np.linalg.svd(np.sqrt(law.weights)[:, None] * (samples - mean), full_matrices=False)
    V = V[s > ROUNDING * max(np.linalg.norm(mean), s.max(initial=0.0))]

    def along(v: Floats) -> Callable[[Any], Any]:
        return np.vectorize(lambda z: float(v @ (flat(float(z)) - mean)), otypes=[float])

    size = int(np.sqrt(len(mean)))
    parts = np.concatenate([mean[None], V]).reshape(-1, size, size + 1)
    return StateAffineNetwork(
        parts[:, :, :size], parts[:, :, size], law, functions=[Power(0), *map(along, V)],
        readout=readout, rounding="absolute", name=name,
    )  # fmt: skip


def as_state_affine(network: Any, input: Any = "uniform") -> StateAffineNetwork:
    """A linear network as a state-affine one; others as they are."""
    if isinstance(network, StateAffineNetwork):
        return network
    if not isinstance(network, LinearNetwork) or network.inputs > 1:
        raise TypeError(fault("kind", got=network))
    A, C = network.real_pair()
    shift, read = network.shift, network.readout
    if network.is_complex:
        shift = None if shift is None else np.concatenate([shift.real, shift.imag])
        read = None if read is None else np.concatenate([read, read + network.size])
    return StateAffineNetwork(
        [A.toarray() if hasattr(A, "toarray") else A],
        [np.zeros(len(C)) if shift is None else shift, C[:, 0]],
        input, readout=read, name=network.name, notes=network.notes,
    )  # fmt: skip


def side_by_side(*networks: Any) -> StateAffineNetwork:
    """Networks driven by the same input, whose states are all read.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import side_by_side
    >>> one = memcurve.bilinear([[0.5]], [[0.2]], [1.0])
    >>> memcurve.capacities(side_by_side(one, memcurve.ensembles.delay_line(2))).total
    3.0
    """
    converted = on_shared_functions(*networks)
    return functools.reduce(lambda a, b: cascade(a, b, np.zeros((b.size, a.size))), converted)


def cascade(first: Any, second: Any, weights: ArrayLike) -> StateAffineNetwork:
    """Two networks one after the other: y_t = p₂(z_t)y_{t−1} + q₂(z_t) + W x_t; both are read.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import cascade
    >>> one = memcurve.bilinear([[0.5]], [[0.2]], [1.0])
    >>> two = memcurve.bilinear([[0.3]], [[0.1]], [0.0])
    >>> memcurve.capacities(cascade(one, two, [[1.0]])).total
    2.0
    """
    one, two = on_shared_functions(first, second)
    W = exact_array(weights, "weights")
    if W.shape != (two.size, one.size):
        raise ValueError(fault("weights", second=two.size, first=one.size, shape=W.shape))
    zeros = np.zeros((len(one.p), one.size, two.size))
    p = np.block([[one.p, zeros], [W @ one.p, two.p]])
    q = np.concatenate([one.q, one.q @ W.T + two.q], axis=1)
    rounding = _rounding(one, two)
    return StateAffineNetwork(p, q, one.input, functions=one.functions, rounding=rounding)


def product(first: Any, second: Any) -> StateAffineNetwork:
    """The tensor product: states x_i, y_j and all x_i·y_j of two networks.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import product
    >>> one, two = (memcurve.bilinear([[a]], [[0.2]], [1.0]) for a in (0.5, 0.4))
    >>> product(one, two)
    StateAffineNetwork(size=3, degree 2, uniform on [-1, 1])
    """
    pair = on_shared_functions(first, second)
    monomials = list(itertools.product(*(range(n.size + 1) for n in pair)))
    return _monomials(pair, monomials, tuple)


def features(network: Any, degree: int, *, input: Any = "uniform") -> StateAffineNetwork:
    """All monomials of the states up to a degree: a network with a polynomial readout.

    Of a delay line these are the features of next-generation reservoir computing.

    ``input`` is the law of the input of a linear network.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import features
    >>> line = memcurve.ensembles.delay_line(2)
    >>> result = memcurve.capacities(features(line, 2))
    >>> {degree: round(total, 9) for degree, total in result.by_degree.items()}
    {1: 2.0, 2: 3.0}
    """
    degree = require_size(degree, "degree")
    converted = as_state_affine(network, input)
    monomials = list(itertools.combinations_with_replacement(range(converted.size + 1), degree))
    return _monomials([converted] * degree, monomials, lambda index: tuple(sorted(index)))


def _monomials(
    networks: Sequence[StateAffineNetwork],
    monomials: list[tuple[int, ...]],
    canonical: Callable[[Any], tuple[int, ...]],
) -> StateAffineNetwork:
    """Products Π_j x_{m_j}, x_0 = 1; ``canonical`` gives the one of ``monomials`` equal to any."""
    count = len(monomials)
    if count - 1 > MOST_STATES:
        raise ValueError(fault("many_states", most=MOST_STATES, count=count - 1))
    if not all(n.is_polynomial for n in networks):
        raise ValueError(fault("no_polynomials"))
    indices = {monomial: k for k, monomial in enumerate(monomials)}
    choices = itertools.product(*(range(n.size + 1) for n in networks))
    columns = np.array([indices[canonical(choice)] for choice in choices])
    collected = csr_array((np.ones(len(columns)), (np.arange(len(columns)), columns)))
    powers = [range(len(n.p)) for n in networks]
    parts = np.zeros((sum(len(p) - 1 for p in powers) + 1, count, count))
    for letters in itertools.product(*powers):
        rows = np.ones((count, 1))
        for n, states, i in zip(networks, np.array(monomials).T, letters, strict=True):
            hat = np.zeros((n.size + 1, n.size + 1))  # of (1, x)
            hat[1:, 1:], hat[1:, 0], hat[0, 0] = n.p[i], n.q[i], i == 0
            rows = (rows[:, :, None] * hat[states][:, None, :]).reshape(count, -1)
        parts[sum(letters)] += rows @ collected
    p, q, law = parts[:, 1:, 1:], parts[:, 1:, 0], networks[0].input
    return StateAffineNetwork(p, q, law, rounding=_rounding(*networks))


def _rounding(*networks: StateAffineNetwork) -> str:
    """The weakest ``rounding`` of several networks."""
    return max((n.rounding for n in networks), key=ROUNDINGS.index)


def on_shared_functions(*networks: Any) -> list[StateAffineNetwork]:
    """Networks that are driven by one input, over the same functions of it."""
    laws = [n.input for n in networks if isinstance(n, StateAffineNetwork)]
    law = laws[0] if laws else law_of("uniform")
    if not all(law.is_same(one) for one in laws):
        raise ValueError(fault("several_laws", laws=", ".join(one.name for one in laws)))
    converted = [as_state_affine(n, law) for n in networks]
    functions = list(dict.fromkeys(f for n in converted for f in n.functions))
    if all(isinstance(f, Power) for f in functions):
        functions = [Power(k) for k in range(max(f.power for f in functions) + 1)]

    def spread(n: StateAffineNetwork, parts: Floats) -> Floats:
        stack = np.zeros((len(functions), *parts.shape[1:]))
        stack[[functions.index(f) for f in n.functions]] = parts
        return stack

    return [
        n.replace(
            p=spread(n, n.p), q=spread(n, n.q), functions=functions,
            outputs=n.outputs and tuple(spread(n, part) for part in n.outputs),
        )
        for n in converted
    ]  # fmt: skip


def gated_layer(
    decays: ArrayLike,
    rate: Callable[[Any, Any], Any],
    drives: Sequence[tuple[Callable[[Any, Any], Any], ArrayLike]],
    *,
    input: Any = "normal",
    **options: Any,
) -> StateAffineNetwork:
    """The diagonal layer x_n ← exp(−a_n·rate(z)) x_n + Σ_j drive_j(z) B_jn.

    Its letters differ by many orders, so that its capacities are computed in balls, from the
    formulas on: rounded letters would pass for capacity of high degree.

    Parameters
    ----------
    decays : (N,) array
        a_n, positive.
    rate : function
        ``rate(z, m)`` with exp, log and sqrt taken from ``m``, positive.
    drives : list of pairs
        Functions of the same kind, and weights (N,) or a number for each.
    input, **options
        As for :class:`memcurve.StateAffineNetwork`: readout, name.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import gated_layer
    >>> layer = gated_layer([1, 2], lambda z, m: 1 + m.exp(z), [(lambda z, m: z, 1.0)])
    >>> memcurve.capacities(layer).total
    2.0
    """
    a = exact_array(decays, "decays")
    if a.ndim != 1 or not len(a) or np.iscomplexobj(a) or not (a > 0).all():
        raise ValueError(f"`decays` must be positive numbers, one per state; got {decays!r}.")

    def gate(decay: float) -> Formula:
        return Formula(lambda z, m: m.exp(-(rate(z, m) * decay)))

    different, index = np.unique(a, return_inverse=True)
    driven = [Formula(drive) for drive, _ in drives]
    functions: list[Any] = [Power(0), *map(gate, different.tolist()), *driven]
    p, q = np.zeros((1 + len(different), len(a), len(a))), np.zeros((len(functions), len(a)))
    p[1 + index, np.arange(len(a)), np.arange(len(a))] = 1.0
    for row, (_, weights) in zip(q[len(p) :], drives, strict=True):
        row[:] = exact_array(weights, "drives")
    return StateAffineNetwork(p, q, input, functions=functions, rounding="formula", **options)


def selective_layer(
    decays: ArrayLike = tuple(range(1, 17)),
    *,
    weight: float = 1.0,
    bias: float = 0.0,
    drive: ArrayLike = 1.0,
    drive_slope: ArrayLike = 0.0,
    **options: Any,
) -> StateAffineNetwork:
    """One channel of a Mamba-like layer (Gu and Dao 2023).

    Δ = log(1 + exp(weight·z + bias)), x_n ← exp(−a_nΔ) x_n + Δ(drive_n + drive_slope_n·z) z.
    ``options`` are those of :func:`gated_layer`: input, readout, name.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import selective_layer
    >>> result = memcurve.capacities(selective_layer([1, 2, 3, 4]), degree=4)
    >>> result.total, round(result.of((1, 0, 1)) - result.of((0, 1, 1)), 12)
    (4.0, 0.0)
    """
    w, b = require_number(weight, "weight", "for Δ"), require_number(bias, "bias", "for Δ")

    def step(z: Any, m: Any) -> Any:
        y = z * w + b
        return (y + abs(y)) / 2 + m.log(1 + m.exp(-abs(y)))  # which does not overflow

    drives: list[Any] = [(lambda z, m: step(z, m) * z, drive)]
    if np.any(drive_slope):
        drives.append((lambda z, m: step(z, m) * z * z, drive_slope))
    return gated_layer(decays, step, drives, **options)


def rg_lru_layer(
    decays: ArrayLike,
    *,
    weight: float = 1.0,
    bias: float = 0.0,
    input_weight: float = 1.0,
    input_bias: float = 0.0,
    **options: Any,
) -> StateAffineNetwork:
    """A real-gated linear recurrent unit (De et al. 2024, arXiv 2402.19427).

    x_n ← exp(−a_n g) x_n + √(1 − exp(−2a_n g))·i·z with the recurrence gate g = σ(weight·z + bias)
    and the input gate i = σ(input_weight·z + input_bias), a_n = 8·softplus(Λ_n): one channel of
    google-deepmind/recurrentgemma, torch/layers.py (RGLRU), driven by its own input. ``options``
    are those of :func:`gated_layer`: input, readout, name.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import rg_lru_layer
    >>> memcurve.capacities(rg_lru_layer([0.5, 1.0]), degree=3).total
    2.0
    """
    gate, entrance = _sigmoid(weight, bias), _sigmoid(input_weight, input_bias)

    def driven(decay: float) -> Callable[[Any, Any], Any]:
        return lambda z, m: z * entrance(z, m) * m.sqrt(1 - m.exp(gate(z, m) * (-2 * decay)))

    a = np.atleast_1d(exact_array(decays, "decays"))
    drives = [(driven(decay), 1.0 * (a == decay)) for decay in np.unique(a).tolist()]
    return gated_layer(decays, gate, drives, **options)


def _sigmoid(weight: float, bias: float) -> Callable[[Any, Any], Any]:
    w, b = (require_number(x, "weight", "for a gate, and its bias too") for x in (weight, bias))
    return lambda z, m: 1 / (1 + m.exp(-(z * w + b)))
