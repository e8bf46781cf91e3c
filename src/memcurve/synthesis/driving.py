"""Input weights that maximise usable memory."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import Seed, generator, require_size
from memcurve.core.errors import rank_among_notes, unstable
from memcurve.core.notes import Note
from memcurve.core.types import EPS, SEED, Floats, Integers
from memcurve.io.adapters import as_network
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.network.device import on_host
from memcurve.solve import few_threads, solve_stein
from memcurve.synthesis.directions import display_name, noise_level, require_all_read
from memcurve.synthesis.result import PROSE, SynthesisResult

#: States at most: matrices of their square are decomposed some hundred times. Doubled: an hour.
MOST_STATES = 1500
#: Random masks for comparison; the best is a starting point. Doubled: a tenth more time.
DRAWS = 20
#: Steps of an ascent, times the cube of the states. Doubled: masks some hundredths better.
WORK = 2e9
#: Lags that may count, and how many of them. Doubled: ten seconds more each.
LAST_LAG = 500_000
MOST_LAGS = 10_000
#: Lags of which no mask retains more than this are left out of an ascent. Doubled: a lag less.
FADED = 1e-20
#: A is normal if AAᵀ − AᵀA is below this, relative to ‖A‖². Doubled: nothing.
NORMAL = 1e-12
#: Rounding of a Gramian's eigenvalues, in n·ε of the largest. Halved: errors may not hold.
ROUNDED = 4


@dataclass(frozen=True, eq=False, repr=False)
class MaskChoice(SynthesisResult):
    """Input weights, from :func:`memcurve.best_mask`.

    Attributes
    ----------
    mask : (N,) or (N, inputs) array
        The weights, of the Frobenius norm of the network's own mask.
    value : float
        Usable memory, over the lags asked for, with ``error``.
    bound : float
        Proven upper bound for all masks of this norm with as many inputs.
    random, random_error : float
        Mean over random masks, and its standard error with that of rounding.
    own : float
        Usable memory with the network's own mask; NaN if the number of inputs differs.
    lags : int array or None
        The lags that count; None for all.
    before, after : (lags,) arrays
        Usable memory lag by lag with the own mask (zeros if the number of inputs differs), and
        with this one.

    Examples
    --------
    >>> import memcurve
    >>> choice = memcurve.best_mask(memcurve.ensembles.cyclic(6), 0.1)
    >>> bool(choice.own <= choice.value <= choice.bound)
    True
    """

    FORMAT: ClassVar[str] = "memcurve.MaskChoice/1"

    mask: Floats
    value: float
    error: float
    bound: float
    random: float
    random_error: float
    own: float
    lags: Integers | None
    noise: float
    before: Floats
    after: Floats
    network: str
    notes: tuple[Note, ...] = ()


def best_mask(
    network: Any,
    noise: float,
    lags: Any = None,
    inputs: int = 1,
    nodes: Any = None,
    *,
    seed: Seed = SEED,
) -> MaskChoice:
    """Input weights with the largest usable memory, in total or at some lags.

    U(C) = tr G(G + s²)⁻¹ of the Gramian G = Σ A^jCCᵀ(A^j)ᵀ is maximised along its gradient 2s²YC,
    Y = Σ (A^j)ᵀ(G + s²)⁻²A^j, from several starts. U is concave in X = CCᵀ: every X of the same
    trace proves U ≤ U(X) + s²(‖C‖²λ_max(Y) − tr XY). For a normal A only the powers ``|v_k*C|²``
    of its modes matter, and the bound meets the value: the optimum is global. Otherwise the mask is
    the best one found.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        A network of up to 1,500 states, read from all its nodes.
    noise : float
        Standard deviation of the observation noise, for input of unit variance.
    lags : int or sequence of int, optional
        Lags whose memory counts: 0 … m − 1 for an integer m; by default all.
    inputs : int
        Number of inputs, which share the norm of the mask.
    nodes : sequence of int, optional
        Nodes that may be driven; by default all.
    seed : int, SeedSequence or Generator
        Of the random masks for comparison.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.orthogonal(20, seed=1)
    >>> choice = memcurve.best_mask(network, 0.1)
    >>> choice.random < choice.value <= choice.bound < 1.001 * choice.value
    True
    >>> better = network.replace(C=choice.mask)
    >>> abs(memcurve.memory_curve(better, noise=0.1).total - choice.value) < 1e-9
    True
    """
    subject, s = as_network(network), noise_level(noise)
    width, rng, counted = require_size(inputs, "inputs"), generator(seed), _counted(lags)
    require_all_read(subject)
    if subject.states > MOST_STATES:
        raise ValueError(
            f"`network` must have at most {MOST_STATES:,} states, as dense matrices of them are "
            f"decomposed hundreds of times; got {subject.states:,}. Take a part of it."
        )
    own_mask, A = subject.real_pair()[1], as_dense(subject)
    size = float(np.linalg.norm(own_mask)) or 1.0  # of a zero mask, one
    has_own = subject.inputs == width and own_mask.any()
    problem = MaskAscent(A, s / size, counted, width, _free(subject, nodes))
    with few_threads(len(A)), np.errstate(all="ignore"):
        draws = [_normalised(rng.standard_normal(problem.shape)) for _ in range(DRAWS)]
        values = [problem.objective(C)[0] for C in draws]
        rounded = float(np.mean([problem.rounding(C) for C in draws]))
        starts = [draws[int(np.argmax(values))], problem.at_large_noise()]
        if has_own and own_mask[problem.free].any():
            starts.append(_normalised(own_mask[problem.free]))
        ends = [problem.optimised(C) for C in starts]
        C = max(ends, key=lambda end: end[0] - problem.rounding(end[1]))[1]
        bound = problem.bound(C)
    mask = size * problem.spread(C)
    if subject.is_complex:
        mask = mask[: subject.size] + 1j * mask[subject.size :]
    made = subject.replace(C=mask if width > 1 else mask[:, 0])
    with rank_among_notes():
        value, error, after = _usable(made, s, counted)
        before, before_total = np.zeros(len(after)), float("nan")
        if has_own:
            before_total, _, before = _usable(subject, s, counted, len(after))
    notes = [*subject.notes]
    if bound + error > 1.01 * value:
        notes.append(Note("proof", PROSE["MaskChoice"]["local"]))
    return MaskChoice(
        made.C, value, error, max(bound, value) + error, float(np.mean(values)),
        float(np.std(values) / np.sqrt(DRAWS)) + rounded, before_total, counted, s, before, after,
        display_name(subject), tuple(notes),
    )  # fmt: skip


def as_dense(network: LinearNetwork) -> Floats:
    """A of the real states, as an array."""
    A = on_host(network.real_pair()[0])
    return A if isinstance(A, np.ndarray) else np.asarray(A.toarray())


def _counted(lags: Any) -> Any:
    """The lags that count, in order, or None."""
    if lags is None:
        return None
    if isinstance(lags, int | np.integer) and not isinstance(lags, bool):
        return np.arange(require_size(lags, "lags"))
    counted = np.unique(np.asarray(lags))
    if counted.dtype.kind not in "iu" or counted.size == 0 or counted.min() < 0:
        raise ValueError(f"`lags` must be a number of lags or lags from 0 on; got {lags!r}.")
    if counted[-1] >= LAST_LAG or len(counted) > MOST_LAGS:
        raise ValueError(
            f"`lags` must be below {LAST_LAG:,} and at most {MOST_LAGS:,} of them, as each takes a "
            f"product at every step; got {len(counted):,} up to {counted[-1]:,}. Leave out lags "
            f"without memory."
        )
    return counted.astype(np.int64)


def _free(network: LinearNetwork, nodes: Any) -> Any:
    """The states that may be driven."""
    if nodes is None:
        return np.arange(network.states)
    try:
        chosen = network.replace(readout=nodes).readout  # which refuses what are no nodes
    except (TypeError, ValueError) as error:
        raise type(error)(str(error).replace("`readout`", "`nodes`")) from None
    assert chosen is not None
    return np.concatenate([chosen, chosen + network.size]) if network.is_complex else chosen


def _usable(
    network: LinearNetwork, s: float, counted: Any, lags: int | None = None
) -> tuple[float, float, Floats]:
    """Usable memory over the lags that count, its error, and lag by lag."""
    if counted is None:
        curve = memory_curve(network, lags, noise=s)
        return curve.total, curve.total_error, curve.values
    curve = memory_curve(network, max(int(counted[-1]) + 1, lags or 0), noise=s)
    return float(curve.values[counted].sum()), float(curve.error[counted].sum()), curve.values


def usable_of(G: Floats, noise: float) -> tuple[float, Floats, Floats]:
    """Usable memory of a Gramian, and its eigenvalues and eigenvectors; NaN if it overflowed."""
    if not np.isfinite(G).all():
        return np.nan, np.array([np.nan]), G
    w, B = np.linalg.eigh(G)
    w = np.maximum(w, 0.0)
    return float((w / (w + noise**2)).sum()), w, B


def rounding_of(w: Floats, noise: float) -> float:
    """How far rounding moves usable memory: each eigenvalue of G by a share of the largest."""
    off = ROUNDED * len(w) * EPS * w.max()
    high, low = w + off, np.maximum(w - off, 0.0)
    return float((high / (high + noise**2) - low / (low + noise**2)).sum())


def _normalised(C: Floats) -> Floats:
    return np.asarray(C / np.linalg.norm(C))


class MaskAscent:
    """U of masks of norm one, its gradient and bounds, at noise s in units of the mask."""

    def __init__(self, A: Floats, s: float, lags: Any, width: int, free: Any) -> None:
        self.A, self.s, self.free = A, s, free
        self.shape = (len(free), width)
        radius = float(np.abs(np.linalg.eigvals(A)).max())
        if radius >= 1:
            raise unstable(radius)
        if lags is not None:  # MC_τ ≤ ‖A^τ‖²/s²: of no use from some lag on
            G, power, last = self.summed(np.eye(len(A))), A, 1
            while last <= lags[-1] and float((power @ G * power).sum()) > FADED * s**2:
                power, last = power @ power, 2 * last
            lags = lags[: max(1, np.count_nonzero(lags < last))]
        self.lags = lags
        steps = [] if lags is None else np.diff(lags, prepend=0).tolist()
        powers = {step: np.linalg.matrix_power(A, step) for step in set(steps)}
        self.jumps = [powers[step] for step in steps]  # from each lag that counts to the next
        commutator = float(np.abs(A @ A.T - A.T @ A).max())
        self.is_normal = commutator <= NORMAL * len(A) * max(float(np.abs(A @ A.T).max()), EPS)

    def summed(self, X: Floats, transposed: bool = False) -> Floats:
        """Σ A^j X (A^j)ᵀ, or of Aᵀ."""
        return solve_stein(self.A.T if transposed else self.A, X)

    def rounding(self, C: Floats) -> float:
        """How far rounding moves U of a mask."""
        whole = self.spread(C)
        return rounding_of(usable_of(self.summed(whole @ whole.T), self.s)[1], self.s)

    def spread(self, C: Floats) -> Floats:
        """A mask of the free nodes on all states."""
        whole = np.zeros((len(self.A), C.shape[1]))
        whole[self.free] = C
        return whole

    def objective(self, C: Floats) -> tuple[float, Floats]:
        """What counts of a mask, and its gradient."""
        C = self.spread(C)
        U, w, B = usable_of(self.summed(C @ C.T), self.s)
        if self.lags is None:
            Y = self.summed((B / (w + self.s**2) ** 2) @ B.T, transposed=True)
            return U, 2 * self.s**2 * (Y @ C)[self.free]
        # F = Σ_τ tr K_τᵀHK_τ, H = (G + s²)⁻¹; forwards, then back from the oldest lag
        K, columns = C, []
        for jump in self.jumps:
            K = jump @ K
            columns.append(K)
        HK = [(B / (w + self.s**2)) @ (B.T @ K) for K in columns]
        value = float(sum((K * X).sum() for K, X in zip(columns, HK, strict=True)))
        joined = np.concatenate(HK, axis=1)
        slope = np.zeros(C.shape)
        for jump, X in zip(self.jumps[::-1], HK[::-1], strict=True):
            slope = jump.T @ (slope + X)
        Y = self.summed(joined @ joined.T, transposed=True)
        return value, 2 * (slope - Y @ C)[self.free]

    def at_large_noise(self) -> Floats:
        """The best mask at large noise: the first eigenvectors of Σ (A^j)ᵀA^j."""
        Q = self.summed(np.eye(len(self.A)), transposed=True)[np.ix_(self.free, self.free)]
        count = min(self.shape)
        C = np.zeros(self.shape)
        C[:, :count] = np.linalg.eigh(Q)[1][:, -count:]
        return _normalised(C + 1e-3 / len(C))

    def optimised(self, C: Floats) -> tuple[float, Floats]:
        """What counts of the mask at the end of an ascent on the sphere (L-BFGS), and the mask."""
        from scipy.optimize import minimize

        def down(flat: Floats) -> tuple[float, Floats]:
            length = float(np.linalg.norm(flat))
            unit = flat / length
            value, slope = self.objective(unit.reshape(self.shape))
            along = slope.ravel() - unit * float(unit @ slope.ravel())
            return -value, -along / length

        steps = int(np.clip(WORK / len(self.A) ** 3, 40, 300))
        options: Any = {"maxiter": steps, "gtol": 1e-7}
        end = minimize(down, C.ravel(), jac=True, method="L-BFGS-B", options=options)
        return -float(end.fun), _normalised(end.x.reshape(self.shape))

    def bound(self, C: Floats) -> float:
        """No mask of norm one has more: the least of what is proven."""
        rounded = self.rounding(C)
        bounds = [float(len(self.A)), self._relaxed() + rounded]
        if self.is_normal and self.shape[1] == 1:
            bounds.append(self._modal(C) + rounded)
        if self.lags is not None:
            bounds.append(float(len(self.lags) * self.shape[1]))
        return min(bounds)

    def _relaxed(self) -> float:
        """Of any number of inputs: X ← Y^½XY^½, with the bound of each X on the way."""
        n = len(self.A)
        X, best, s = np.eye(n) / n, float("inf"), self.s
        for _ in range(int(np.clip(WORK / 10 / n**3, 10, 60))):
            U, w, B = usable_of(self.summed(X), s)
            Y = self.summed((B / (w + s**2) ** 2) @ B.T, transposed=True)
            values, vectors = np.linalg.eigh(Y)
            bound = U + s**2 * float(values[-1] - (X * Y).sum())
            if not bound < 0.9999 * best:
                break
            best = bound
            root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
            X = root @ X @ root
            X = (X + X.T) / (2 * np.trace(X))
        return best

    def _modal(self, C: Floats) -> float:
        """Of a normal A and one input: concave in the powers of the modes, see the theory page."""
        from scipy.linalg import schur

        T, Z = schur(self.A.astype(complex), output="complex")
        values = np.diag(T)
        x = np.square(np.abs(Z.conj().T @ self.spread(C)[:, 0]))
        M, best = 1 / (1 - values[:, None] * values.conj()), float("inf")
        for _ in range(200):
            x = np.maximum(x, 1e-12 / len(x))
            x /= x.sum()
            root = np.sqrt(x)
            w, V = np.linalg.eigh(root[:, None] * M * root)
            w = np.maximum(w, 0.0)
            slope = self.s**2 * (np.square(np.abs(V)) @ (w / (w + self.s**2) ** 2)) / x
            U = float((w / (w + self.s**2)).sum())
            best = min(best, U + float(slope.max() - x @ slope))
            if best - U <= 1e-4 * U:
                break
            x = x * np.sqrt(slope)
        return best
