"""Exact linear algebra on stored floats, modulo primes: ranks, degrees, independent rows.

Float64 numbers are dyadic rationals, so modulo an odd prime p every rank of a matrix of them has an
exact answer, which never exceeds the true one and is below it only by accident. Two kinds of primes
serve two kinds of arithmetic:

* :func:`primes`, below 2³⁰ and so small that a product of matrices of centred residues, held in
  float64, is exact: BLAS does the work. The degree r of the minimal polynomial of C with respect to
  A follows from 2r terms of the scalar sequence uᵀAᵏC, u random (Wiedemann 1986), whose shortest
  linear recurrence is found by the Berlekamp–Massey algorithm. It is too low with a probability of
  about 2n/p; other primes are tried whenever it is below what the wiring allows. Products with
  sparse A are sums of a few int64, so that p is close to 2³⁰ unless rows have dozens of entries.
  Several inputs become one: feedback does not change what they reach, and for nearly every F one
  mask Cg with A + CF in place of A reaches all that C does with A (Heymann 1968).
* :data:`WORD_PRIMES` of 62 bits, for FLINT's matrices: what proofs rest on.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.limits import require_room_for_array
from memcurve.network.device import DeviceMatrix
from memcurve.network.graph import Indices
from memcurve.network.places import Tall, place_of
from memcurve.progress import Listener, silent
from memcurve.result import Floats

#: Primes are tried until they agree but for this chance, (2n/p)^k for k of them, or all of them.
PRIMES_TO_TRY, SMALL_CHANCE = 3, 1e-7
#: Random inputs that tell states apart: the ratios of three agree by accident in one of p³.
RANDOM_INPUTS = 4
#: Products with matrices of fewer non-zeros are quicker than squarings of dense ones.
FEW_NON_ZEROS = 0.05
#: Powers of blocks that are formed at a venture, without the minimal polynomial of the block.
LOW_POWER = 2
#: Rows and columns of no more entries are eliminated one by one.
SHORT_LINE = 6
#: Matrices of fewer rows are dense where their lines are not short on average.
SOON_DENSE = 500
#: Up to this size a characteristic polynomial takes less time than the ranks of some powers do.
SMALL_BLOCK = 300
#: Far from powers of two (modulo 2^61 − 1, say, 1 and 2^61 would coincide).
WORD_PRIMES = (3141592653589793239, 2718281828459045269)
#: A sequence is looked at after so many terms, and twice as many each time; so many terms beyond
#: twice its degree settle a recurrence. Progress is told every so many.
FIRST_TERMS, MORE_TERMS, TELL_EVERY = 64, 20, 64
#: Zeros in a minimal polynomial beside the likely number of others, as a rule at most.
SOME_ZEROS = 16
#: Sums over more states are not exact in float64, even of single digits; columns that are combined
#: at a time, and how many entries they may have.
MOST_SUMMED, COLUMNS, MOST_HELD = 2**21, 64, 2**22
_SEED = 20230501  # the projection is random but fixed: the same network gives the same answer


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


def word_residues(x: Floats, prime: int) -> list[int]:
    """The same for any odd prime, as Python integers."""
    integers, exponents = (part.tolist() for part in dyadic(np.ravel(x)))
    powers = {e: pow(2, e, prime) for e in set(exponents)}
    return [m * powers[e] % prime for m, e in zip(integers, exponents, strict=True)]


def word_matrix(x: Floats, prime: int) -> Any:
    """A matrix of FLINT's modulo the prime."""
    from flint import nmod_mat

    return nmod_mat(*x.shape, word_residues(x, prime), prime)


@cache
def primes(size: int) -> list[int]:
    """Large primes p for which a dot product of ``size`` centred residues is an exact float64."""
    # size·(p/2 + 1)² < 2^53
    return _primes_below(int(2 * (2**53 / size) ** 0.5) - 8)


def _sparse_primes(A: Any, masks: int, *, halves: bool = False) -> list[int]:
    """Primes p for which rows of a sparse [A, C] of residues times residues sum up exactly.

    In an int64, or in a float64 where A is held in two halves of √p each.
    """
    longest = int(np.diff(A.indptr).max()) + masks
    if halves:  # longest·(p/2)·(√p/2 + 1) < 2^53, and what is carried over adds √p·p/2
        return _primes_below(int((2**54 / (longest + 4)) ** (2 / 3)))
    return _primes_below(int((2**64 / longest) ** 0.5))  # longest·(p/2)·p < 2^63


@cache
def _primes_below(bound: int) -> list[int]:
    """Primes below a bound and 2³⁰, not next to a power of two: many floats would coincide."""
    from flint import fmpz

    bound = int(0.8137 * min(2**30, bound))
    found: list[int] = []
    candidate = bound - 1 + bound % 2
    while len(found) < PRIMES_TO_TRY and candidate > 2:
        if fmpz(candidate).is_prime():
            found.append(candidate)
        candidate -= 2
    return found


# --- one input: the minimal polynomial


class MinimalPolynomial(NamedTuple):
    """Degree of the minimal polynomial of C with respect to A, and its multiplicity at zero.

    ``modulo`` has its coefficients modulo some primes, the constant one first.
    """

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
    tell: Listener = silent,
    twin: DeviceMatrix | None = None,
    likely: int | None = None,
) -> MinimalPolynomial:
    """Exact for the stored numbers of a dense or sparse A and one mask C (n,).

    ``most`` is a bound on the degree that is known: where it is reached, there is no doubt; if most
    roots count, ``likely`` ones are not zero. Of several masks (n, d) and a sparse A, the degree is
    that of the space they reach together. The products of a sparse A are taken where its ``twin``
    is.
    """
    most = len(C) if most is None else most
    best = MinimalPolynomial(0, 0, {})
    if not C.any():
        return best
    A, rng = sparse_if_few(A), np.random.default_rng(_SEED)
    dense = isinstance(A, np.ndarray)
    tried = primes(len(C)) if dense else _sparse_primes(A, C[0].size, halves=twin is not None)
    while tried:
        prime, chance = tried[0], 2 * len(C) / tried[0]
        if dense:
            made = [recurrence(_dense_sequence(A, C, prime, rng), prime)]
        else:
            label = f"products modulo {prime:,}" if best.degree else "products"
            # two primes at once take little longer than one, and one is seldom enough
            both = C.ndim == 1 and twin is None and likely is not None and chance > SMALL_CHANCE
            sequence = SparseSequence(A, C, tried[: 1 + both], rng, twin)
            made = sequence.recurrences(most, lambda *step: tell(label, *step), likely)  # noqa: B023
        for coefficients in made:
            prime, tried = tried[0], tried[1:]
            zeros = next((k for k, c in enumerate(coefficients) if c), 0)
            found = MinimalPolynomial(len(coefficients) - 1, zeros, {prime: coefficients})
            # an unlucky prime lowers the degree or raises the multiplicity, never the reverse
            if found[:2] == best[:2]:
                best.modulo[prime] = coefficients
            elif (found.degree, -found.zeros) > (best.degree, -best.zeros):
                best = found
        if best.degree == most or chance ** len(best.modulo) <= SMALL_CHANCE:
            break
    return best


def recurrence(terms: Floats, prime: int) -> list[int]:
    """The shortest linear recurrence of a sequence modulo p (Berlekamp–Massey).

    Coefficients of its monic polynomial, the constant one first.
    """
    from flint import fmpz_mod_ctx, fmpz_mod_poly_ctx

    ring = fmpz_mod_poly_ctx(fmpz_mod_ctx(prime))
    return [int(c) for c in ring.minpoly([int(term) for term in terms % prime]).coeffs()]


def _dense_sequence(A: Floats, C: Floats, prime: int, rng: np.random.Generator) -> Floats:
    u = centred(rng.integers(1, prime, len(C)).astype(float), prime)
    terms = 2 * len(C)

    def square(power: Floats) -> Any:
        return centred(power @ power, prime)

    squarings = max(0, round(np.log2(terms) / 2))
    v = residues(C, prime)
    found = krylov_terms(residues(A, prime), u[:, None], v[:, None], prime, square, squarings)
    return np.ravel(found)[:terms]


def krylov_terms(
    A: Any, u: Any, v: Any, prime: int, square: Callable[[Any], Any], squarings: int, xp: Any = np
) -> Any:
    """2n terms uᵀAᵏv or some more, as (uᵀAⁱ)(A^{bj}v), i < b = 2^squarings; k = bj + i.

    About 2·√(2n) products with vectors, where b is about as large. All are residues held in
    float64, of any array library: A is (..., n, n), u and v are (..., n, 1), ``square`` squares A.
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


def sparse_if_few(A: Any) -> Any:
    """A matrix of few non-zeros as a sparse one, with which products are quicker."""
    if not isinstance(A, np.ndarray) or np.count_nonzero(A) > FEW_NON_ZEROS * A.size:
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


class SparseSequence:
    """Terms uᵀx_k modulo p, x_{k+1} = (A + CF)x_k, made as they are needed, of a sparse A.

    For one mask, x_0 = C and F = 0; for several, F and the combination of masks are random. Sums
    are exact: of int64 here, and with a ``twin`` of A on a device there, of float64, in which two
    halves of A are held. Several primes, of one mask here, are run side by side.
    """

    def __init__(
        self,
        A: Any,
        C: Floats,
        primes: Sequence[int],
        rng: np.random.Generator,
        twin: DeviceMatrix | None = None,
    ) -> None:
        from scipy.sparse import block_diag, csr_array, hstack, vstack

        def draw(*shape: int) -> Any:
            return centred(rng.integers(1, prime, shape).astype(float), prime)

        self.primes, prime = tuple(primes), primes[0]
        self.prime, self._half = prime, 2.0 ** round(np.log2(prime) / 2)
        self.place, self._is_here = place_of(twin), twin is None
        self._size, mask = len(C), residues(C.reshape(len(C), -1), prime)
        if self._size > MOST_SUMMED:
            raise ValueError(
                f"`network` must have at most {MOST_SUMMED:,} states for an exact rank, got "
                f"{self._size:,}; memcurve.structural_rank bounds it from the wiring."
            )
        reduced = _reduced(A, prime)
        # digits so short that their sums over all states are exact
        self._digit = 2.0 ** int(51 - np.log2(self._size * max(primes) / 2 + 1))
        looks, feedback, start = self._digits(draw(1, self._size)), [], mask[:, 0]
        if mask.shape[1] > 1:
            reduced = hstack([reduced, csr_array(mask)], format="csr")
            feedback = self._digits(draw(mask.shape[1], self._size))
            weights = self._digits(draw(1, mask.shape[1]))
            start = self._sum([(mask @ digit.T)[:, 0] for digit in weights])
        self.x: Tall = start
        self._modulus: Any = prime
        if twin is None:
            others = primes[1:]
            blocks = [reduced, *(_reduced(A, other) for other in others)]
            self._matrix: Any = csr_array(block_diag(blocks, format="csr"), dtype=np.int64)
            starts = np.concatenate([start, *(residues(C, other) for other in others)])
            if others:
                self._modulus = np.repeat(primes, self._size)
            self.x = starts.astype(np.int64) % self._modulus
        else:
            self.x = self.place.put(start)
            high = reduced.copy()
            high.data = np.round(reduced.data / self._half)
            reduced.data = reduced.data - self._half * high.data
            self._matrix = twin.like(vstack([high, reduced], format="csr"))
        self._looks = [self.place.put(digit) for digit in looks]
        self._feedback = [self.place.put(digit) for digit in feedback]
        self.terms: list[list[int]] = [[] for _ in primes]

    def steps(self, count: int) -> Iterator[Tall]:
        """Go on from x_k by some steps, and pass x_k on, with entries that are residues."""
        most = min(COLUMNS, MOST_HELD // self.x.shape[0] + 1)
        passed: list[Tall] = []
        for k in range(1, count + 1):
            passed.append(self.x)
            self.x = (self._next_here if self._is_here else self._next_there)(self.x)
            if len(passed) == most or k == count:
                self._look(passed)
                yield from passed
                passed.clear()

    def _next_here(self, x: Tall) -> Tall:
        if self._feedback:
            fed = self._sum([digit @ x.astype(float) for digit in self._feedback])
            x = np.append(x, fed.astype(np.int64) % self.prime)
        return (self._matrix @ x) % self._modulus

    def _next_there(self, x: Tall) -> Tall:
        xp, prime, size = self.place.xp, self.prime, x.shape[0]
        if self._feedback:
            x = xp.concat([x, self._sum([digit @ x for digit in self._feedback], xp)])
        both = self._matrix @ x
        return centred(self._half * centred(both[:size], prime, xp) + both[size:], prime, xp)

    def _look(self, passed: list[Tall]) -> None:
        """Terms of some x_k at once."""
        if self._is_here:
            X = np.stack(passed, axis=1).astype(float)
        else:
            columns = [x[:, None] for x in passed]
            X = columns[0] if len(columns) == 1 else self.place.joined(columns)
        for k, (prime, terms) in enumerate(zip(self.primes, self.terms, strict=True)):
            own = X if len(self.primes) == 1 else X[k * self._size : (k + 1) * self._size]
            looks = [self.place.host(digit @ own) for digit in self._looks]
            terms += (self._sum(looks, prime=prime)[0] % prime).astype(np.int64).tolist()

    def recurrences(
        self, most: int, tell: Callable[[int, int], None], likely: int | None = None
    ) -> list[list[int]]:
        """Coefficients of the shortest recurrence by each prime, of a degree of at most ``most``.

        It is looked for at ever more terms: one that holds for :data:`MORE_TERMS` beyond those it
        was made from holds for all but a chance of about n/p. As a rule ``likely`` roots or a few
        more are enough.
        """
        terms, expected = FIRST_TERMS, 2 * ((likely or 0) + SOME_ZEROS) + MORE_TERMS
        while True:
            terms = 2 * most if 5 * terms > 9 * most else terms  # nearly all: go to the end
            before = len(self.terms[0])
            for done, _ in enumerate(self.steps(terms - before), before + 1):
                if done % TELL_EVERY == 0:
                    tell(done, 2 * most)
            looked_at = zip(self.terms, self.primes, strict=True)
            found = [recurrence(np.array(own), prime) for own, prime in looked_at]
            longest = max(len(each) - 1 for each in found)
            if terms == 2 * most or 2 * longest + MORE_TERMS <= terms:
                tell(2 * most, 2 * most)
                return found
            terms = expected if likely and terms < expected else 2 * terms

    def _digits(self, x: Floats) -> list[Floats]:
        """Matrices of short digits, the lowest first."""
        digits = []
        while x.any():
            high = np.round(x / self._digit)
            digits.append(x - self._digit * high)
            x = high
        return digits

    def _sum(self, products: list[Any], xp: Any = np, prime: int | None = None) -> Any:
        """The number whose digits these are, or sums of them, modulo p."""
        *others, highest = products
        prime = prime or self.prime
        total = centred(highest, prime, xp)
        for product in reversed(others):
            # the digit is below √p or else there are two of them: nothing is rounded
            total = centred(self._digit * total + centred(product, prime, xp), prime, xp)
        return total


#: A monic polynomial by its coefficients modulo a prime, the constant one first.
Factor = Callable[[int], list[int]]


class Block:
    """A strong component as it is stored: how often a factor's roots are among its eigenvalues.

    Modulo a single prime near 2³⁰: that it divides the minors that matter is an accident of
    probability about 1/p.
    """

    def __init__(self, B: Floats) -> None:
        self.B = B
        self.prime = _primes_below(int((2**54 / (len(B) + 4)) ** (2 / 3)))[0]
        self._nullities: dict[tuple[int, ...], tuple[int, int]] = {}

    @cached_property
    def polynomial(self) -> MinimalPolynomial:
        """The minimal polynomial: that of a random mask."""
        mask = np.random.default_rng(_SEED).integers(1, 2**30, len(self.B)).astype(float)
        return minimal_polynomial(self.B, mask, likely=len(self.B))

    @cached_property
    def _characteristic(self) -> dict[int, list[int]]:
        """The characteristic polynomial, of a small block."""
        found = _flint_matrix(residues(self.B, self.prime), self.prime).charpoly()
        return {self.prime: [int(c) for c in found.coeffs()]}

    def multiplicity(self, factor: Factor, index: int | None = None) -> int:
        """The nullity of g(B)^m, m the multiplicity in the minimal polynomial.

        With another ``index`` m it is as large at most.
        """
        if len(self.B) <= SMALL_BLOCK:
            return multiplicity(factor, self._characteristic)
        if index is None:
            index = multiplicity(factor, self.polynomial.modulo)
        if index == 0:
            return 0
        coefficients, squarings = factor(self.prime), (index - 1).bit_length()
        key = tuple(coefficients)
        if self._nullities.get(key, (-1, 0))[0] < squarings:  # higher powers have no less
            self._nullities[key] = squarings, self._nullity(coefficients, squarings)
        return self._nullities[key][1] // (len(coefficients) - 1)

    @cached_property
    def _reduced(self) -> Any:
        return _reduced(sparse_if_few(self.B), self.prime)

    def _nullity(self, coefficients: list[int], squarings: int) -> int:
        """That of g(B)^m, m = 2^squarings."""
        from scipy.sparse import csr_array, eye_array

        size, prime, reduced = len(self.B), self.prime, self._reduced
        unit = np.eye(size) if isinstance(reduced, np.ndarray) else csr_array(eye_array(size))
        power = _centred_entries(reduced + coefficients[-2] * unit, prime)
        for c in reversed(coefficients[:-2]):  # Horner's rule
            power = _centred_entries(_product(power, reduced, prime) + c * unit, prime)
        for _ in range(squarings):
            if not isinstance(power, np.ndarray) and power.nnz > FEW_NON_ZEROS * size**2:
                power = power.toarray()
            power = _product(power, power, prime)
        return size - _rank(power, prime)


def eigenvalue_multiplicity(
    factor: Factor, blocks: Sequence[Block], enough: int | None = None, index: int | None = None
) -> int:
    """How often the roots of a factor g are eigenvalues of stored blocks: n − rank of g(B)ⁿ.

    A low power ``index`` in place of n may find ``enough``, the most there may be.
    """
    single = np.array([block.B[0, 0] for block in blocks if len(block.B) == 1])
    prime = _primes_below(2**30)[0]
    value, at = np.zeros(len(single), np.int64), residues(single, prime).astype(np.int64)
    for c in reversed(factor(prime)):
        value = (value * at + c) % prime
    count = alone = int(np.count_nonzero(value == 0))
    for power in [index, None][index is None or index > LOW_POWER :]:
        larger = (block.multiplicity(factor, power) for block in blocks if len(block.B) > 1)
        count = alone + sum(larger)
        if count == enough:
            break
    return count


def multiplicity(factor: Factor, modulo: dict[int, list[int]]) -> int:
    """How often a factor divides a polynomial that is known modulo primes.

    An unlucky prime makes it more, never less.
    """
    from flint import nmod_poly

    found = []
    for prime, coefficients in modulo.items():
        rest, divisor, count = nmod_poly(coefficients, prime), nmod_poly(factor(prime), prime), 0
        while rest.degree() >= divisor.degree():
            rest, left = divmod(rest, divisor)
            if left != 0:
                break
            count += 1
        found.append(count)
    return min(found, default=0)


def _centred_entries(X: Any, prime: int) -> Any:
    if isinstance(X, np.ndarray):
        return centred(X, prime)
    X.data = centred(X.data, prime)
    return X


def _product(X: Any, Y: Any, prime: int) -> Any:
    """XY of residues, dense or sparse, with X in two halves so that sums are exact."""
    half = 2.0 ** round(np.log2(prime) / 2)
    if isinstance(X, np.ndarray):
        high = np.round(X / half)
        low = X - half * high
    else:
        high, low = X.copy(), X.copy()
        high.data = np.round(X.data / half)
        low.data = X.data - half * high.data
    return _centred_entries(half * _centred_entries(high @ Y, prime) + low @ Y, prime)


def _rank(X: Any, prime: int) -> int:
    """The rank of a matrix of residues, of few entries or many.

    Rows and columns of few entries are eliminated one by one, which leaves others as they are or
    nearly so (Markowitz 1957); what is left is dense.
    """
    if not isinstance(X, np.ndarray) and X.nnz > SHORT_LINE * X.shape[0] < SHORT_LINE * SOON_DENSE:
        X = X.toarray()
    if isinstance(X, np.ndarray):
        return int(_flint_matrix(X, prime).rank())
    X.eliminate_zeros()
    entries = (X.data % prime).astype(np.int64).tolist()
    places, ends = X.indices.tolist(), X.indptr.tolist()
    rows = [dict(zip(places[a:b], entries[a:b], strict=True)) for a, b in itertools.pairwise(ends)]
    columns: list[set[int]] = [set() for _ in range(X.shape[1])]
    for i, row in enumerate(rows):
        for j in row:
            columns[j].add(i)
    lines: list[Any] = [*rows, *columns]
    queue = [(len(line), k) for k, line in enumerate(lines) if line]
    heapq.heapify(queue)
    rank = 0
    while queue:
        length, line = heapq.heappop(queue)
        if length != len(lines[line]) or length == 0:
            continue  # it has changed since, and is there again
        if length > SHORT_LINE:
            break
        if line < len(rows):
            i, j = line, min(lines[line], key=lambda j: len(columns[j]))
        else:
            i, j = min(lines[line], key=lambda i: len(rows[i])), line - len(rows)
        pivot, others = rows[i], columns[j]
        inverse = pow(pivot[j], -1, prime)
        rank += 1
        for k in pivot:
            columns[k].discard(i)
        for other in others:
            row = rows[other]
            ratio = row.pop(j) * inverse % prime
            for k, entry in pivot.items():
                if k != j:
                    value = (row.get(k, 0) - ratio * entry) % prime
                    if value:
                        row[k] = value
                        columns[k].add(other)
                    elif k in row:
                        del row[k]
                        columns[k].discard(other)
            heapq.heappush(queue, (len(row), other))
        for k in pivot:
            heapq.heappush(queue, (len(columns[k]), len(rows) + k))
        pivot.clear()
        others.clear()
    left = [row for row in rows if row]
    if not left:
        return rank
    where = {j: k for k, j in enumerate(sorted(set().union(*left)))}
    dense = np.zeros((len(left), len(where)))
    for i, row in enumerate(left):
        for j, entry in row.items():
            dense[i, where[j]] = entry
    return rank + int(_flint_matrix(dense, prime).rank())


# --- several inputs, and rows that are read: block Krylov matrices


def sparse_krylov_rank(
    A: Any,
    C: Floats,
    rows: Indices | None = None,
    most: int | None = None,
    tell: Listener = silent,
    twin: DeviceMatrix | None = None,
) -> int:
    """Rank of the block Krylov matrix of a sparse A and masks C (n, d), or of some of its rows.

    Rows are read of as many columns as span the space, and these are combined at random, so that
    no more of them are left than there are rows.
    """
    degree = minimal_polynomial(A, C, most, tell, twin).degree
    if rows is None or degree == 0:
        return degree
    best, wide = 0, min(degree, len(rows))
    # a list of Python's integers on the way to FLINT
    require_room_for_array((len(rows), wide), "the matrix of what is read", itemsize=40)
    rng = np.random.default_rng(_SEED)
    for prime in _sparse_primes(A, C.shape[1], halves=twin is not None)[:2]:
        sequence, read = SparseSequence(A, C, [prime], rng, twin), np.zeros((len(rows), wide))
        place = sequence.place
        for done in range(0, degree, COLUMNS):
            columns = sequence.steps(min(COLUMNS, degree - done))
            X = np.stack([place.host(place.rows(x, rows)) for x in columns], axis=1)
            X = centred(X.astype(float), prime)
            weights = centred(rng.integers(1, prime, (X.shape[1], wide)).astype(float), prime)
            read = centred(read + _product(X, weights, prime), prime)
            tell("rows that are read", done, degree)
        best = max(best, int(_flint_matrix(read, prime).rank()))
        if best == wide:
            break
    return best


def krylov_rank(A: Floats, C: Floats, rows: Indices | None = None, most: int | None = None) -> int:
    """Rank of the block Krylov matrix [C, AC, A²C, …], or of some of its rows.

    ``most`` is a bound on it that is known, at which no further prime is tried.
    """
    most = len(C) if most is None else most
    if rows is not None:
        most = min(len(rows), most)
    best = 0
    for prime in primes(len(C)):
        columns = krylov_basis(A, C, prime)
        if rows is not None:
            columns = _independent_columns(columns[rows], prime)
        best = max(best, columns.shape[1])
        if best == most:
            break
    return best


def krylov_basis(A: Floats, C: Floats, prime: int) -> Floats:
    """Independent columns that span the block Krylov space modulo a prime.

    Twice as many powers at a time, [X, A^{2^k} X], with only the independent columns kept; their
    number is never above the true rank.
    """
    power, X = residues(A, prime), _independent_columns(residues(C, prime), prime)
    powers = 1
    while powers < len(A) and X.shape[1] < len(A):
        X = _independent_columns(np.hstack([X, centred(power @ X, prime)]), prime)
        power = centred(power @ power, prime)
        powers *= 2
    return X


def _independent_columns(X: Floats, prime: int) -> Floats:
    return X[:, _pivot_columns(_flint_matrix(X, prime))]


def _flint_matrix(X: Floats, prime: int) -> Any:
    """Residues held in float64 as a matrix of FLINT's."""
    from flint import fmpz_mat, nmod_mat

    entries, (rows, columns) = X.astype(np.int64), np.nonzero(X)
    if len(rows) > X.size // 2:  # by way of integers, which takes half the time
        return nmod_mat(fmpz_mat(*X.shape, entries.ravel().tolist()), prime)
    matrix = nmod_mat(*X.shape, prime)
    places = zip(rows.tolist(), columns.tolist(), entries[rows, columns].tolist(), strict=True)
    for i, j, entry in places:
        matrix[i, j] = entry
    return matrix


def proportional_rows(A: Any, C: Floats) -> tuple[list[Indices], list[int]]:
    """Rows of [C, AC, A²C, …] that are multiples of each other, in groups, and those that vanish.

    Modulo a prime, the network is driven by some random inputs for n steps: states that are
    multiples of each other for all of them are so always, up to an accident of probability n²/p³.
    """
    size, rng = len(C), np.random.default_rng(_SEED)
    prime = primes(size)[0]
    reduced, mask = _reduced(sparse_if_few(A), prime), residues(C, prime)
    v = np.zeros((size, RANDOM_INPUTS))
    for _ in range(size):
        drive = rng.integers(prime, size=(mask.shape[1], RANDOM_INPUTS)).astype(float)
        v = centred(reduced @ v + centred(mask @ centred(drive, prime), prime), prime)
    rows = (v % prime).astype(np.int64)
    groups: dict[bytes, list[int]] = {}
    vanishing = []
    for node, row in enumerate(rows):
        places = np.flatnonzero(row)
        if len(places) == 0:
            vanishing.append(node)
            continue
        scaled = row * pow(int(row[places[0]]), -1, prime) % prime
        groups.setdefault(scaled.tobytes(), []).append(node)
    return [np.array(group, np.intp) for group in groups.values() if len(group) > 1], vanishing


# --- pivots, for proofs


class Pivots(NamedTuple):
    """Independent states and what the input does to them.

    ``nodes`` are rows of the Krylov matrix of input and state noise that span all rows, and
    ``columns`` (power, channel) on which they are independent. ``outputs`` are rows that span what
    is read, with all those that have noise of their own. ``rank`` is that of the input alone on
    the rows that are read.
    """

    nodes: list[int]
    columns: list[tuple[int, int]]
    outputs: list[int]
    rank: int


def find_pivots(
    A: Floats, C: Floats, state: Floats, observation: Floats, rows: Sequence[int]
) -> Pivots:
    """Pivots of the stored numbers; the better of two primes, quantity by quantity."""
    noise = np.diag(state)[:, state > 0]
    masks = np.hstack([C, noise])
    silent = [row for row in rows if observation[row] == 0]
    noisy = [row for row in rows if observation[row] > 0]
    best = Pivots([], [], [], 0)
    for prime in WORD_PRIMES:
        krylov = _word_krylov(A, masks, prime)
        nodes = _pivot_columns(krylov)
        columns = [divmod(k, masks.shape[1]) for k in _pivot_columns(krylov.transpose())]
        outputs = [silent[k] for k in _pivot_columns(_columns(krylov, silent))]
        driven = krylov if noise.shape[1] == 0 else _word_krylov(A, C, prime)
        rank = int(_columns(driven, rows).rank())
        if len(nodes) > len(best.nodes):
            best = best._replace(nodes=nodes, columns=columns)
        if len(outputs) + len(noisy) > len(best.outputs):
            best = best._replace(outputs=sorted(outputs + noisy))
        best = best._replace(rank=max(rank, best.rank))
        if best.rank == len(rows) and len(best.nodes) == len(A):
            break
    return best


def single_pivots(A: Floats, C: Floats) -> tuple[list[int], bool]:
    """Rows on which the first r powers of one mask C (n,) are independent, r the rank.

    Also whether the minimal polynomial has two roots λ and 1/λ (or λ = ±1), so that one of them is
    not inside the unit disc: balls alone cannot tell a root on the circle from one near it.
    """
    return max(
        (_single_pivots(A, C, prime) for prime in WORD_PRIMES), key=lambda found: len(found[0])
    )


def _single_pivots(A: Floats, C: Floats, prime: int) -> tuple[list[int], bool]:
    from flint import nmod_mat

    size = len(C)
    krylov = _word_krylov(A, C[:, None], prime, size + 1)
    entries = [int(x) for x in krylov.entries()]  # one power a row
    rank = int(nmod_mat(size, size, entries[: size * size], prime).rank())
    if rank == 0:
        return [], False
    rows = _pivot_columns(nmod_mat(rank, size, entries[: rank * size], prime))
    powers = [[entries[k * size + node] for k in range(rank + 1)] for node in rows]
    chosen = nmod_mat(rank, rank, [x for power in powers for x in power[:rank]], prime)
    x = chosen.solve(nmod_mat(rank, 1, [power[rank] for power in powers], prime))
    coefficients = [-int(entry) % prime for entry in x.entries()] + [1]
    return rows, _has_reciprocal_roots(coefficients, prime)


def has_reciprocal_eigenvalues(A: Floats, masks: Floats, pivots: Pivots) -> bool:
    """Whether λ and 1/λ (or ±1) are excited eigenvalues, so that one is not inside the circle.

    As certain as a deficient rank is: unless two primes divide a non-zero integer.
    """
    return all(_has_reciprocal_eigenvalues(A, masks, pivots, prime) for prime in WORD_PRIMES)


def _has_reciprocal_eigenvalues(A: Floats, masks: Floats, pivots: Pivots, prime: int) -> bool:
    matrix = word_matrix(A, prime)
    if len(pivots.nodes) < len(A):  # A on the pivot nodes is A[R] K (K[R])⁻¹
        places = [power * masks.shape[1] + channel for power, channel in pivots.columns]
        K = _columns(_word_krylov(A, masks, prime).transpose(), places)
        rows = _columns(matrix.transpose(), pivots.nodes).transpose()
        matrix = rows * K * _columns(K.transpose(), pivots.nodes).transpose().inv()
    return _has_reciprocal_roots([int(c) for c in matrix.charpoly().coeffs()], prime)


def _has_reciprocal_roots(coefficients: list[int], prime: int) -> bool:
    from flint import nmod_poly

    polynomial, reverse = nmod_poly(coefficients, prime), nmod_poly(coefficients[::-1], prime)
    return bool(polynomial.gcd(reverse).degree() > 0)


def _word_krylov(A: Floats, V: Floats, prime: int, powers: int | None = None) -> Any:
    """[V, AV, A²V, …] modulo a prime, transposed: a row for each power of each column.

    As many powers as are given, or as add to the rank, or more.
    """
    from flint import nmod_mat

    size, width = V.shape
    if width == 0:
        return nmod_mat(1, size, prime)
    matrix, block = word_matrix(A, prime), word_matrix(V, prime)
    entries: list[int] = []
    count, done = powers or min(size, -(-size // width)), 0
    while True:
        while done < count:
            entries += [int(x) for x in block.transpose().entries()]
            block = matrix * block
            done += 1
        krylov = nmod_mat(width * count, size, entries, prime)
        if powers or count == size or krylov.rank() == size:
            return krylov
        count = size


def _columns(matrix: Any, columns: Sequence[int]) -> Any:
    from flint import nmod_mat

    entries = [int(matrix[i, j]) for i in range(matrix.nrows()) for j in columns]
    return nmod_mat(matrix.nrows(), len(columns), entries, matrix.modulus())


def _pivot_columns(matrix: Any) -> list[int]:
    """The first columns that are independent of those before them."""
    if matrix.nrows() == 0 or matrix.ncols() == 0:
        return []
    echelon, rank = matrix.rref()
    pivots, column = [], 0
    for row in range(rank):
        while int(echelon[row, column]) == 0:
            column += 1
        pivots.append(column)
    return pivots
