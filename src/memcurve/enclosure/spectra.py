"""Autocovariances of the inputs as balls, and what the network makes of them.

With γ scaled to γ(0) = 1 and p_τ = Cov(x_t, z_{t−τ}) = Σ_{i≥0} γ(i − τ) A^i C for all τ ∈ Z::

    p_τ = A p_{τ−1} + C γ(τ)

Beyond the reach m of a finite γ, p_{−k} = 0. An ARMA input has γ(k) = Σ_l ar_l γ(k − l) for k > q,
so that G = [p_{−m}, p_{−m+1}, …, p_{−m+p−1}] with m = max(p, q) solves a Stein equation,
G − A G Φᵀ = C [γ(m), …, γ(m − p + 1)], where Φ is the companion matrix of ar.
"""

from __future__ import annotations

from math import isqrt
from typing import Any, NamedTuple

from memcurve.enclosure.balls import beside, block, krylov, power_two
from memcurve.enclosure.stein import energy, solve_stein
from memcurve.inputs import ARMA, InputProcess
from memcurve.inputs.levinson import first_lags


class Spectrum(NamedTuple):
    """γ(0) = 1, …, γ(m) and the recurrence beyond: its companion matrix Φ, or None for zeros."""

    gamma: list[Any]
    companion: Any  # None where there is none
    energy: Any

    @property
    def reach(self) -> int:
        """The m up to which γ is listed."""
        return len(self.gamma) - 1

    def around(self, first: int, last: int) -> list[Any]:
        """γ(first), …, γ(last) for lags of modulus at most m."""
        return [self.gamma[abs(k)] for k in range(first, last + 1)]


def spectrum(process: InputProcess, bits: int) -> Spectrum:
    """γ/γ(0) of the process as its own numbers define it, at the current precision."""
    from flint import arb, arb_mat

    if process.is_white:
        return Spectrum([arb(1)], None, arb(0))
    if isinstance(process, ARMA):
        balls = first_lags(process.ar, process.ma, bits)
        order = len(process.ar)
    elif process.finite_lags is not None:
        values = process.autocovariance(process.finite_lags + 1)
        balls, order = [arb(value) for value in values.tolist()], 0
    else:
        raise TypeError(
            f"{process.name} has neither a finite autocovariance nor ARMA weights; give it as "
            f"inputs.Autocovariance of its first lags."
        )
    gamma = [arb(1)] + [ball / balls[0] for ball in balls[1:]]
    if order == 0:
        return Spectrum(gamma, None, arb(0))
    companion = arb_mat(order, order)
    for i, weight in enumerate(process.ar.tolist()):  # type: ignore[attr-defined]
        companion[0, i] = weight
    for i in range(1, order):
        companion[i, i - 1] = 1
    return Spectrum(gamma, companion, energy(companion))


def future(A: Any, C: Any, known: Spectrum, energy_of_A: Any) -> Any | None:
    """G = [p_{−m}, …, p_{−m+p−1}] for an ARMA input; None for a finite autocovariance."""
    from flint import arb_mat

    if known.companion is None:
        return None
    order = known.companion.ncols()
    newest_first = arb_mat([[known.gamma[abs(known.reach - i)] for i in range(order)]])
    return solve_stein(A, known.companion, C * newest_first, (energy_of_A, known.energy))


def present(A: Any, C: Any, known: Spectrum, G: Any | None) -> Any:
    """p_0 = Cov(x_t, z_t), a column."""
    if G is not None:
        start = -known.reach + G.ncols() - 1
        p = block(G, range(G.nrows()), [G.ncols() - 1])
        for lag in range(start + 1, 1):
            p = A * p + C * known.gamma[-lag]
        return p
    # Σ_i γ(i) A^i C by baby steps i < s and giant steps A^s, whose balls hardly grow
    from flint import arb, arb_mat

    count = len(known.gamma)
    step = 1 << max(0, isqrt(count - 1).bit_length())
    turns = -(-count // step)
    padded = known.gamma + [arb(0)] * (turns * step - count)
    powers = [A]
    table = arb_mat([[padded[t * step + i] for t in range(turns)] for i in range(step)])
    sums = krylov(A, C, step, powers) * table
    p = block(sums, range(sums.nrows()), [turns - 1])
    if turns > 1:
        giant = power_two(powers, step.bit_length() - 1)
        for t in range(turns - 2, -1, -1):
            p = giant * p + block(sums, range(sums.nrows()), [t])
    return p


def driven(A: Any, C: Any, drive: list[Any], start: Any | None, powers: list[Any]) -> Any:
    """Columns p_i = A p_{i−1} + C g_i for i = 0, 1, … with p_{−1} = ``start`` (or zero).

    In blocks of w: within a block, [C, AC, …, A^{w−1}C] times a Toeplitz matrix of g; from block to
    block A^w. Step by step the balls would grow with the powers of |A|.
    """
    from flint import arb, arb_mat

    size, count = A.nrows(), len(drive)
    width = 1 << max(0, isqrt(count - 1).bit_length() if count > 1 else 0)
    blocks = -(-count // width)
    padded = drive + [arb(0)] * (blocks * width - count)
    toeplitz = arb_mat(width, blocks * width)
    for b in range(blocks):
        for i in range(width):
            for j in range(i + 1):
                toeplitz[j, b * width + i] = padded[b * width + i - j]
    forced = krylov(A, C, width, powers) * toeplitz
    step = width.bit_length() - 1
    ends = [arb_mat(size, 1) if start is None else start]
    for b in range(blocks - 1):
        from_before = power_two(powers, step) * ends[-1]
        ends.append(from_before + block(forced, range(size), [b * width + width - 1]))
    free = krylov(A, A * beside(*ends), width, powers)
    places = [i * blocks + b for b in range(blocks) for i in range(width)]
    free = block(free, range(size), places)
    return block(forced + free, range(size), range(count))
