"""State-affine networks from bilinear ones, from functions, and from each other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import exact_array, require_size
from memcurve.core.types import Floats
from memcurve.network import LinearNetwork
from memcurve.state_affine.laws import law_of
from memcurve.state_affine.network import Power, StateAffineNetwork

#: Functions below this share of the largest are rounding of p and q. Doubled: more of a formula is
#: taken for rounding.
ROUNDING = 1e-13
#: States of products and features at most. Doubled: sixteen times the memory.
MOST_STATES = 4096


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
        Connectivity, and what the input multiplies.
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
    if np.shape(A) != np.shape(B) or np.shape(A) != (len(mask), len(mask)) or mask.ndim != 1:
        raise ValueError(
            f"`A` and `B` must be square matrices of the size of the vector `C`, got shapes "
            f"{np.shape(A)}, {np.shape(B)} and {np.shape(C)}."
        )
    if constant.shape != mask.shape:
        raise ValueError(f"`bias` must have shape {mask.shape}, got {constant.shape}.")
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
    matrices = np.array([exact_array(p(float(z)), "p") for z in law.nodes])
    vectors = np.array([exact_array(q(float(z)), "q") for z in law.nodes])
    size = vectors.shape[-1]
    if matrices.shape[1:] != (size, size) or vectors.ndim != 2 or np.iscomplexobj(matrices):
        raise ValueError(
            f"`p` must give real square matrices and `q` vectors of one size, got shapes "
            f"{matrices.shape[1:]} and {vectors.shape[1:]}."
        )

    def flat(z: float) -> Floats:
        return np.append(np.ravel(np.asarray(p(z), float)), np.ravel(np.asarray(q(z), float)))

    samples = np.concatenate([matrices.reshape(len(matrices), -1), vectors], axis=1)
    mean = law.weights @ samples
    _, s, V = np.linalg.svd(np.sqrt(law.weights)[:, None] * (samples - mean), full_matrices=False)
    V = V[s > ROUNDING * np.linalg.norm(samples, axis=0).max()]

    def along(v: Floats) -> Callable[[Any], Any]:
        def function(z: Any) -> Any:
            values = [float(v @ (flat(float(one)) - mean)) for one in np.ravel(z)]
            return np.array(values).reshape(np.shape(z))

        return function

    parts = np.concatenate([mean[None], V])
    functions: list[Any] = [Power(0), *map(along, V)]
    return StateAffineNetwork(
        parts[:, : size * size].reshape(-1, size, size), parts[:, size * size :], law,
        functions=functions, readout=readout, rounding="absolute", name=name,
    )  # fmt: skip


def as_state_affine(network: Any, input: Any = "uniform") -> StateAffineNetwork:
    """A linear network as a state-affine one; others as they are."""
    if isinstance(network, StateAffineNetwork):
        return network
    if not isinstance(network, LinearNetwork):
        raise TypeError(
            f"`network` must be a StateAffineNetwork or a LinearNetwork, got "
            f"{type(network).__name__}; see memcurve.as_network."
        )
    if network.inputs > 1:
        raise ValueError(f"`network` must have one input, got {network.inputs}.")
    A, C = network.real_pair()
    dense = A.toarray() if hasattr(A, "toarray") else np.asarray(A)
    shift = np.zeros(len(C))
    if network.shift is not None:
        both = (network.shift.real, network.shift.imag)
        shift = np.concatenate(both) if network.is_complex else network.shift
    read = network.readout
    if read is not None and network.is_complex:
        read = np.concatenate([read, read + network.size])
    return StateAffineNetwork(
        [dense], [shift, C[:, 0]], input, readout=read, name=network.name, notes=network.notes
    )


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
    own = on_shared_functions(*networks)
    ends = np.cumsum([0, *(n.size for n in own)])
    p = np.zeros((len(own[0].p), ends[-1], ends[-1]))
    for n, first, last in zip(own, ends[:-1], ends[1:], strict=True):
        p[:, first:last, first:last] = n.p
    q = np.concatenate([n.q for n in own], axis=1)
    return StateAffineNetwork(p, q, own[0].input, functions=own[0].functions)


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
    (p1, q1), (p2, q2) = (one.p, one.q), (two.p, two.q)
    W = exact_array(weights, "weights")
    if W.shape != (p2.shape[1], p1.shape[1]):
        raise ValueError(
            f"`weights` must have shape ({p2.shape[1]}, {p1.shape[1]}), from the states of `first` "
            f"to those of `second`; got {W.shape}."
        )
    top = np.concatenate([p1, np.zeros((len(p1), p1.shape[1], p2.shape[1]))], axis=2)
    bottom = np.concatenate([W @ p1, p2], axis=2)
    p, q = np.concatenate([top, bottom], axis=1), np.concatenate([q1, q1 @ W.T + q2], axis=1)
    return StateAffineNetwork(p, q, one.input, functions=one.functions)


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
    one, two = on_shared_functions(first, second)
    left, right = _augmented(one.p, one.q), _augmented(two.p, two.q)
    size = left.shape[1] * right.shape[1]
    _require_states(size - 1)
    terms = _Products(one.functions)
    found = np.zeros((0, size, size))
    for i, j in itertools.product(range(len(left)), range(len(right))):
        found = terms.add(found, (i, j), np.kron(left[i], right[j]))
    return StateAffineNetwork(
        found[:, 1:, 1:], found[:, 1:, 0], one.input, functions=terms.functions()
    )


def features(network: Any, degree: int, *, input: Any = "uniform") -> StateAffineNetwork:
    """All monomials of the states up to a degree: a network with a polynomial readout.

    Of a delay line these are the features of next-generation reservoir computing.

    Parameters
    ----------
    network : StateAffineNetwork or LinearNetwork
        The network.
    degree : int
        Highest degree of the monomials.
    input
        Law of the input of a linear network.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve.state_affine import features
    >>> line = memcurve.ensembles.delay_line(2)
    >>> memcurve.capacities(features(line, 2)).by_degree
    {1: 2.0, 2: 3.0}
    """
    degree = require_size(degree, "degree")
    own = as_state_affine(network, input)
    hat = _augmented(own.p, own.q)
    size = hat.shape[1]
    indices = list(itertools.combinations_with_replacement(range(size), degree))
    _require_states(len(indices) - 1)
    place = {one: k for k, one in enumerate(indices)}
    terms = _Products(own.functions)
    found = np.zeros((0, len(indices), len(indices)))
    for choice in itertools.product(range(len(hat)), repeat=degree):
        matrix = np.zeros((len(indices), len(indices)))
        for row, monomial in enumerate(indices):
            factors: list[Floats] = [
                hat[i][state] for i, state in zip(choice, monomial, strict=True)
            ]
            for column in itertools.product(*(np.flatnonzero(f).tolist() for f in factors)):
                weight = np.prod([f[c] for f, c in zip(factors, column, strict=True)])
                matrix[row, place[tuple(sorted(column))]] += weight
        found = terms.add(found, choice, matrix)
    return StateAffineNetwork(
        found[:, 1:, 1:], found[:, 1:, 0], own.input, functions=terms.functions()
    )


def _require_states(states: int) -> None:
    if states > MOST_STATES:
        raise ValueError(
            f"`network` must leave at most {MOST_STATES:,} states, got {states:,}; take a smaller "
            f"network or degree."
        )


def _augmented(p: Floats, q: Floats) -> Floats:
    """Letters of (1, x): [[1, 0], [q, p]] for the constant, [[0, 0], [q, p]] for the others."""
    found = np.zeros((len(p), p.shape[1] + 1, p.shape[1] + 1))
    found[:, 1:, 1:], found[:, 1:, 0] = p, q
    found[0, 0, 0] = 1.0
    return found


class _Products:
    """Products of functions, each listed once; powers of z are added up."""

    def __init__(self, functions: Sequence[Any]) -> None:
        self._own, self._keys = functions, list[Any]()

    def add(self, found: Floats, choice: tuple[int, ...], matrix: Floats) -> Floats:
        chosen = [self._own[i] for i in choice]
        key: Any = tuple(sorted(i for i in choice if i))
        if all(isinstance(f, Power) for f in chosen):
            key = sum(f.power for f in chosen)
        if key not in self._keys:
            if not matrix.any() and self._keys:
                return found
            self._keys.append(key)
            found = np.concatenate([found, np.zeros((1, *matrix.shape))])
        found[self._keys.index(key)] += matrix
        return found

    def functions(self) -> list[Any]:
        def of(key: Any) -> Any:
            if isinstance(key, int):
                return Power(key)
            chosen = [self._own[i] for i in key]
            return _Product(tuple(chosen)) if chosen else Power(0)

        return [of(key) for key in self._keys]


class _Product:
    """A product of functions."""

    def __init__(self, factors: tuple[Any, ...]) -> None:
        self.factors = factors
        if all(hasattr(f, "precise") for f in factors):
            self.precise = self._precise

    def __call__(self, z: Any) -> Any:
        return np.prod([f(z) for f in self.factors], axis=0)

    def _precise(self, z: Any) -> Any:
        value = z * 0 + 1
        for f in self.factors:
            value *= f.precise(z)
        return value


def on_shared_functions(*networks: Any) -> list[StateAffineNetwork]:
    """Networks that are driven by one input, over the same functions of it."""
    laws = [n.input for n in networks if isinstance(n, StateAffineNetwork)]
    law = laws[0] if laws else law_of("uniform")
    if len({one.name for one in laws}) > 1:
        raise ValueError(
            f"`networks` must be driven by one input, got {', '.join(o.name for o in laws)}."
        )
    own = [as_state_affine(n, law) for n in networks]
    functions = list(dict.fromkeys(f for n in own for f in n.functions))
    if all(isinstance(f, Power) for f in functions):
        functions = [Power(k) for k in range(max(f.power for f in functions) + 1)]

    def spread(parts: Floats, places: list[int]) -> Floats:
        found = np.zeros((len(functions), *parts.shape[1:]))
        found[places] = parts
        return found

    return [
        n.replace(
            **dict(zip("pq", (spread(part, places) for part in (n.p, n.q)), strict=True)),
            functions=functions,
            outputs=n.outputs and tuple(spread(part, places) for part in n.outputs),
        )
        for n in own
        for places in [[functions.index(f) for f in n.functions]]
    ]
