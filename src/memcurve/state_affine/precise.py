"""Input-normal coordinates in ball arithmetic: proven, from the formulas of p and q on."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.progress import ProgressCallback, no_progress
from memcurve.core.types import EPS, Floats
from memcurve.solve import ball_arithmetic as balls
from memcurve.state_affine.faults import fault
from memcurve.state_affine.letters import DEGREES
from memcurve.state_affine.network import StateAffineNetwork
from memcurve.state_affine.ranks import Reached
from memcurve.state_affine.tree import Tree
from memcurve.state_affine.white import NotWhiteError, applied, solve, state_units

MOST_STATES = 96  # up to which balls take over; twice as many would take hours
FIRST_BITS = 320
LAST_BITS = 6000
NARROW = 1e-20  # widest ball that is rounded to a float
FINER = (1, 2, 4, 8)  # rules of ever more nodes, until two agree
SAME = 1e-14  # to this


def white_precisely(
    network: StateAffineNetwork,
    reached: Reached,
    notify: ProgressCallback = no_progress,
    deviations: Any = None,
) -> tuple[Tree, int]:
    """Input-normal coordinates, accurate to the last digit of every entry, and the bits used."""
    notify("more digits", 0, None)
    exact = network.is_polynomial or network.input.is_discrete
    before: Tree | None = None
    for finer in (1,) if exact else FINER:
        attempt = partial(_attempt, network, reached, finer, deviations, notify)
        now, bits = balls.with_rising_bits(attempt, FIRST_BITS, LAST_BITS, growth=1.8)
        if exact or (before is not None and _agree(before, now)):
            return now, bits
        before = now
    raise UncertainResultError(fault("unsettled"))


def _agree(one: Tree, other: Tree) -> bool:
    if one.T.shape != other.T.shape:
        return False
    pairs = ((one.T, other.T), (one.r, other.r), (one.weights, other.weights))
    return all(np.abs(a - b).max(initial=0.0) < SAME for a, b in pairs)


def _attempt(
    network: StateAffineNetwork,
    reached: Reached,
    finer: int,
    deviations: Any,
    notify: ProgressCallback,
) -> Tree:
    from flint import arb_mat

    C, weights = _expansion(network, finer)
    T, Q = _mixed(C, network.p), _mixed(C, network.q[:, :, None])
    mean = balls.solved(balls.diagonal([1] * network.size) - T[0], Q[0])
    r = [t * mean + q for t, q in zip(T[1:], Q[1:], strict=True)]
    S = balls.diagonal([1] * network.size)
    if reached.rank < network.size:
        T, r, S = _on_reached(network, reached, T, r, mean)
    vectors = np.stack([balls.floats_of(one)[:, 0] for one in r])
    units = state_units(np.stack([balls.floats_of(t) for t in T]), vectors)
    D, inverse = (balls.diagonal(x.tolist()) for x in (units, 1 / units))
    T, r, S = [inverse * t * D for t in T], [inverse * one for one in r], S * D
    white = balls.whitening(_covariance(T, r, notify))
    S = S * balls.widened(white.inverse, balls.norm(white.inverse) * white.slack)
    tilde, drive = [white.transformed(t) for t in T], [white.W * one for one in r]
    states = outputs = _floats(tilde, drive)
    means = None
    # without noise, outputs that others give add nothing, and leave nothing to invert
    read = reached.read if deviations is None else slice(None)
    if network.outputs is not None:
        out = _mixed(C, network.outputs[0][:, read])
        offsets = _mixed(C, network.outputs[1][:, read, None])
        mean_of, *direct = (a * mean + b for a, b in zip(out, offsets, strict=True))
        out, means = [one * S for one in out], balls.floats_of(mean_of)[:, 0]
    else:
        if network.readout is not None:
            D = arb_mat(network.readout[read].tolist())
            S, means = D * S, balls.floats_of(D * mean)[:, 0]
        out, direct = [S * t for t in tilde], [S * one for one in drive]
    if means is not None or deviations is not None:
        gram = _gram(direct + out)
        if deviations is not None:
            noise = deviations(np.diag(balls.floats_of(gram)), means).tolist()
            gram += balls.diagonal(noise) * balls.diagonal(noise)
        W = balls.whitening(gram).W
        outputs = _floats([W * one for one in out], [W * one for one in direct])
    return Tree(*states, *outputs, weights)


def _gram(parts: list[Any]) -> Any:
    """Σ X Xᵀ."""
    first, *others = (one * one.transpose() for one in parts)
    return sum(others, first)


def _narrow(matrix: Any) -> Floats:
    balls.require(balls.spread(matrix) < NARROW)
    return balls.floats_of(matrix)


def _floats(matrices: list[Any], vectors: list[Any]) -> tuple[Floats, Floats]:
    """Letters of matrices, and those of vectors as rows, below zeros for letter 0."""
    rows = [_narrow(one)[:, 0] for one in vectors]
    return np.stack([_narrow(one) for one in matrices]), np.stack([np.zeros_like(rows[0]), *rows])


def _mixed(C: Any, parts: Floats) -> list[Any]:
    """Σ_i C[k, i] parts_i for every letter k."""
    from flint import arb_mat

    matrices = [arb_mat(one.tolist()) for one in parts]
    zero = arb_mat(*parts.shape[1:])
    return [
        sum((m * c for c, m in zip(row, matrices, strict=True) if not c.is_zero()), zero)
        for row in C.tolist()
    ]


def _expansion(network: StateAffineNetwork, finer: int) -> tuple[Any, Floats]:
    """C with f_i = Σ_k C[k, i] e_k for orthonormal e, and <φ_d, e_k> for polynomials φ_d."""
    from flint import arb_mat, ctx

    law, count = network.input, len(network.functions)
    if network.is_polynomial and not law.is_discrete:
        table = _exact([[law.moment(k) for k in range(2 * count - 1)]]).tolist()[0]
        gram = arb_mat([[table[i + j] for j in range(count)] for i in range(count)])
    else:
        nodes, w = law.precise(ctx.prec, finer)
        values = arb_mat([[f.precise(z) for z in nodes] for f in network.functions])
        gram = values * _weighted(values.tolist(), w).transpose()
    L, independent = _echelon_factor(gram)
    if network.is_polynomial:
        return L.transpose(), np.eye(len(independent))
    E = balls.solved(balls.rows_of(L, independent), balls.rows_of(values, independent))
    phi = _polynomials(nodes, w, len(nodes) - 1 if law.is_discrete else DEGREES)
    weights = balls.floats_of(_weighted(phi, w) * E.transpose())
    weights[0], weights[1:, 0] = np.eye(len(independent))[0], 0.0
    return L.transpose(), weights


def _exact(rows: Any) -> Any:
    """Fractions as balls."""
    from flint import arb, arb_mat, fmpq

    return arb_mat([[arb(fmpq(f.numerator, f.denominator)) for f in row] for row in rows])


def _weighted(rows: list[list[Any]], w: Sequence[Any]) -> Any:
    from flint import arb_mat

    return arb_mat([[a * v for a, v in zip(w, row, strict=True)] for row in rows])


def _echelon_factor(gram: Any) -> tuple[Any, list[int]]:
    """L with L Lᵀ = gram, a column for each function that is independent of those before it."""
    from flint import arb_mat, ctx

    table, size = gram.tolist(), gram.nrows()
    columns, independent = list[list[Any]](), list[int]()
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
        independent.append(i)
    return arb_mat(columns).transpose(), independent


def _polynomials(nodes: Sequence[Any], weights: Sequence[Any], degree: int) -> list[list[Any]]:
    """Orthonormal polynomials at the nodes, by their recurrence."""
    from flint import arb

    zero = arb(0)
    rows = [[arb(1)] * len(nodes)]
    before, b = [zero] * len(nodes), zero
    for _ in range(degree):
        last = rows[-1]
        a = sum((w * z * v * v for w, z, v in zip(weights, nodes, last, strict=True)), zero)
        new = [((z - a) * v - b * u).mid() for z, v, u in zip(nodes, last, before, strict=True)]
        b = sum((w * v * v for w, v in zip(weights, new, strict=True)), zero).sqrt().mid()
        before = last
        rows.append([(v / b).mid() for v in new])
    return rows


def _on_reached(
    network: StateAffineNetwork, reached: Reached, T: list[Any], r: list[Any], mean: Any
) -> tuple[list[Any], list[Any], Any]:
    """Letters of as many states as words reach; S gives all states from these."""
    exact = _exact(network.combinations())
    P, Q = _mixed(exact, network.p), _mixed(exact, network.q[:, :, None])
    words: list[Any] = []
    for parent, k in reached.words:
        words.append(P[k] * mean + Q[k] if parent < 0 else P[k] * words[parent])
    W = balls.beside(*words)
    S = balls.solved(balls.rows_of(W, reached.rows).transpose(), W.transpose()).transpose()

    def own(X: Any) -> Any:
        part = balls.rows_of(X, reached.rows)
        balls.require_zero(S * part - X, reached.rank)
        return part

    return [own(t * S) for t in T], [own(one) for one in r], S


def _covariance(T: list[Any], r: list[Any], notify: ProgressCallback) -> Any:
    """An enclosure of G = Σ T G Tᵀ + Σ r rᵀ.

    A residual R is amplified to Σ_j Φʲ(R), which lies between ∓2‖R‖V for any V with
    V − Φ(V) ≥ ½: such a V also proves that ρ(Φ) < 1.
    """
    from flint import arb_mat, ctx

    size = T[0].nrows()
    floats = np.stack([balls.floats_of(t) for t in T])
    live = [t for t, one in zip(T, floats, strict=True) if one.any()]
    X, Q = arb_mat(size, size), _gram(r)
    try:
        V = solve(floats, np.eye(size), 1e-6)
    except NotWhiteError as error:
        raise UncertainResultError(f"no proof of fading memory was found: {error}.") from error
    slack = 64 * EPS * size * (1 + float((floats**2).sum())) * float(np.abs(V).sum())
    least = min(np.linalg.eigvalsh(X)[0] for X in (V, V - applied(floats, V)))
    if not least - slack > 0.5:
        raise UncertainResultError(fault("unproven"))
    bound = 2 * float(np.linalg.norm(V, 2)) + slack
    R, size_of_R = Q, balls.norm(Q)
    goal = size_of_R * balls.power_of_two(10 - ctx.prec)
    while size_of_R > goal:
        exponent = balls.floor_log2(size_of_R)
        notify("more digits", -exponent, None)
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
