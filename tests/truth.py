"""Ground truth for any input, noise and readout, proven in ball arithmetic.

An ARMA input is part of the state: with s its last values and shocks, y = (x, s) obeys
y_t = F y_{t−1} + g e_t with white e, and z = hᵀs. All follows from G = Σ_j F^j g gᵀ (F^j)ᵀ::

    Γ = G_xx,    p_τ = (F^τ G h)_x,    p_{−τ} = (G (Fᵀ)^τ h)_x,    MC_τ = p_τᵀ (Γ + Γ_noise)⁻¹ p_τ

summed over independent inputs of unit variance. Sums over powers are doubled, with what is left out
bounded. Rows of the Krylov matrix that depend on others are left out first: which, is found
exactly, modulo a prime. The precision doubles until every number is known. No eigenvalue, no Stein
equation, no realization: no step is shared with the package.
"""

from collections.abc import Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np
from flint import acb, acb_poly, arb, arb_mat, ctx, nmod_mat

#: A number of the truth is known to this.
KNOWN = 1e-22
#: Where the precision ends: 1 − ρ of 1e-9 and powers that grow to 1e200 take less.
MOST_BITS = 20_000
PRIME = 2**61 - 1

Process = tuple[Sequence[float], Sequence[float]]
WHITE: Process = ((), ())
#: White noise through filters of each kind, short and long.
PROCESSES: dict[str, Process] = {
    "AR .3": ([0.3], []),
    "AR .9": ([0.9], []),
    "AR −.5": ([-0.5], []),
    "AR .99": ([0.99], []),
    "AR(2)": ([1.2, -0.72], []),
    "MA .5": ([], [0.5]),
    "MA .999": ([], [0.999]),
    "ARMA(1,1)": ([0.7], [0.4]),
    "ARMA(2,2)": ([0.5, -0.3], [0.4, 0.2]),
}


class Truth(NamedTuple):
    """Arrays (lags, inputs) and (horizons, inputs), and the totals over all lags and horizons.

    ``rank`` is that of the rows read of the Krylov matrix.
    """

    memory: np.ndarray
    forecast: np.ndarray
    total: float
    total_forecast: float
    rank: int


class _NotKnown(Exception):
    """More bits are needed."""


def truth(
    A: np.ndarray,
    C: np.ndarray,
    lags: int | Sequence[int],
    *,
    arma: Process | Sequence[Process] = WHITE,
    horizons: int = 0,
    observation: Sequence[float] | float = 0.0,
    state: Sequence[float] | float = 0.0,
    readout: Sequence[int] | None = None,
    bits: int = 256,
) -> Truth:
    """Memory at the first ``lags`` lags, or at those listed, of every input.

    ``observation`` and ``state`` are noise variances, relative to input of unit variance. ``arma``
    has one process an input, or one for all.
    """
    A, C = np.asarray(A, float), np.asarray(C, float).reshape(len(A), -1)
    listed = list(range(lags)) if isinstance(lags, int) else list(lags)
    rows = list(range(len(A))) if readout is None else sorted(readout)
    rank = len(independent_rows(A, C, rows))
    seen, inner = (np.diag(np.broadcast_to(v, len(A))).astype(float) for v in (observation, state))
    rows = independent_rows(A, np.hstack([C, inner]), rows, seen)
    if not rows:
        none = np.zeros((len(listed), C.shape[1])), np.zeros((horizons, C.shape[1]))
        return Truth(*none, 0.0, 0.0, rank)
    processes = _processes(arma, C.shape[1])
    while bits <= MOST_BITS:
        try:
            with ctx.workprec(bits):
                drives = [
                    _driven(A, column, process, listed, horizons)
                    for column, process in zip(C.T, processes, strict=True)
                ]
                noise = _matrix(seen)
                if inner.any():
                    noise += _sum_over_powers(_matrix(A), _matrix(inner))
                return _evaluated(drives, noise, rows, rank)
        except (_NotKnown, ZeroDivisionError):
            bits *= 2
    raise ArithmeticError("unstable, or beyond the precision of this oracle")


def _processes(arma: Process | Sequence[Process], inputs: int) -> list[Process]:
    if len(arma) == 2 and (not len(arma[0]) or np.ndim(arma[0][0]) == 0):  # type: ignore[arg-type]
        return [arma] * inputs  # type: ignore[list-item]
    return list(arma)  # type: ignore[arg-type]


class _Drive(NamedTuple):
    """What one input of unit variance does: Γ_x, p of lags and horizons, Σ ppᵀ of all of each."""

    covariance: arb_mat
    lags: list[arb_mat]
    horizons: list[arb_mat]
    all_lags: arb_mat
    all_horizons: arb_mat


def _driven(
    A: np.ndarray, column: np.ndarray, process: Process, lags: list[int], horizons: int
) -> _Drive:
    n, (ar, ma) = len(A), process
    if not len(ar) and not len(ma):
        matrix, start = _matrix(A), _matrix(column[:, None])
        G = _sum_over_powers(matrix, start * start.transpose())
        nothing = arb_mat(n, 1)
        return _Drive(
            G, _powers(matrix, start, lags), [nothing] * horizons, G, nothing * nothing.transpose()
        )
    p, q = max(1, len(ar)), len(ma)
    S, g = np.zeros((p + q, p + q)), np.zeros((p + q, 1))
    S[0, : len(ar)], S[0, p:] = ar, ma
    S[1:p, : p - 1] = np.eye(p - 1)
    g[0] = 1.0
    if q:
        S[p + 1 :, p:-1] = np.eye(q - 1)
        g[p] = 1.0
    C = _matrix(column[:, None])
    into = C * _matrix(S[:1])  # products of floats are not floats
    F = _blocks([[_matrix(A), into], [arb_mat(p + q, n), _matrix(S)]])
    start = _blocks([[C], [_matrix(g)]])
    h = arb_mat(n + p + q, 1)
    h[n, 0] = 1
    G = _sum_over_powers(F, start * start.transpose())
    variance, present = G[n, n], G * h
    ahead = _powers(F.transpose(), h, list(range(1, horizons + 1)))
    step = F.transpose() * h
    later = _sum_over_powers(F.transpose(), step * step.transpose())
    past = _sum_over_powers(F, present * present.transpose())
    return _Drive(
        _part(G, n) / variance,
        [_part(v, n) / variance for v in _powers(F, present, lags)],
        [_part(G * v, n) / variance for v in ahead],
        _part(past, n) / variance**2,
        _part(G * later * G, n) / variance**2,
    )


def _evaluated(drives: list[_Drive], noise: arb_mat, rows: list[int], rank: int) -> Truth:
    total = noise
    for drive in drives:
        total += drive.covariance
    inverse = arb_mat([[total[i, j] for j in rows] for i in rows]).inv()

    def capacity(vectors: list[list[arb_mat]]) -> np.ndarray:
        """Of vectors (inputs, count)."""
        count = len(vectors[0])
        if count == 0:
            return np.zeros((0, len(vectors)))
        P = arb_mat([[v[i, 0] for of_input in vectors for v in of_input] for i in rows])
        Y = inverse * P
        values = [
            _known(sum((P[i, k] * Y[i, k] for i in range(len(rows))), arb(0)))
            for k in range(P.ncols())
        ]
        return np.array(values).reshape(len(vectors), count).T

    def summed(outer: list[arb_mat]) -> float:
        value = arb(0)
        for one in outer:
            part = arb_mat([[one[i, j] for j in rows] for i in rows])
            value += (inverse * part).trace()
        return _known(value)

    return Truth(
        capacity([d.lags for d in drives]),
        capacity([d.horizons for d in drives]),
        summed([d.all_lags for d in drives]),
        summed([d.all_horizons for d in drives]),
        rank,
    )


def _known(value: arb) -> float:
    if not float(value.rad()) < KNOWN:  # NaN too
        raise _NotKnown
    return float(value.mid())


def _sum_over_powers(matrix: arb_mat, start: arb_mat) -> arb_mat:
    """Σ_j M^j X (M^j)ᵀ by doubling; what is left out is M^m (the sum) (M^m)ᵀ."""
    total, power = start, matrix
    small = arb(2) ** (-2 * ctx.prec)
    for _ in range(64):
        rest = _squares(power)
        if not rest.is_finite():
            raise _NotKnown
        if rest < small:
            break
        total = total + power * total * power.transpose()
        power = power * power
    else:
        if rest.abs_lower() > matrix.nrows():
            raise ArithmeticError("the powers do not decay: unstable")
        raise _NotKnown
    bound = (rest * _squares(total).sqrt() / (1 - rest)).abs_upper()
    n = total.nrows()
    return total + arb_mat(n, n, [arb(0, bound)] * (n * n))


def gramian(A: np.ndarray, C: np.ndarray) -> arb_mat:
    """Σ A^jCCᵀ(A^j)ᵀ, to the precision of the context."""
    start = _matrix(np.reshape(C, (len(A), -1)))
    return _sum_over_powers(_matrix(A), start * start.transpose())


def _squares(matrix: arb_mat) -> arb:
    return sum((x * x for x in matrix.entries()), arb(0))


def _powers(matrix: arb_mat, start: arb_mat, lags: list[int]) -> list[arb_mat]:
    """M^τ v for rising τ: step by step, or with M^τ by squaring where the step is long."""
    found, vector, reached = [], start, 0
    for lag in lags:
        if lag - reached > 32:
            vector = matrix ** (lag - reached) * vector
        else:
            for _ in range(lag - reached):
                vector = matrix * vector
        found.append(vector)
        reached = lag
    return found


def _matrix(values: np.ndarray) -> arb_mat:
    return arb_mat(np.asarray(values, float).tolist())


def _blocks(parts: list[list[arb_mat]]) -> arb_mat:
    rows = []
    for line in parts:
        tables = [block.tolist() for block in line]
        rows += [list(chain.from_iterable(pieces)) for pieces in zip(*tables, strict=True)]
    return arb_mat(rows)


def _part(matrix: arb_mat, count: int) -> arb_mat:
    """The first rows, and columns where there are several."""
    width = min(count, matrix.ncols())
    return arb_mat([[matrix[i, j] for j in range(width)] for i in range(count)])


def independent_rows(
    A: np.ndarray, C: np.ndarray, rows: list[int], besides: np.ndarray | None = None
) -> list[int]:
    """Those of ``rows`` of [``besides``, C, AC, A²C, …] that do not depend on the ones before."""
    first = C[:, :0] if besides is None else besides
    matrix, block, start = (
        nmod_mat(*M.shape, [_residue(x) for x in M.ravel().tolist()], PRIME) for M in (A, C, first)
    )
    columns = start.transpose().tolist()
    for _ in range(len(A)):
        columns += block.transpose().tolist()
        block = matrix * block
    reduced, rank = nmod_mat([[c[i] for i in rows] for c in columns], PRIME).rref()
    chosen, line = [], 0
    for k, row in enumerate(rows):
        if line < rank and int(reduced[line, k]) != 0:
            chosen.append(row)
            line += 1
    return chosen


def _residue(x: float) -> int:
    """A float, which is a fraction with a power of two below, modulo the prime."""
    above, below = float(x).as_integer_ratio()
    return above * pow(below, -1, PRIME) % PRIME


def true_losses(poles: np.ndarray, lags: int, bits: int = 800) -> tuple[np.ndarray, np.ndarray]:
    """Memory and loss from the power series of Π(z − λ̄)/(1 − λz) in ball arithmetic."""
    with ctx.workprec(bits):
        numerator, denominator = acb_poly([1]), acb_poly([1])
        for pole in poles.tolist():
            numerator *= acb_poly([-acb(pole.conjugate()), 1])
            denominator *= acb_poly([1, -acb(pole)])
        top = [numerator[k] for k in range(len(poles) + 1)]
        bottom = [denominator[k] for k in range(len(poles) + 1)]
        b: list[acb] = []
        for k in range(lags):  # long division of power series
            value = top[k] if k < len(top) else acb(0)
            for j in range(1, min(k, len(poles)) + 1):
                value -= bottom[j] * b[k - j]
            b.append(value)
        losses, lost = [], arb(0)
        for value in b:
            lost += value.real * value.real + value.imag * value.imag
            losses.append(lost)
        memory = [float((1 - loss).mid()) for loss in losses]
        return np.array(memory), np.array([float(loss.mid()) for loss in losses])
