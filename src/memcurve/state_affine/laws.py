"""Laws of independent inputs: nodes and weights for expectations, in floats and in more digits."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import exact_array, table_entry
from memcurve.core.types import EPS, Floats
from memcurve.state_affine.faults import fault

NODES = 96  # in float64, for laws with a density
#: Step and ends, in standard deviations, of the trapezoid rule for the normal law, whose error is
#: exp(−2πd/step) for functions analytic within d of the real line.
STEP = 0.125
END = 16.0
AT_THE_ENDS = 1e-10  # share of a moment that may lie at the ends of a rule

Rule = tuple[Sequence[Any], Sequence[Any]]


@dataclass(frozen=True, eq=False, repr=False)
class Law:
    """The law of one input value; values at different times are independent.

    Made by :func:`uniform`, :func:`normal`, :func:`rademacher`, :func:`discrete` and
    :func:`density`.

    Attributes
    ----------
    name : str
        The name in tables.
    nodes, weights : (n,) arrays
        E f(z) = Σ weights·f(nodes).
    is_discrete : bool
        Whether the nodes are the only values.

    Examples
    --------
    >>> from memcurve.state_affine import laws
    >>> law = laws.uniform()
    >>> round(float(law.weights @ law.nodes**2), 12)
    0.333333333333
    """

    name: str
    nodes: Floats
    weights: Floats
    is_discrete: bool = False
    _moment: Callable[[int], Fraction] | None = None
    _precise: Callable[[int, int], Rule] | None = None
    _draw: Callable[[np.random.Generator, Any], Floats] | None = None

    def __repr__(self) -> str:
        return f"Law({self.name})"

    @property
    def is_precise(self) -> bool:
        """Whether nodes and weights are known to any number of digits."""
        return self.is_discrete or self._precise is not None

    def is_same(self, other: Law) -> bool:
        """Whether two laws have the same nodes and weights."""
        pairs = ((self.nodes, other.nodes), (self.weights, other.weights))
        return all(np.array_equal(a, b) for a, b in pairs)

    @property
    def probabilities(self) -> list[Fraction]:
        """Weights that sum to one exactly."""
        weights = list(map(Fraction, self.weights.tolist()))
        total = sum(weights)
        return [weight / total for weight in weights]

    def draw(self, rng: np.random.Generator, shape: int | tuple[int, ...]) -> Floats:
        """Independent values; of a density, of its nodes."""
        if self._draw is not None:
            return self._draw(rng, shape)
        return rng.choice(self.nodes, shape, p=self.weights / self.weights.sum())

    def moment(self, order: int) -> Fraction:
        """E z^order: exactly where the law has a formula, else of the stored nodes and weights."""
        if self._moment is not None:
            return self._moment(order)
        if not self.is_discrete:
            return Fraction(float(self.weights @ self.nodes**order))
        pairs = zip(self.probabilities, self.nodes.tolist(), strict=True)
        return sum((w * Fraction(z) ** order for w, z in pairs), Fraction(0))

    def precise(self, bits: int, finer: int = 1) -> Rule:
        """Nodes and weights as balls; ``finer`` rules have so many times the nodes."""
        from flint import arb, fmpq

        if self._precise is not None:
            return self._precise(bits, finer)
        exact = [arb(fmpq(w.numerator, w.denominator)) for w in self.probabilities]
        return [arb(z) for z in self.nodes.tolist()], exact

    def polynomials(self, degree: int) -> Floats:
        """Values (degree + 1, n) at the nodes of the orthonormal polynomials; zero beyond n − 1."""
        root = np.sqrt(self.weights)
        rows = [root]
        for _ in range(degree):
            v = self.nodes * rows[-1]
            before = float(np.linalg.norm(v))
            _, v = projected(v, rows)
            size = float(np.linalg.norm(v))
            rows.append(v / size if size > 1e3 * EPS * before else np.zeros_like(v))
        return np.array(rows) / root

    def require_finite(self, squares: Floats, what: str) -> None:
        """Refuse a mean of squares, given at the nodes, that appears to be infinite."""
        ends = [0, 1, -2, -1]
        if self.is_discrete or self.weights[ends].sum() > AT_THE_ENDS:  # no tail
            return
        share = (self.weights * squares)[ends].sum() / max(self.weights @ squares, 1e-300)
        if not share <= AT_THE_ENDS:
            raise ValueError(fault("infinite_moment", what=what, law=self.name, share=share))


def projected(v: Floats, rows: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Coefficients of v in orthonormal rows, and the rest, by Gram-Schmidt three times over."""
    E = np.reshape(rows, (-1, len(v)))
    coefficients = np.zeros(len(E))
    for _ in range(3):
        more = E @ v
        coefficients, v = coefficients + more, v - more @ E
    return coefficients, v


def uniform() -> Law:
    """The uniform law on [−1, 1], with nodes sin(πu/2): these integrate √(1 − z²) as well.

    Examples
    --------
    >>> from memcurve.state_affine import laws
    >>> laws.uniform().moment(4)
    Fraction(1, 5)
    """

    def precise(bits: int, finer: int) -> Rule:
        from flint import arb

        half = arb.pi() / 2
        count = finer * max(NODES, bits // 3)
        pairs = [arb.legendre_p_root(count, k, weight=True) for k in range(count)]
        nodes = [(half * u.mid()).sin() for u, _ in pairs]
        # Σ w·cos is 4/π up to the error of the rule
        return nodes, [w.mid() * (half * u.mid()).cos() * half / 2 for u, w in pairs]

    u, w = np.polynomial.legendre.leggauss(NODES)
    weights = w * np.cos(np.pi * u / 2)
    return Law(
        "uniform on [-1, 1]",
        np.sin(np.pi * u / 2),
        weights / weights.sum(),
        _moment=lambda k: Fraction(0) if k % 2 else Fraction(1, k + 1),
        _precise=precise,
        _draw=lambda rng, shape: rng.uniform(-1, 1, shape),
    )


def normal() -> Law:
    """The standard normal law.

    Examples
    --------
    >>> from memcurve.state_affine import laws
    >>> laws.normal().moment(4)
    Fraction(3, 1)
    """

    def precise(bits: int, finer: int) -> Rule:
        from flint import arb

        step = arb(STEP) / finer
        count = int((math.sqrt(1.4 * bits) + 2) * finer / STEP)
        nodes = [step * j for j in range(-count, count + 1)]
        scale = step / (2 * arb.pi()).sqrt()
        return nodes, [(-(z * z) / 2).exp() * scale for z in nodes]

    nodes = np.arange(-END, END + STEP / 2, STEP)
    weights = np.exp(-(nodes**2) / 2)
    return Law(
        "standard normal",
        nodes,
        weights / weights.sum(),
        _moment=lambda k: Fraction(0) if k % 2 else Fraction(math.prod(range(1, k, 2))),
        _precise=precise,
        _draw=lambda rng, shape: rng.standard_normal(shape),
    )


def rademacher() -> Law:
    """Fair coins: −1 and 1 with probability ½ each.

    Examples
    --------
    >>> from memcurve.state_affine import laws
    >>> laws.rademacher().nodes
    array([-1.,  1.])
    """
    return discrete([-1.0, 1.0], [0.5, 0.5], name="coins of -1 and 1")


def discrete(values: ArrayLike, probabilities: ArrayLike, *, name: str = "") -> Law:
    """Finitely many values with their probabilities.

    Examples
    --------
    >>> from memcurve.state_affine import laws
    >>> laws.discrete([0, 1], [0.75, 0.25]).moment(1)
    Fraction(1, 4)
    """
    z, w = exact_array(values, "values"), exact_array(probabilities, "probabilities")
    if z.ndim != 1 or len(z) < 2 or len(np.unique(z)) < len(z) or np.iscomplexobj(z):
        raise ValueError(f"`values` must be two or more different real numbers, got {values!r}.")
    if w.shape != z.shape or not (w > 0).all() or abs(w.sum() - 1) > 1e-12:
        facts = {"count": len(z), "got": probabilities, "total": w.sum()}
        raise ValueError(fault("probabilities", **facts))
    if abs(w.sum() - 1) > len(w) * EPS:  # more than rounding
        w = w / w.sum()
    return Law(name or f"discrete with {len(z)} values", z, w, is_discrete=True)


def density(function: Callable[[Any], Any], low: float = -np.inf, high: float = np.inf) -> Law:
    """A law by its density between ``low`` and ``high``, smooth in between.

    By the double exponential rule, which takes algebraic tails and singular ends.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.state_affine import laws
    >>> law = laws.density(lambda z: np.exp(-z), 0, np.inf)
    >>> round(float(law.weights @ law.nodes), 12)
    1.0
    """
    if not low < high:
        raise ValueError(f"`low` must be below `high`, got {low!r} and {high!r}.")
    t = np.linspace(-4.0, 4.0, 6 * NODES + 1)
    inner, slope = np.pi / 2 * np.sinh(t), np.pi / 2 * np.cosh(t)
    if np.isfinite(low) and np.isfinite(high):
        nodes = low + (high - low) / (1 + np.exp(-2 * inner))
        speed = (high - low) / 2 * slope / np.cosh(inner) ** 2
    elif np.isfinite(low) or np.isfinite(high):
        nodes = low + np.exp(inner) if np.isfinite(low) else high - np.exp(inner)
        speed = slope * np.exp(inner)
    else:
        nodes, speed = np.sinh(inner), slope * np.cosh(inner)
    with np.errstate(all="ignore"):
        weights = np.asarray(function(nodes), dtype=float) * speed
    inside = np.isfinite(weights) & (weights != 0)
    if weights.shape != nodes.shape or (weights < 0).any() or not inside.any():
        raise ValueError(
            "`function` must map an array to densities, finite and not negative, of its shape."
        )
    nodes, first = np.unique(nodes[inside], return_index=True)  # ends may round to one number
    weights = weights[inside][first]
    law = Law("a density", nodes, weights / weights.sum())
    law.require_finite(nodes**2, "moment E|z|^2")
    return law


#: Laws by name.
LAWS = {"uniform": uniform, "normal": normal, "rademacher": rademacher}


def law_of(input: Any) -> Law:
    """The law for a name, a law itself or a frozen distribution of scipy.stats."""
    if isinstance(input, Law):
        return input
    if hasattr(input, "pdf") and hasattr(input, "support"):
        return density(input.pdf, *map(float, input.support()))
    if not isinstance(input, str):
        raise TypeError(fault("law", names=", ".join(LAWS), got=input))
    return table_entry(LAWS, input, "input")()
