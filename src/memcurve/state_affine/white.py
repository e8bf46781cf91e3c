"""Input-normal (white) coordinates of a state-affine network, in floating point.

With letters T_k = E[p φ_k], r_k = E[r φ_k] of the centred recursion ξ_t = p(z)ξ_{t−1} + r(z),
E r = 0, the covariance G solves G = Σ T_k G T_kᵀ + Σ r_k r_kᵀ. In coordinates in which G = I,

    Σ_k T_k T_kᵀ + r_k r_kᵀ = I,

the coefficient of the word k_0 … k_m (newest first) is T_{k_0} … T_{k_{m−1}} r_{k_m}, and its
capacity is the square of the length of that vector.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.sparse.linalg import LinearOperator, gmres

from memcurve.core.errors import UncertainResultError
from memcurve.core.progress import ProgressCallback, no_progress
from memcurve.core.types import EPS, SEED, Floats

DROPPED = 1e-13  # share of a letter below which a direction is rounding
CHANGE = 2e-12  # share by which entries are changed to see how far numbers move; above DROPPED
# changes at random, of which one may happen to do little to few states
DRAWS = 4
FEW_STATES = 32
MIXED = 2 * EPS  # share of the longest row of a letter by which rounding changes any entry
ROUGH = 1e-7  # relative accuracy of a covariance that coordinates are changed with
WHITE = 4 * EPS  # whiteness that rounding allows, times the square root of the states
RESTART = 40  # steps of GMRES before it begins anew; twice as many take twice the memory
POWERS = 0.5  # powers of T_0 are summed until they have shrunk by exp of minus this
SWINGS = 20  # steps of the power method after which its growth is about ρ
DIRECT = 16  # states up to which the equation is solved as one linear system


class NotWhiteError(UncertainResultError):
    """No input-normal coordinates were found in floating point."""


def applied(T: Floats, X: Floats) -> Floats:
    """Φ(X) = Σ_k T_k X T_kᵀ."""
    return sum((one @ X @ one.T for one in T), np.zeros((T.shape[1],) * 2))


def spectral_radius(T: Floats, steps: int = 2000, tolerance: float = 1e-8) -> float:
    """ρ(Φ) of a positive map by the power method; a shift keeps ρe^{±iθ} from swinging."""
    X, before, growth, shift = np.eye(T.shape[1]) / T.shape[1], 0.0, 0.0, 0.0
    for k in range(steps):
        X = applied(T, X) + shift * X
        growth = float(np.trace(X))
        if not growth > 1e-200:
            return 0.0
        if k > SWINGS and abs(growth - before) < tolerance * growth:
            break
        X, before = X / growth, growth
        shift = growth if k == SWINGS else shift
    return growth - shift


class Doubling:
    """Q ↦ Σ_j A^j Q (A^j)ᵀ over j < 2^m, by m powers that are stored; over all j by default."""

    def __init__(self, A: Floats, count: int = 60) -> None:
        self.powers = [A][:count]
        while len(self.powers) < count and np.linalg.norm(self.powers[-1]) > 1e-9:
            self.powers.append(self.powers[-1] @ self.powers[-1])
            if not np.linalg.norm(self.powers[-1]) < 1e100:
                raise NotWhiteError("powers of E p grow: its spectral radius is 1 or above")

    def __call__(self, Q: Floats) -> Floats:
        for A in self.powers:
            Q = Q + A @ Q @ A.T
        return Q


def solve(T: Floats, Q: Floats, tolerance: float, notify: ProgressCallback = no_progress) -> Floats:
    """X = Φ(X) + Q with a relative residual of ``tolerance``, by preconditioned GMRES."""
    size = len(Q)
    live = T[[bool(one.any()) for one in T]] if len(T) else T
    if size <= DIRECT:
        pairs = np.eye(size * size) - sum((np.kron(t, t) for t in live), np.zeros(()))
        try:
            X = np.linalg.solve(pairs, Q.ravel()).reshape(size, size)
        except np.linalg.LinAlgError as error:
            raise NotWhiteError("the covariance is not found: Φ has the eigenvalue 1") from error
        return np.asarray((X + X.T) / 2)
    # a few powers are cheap; all of them help where coordinates differ by many orders
    for count in (_worthwhile_powers(T[0]), 60):
        with np.errstate(over="ignore", invalid="ignore"):  # the residual shows it
            X, residual = _refined(live, Q, Doubling(T[0], count), tolerance, notify)
        if residual < 100 * tolerance:
            return X
    raise NotWhiteError(f"the covariance is not found: a residual of {residual:.1e} is left")


def _worthwhile_powers(A: Floats, steps: int = 40) -> int:
    """How many powers shorten GMRES by more than they cost: until A^j A^jᵀ is about a tenth."""
    v = np.random.default_rng(SEED).standard_normal(len(A))
    before = float(np.linalg.norm(v))
    for _ in range(steps):
        v = A @ v
    radius = min(float(np.linalg.norm(v)) / before, 1e9) ** (1 / steps)
    if not 0 < radius < 1:
        return 8 if radius else 0
    return int(np.clip(np.ceil(np.log2(POWERS / -np.log(radius))), 0, 12))


def _refined(
    T: Floats, Q: Floats, over_delays: Doubling, tolerance: float, notify: ProgressCallback
) -> tuple[Floats, float]:
    """The solution by GMRES, begun anew until its relative residual is small or stays."""

    def product(x: Floats) -> Floats:
        X = x.reshape(Q.shape)
        return over_delays(X - applied(T, X)).ravel()

    operator = LinearOperator((Q.size, Q.size), matvec=product, dtype=float)
    X, R, size = np.zeros_like(Q), Q, float(np.linalg.norm(Q))
    best, residual, steps = (X, 1.0), size, 0

    def report(_: float) -> None:
        nonlocal steps
        notify("covariance of the states", steps := steps + 1, None)

    for attempt in range(25):
        before, goal = residual, 0.3 * tolerance * size / residual
        change, _ = gmres(
            operator, over_delays(R).ravel(), rtol=goal, restart=RESTART, maxiter=1,
            callback=report, callback_type="pr_norm",
        )  # fmt: skip
        X = X + change.reshape(Q.shape)
        X = (X + X.T) / 2
        R = Q - X + applied(T, X)
        residual = float(np.linalg.norm(R))
        best = min(best, (X, residual / size), key=lambda pair: pair[1])
        if not residual > tolerance * size or (attempt and not residual < 0.5 * before):
            break  # or not finite
    return best


def word_arnoldi(T: Floats, r: Floats) -> tuple[Floats, Floats, Floats, Floats, float]:
    """H, h and an orthonormal basis Q of what words reach: T_k Q = Q H_k, r_k = Q h_k to rounding.

    Then the sizes at which words first reach each direction, and the smallest share of a letter
    that was taken for one. The basis grows level by level of the tree of words: every T_k q_j is
    expanded with an error of rounding of T_k, whatever the condition of G; entries that a level
    cannot reach are exactly zero.
    """
    letters, size = r.shape
    Q, sizes, parts, margin = np.zeros((size, 0)), np.zeros(0), [], np.inf
    norms = np.array([np.linalg.norm(t) for t in T])
    live = np.flatnonzero(norms).tolist()
    W, columns = r[1:].T, [(-1, k) for k in range(1, letters)]
    weight, floor = np.ones(letters - 1), np.maximum(np.linalg.norm(r[1:], axis=1), 1e-300)
    while columns:
        first, coefficients = Q.shape[1], np.zeros((Q.shape[1], len(columns)))
        while True:
            for _ in range(3):  # twice for orthogonality, once more where words are tiny
                more = Q.T @ W
                coefficients, W = coefficients + more, W - Q @ more
            share = np.linalg.norm(W, axis=0) / floor
            W = np.where(share > DROPPED, W, 0.0)  # rounding of columns that are in the span
            if Q.shape[1] == size or not W.any():
                break
            q, R, pivots = qr(W * weight, mode="economic", pivoting=True)
            lengths = np.abs(np.diag(R))
            share = lengths / (floor * weight)[pivots[: len(lengths)]]
            real = (share > DROPPED) & (lengths > 1e-280)
            count = min(len(real) if real.all() else int(np.argmin(real)), size - Q.shape[1])
            if not count:
                break
            margin = min(margin, float(share[:count].min()))
            new, signs = np.linalg.qr(q[:, :count] - Q @ (Q.T @ q[:, :count]))
            new = new * np.sign(np.diag(signs))
            coefficients = np.concatenate([coefficients, np.zeros((count, len(columns)))])
            Q, sizes = np.concatenate([Q, new], axis=1), np.append(sizes, lengths[:count])
        parts.append((columns, coefficients))
        count = Q.shape[1] - first
        columns = [(first + j, k) for k in live for j in range(count)]
        W = np.concatenate([np.zeros((size, 0)), *(T[k] @ Q[:, first:] for k in live)], axis=1)
        weight, floor = np.tile(sizes[first:], len(live)), np.repeat(norms[live], count)
    reached = Q.shape[1]
    H, h = np.zeros((letters, reached, reached)), np.zeros((letters, reached))
    for columns, block in parts:
        for (j, k), v in zip(columns, block.T, strict=True):
            (h[k] if j < 0 else H[k, :, j])[: len(v)] = v
    return H, h, Q, sizes, margin


@dataclass(frozen=True, eq=False)
class WhiteNetwork:
    """ξ = states·ξ_white, T_white = inverse·T·states; ``margin`` is that of the basis of words."""

    T: Floats
    r: Floats
    states: Floats
    inverse: Floats
    margin: float = 0.0

    @property
    def size(self) -> int:
        """Dimension reached: the total capacity of the states."""
        return int(self.T.shape[1])

    def defect(self) -> Floats:
        """Σ T_k T_kᵀ + r_k r_kᵀ − I."""
        eye = np.eye(self.size)
        return applied(self.T, eye) + self.r.T @ self.r - eye

    def in_white_of(self, G: Floats) -> WhiteNetwork:
        """Coordinates in which a covariance G is white: its Cholesky factor proves it positive."""
        try:
            L = cholesky(G, lower=True)
        except np.linalg.LinAlgError as error:
            raise NotWhiteError("the covariance of the states is not positive definite") from error
        T = np.stack([solve_triangular(L, one @ L, lower=True) for one in self.T])
        r = solve_triangular(L, self.r.T, lower=True).T
        inverse = solve_triangular(L, self.inverse, lower=True)
        return replace(self, T=T, r=r, states=self.states @ L, inverse=inverse)


def whitened(T: Floats, r: Floats, notify: ProgressCallback = no_progress) -> WhiteNetwork:
    """Input-normal coordinates from letters, backward stable; an error if G is not positive."""
    notify("words", 0, None)
    units = state_units(T, r)
    H, h, Q, sizes, margin = word_arnoldi(T / units[:, None] * units, r / units)
    if not len(sizes):
        return WhiteNetwork(H, h, Q, Q.T, margin)
    scale = _largest_sizes(H, sizes, 60)
    # coordinates graded by the size at which words reach them, then by the deviation of the states
    for _ in range(4):
        graded = H / scale[:, None] * scale
        G = solve(graded, (h / scale).T @ (h / scale), ROUGH, notify)
        spread = np.sqrt(np.abs(np.diag(G)))
        scale = scale * spread
        if not (spread > 0).all() or np.abs(np.log(spread)).max() < 3:
            break
    G = G / spread[:, None] / spread
    states, inverse = units[:, None] * Q * scale, (Q / scale).T / units
    white = WhiteNetwork(H / scale[:, None] * scale, h / scale, states, inverse, margin)
    for _ in range(6):
        white = white.in_white_of(G)
        defect = white.defect()
        if np.abs(defect).max() < WHITE * np.sqrt(white.size):
            break
        G = np.eye(white.size) + solve(white.T, defect, max(ROUGH, EPS), notify)
    return white


def state_units(T: Floats, r: Floats) -> Floats:
    """Powers of two near the sizes of the states, so that their units do not matter."""
    sizes = np.abs(r).max(axis=0)
    for _ in range(len(sizes)):  # until words have reached every state that they reach
        before, sizes = np.count_nonzero(sizes), _largest_sizes(T, sizes, 1)
        if np.count_nonzero(sizes) == before:
            break
    sizes = _largest_sizes(T, sizes, 8)
    return np.exp2(np.rint(np.log2(np.where(sizes > 0, sizes, 1.0))))


def _largest_sizes(T: Floats, sizes: Floats, sweeps: int) -> Floats:
    """Sizes at which words reach directions at any time: later ones may be far larger."""
    steps = np.abs(T).max(axis=0)
    for _ in range(sweeps):
        larger = np.maximum(sizes, (steps * sizes).max(axis=1))
        if (larger <= 1.1 * sizes).all():
            break
        sizes = larger
    return sizes


def changes(sizes: tuple[Floats, Floats], draw: int = 0) -> tuple[Floats, Floats]:
    """Random perturbations of T and r, zeros too, by ``CHANGE`` of their sizes, as by rounding."""
    rng, units = np.random.default_rng([SEED, draw]), state_units(*sizes)
    T, r = sizes[0] / units[:, None] * units, sizes[1] / units
    T, r = (
        CHANGE * rng.standard_normal(size.shape) * size
        + MIXED * np.linalg.norm(size, axis=-1).max() * rng.standard_normal(size.shape)
        for size in (T, r)
    )
    return T * units[:, None] / units, r * units


def changed_slightly(
    white: WhiteNetwork, sizes: tuple[Floats, Floats], draw: int
) -> tuple[WhiteNetwork, float]:
    """The white network of letters with :func:`changes`, and how far it was from white before."""
    step_T, step_r = changes(sizes, draw)
    near = replace(
        white,
        T=white.T + np.stack([white.inverse @ (step @ white.states) for step in step_T]),
        r=white.r + step_r @ white.inverse.T,
    )
    defect = near.defect()
    distance = float(np.linalg.norm(defect, 2)) if np.isfinite(defect).all() else np.inf
    if distance > 0.1:
        return near, distance
    G = np.eye(white.size) + solve(white.T, defect, 1e-2)
    try:
        return near.in_white_of(G), float(np.linalg.norm(G - np.eye(white.size), 2))
    except NotWhiteError:
        return near, np.inf
