"""Which eigenvalues of strong components that repeat each other count, exactly.

The eigenvalues of a network are those of its strong components. Small ones, equal self-loops above
all, repeat each other in measured networks, and a single input drives a repeated eigenvalue only as
often as its minimal polynomial μ has it as a root. The characteristic polynomials of small
components factor over the integers, and μ is known modulo primes: how often a factor divides it
modulo the primes is how often its roots count, but for an accident of probability about 1/p². Of
larger components those with the same polynomial are compared as a whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import numpy as np

from memcurve.core.types import Complexes, Floats
from memcurve.solve.modes import LostModes
from memcurve.solve.modular import characteristic_polynomial, dyadic, residues

#: A polynomial over the integers by its coefficients, the constant one first.
Polynomial = tuple[int, ...]
#: A monic polynomial by its coefficients modulo a prime, the constant one first.
Factor = Callable[[int], list[int]]


class Repeated(NamedTuple):
    """Components that are known exactly, or left out, and those of their eigenvalues that count.

    ``blocks`` are these components, ``roots`` their eigenvalues that count, exact up to the last
    digit, without zeros; ``lost`` those that do not.
    """

    blocks: list[int]
    roots: Complexes
    lost: list[LostModes]

    @property
    def missing(self) -> int:
        """How many are lost."""
        return sum(modes.missing for modes in self.lost)


def repeated_components(
    blocks: Sequence[Floats],
    modulo: dict[int, list[int]],
    *,
    most_states: int = 24,
    most_digits: int = 400,
) -> Repeated:
    """Judge the diagonal blocks by the residues of the minimal polynomial.

    Those of at most ``most_states`` are factored over the integers (a hundred of twice the size
    would take a second), but where their weights differ by more than ``most_digits`` binary digits.
    """
    small = [k for k, B in enumerate(blocks) if len(B) <= most_states and B.any()]
    weights = np.concatenate([blocks[k][blocks[k] != 0] for k in small] or [np.zeros(0)])
    _, exponents = dyadic(weights)
    unit = int(exponents.min(initial=0))
    if int(exponents.max(initial=unit)) - unit > most_digits:
        small = []
    factors = {k: _factors(blocks[k], unit) for k in small}
    total: Counter[Polynomial] = sum(factors.values(), Counter())
    exactly = {g: partial(_stretched, g, unit) for g in total}
    counts = {g: min(total[g], multiplicity(exactly[g], modulo)) for g in total}
    lossy = {g for g in total if counts[g] < total[g]}
    touched = [k for k in small if lossy & factors[k].keys()]
    kept = {g: counts[g] for g in lossy}
    for k in touched:
        for g in factors[k].keys() - lossy:
            kept[g] = kept.get(g, 0) + factors[k][g]
    roots = [np.repeat(_roots(g, unit), count) for g, count in kept.items() if count]
    lost = [
        LostModes(
            _roots(g, unit), total[g], counts[g], tuple(k for k in touched if g in factors[k])
        )
        for g in sorted(lossy)
    ]
    dropped, alike = _equal_blocks(blocks, modulo, most_states)
    return Repeated(touched + dropped, np.concatenate([np.zeros(0, complex), *roots]), lost + alike)


def _equal_blocks(
    blocks: Sequence[Floats], modulo: dict[int, list[int]], size: int
) -> tuple[list[int], list[LostModes]]:
    """Blocks above ``size`` that are copies of others and do not count, and what is lost."""
    sizes = Counter(len(B) for B in blocks)
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for k, B in enumerate(blocks):
        if len(B) > size and sizes[len(B)] > 1:
            coefficients = characteristic_polynomial(B, next(iter(modulo))).coeffs()
            if coefficients[0] != 0:  # zeros are counted elsewhere
                groups[tuple(int(c) for c in coefficients)].append(k)
    dropped, lost = list[int](), list[LostModes]()
    for group in groups.values():
        B, total = blocks[group[0]], len(group)
        counts = multiplicity(
            lambda prime: [int(c) for c in characteristic_polynomial(B, prime).coeffs()],  # noqa: B023
            modulo,
        )
        if counts < total:
            dropped += group[counts:]
            values = np.linalg.eigvals(B).astype(complex)
            lost.append(LostModes(values, total, counts, tuple(group)))
    return dropped, lost


def multiplicity(factor: Factor, modulo: dict[int, list[int]]) -> int:
    """How often a factor divides a polynomial that is known modulo primes.

    An unlucky prime makes it more, never less.
    """
    from flint import nmod_poly

    often = []
    for prime, coefficients in modulo.items():
        rest, divisor, count = nmod_poly(coefficients, prime), nmod_poly(factor(prime), prime), 0
        while rest.degree() >= divisor.degree():
            rest, left = divmod(rest, divisor)
            if left != 0:
                break
            count += 1
        often.append(count)
    return min(often, default=0)


def integer_roots(
    blocks: Sequence[Floats], modulo: dict[int, list[int]], *, most_weights: int = 16
) -> list[tuple[complex, int]]:
    """Non-zero eigenvalues of the blocks that do not count, each with how often it is lost.

    They are the roots of χ/μ. Where the weights are few, and small multiples of one w, that is a
    polynomial over the integers in z/w, and so are the products of its factors of equal
    multiplicity. If their coefficients are small, they are known from their residues. None of the
    eigenvalues, where the primes say different things.
    """
    from flint import ctx, fmpz_poly, nmod_poly

    weights = np.unique(np.concatenate([np.unique(np.abs(B[B != 0])) for B in blocks]))
    if len(modulo) < 2 or not 0 < len(weights) <= most_weights:
        return []
    unit = Fraction(float(weights[0]))
    if any((Fraction(w) / unit).denominator > 1 for w in weights.tolist()):
        return []
    read: list[list[tuple[int, list[int]]]] = []
    for prime, minimal in modulo.items():
        lost = nmod_poly([1], prime)
        for B in blocks:
            lost *= characteristic_polynomial(B, prime)
        lost //= nmod_poly(minimal, prime)
        inverse, factors = pow(int(residues(weights[:1], prime)[0]), -1, prime), []
        for factor, often in lost.factor_squarefree()[1]:
            coefficients = [int(c) for c in factor.coeffs()]
            coefficients = coefficients[coefficients[0] == 0 :]  # zero is no matter here
            scaled = [
                c * pow(inverse, len(coefficients) - 1 - k, prime) % prime
                for k, c in enumerate(coefficients)
            ]
            factors.append((often, [c - prime if 2 * c > prime else c for c in scaled]))
        read.append(sorted(factors))
    if any(other != read[0] for other in read[1:]):
        return []
    with ctx.workprec(128):
        return [
            (complex(root) * float(weights[0]), often)
            for often, coefficients in read[0]
            for root, _ in fmpz_poly(coefficients).complex_roots()
        ]


def _stretched(g: Polynomial, exponent: int, prime: int) -> list[int]:
    """The polynomial whose roots are those of g times a power of two, modulo a prime."""
    unit = pow(2, exponent, prime)
    return [c * pow(unit, len(g) - 1 - k, prime) % prime for k, c in enumerate(g)]


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
    _, factors = fmpz_mat(len(B), len(B), entries).charpoly().factor()
    named = {tuple(int(c) for c in g.coeffs()): count for g, count in factors}
    return Counter({g: count for g, count in named.items() if g != (0, 1)})


def _roots(g: Polynomial, unit: int) -> Complexes:
    """Roots times 2^unit, correctly rounded but for the last digit."""
    from flint import ctx, fmpz_poly

    if len(g) == 2:
        return np.array([np.ldexp(float(-g[0]), unit)], complex)
    with ctx.workprec(128):
        roots = np.array([complex(root) for root, _ in fmpz_poly(list(g)).complex_roots()])
    return np.asarray(np.ldexp(roots.real, unit) + 1j * np.ldexp(roots.imag, unit))
