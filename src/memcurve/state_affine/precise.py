"""White coordinates in ball arithmetic: proven, from the formulas of p and q on."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.progress import Listener, silent
from memcurve.core.types import EPS, Floats
from memcurve.solve import ball_arithmetic as balls
from memcurve.state_affine.letters import DEGREES
from memcurve.state_affine.network import StateAffineNetwork
from memcurve.state_affine.ranks import Reached
from memcurve.state_affine.white import NotWhiteError, WhiteNetwork, applied, solve

#: States up to which floats that are not enough are followed by balls. Doubled: minutes become
#: hours.
MOST_STATES = 96
#: Bits of a first try, and of the last. Doubled: easy networks take twice as long; hopeless ones
#: four times.
FIRST_BITS, LAST_BITS = 320, 6000
#: Widest ball that is rounded to a float. Doubled: nothing, as balls are far narrower as a rule.
NARROW = 1e-20
#: Rules of ever more nodes, until two agree. Doubled: twice the time, no more digits.
FINER = (1, 2, 4, 8)
#: How close white letters of two rules must be. Doubled: nothing, rules settle exponentially.
SAME = 1e-14


class PreciseLetters(NamedTuple):
    """White letters as floats: of states and of outputs, and the weights of polynomials."""

    white: WhiteNetwork
    out: Floats | None
    direct: Floats | None
    weights: Floats
    output_mean: Floats | None
    bits: int


def white_precisely(
    network: StateAffineNetwork, reached: Reached, tell: Listener = silent, *, whiten: bool = True
) -> PreciseLetters:
    """White coordinates, every entry of which is right to its last digit.

    ``whiten``: those of outputs, too, where these are independent.
    """
    if not network.is_precise:
        raise UncertainResultError(
            "more digits are needed than `functions`, or the density of `input`, can be computed "
            "with; give them as memcurve.state_affine.Formula, or add `noise`."
        )
    tell("more digits", 0, None)
    exact = network.is_polynomial or network.input.is_discrete
    before: PreciseLetters | None = None
    for finer in (1,) if exact else FINER:
        found: tuple[Any, Any, Any, Any, Any]
        found, bits = balls.with_rising_bits(
            partial(_attempt, network, reached, finer, whiten, tell),
            FIRST_BITS,
            LAST_BITS,
            growth=1.8,
        )
        now = PreciseLetters(*found, bits)
        if exact or (before is not None and _distance(before, now) < SAME):
            return now
        before = now
    raise UncertainResultError(
        "expectations of p and q over `input` do not settle as nodes are added: a pole of the "
        "`functions` is too near. Take a smoother gate."
    )


def _distance(one: PreciseLetters, other: PreciseLetters) -> float:
    """How far the white letters of two rules are apart."""
    if one.white.T.shape != other.white.T.shape:
        return np.inf
    parts = (one.white.T - other.white.T, one.white.r - other.white.r, one.weights - other.weights)
    return max(float(np.abs(part).max(initial=0.0)) for part in parts)


def _attempt(
    network: StateAffineNetwork, reached: Reached, finer: int, whiten: bool, tell: Listener
) -> tuple[Any, Any, Any, Any, Any]:
    C, weights = _expansion(network, finer)
    size = network.size
    T, Q = _mixed(C, network.p), _mixed(C, network.q[:, :, None])
    mean = balls.solved(balls.diagonal([1] * size) - T[0], Q[0])
    r = [t * mean + q for t, q in zip(T[1:], Q[1:], strict=True)]
    to_words = None
    if reached.rank < size:
        T, r, to_words = _on_words(network, reached, T, r, mean)
    M = _covariance(T, r, tell)
    white = balls.whitening(M)
    tilde = [white.seen(t) for t in T]
    drive = [white.W * one for one in r]
    from_white = balls.widened(white.inverse, balls.norm(white.inverse) * white.slack)
    S = from_white if to_words is None else to_words * from_white
    out = direct = output_mean = None
    if network.outputs is not None:
        letters = _mixed(C, network.outputs[0])
        offsets = _mixed(C, network.outputs[1][:, :, None])
        single = [a * mean + b for a, b in zip(letters, offsets, strict=True)]
        output_mean = balls.floats_of(single[0])[:, 0]
        single, letters = single[1:], [one * S for one in letters]
        if whiten and reached.outputs == letters[0].nrows():
            gram = sum((one * one.transpose() for one in single + letters[1:]),
                       letters[0] * letters[0].transpose())  # fmt: skip
            W = balls.whitening(gram).W
            single, letters = [W * one for one in single], [W * one for one in letters]
        out = np.stack([_narrow(one) for one in letters])
        zero = np.zeros(out.shape[1])
        direct = np.stack([zero, *(_narrow(one)[:, 0] for one in single)])
    found = WhiteNetwork(
        np.stack([_narrow(t) for t in tilde]),
        np.stack([np.zeros(len(M.tolist())), *(_narrow(one)[:, 0] for one in drive)]),
        balls.floats_of(S),
    )
    return found, out, direct, weights, output_mean


def _narrow(matrix: Any) -> Floats:
    balls.require(balls.spread(matrix) < NARROW)
    return balls.floats_of(matrix)


def _mixed(C: Any, parts: Floats) -> list[Any]:
    """Σ_i C[k, i] parts_i for every letter k."""
    from flint import arb_mat

    matrices = [arb_mat(one.tolist()) for one in parts]
    found = []
    for row in C.tolist():
        total = arb_mat(*parts.shape[1:])
        for weight, matrix in zip(row, matrices, strict=True):
            if not weight.is_zero():
                total += matrix * weight
        found.append(total)
    return found


def _expansion(network: StateAffineNetwork, finer: int) -> tuple[Any, Floats]:
    """C with f_i = Σ_k C[k, i] e_k for orthonormal e, and <φ_d, e_k> for polynomials φ_d."""
    from flint import arb, arb_mat, ctx, fmpq

    law, count = network.input, len(network.functions)
    exact = network.is_polynomial and not law.is_discrete
    if exact:
        moments = [law.moment(k) for k in range(2 * count - 1)]
        table = [arb(fmpq(m.numerator, m.denominator)) for m in moments]
        gram = arb_mat([[table[i + j] for j in range(count)] for i in range(count)])
    else:
        rule = law.precise(ctx.prec, finer)
        if rule is None:
            raise UncertainResultError("`input` has no nodes with more digits.")
        nodes, w = rule
        values = arb_mat([[f.precise(z) for z in nodes] for f in network.functions])
        gram = values * arb_mat([[a * v for v in row] for a, row in
                                 zip(w, values.transpose().tolist(), strict=True)])  # fmt: skip
    L, kept = _echelon_factor(gram)
    if network.is_polynomial:
        return L.transpose(), np.eye(len(kept))
    lower = balls.rows_of(L, kept)
    E = balls.solved(lower, balls.rows_of(values, kept))
    degrees = len(nodes) - 1 if law.is_discrete else DEGREES
    phi = _polynomials(nodes, w, degrees)
    weighted = arb_mat([[a * v for a, v in zip(w, row, strict=True)] for row in phi])
    weights = balls.floats_of(weighted * E.transpose())
    weights[0], weights[1:, 0] = np.eye(len(kept))[0], 0.0
    return L.transpose(), weights


def _echelon_factor(gram: Any) -> tuple[Any, list[int]]:
    """L with L Lᵀ = gram, a column for each function that is independent of those before it."""
    from flint import arb_mat, ctx

    table, size = gram.tolist(), gram.nrows()
    columns, kept = list[list[Any]](), list[int]()
    for i in range(size):
        rest = [
            table[k][i] - sum((c[k] * c[i] for c in columns), table[k][i] * 0) for k in range(size)
        ]
        # a dependent function leaves rounding, an independent one far more than half the digits
        if rest[i].abs_upper() < table[i][i] * balls.power_of_two(-int(0.7 * ctx.prec)):
            continue
        balls.require(rest[i] > 0)
        root = rest[i].sqrt()
        columns.append([(v / root if k >= i else v * 0) for k, v in enumerate(rest)])
        kept.append(i)
    return arb_mat(columns).transpose(), kept


def _polynomials(nodes: Sequence[Any], weights: Sequence[Any], degree: int) -> list[list[Any]]:
    """Orthonormal polynomials at the nodes, by their recurrence."""
    from flint import arb

    one, zero = arb(1), arb(0)
    rows = [[one] * len(nodes)]
    before, b = [zero] * len(nodes), zero
    for _ in range(degree):
        last = rows[-1]
        a = sum((w * z * v * v for w, z, v in zip(weights, nodes, last, strict=True)), zero)
        new = [((z - a) * v - b * u).mid() for z, v, u in zip(nodes, last, before, strict=True)]
        b = sum((w * v * v for w, v in zip(weights, new, strict=True)), zero).sqrt().mid()
        before = last
        rows.append([(v / b).mid() for v in new])
    return rows


def _on_words(
    network: StateAffineNetwork, reached: Reached, T: list[Any], r: list[Any], mean: Any
) -> tuple[list[Any], list[Any], Any]:
    """Letters in the coordinates of words that are a basis, and the words themselves."""
    from flint import arb, arb_mat, fmpq

    rows = network.combinations()
    exact = arb_mat([[arb(fmpq(f.numerator, f.denominator)) for f in row] for row in rows])
    P, Q = _mixed(exact, network.p), _mixed(exact, network.q[:, :, None])
    first = [a * mean + b for a, b in zip(P, Q, strict=True)]
    columns: list[Any] = []
    for parent, letter in reached.words:
        columns.append(first[letter] if parent < 0 else P[letter] * columns[parent])
    S = balls.beside(*columns)
    own = balls.rows_of(S, reached.rows)

    def inside(X: Any) -> Any:
        found = balls.solved(own, balls.rows_of(X, reached.rows))
        balls.require_zero(S * found - X, reached.rank)
        return found

    return [inside(t * S) for t in T], [inside(one) for one in r], S


def _covariance(T: list[Any], r: list[Any], tell: Listener) -> Any:
    """An enclosure of G = Σ T G Tᵀ + Σ r rᵀ.

    A residual R is passed on as Σ_j Φʲ(R), which lies between ∓2‖R‖V for any V with
    V − Φ(V) ≥ ½: such a V also proves that ρ(Φ) < 1.
    """
    from flint import arb_mat, ctx

    size = T[0].nrows()
    floats = np.stack([balls.floats_of(t) for t in T])
    live = [t for t, one in zip(T, floats, strict=True) if one.any()]
    X, Q = arb_mat(size, size), arb_mat(size, size)
    for one in r:
        Q += one * one.transpose()
    try:
        V = solve(floats, np.eye(size), 1e-6)
    except NotWhiteError as error:
        raise UncertainResultError(f"no proof of fading memory was found: {error}.") from error
    slack = 64 * EPS * size * (1 + float((floats**2).sum())) * float(np.abs(V).sum())
    left = np.linalg.eigvalsh(V - applied(floats, V))[0] - slack
    if not left > 0.5:
        raise UnstableNetworkError(
            "no proof of fading memory in the mean square was found: the network is too close to "
            "ρ(Φ) = 1. Scale `p` down."
        )
    bound = 2 * float(np.linalg.norm(V, 2)) + slack
    R, size_of_R = Q, balls.norm(Q)
    goal = size_of_R * balls.power_of_two(10 - ctx.prec)
    while size_of_R > goal:
        tell("more digits", -balls.floor_log2(size_of_R), None)
        exponent = balls.floor_log2(size_of_R)
        scaled = balls.floats_of(R, balls.power_of_two(-exponent))
        try:
            change = solve(floats, (scaled + scaled.T) / 2, 1e-9)
        except NotWhiteError:  # what is left is rounding
            break
        new = (X + arb_mat(change.tolist()) * balls.power_of_two(exponent)).mid()
        R = Q - new
        for t in live:
            R += t * new * t.transpose()
        if not balls.norm(R) * 4 < size_of_R:
            break
        X, size_of_R = new, balls.norm(R)
    return balls.widened(X, size_of_R * bound)
