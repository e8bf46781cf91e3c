"""Exact linear algebra on stored floats, modulo primes: ranks and minimal polynomials.

Float64 numbers are dyadic rationals, so modulo an odd prime p every rank of a matrix of them has an
exact answer, which never exceeds the true one and is below it only by accident. Primes are below
2³⁰ and so small that products of matrices of centred residues, held in float64, are exact: BLAS
does the work; products with a sparse A are of int64.

The degree of the minimal polynomial of C with respect to A is the rank of [C, AC, A²C, …]. It
follows from 2r terms of the scalar sequence uᵀAᵏC, u random (Wiedemann 1986), whose shortest linear
recurrence is found by the Berlekamp–Massey algorithm. It is too low with a probability of about
2n/p; other primes are tried whenever it is below what the wiring allows. Several inputs become one:
feedback does not change what they reach, and for nearly every F one mask Cg with A + CF in place of
A reaches all that C does with A (Heymann 1968).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import require_room_for_array
from memcurve.core.progress import ProgressCallback, no_progress
from memcurve.core.types import SEED, Complexes, Floats
from memcurve.network.graph import Indices, eigenvalues

#: Products with matrices of fewer non-zeros are quicker than squarings of dense ones. Doubled:
#: networks of 100 to 300 nodes take longer.
FEW_NON_ZEROS = 0.05
#: Primes of 62 bits, for FLINT, far from powers of two: modulo 2^61 − 1, say, 1 and 2^61 coincide.
WORD_PRIMES = (3141592653589793239, 2718281828459045269)


# --- residues


def dyadic(x: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Integers m and exponents e with x = m·2^e exactly."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(mantissa, 53).astype(np.int64), exponent.astype(np.int64) - 53


def centred(x: Any, prime: int, xp: Any = np) -> Any:
    """Reduce integers held in float64, of any array library, to residues of modulus about p/2."""
    return x - prime * xp.round(x / prime)


def residues(x: Floats, prime: int) -> Floats:
    """Map float64 numbers m·2^e to centred residues modulo an odd prime below 2³¹."""
    integer, exponent = dyadic(x)
    lowest = int(exponent.min(initial=0))
    powers = [pow(2, lowest, prime)]
    for _ in range(int(exponent.max(initial=lowest)) - lowest):
        powers.append(2 * powers[-1] % prime)
    product = integer % prime * np.array(powers, dtype=np.int64)[exponent - lowest] % prime
    return np.asarray(centred(product.astype(float), prime))


def sparse_if_few(A: Any) -> Any:
    """A matrix of few non-zeros as a sparse one, with which products are quicker, by rows."""
    if not isinstance(A, np.ndarray):
        return A.tocsr()
    if np.count_nonzero(A) > FEW_NON_ZEROS * A.size:
        return A
    from scipy.sparse import csr_array

    rows, columns = np.nonzero(A != 0)  # of truth values, much faster than of numbers
    ends = np.append(0, np.cumsum(np.bincount(rows, minlength=len(A))))
    entries = (A[rows, columns], columns.astype(np.int32), ends.astype(np.int32))
    return csr_array(entries, shape=A.shape)


def _reduced(A: Any, prime: int) -> Any:
    """The residues of a dense or sparse matrix."""
    if isinstance(A, np.ndarray):
        return residues(A, prime)
    reduced = A.copy()
    reduced.data = residues(A.data, prime)
    return reduced


@cache
def primes(size: int) -> list[int]:
    """Large primes p for which a dot product of ``size`` centred residues is an exact float64."""
    return _primes_below(int(2 * (2**53 / size) ** 0.5) - 8)  # size·(p/2 + 1)² < 2^53


def primes_for(A: Any, masks: int = 1) -> list[int]:
    """The same for a dense A, or a sparse [A, C], whose products are int64."""
    if isinstance(A, np.ndarray):
        return primes(max(len(A), masks))
    longest = int(np.diff(A.indptr).max(initial=0)) + masks
    return _primes_below(int((2**64 / longest) ** 0.5))  # longest·(p/2)·p < 2^63


@cache
def _primes_below(bound: int, count: int = 3) -> list[int]:
    """Primes below a bound and 2³⁰, not next to a power of two: many floats would coincide."""
    from flint import fmpz

    bound = int(0.8137 * min(2**30, bound))
    primes: list[int] = []
    candidate = bound - 1 + bound % 2
    while len(primes) < count and candidate > 2:
        if fmpz(candidate).is_prime():
            primes.append(candidate)
        candidate -= 2
    return primes


# --- the minimal polynomial


class MinimalPolynomial(NamedTuple):
    """Its degree, multiplicity at zero, and coefficients modulo some primes, lowest first."""

    degree: int
    zeros: int
    modulo: dict[int, list[int]]

    @property
    def nonzero(self) -> int:
        """How many of its roots are not zero."""
        return self.degree - self.zeros


def minimal_polynomial(
    A: Any,
    C: Floats,
    most: int | None = None,
    notify: ProgressCallback = no_progress,
    small_chance: float = 1e-7,
) -> MinimalPolynomial:
    """Exact for the stored numbers of a dense or sparse A and a mask C (n,), or several (n, d).

    Primes are tried until the degree is ``most``, a known bound, or they agree but for a
    ``small_chance``, (2n/p)^k for k of them.
    """
    most = len(C) if most is None else most
    best = MinimalPolynomial(0, 0, {})
    if not C.any():
        return best
    A, rng = sparse_if_few(A), np.random.default_rng(SEED)
    for prime in primes_for(A, C[0].size):
        sequence = KrylovSequence(A, C, prime, rng)
        label = f"products modulo {prime:,}" if best.degree else "products"
        coefficients = sequence.recurrence(most, lambda *step: notify(label, *step))  # noqa: B023
        zeros = next((k for k, c in enumerate(coefficients) if c), 0)
        polynomial = MinimalPolynomial(len(coefficients) - 1, zeros, {prime: coefficients})
        # an unlucky prime lowers the degree or raises the multiplicity, never the reverse
        if polynomial[:2] == best[:2]:
            best.modulo[prime] = coefficients
        elif (polynomial.degree, -polynomial.zeros) > (best.degree, -best.zeros):
            best = polynomial
        chance = (2 * len(C) / prime) ** len(best.modulo)
        if best.degree == most or chance <= small_chance:
            break
    return best


def recurrence(terms: Floats, prime: int) -> list[int]:
    """Monic coefficients, lowest first, of the shortest recurrence modulo p (Berlekamp–Massey)."""
    from flint import fmpz_mod_ctx, fmpz_mod_poly_ctx

    ring = fmpz_mod_poly_ctx(fmpz_mod_ctx(prime))
    return [int(c) for c in ring.minpoly([int(term) for term in terms % prime]).coeffs()]


def krylov_terms(
    A: Any, u: Any, v: Any, prime: int, square: Callable[[Any], Any], squarings: int, xp: Any = np
) -> Any:
    """2n terms uᵀAᵏv or some more, as (uᵀAⁱ)(A^{bj}v), i < b = 2^squarings ≈ √(2n); k = bj + i.

    Residues in float64, of any array library: A (..., n, n), u and v (..., n, 1).
    """
    left = _powers_times(xp.matrix_transpose(A), u, 2**squarings, prime, xp)
    for _ in range(squarings):
        A = square(A)
    right = _powers_times(A, v, -(-2 * v.shape[-2] // 2**squarings), prime, xp)
    return centred(xp.matmul(xp.matrix_transpose(right), left), prime, xp)


def _powers_times(A: Any, v: Any, count: int, prime: int, xp: Any) -> Any:
    """[v, Av, …, A^{count−1}v] modulo p."""
    columns = [v]
    for _ in range(count - 1):
        columns.append(centred(xp.matmul(A, columns[-1]), prime, xp))
    return xp.concat(columns, axis=-1)


class KrylovSequence:
    """x_{k+1} = (A + CF)x_k modulo p, and terms uᵀx_k, made as they are needed, some ``at_a_time``.

    For one mask, x_0 = C and F = 0; for several, F and the combination of masks are random.
    """

    def __init__(
        self, A: Any, C: Floats, prime: int, rng: np.random.Generator, *, at_a_time: int = 64
    ) -> None:
        from scipy.sparse import csr_array, hstack

        def draw(*shape: int) -> Any:
            return centred(rng.integers(1, prime, shape).astype(float), prime)

        self.prime, self.is_dense = prime, isinstance(A, np.ndarray)
        self._size, self._at_a_time, self.terms = len(C), at_a_time, list[int]()
        if self._size > 2**53 // prime:  # sums of as many residues would not be exact
            raise ValueError(
                f"`network` must have at most {2**53 // prime:,} states for an exact rank, got "
                f"{self._size:,}; memcurve.structural_rank bounds it from the wiring."
            )
        mask, matrix = residues(C.reshape(len(C), -1), prime), _reduced(A, prime)
        self._u, self.x = draw(self._size), mask[:, 0]
        self._feedback: Floats | None = None
        if mask.shape[1] > 1:
            feedback = draw(mask.shape[1], self._size)
            self.x = _dot(draw(mask.shape[1]), mask.T, prime)
            if self.is_dense:
                matrix = centred(matrix + centred(mask @ feedback, prime), prime)
            else:
                matrix, self._feedback = hstack([matrix, csr_array(mask)], format="csr"), feedback
        self._matrix = matrix if self.is_dense else csr_array(matrix, dtype=np.int64)

    def blocks(self, count: int) -> Iterator[Floats]:
        """Go on from x_k by some steps, and pass on x_k as columns, some at a time."""
        while count > 0:
            columns = []
            for _ in range(min(self._at_a_time, count)):
                columns.append(self.x)
                self.x = self._next(self.x)
            count -= len(columns)
            X = np.stack(columns, axis=1)
            self.terms += (_dot(self._u, X, self.prime) % self.prime).astype(np.int64).tolist()
            yield X

    def recurrence(
        self, most: int, notify: Callable[[int, int], None], beyond: int = 20
    ) -> list[int]:
        """Coefficients of the shortest recurrence, of a degree of at most ``most``.

        Of ever more terms: one that holds for ``beyond`` more is wrong with a chance of n/p.
        """
        if self.is_dense:
            return recurrence(np.ravel(self._dense_terms())[: 2 * self._size], self.prime)
        terms = self._at_a_time
        while True:
            terms = 2 * most if 5 * terms > 9 * most else terms  # nearly all: go to the end
            for _ in self.blocks(terms - len(self.terms)):
                notify(len(self.terms), 2 * most)
            coefficients = recurrence(np.array(self.terms), self.prime)
            if terms == 2 * most or 2 * (len(coefficients) - 1) + beyond <= terms:
                notify(2 * most, 2 * most)
                return coefficients
            terms *= 2

    def _dense_terms(self) -> Floats:
        def square(power: Floats) -> Any:
            return centred(power @ power, self.prime)

        squarings = max(0, round(np.log2(2 * self._size) / 2))
        u, v = self._u[:, None], self.x[:, None]
        return np.asarray(krylov_terms(self._matrix, u, v, self.prime, square, squarings))

    def _next(self, x: Floats) -> Floats:
        if self._feedback is not None:
            x = np.concatenate([x, _dot(self._feedback, x[:, None], self.prime)[:, 0]])
        if self.is_dense:
            return np.asarray(centred(self._matrix @ x, self.prime))
        return np.asarray((self._matrix @ x.astype(np.int64)) % self.prime, dtype=float)


def _dot(u: Floats, X: Floats, prime: int, *, half: float = 2.0**15) -> Floats:
    """Products uX modulo p of integers below 2³⁰ in modulus, by two digits: nothing is rounded."""
    high_u, high = np.round(u / half), np.round(X / half)
    low_u, low = u - half * high_u, X - half * high
    total = centred(high_u @ high, prime)
    for term in (high_u @ low + low_u @ high, low_u @ low):
        total = centred(half * total + centred(term, prime), prime)
    return np.asarray(total)


# --- ranks


def krylov_rank(
    A: Any,
    C: Floats,
    rows: Indices | None = None,
    most: int | None = None,
    notify: ProgressCallback = no_progress,
) -> int:
    """Rank of [C, AC, A²C, …] of masks C (n, d), or of some rows; ``most``: a bound that is known.

    Rows are read of as many random combinations of columns that span the space as there are rows.
    """
    degree = minimal_polynomial(A, C, most, notify).degree
    if rows is None or degree == 0:
        return degree
    A, rng = sparse_if_few(A), np.random.default_rng(SEED)
    best, wide = 0, min(degree, len(rows))
    # a list of Python's integers on the way to FLINT
    require_room_for_array((len(rows), wide), "the matrix of what is read", itemsize=40)
    for prime in primes_for(A, C[0].size):
        sequence, read, done = KrylovSequence(A, C, prime, rng), 0.0, 0
        for X in sequence.blocks(degree):
            weights = centred(rng.integers(1, prime, (X.shape[1], wide)).astype(float), prime)
            read, done = centred(read + _dot(X[rows], weights, prime), prime), done + X.shape[1]
            notify("rows that are read", done, degree)
        best = max(best, int(flint_matrix(np.asarray(read), prime).rank()))
        if best == wide:
            break
    return best


def proportional_rows(A: Any, C: Floats) -> tuple[list[Indices], list[int]]:
    """Rows of [C, AC, A²C, …] that are multiples of each other, in groups, and those that vanish.

    Modulo a prime, under four random inputs for n steps: by accident with probability n²/p³.
    """
    size, rng = len(C), np.random.default_rng(SEED)
    prime = primes(size)[0]
    reduced, mask = _reduced(sparse_if_few(A), prime), residues(C, prime)
    v = np.zeros((size, 4))
    for _ in range(size):
        drive = rng.integers(prime, size=(mask.shape[1], 4)).astype(float)
        v = centred(reduced @ v + centred(mask @ centred(drive, prime), prime), prime)
    rows, groups = (v % prime).astype(np.int64), dict[bytes, list[int]]()
    for node, row in enumerate(rows):
        first = next((int(entry) for entry in row if entry), 1)
        scaled = row * pow(first, -1, prime) % prime
        groups.setdefault(scaled.tobytes(), []).append(node)
    vanishing = groups.pop(np.zeros(4, np.int64).tobytes(), [])
    return [np.array(group, np.intp) for group in groups.values() if len(group) > 1], vanishing


# --- uncontrollable eigenvalues: the roots of χ/μ, characteristic over minimal polynomial


class UncontrollableModes(NamedTuple):
    """Eigenvalues, how often each appears and is controllable; its strong components, if known.

    ``uncertainty`` is how far a value may be off, beyond its last digits.
    """

    values: Complexes
    multiplicity: int
    controllable: int
    blocks: tuple[int, ...] = ()
    uncertainty: float = 0.0

    @property
    def times(self) -> int:
        """How often each of them is uncontrollable."""
        return self.multiplicity - self.controllable


def flint_matrix(x: Floats, prime: int) -> Any:
    """Float64 numbers m·2^e, or residues held as such, modulo any odd prime, for FLINT."""
    from flint import fmpz_mat, nmod_mat

    if prime < 2**31:
        entries = residues(np.ravel(x), prime).astype(np.int64).tolist()
    else:
        entries = _word_residues(np.ravel(x), prime)
    return nmod_mat(fmpz_mat(*x.shape, entries), prime)  # takes half the time of the direct way


def _word_residues(x: Floats, prime: int) -> list[int]:
    """The same for primes of up to 64 bits, as Python's integers."""
    entries, places = [0] * len(x), np.flatnonzero(x)
    integers, exponents = (part.tolist() for part in dyadic(x[places]))
    powers = {e: pow(2, e, prime) for e in set(exponents)}
    for place, m, e in zip(places.tolist(), integers, exponents, strict=True):
        entries[place] = m * powers[e] % prime
    return entries


def uncontrollable_modes(
    blocks: Sequence[Floats], minimal: dict[int, list[int]], *, small: int = 24
) -> tuple[list[UncontrollableModes], int]:
    """Eigenvalues of the blocks that a single input does not control, and how many are unknown.

    They are the roots of χ/μ, which is known modulo a prime. Factors of χ over the integers of
    ``small`` blocks, and χ of larger ones as a whole, divide it as often as their roots are
    uncontrollable. The coefficients of what is left are read off their residues where weights are
    small multiples of one number. Other primes confirm that these factors are some of χ, and how
    often μ has each.
    """
    from flint import nmod_poly

    prime, uncontrollable = next(iter(minimal)), list[UncontrollableModes]()
    mu = {p: nmod_poly(coefficients, p) for p, coefficients in minimal.items()}
    chi = [flint_matrix(B, prime).charpoly() for B in blocks]
    rest = math.prod(chi, start=nmod_poly([1], prime)) // mu[prime]

    def divide_out(divisor: Callable[[int], Any], values: Callable[[], Complexes]) -> None:
        nonlocal rest
        times = _multiplicity(divisor(prime), rest)
        if times:
            often = [_multiplicity(divisor(prime), each) for each in chi]
            where = tuple(np.flatnonzero(often).tolist())
            modes = UncontrollableModes(values(), sum(often), sum(often) - times, where)
            if all(_multiplicity(divisor(p), mu[p]) == modes.controllable for p in mu):
                uncontrollable.append(modes)
                rest //= divisor(prime) ** times

    divide_out(lambda p: nmod_poly([0, 1], p), lambda: np.zeros(1, complex))
    for B, polynomial in zip(blocks, chi, strict=True):
        if rest.degree() == 0:
            break
        if len(B) <= small and (unit := _unit([B])):
            for factor in _factors(B, unit):
                divide_out(partial(_stretched, factor, unit), partial(_roots, factor, unit))
        elif polynomial[0] and rest % polynomial == 0:
            divide_out(lambda p: flint_matrix(B, p).charpoly(), partial(eigenvalues, B))  # noqa: B023
    largest = max(float(np.abs(B).max()) for B in blocks)
    if rest.degree() and (unit := _unit(blocks)) and largest < prime * unit:
        word = WORD_PRIMES[0]
        others = [flint_matrix(B, word).charpoly() for B in blocks]
        for factor in _lifted(rest, unit):
            if any(each % _stretched(factor, unit, word) == 0 for each in others):
                divide_out(partial(_stretched, factor, unit), partial(_roots, factor, unit))
    return uncontrollable, rest.degree()


def _multiplicity(divisor: Any, polynomial: Any) -> int:
    """How often it divides a polynomial."""
    count = 0
    while polynomial % divisor == 0:
        polynomial, count = polynomial // divisor, count + 1
    return count


def _unit(blocks: Sequence[Floats], *, most_digits: int = 400) -> Fraction | None:
    """The number that all weights are multiples of, unless they differ by too many digits."""
    weights = np.unique(np.concatenate([np.abs(B[B != 0]) for B in blocks]))
    integers, exponents = (part.tolist() for part in dyadic(weights))
    if not integers or exponents[-1] - exponents[0] > most_digits:
        return None
    unit: int = 0
    for m, e in zip(integers, exponents, strict=True):
        unit = math.gcd(unit, m << (e - exponents[0]))
        if unit == 1:
            break
    return unit * Fraction(float(np.ldexp(1.0, exponents[0])))


def _factors(B: Floats, unit: Fraction) -> list[list[int]]:
    """Irreducible factors of det(z − B/unit) but z, by their coefficients."""
    from flint import fmpz_mat

    entries = [int(Fraction(x) / unit) for x in B.ravel().tolist()]
    factors = fmpz_mat(len(B), len(B), entries).charpoly().factor()[1]
    return [[int(c) for c in factor.coeffs()] for factor, _ in factors if factor[0] != 0]


def _lifted(rest: Any, unit: Fraction) -> list[list[int]]:
    """Irreducible factors over the integers, in units, of what has small coefficients there."""
    from flint import fmpz_poly

    lifted, prime = list[list[int]](), rest.modulus()
    for factor, _ in rest.factor_squarefree()[1]:
        scaled = [int(c) for c in _stretched(factor.coeffs(), 1 / unit, prime).coeffs()]
        whole = fmpz_poly([c - prime if 2 * c > prime else c for c in scaled])
        lifted += [[int(c) for c in each.coeffs()] for each, _ in whole.factor()[1]]
    return lifted


def _stretched(factor: Sequence[Any], unit: Fraction, prime: int) -> Any:
    """The polynomial whose roots are those of a factor times a unit, modulo a prime."""
    from flint import nmod_poly

    number = unit.numerator * pow(unit.denominator, -1, prime)
    powers = [pow(number, k, prime) for k in range(len(factor))][::-1]
    return nmod_poly([int(c) * u % prime for c, u in zip(factor, powers, strict=True)], prime)


def _roots(factor: list[int], unit: Fraction) -> Complexes:
    """Roots times a unit, correctly rounded but for the last digits."""
    from flint import ctx, fmpz_poly

    with ctx.workprec(128):
        roots = [complex(root) for root, _ in fmpz_poly(factor).complex_roots()]
    return np.asarray(np.array(roots, complex) * float(unit))
