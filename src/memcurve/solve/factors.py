"""Which eigenvalues of small strong components count, exactly.

The eigenvalues of a network are those of its strong components. Small ones, equal self-loops above
all, repeat each other in measured networks, and a single input drives a repeated eigenvalue only as
often as its minimal polynomial μ has it as a root. The characteristic polynomials of small
components factor over the integers, and μ is known modulo primes: how often a factor divides it
modulo the primes is how often its roots count, but for an accident of probability about 1/p².
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.result import Complexes, Floats
from memcurve.solve.modular import Factor, dyadic, multiplicity, residues

#: Components up to this size are factored, unless their weights differ by so many binary digits.
SMALL, MOST_DIGITS = 24, 400
#: Coefficients of factors that are tried.
SMALL_INTEGER = 6
#: Eigenvalues this near a root, in units of the weight, may be it; of so many weights at most.
AROUND, MOST_WEIGHTS = 1e-3, 16

#: A polynomial over the integers by its coefficients, the constant one first.
Polynomial = tuple[int, ...]


class Shared(NamedTuple):
    """Eigenvalues that some blocks have in common, how often in all, and how often they count."""

    roots: Complexes
    blocks: list[int]
    appears: int
    counts: int


class Counting(NamedTuple):
    """Blocks with eigenvalues that do not all count, and those of their eigenvalues that do.

    ``lost`` is how many do not, ``nonzero`` how many of these blocks there are that are not zero;
    ``roots`` are exact up to their last digit, without zeros; ``shared`` are those that do not all
    count, one irreducible factor after the other.
    """

    blocks: list[int]
    roots: Complexes
    lost: int
    nonzero: int
    shared: list[Shared]


def counting_roots(blocks: Sequence[Floats], modulo: dict[int, list[int]]) -> Counting:
    """Judge the small ones among the diagonal blocks by the residues of the minimal polynomial."""
    small = [k for k, B in enumerate(blocks) if len(B) <= SMALL and B.any()]
    weights = np.concatenate([blocks[k][blocks[k] != 0] for k in small] or [np.zeros(0)])
    _, exponents = dyadic(weights)
    unit = int(exponents.min(initial=0))
    if int(exponents.max(initial=unit)) - unit > MOST_DIGITS:
        return Counting([], np.zeros(0, complex), 0, 0, [])
    factors = {k: _factors(blocks[k], unit) for k in small}
    total: Counter[Polynomial] = sum(factors.values(), Counter())
    exactly = {g: partial(_stretched, g, lambda p: pow(2, unit, p)) for g in total}
    counts = {g: min(total[g], multiplicity(exactly[g], modulo)) for g in total}
    lossy = {g for g in total if counts[g] < total[g]}
    touched = [k for k in small if lossy & factors[k].keys()]
    kept = {g: counts[g] for g in lossy}
    for k in touched:
        for g in factors[k].keys() - lossy:
            kept[g] = kept.get(g, 0) + factors[k][g]
    roots = [np.repeat(_roots(g, unit), count) for g, count in kept.items() if count]
    degrees = [(len(g) - 1) * count for k in touched for g, count in factors[k].items()]
    lost = sum((total[g] - counts[g]) * (len(g) - 1) for g in lossy)
    shared = [
        Shared(_roots(g, unit), [k for k in touched if g in factors[k]], total[g], counts[g])
        for g in sorted(lossy)
    ]
    kept_roots = np.concatenate([np.zeros(0, complex), *roots])
    return Counting(touched, kept_roots, lost, sum(degrees), shared)


def likely_factor(
    weights: Floats, value: complex, uncertainty: float
) -> tuple[Factor, complex] | None:
    """A polynomial that may have an eigenvalue near ``value``, and that root of it.

    Measured networks repeat small motifs. With w the weight of an edge it is z ± w, or, where all
    weights are ±w, an irreducible z² + awz + bw² with small integers a and b.
    """
    w = float(weights[np.argmin(np.abs(weights - abs(value)))])
    polynomials, roots = _motifs()
    near = np.abs(w * roots - value) <= uncertainty
    if len(weights) > 1:
        near[2:] = False
    if not near.any():
        return None
    first = int(np.argmax(near))
    return partial(_stretched, polynomials[first], partial(_residue, w)), complex(w * roots[first])


def likely_factors(weights: Floats, values: Complexes) -> Iterator[tuple[Factor, Complexes]]:
    """The same for all eigenvalues at once: polynomials with roots next to some, and all its roots.

    Those with the most eigenvalues around come first. Of several weights, two in a cycle have
    eigenvalues with z² = ±vw, too.
    """
    polynomials, roots = _motifs()
    if len(weights) > 1:
        polynomials, roots = polynomials[:2], roots[:2]
    listed = weights.tolist() if len(weights) <= MOST_WEIGHTS else []
    likely: list[tuple[int, Factor, Complexes]] = []
    for w in listed:
        near = _around(values, w * roots, w)
        for g in dict.fromkeys(polynomials[k] for k in np.flatnonzero(near)):
            same = np.array([h == g for h in polynomials])
            stretched = partial(_stretched, g, partial(_residue, w))
            likely.append((int(near[same].max()), stretched, w * roots[same]))
    for v, w in itertools.combinations(listed, 2):
        length = float(np.sqrt(v) * np.sqrt(w))
        for sign, root in ((-1, 1j * length), (1, complex(length))):
            own = np.array([root, -root])
            count = int(_around(values, own, length).max())
            if count and (sign < 0 or not _has_rational_root(v, w)):
                likely.append((count, partial(_cycle_of_two, v, w, sign), own))
    for _, factor, own in sorted(likely, key=lambda item: -item[0]):
        yield factor, own


def _around(values: Complexes, roots: Complexes, unit: float) -> NDArray[np.intp]:
    """How many eigenvalues may be each of some roots."""
    near = np.abs(values[:, None] - roots) <= AROUND * unit
    return np.asarray(np.count_nonzero(near, axis=0))


def _cycle_of_two(v: float, w: float, sign: int, prime: int) -> list[int]:
    """z² ∓ vw by its residues."""
    return [-sign * _residue(v, prime) * _residue(w, prime) % prime, 0, 1]


def _has_rational_root(v: float, w: float) -> bool:
    """Whether vw is a square, so that z² − vw has two factors."""
    mantissa, exponent = dyadic(np.array([v, w]))
    product, power = math.prod(mantissa.tolist()), int(exponent.sum())
    product <<= power % 2
    return bool(math.isqrt(product) ** 2 == product)


def _residue(w: float, prime: int) -> int:
    return int(residues(np.array([w]), prime)[0])


@cache
def _motifs() -> tuple[list[Polynomial], Complexes]:
    """Polynomials that motifs of unit weights have, z ∓ 1 first, each root with its polynomial."""
    integers = range(-SMALL_INTEGER, SMALL_INTEGER + 1)
    squares = {k * k for k in range(4 * SMALL_INTEGER)}
    tried: list[Polynomial] = [(-1, 1), (1, 1), *((k, 1) for k in integers if abs(k) > 1)]
    tried += [(b, a, 1) for a in integers for b in integers if a * a - 4 * b not in squares]
    polynomials = [g for g in tried for _ in g[1:]]
    return polynomials, np.concatenate([np.roots(g[::-1]).astype(complex) for g in tried])


def _stretched(g: Polynomial, unit: Callable[[int], int], prime: int) -> list[int]:
    """The polynomial whose roots are those of g times a number, by its residue."""
    residue = unit(prime)
    return [c * pow(residue, len(g) - 1 - k, prime) % prime for k, c in enumerate(g)]


def _factors(B: Floats, unit: int) -> Counter[Polynomial]:
    """Irreducible factors of det(z − B/2^unit), zeros left out."""
    from flint import fmpz_mat

    mantissa, exponent = dyadic(B.ravel())
    entries = [
        m << (e - unit) if m else 0
        for m, e in zip(mantissa.tolist(), exponent.tolist(), strict=True)
    ]
    if len(B) == 1:
        return Counter({(-entries[0], 1): 1})
    _, found = fmpz_mat(len(B), len(B), entries).charpoly().factor()
    named = {tuple(int(c) for c in g.coeffs()): count for g, count in found}
    return Counter({g: count for g, count in named.items() if g != (0, 1)})


def _roots(g: Polynomial, unit: int) -> Complexes:
    """Roots times 2^unit, correctly rounded but for the last digit."""
    from flint import ctx, fmpz_poly

    if len(g) == 2:
        return np.array([np.ldexp(float(-g[0]), unit)], complex)
    with ctx.workprec(128):
        found = np.array([complex(root) for root, _ in fmpz_poly(list(g)).complex_roots()])
    return np.asarray(np.ldexp(found.real, unit) + 1j * np.ldexp(found.imag, unit))
