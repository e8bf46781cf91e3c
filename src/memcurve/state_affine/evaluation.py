"""``capacities``: from a network to every capacity, each with an error."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from memcurve.core.arguments import require_size
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.limits import Work, require_room_for_states
from memcurve.core.notes import Note
from memcurve.core.progress import Progress, ProgressCallback, no_progress, progress_callback
from memcurve.core.types import EPS, SEED, Floats
from memcurve.inputs.noise import Noise, noise_of
from memcurve.memory import MemoryCurve
from memcurve.state_affine import white as whitening
from memcurve.state_affine.faults import fault
from memcurve.state_affine.letters import Letters, letters_of
from memcurve.state_affine.linear import as_linear, capacities_of_linear
from memcurve.state_affine.network import StateAffineNetwork, step
from memcurve.state_affine.precise import MOST_STATES, white_precisely
from memcurve.state_affine.ranks import Reached, reached_by_words
from memcurve.state_affine.result import LISTED, Capacities, WordCapacity, note
from memcurve.state_affine.tree import Outputs, Search, Tree, Word

SMALL_ERROR = 1e-9  # above it balls follow, where the network is small enough
CLEAR = 1e-9  # share above which directions of numbers known up to rounding are clear
LARGEST_ERROR = 1e-3  # above it there is no answer
# degrees that are listed; half of them from so many states on
DEGREES = 24
MANY_STATES = 300
SHOWN = 5  # degrees of the table by degree and lag
LEFT = 1e-9  # share of the total that the degrees may leave
# of the curve at most, and what later ones may have
LAGS = 100_000
LEFT_OF_CURVE = 1e-13
SAMPLE = 400  # shortest words on which two runs are compared
MARGIN = 2.0  # the error was at most a third of the change of two runs, in 131 networks


def capacities(
    network: Any,
    noise: Any = None,
    *,
    degree: int | None = None,
    lags: int | None = None,
    basis: Sequence[Callable[[Any], Any]] | None = None,
    progress: Progress = None,
) -> Capacities:
    """Every information processing capacity of a state-affine network, without simulation.

    The capacity of a target y is the share of its variance that is linear in the states,
    ``C[y] = 1 − min_W E(y_t − Wᵀx_t)²/Var y``. Targets are words: products of orthonormal
    polynomials of independent past inputs. All capacities sum to the rank of the states (Dambre,
    Verstraeten, Schrauwen and Massar 2012). The result is a :class:`memcurve.Capacities`.

    Parameters
    ----------
    network : StateAffineNetwork, LinearNetwork, or anything that :func:`memcurve.as_network` takes
        A network with one input and fading memory in the mean square, ρ(Φ) < 1 for
        Φ(X) = E[p X pᵀ].
    noise : float, (M,) array or noise, optional
        Usable capacities: the standard deviation of observation noise of all states or outputs, or
        of each; ``Quantised(step)``, ``quantum.ShotNoise(shots)``. For a state-affine network it is
        in units of the states; for a linear one relative to input of unit variance, as in
        :func:`memcurve.memory_curve`.
    degree : int, optional
        Highest degree of ``by_degree``; by default until nothing is left, or up to 24.
    lags : int, optional
        Number of lags of the memory curve; by default as many as have memory.
    basis : sequence of functions, optional
        b_0 = 1, b_1, …, orthonormal for the law of the input, in place of polynomials: a word's
        numbers are then indices into this list.
    progress : bool or function
        As for :func:`memcurve.memory_curve`.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> rng = np.random.default_rng(1)
    >>> A, B = rng.standard_normal((2, 10, 10)) / 10**0.5
    >>> network = memcurve.bilinear(0.6 * A, 0.5 * B, rng.standard_normal(10))
    >>> result = memcurve.capacities(network)
    >>> result.total, round(sum(result.by_degree.values()), 3)
    (10.0, 10.0)
    >>> bool(result.error < 1e-9)
    True
    """
    degree = None if degree is None else require_size(degree, "degree")
    lags = None if lags is None else require_size(lags, "lags")
    if not isinstance(network, StateAffineNetwork):
        return capacities_of_linear(network, noise, lags, progress)
    linear = as_linear(network, noise) if basis is None else None
    if linear is not None:
        return capacities_of_linear(linear, noise, lags, progress)
    require_room_for_states(network.size, Work(3 + 2.0 * len(network.functions), 0, 10))
    with progress_callback(progress) as notify:
        return _result(network, coordinates(network, noise, basis, notify), degree, lags, notify)


@dataclass(frozen=True, kw_only=True)
class WordCoordinates:
    """A tree of words, the error of each capacity, the ranks of all words and of what is read."""

    tree: Tree
    reached: int
    rank: int
    error: float
    is_noisy: bool
    note: Note
    arithmetic: str = "floats"


def coordinates(
    network: StateAffineNetwork,
    noise: Any = None,
    basis: Any = None,
    notify: ProgressCallback = no_progress,
) -> WordCoordinates:
    """Input-normal coordinates of a network, in floats or, if these do not suffice, in balls."""
    noise = observation_noise(noise)
    letters = letters_of(network, basis)
    notify("exact rank", 0, None)
    reached = reached_by_words(network)
    try:
        return _computed(network, letters, reached, noise, basis, notify)
    except KeyboardInterrupt:
        total = f"what is known: the total without noise is {reached.outputs}."
        raise KeyboardInterrupt(f"stopped before any single capacity; {total}") from None


def _computed(
    network: StateAffineNetwork, letters: Letters, reached: Reached, noise: Any, basis: Any,
    notify: ProgressCallback,
) -> WordCoordinates:  # fmt: skip
    """In floats or, if these do not suffice, in balls."""
    if network.rounding == "formula" and reached.outputs:
        if basis is not None or not network.is_precise:
            raise ValueError(fault("no_digits"))
        return _in_balls(network, reached, noise, "letters are rounded away", notify)
    floats = None
    try:
        floats = _in_floats(network, letters, reached, noise, notify)
        if floats.error <= SMALL_ERROR:
            return floats
        why = f"the error is {floats.error:.1e}"
    except whitening.NotWhiteError as error:
        why = str(error)
    limits = f"balls are for up to {MOST_STATES} states whose p and q have formulas"
    if basis is None and network.is_precise and network.size <= MOST_STATES:
        try:
            return _in_balls(network, reached, noise, why, notify)
        except UncertainResultError as error:
            limits = str(error).rstrip(".")
    if floats is None and noise is not None:
        with suppress(whitening.NotWhiteError):
            floats = _under_noise(network, letters, reached, noise)
    if floats is None or floats.error > LARGEST_ERROR:
        raise UncertainResultError(
            fault("uncertain", why=why, limits=limits, total=reached.outputs)
        )
    return replace(floats, note=note("floats", error=floats.error, limits=limits))


def _in_balls(
    network: StateAffineNetwork, reached: Reached, noise: Any, why: str, notify: ProgressCallback
) -> WordCoordinates:
    deviations = None if noise is None else partial(_deviations, noise)
    tree, bits = white_precisely(network, reached, notify, deviations)
    return _compared([tree], reached, noise, note("balls", bits=bits, why=why), "balls")


def _in_floats(
    network: StateAffineNetwork,
    letters: Letters,
    reached: Reached,
    noise: Any,
    notify: ProgressCallback,
) -> WordCoordinates:
    """A tree in floating point, whose error is its change under random perturbations."""
    # of numbers known only up to rounding, the rank modulo primes may be too high: that of words
    # is taken where it is clear
    is_rounded = network.rounding == "absolute"
    try:
        white = whitening.whitened(letters.T, letters.r, notify)
    except whitening.NotWhiteError as error:
        radius = whitening.spectral_radius(letters.T)
        if radius >= 1 - 1e-9:
            raise _no_variance(network, radius) from error
        raise
    if white.size != reached.rank:
        if not is_rounded or white.size > reached.rank or white.margin < CLEAR:
            raise whitening.NotWhiteError(
                f"{white.size} directions are found instead of {reached.rank}"
            )
        reached = reached._replace(read=reached.rows[: white.size])
    read = _read(network, letters, white, noise, 0.0)
    if is_rounded and read is not None:
        s = np.linalg.svd(read.factor, compute_uv=False)
        reached = reached._replace(read=reached.read[: int((s > CLEAR * s[0]).sum())])
    notify("error", 0, None)
    runs = [(white, 0.0)]
    for draw in range(whitening.DRAWS if white.size <= whitening.FEW_STATES else 1):
        near, distance = whitening.changed_slightly(white, letters.sizes, draw)
        if not distance < 0.1:
            raise whitening.NotWhiteError("the covariance is too ill-conditioned")
        runs.append((near, whitening.CHANGE))
    trees = []
    for one, share in runs:
        read = _read(network, letters, one, noise, share)
        if read is None or noise is None:
            trees.append(Tree.of(one, read, letters.weights, reached.outputs))
        else:
            deviations = _deviations(noise, (read.factor**2).sum(axis=1), read.mean)
            trees.append(Tree.of(one, read.over(deviations), letters.weights))
    return _compared(trees, reached, noise, _estimated(network))


def _read(
    network: StateAffineNetwork,
    letters: Letters,
    white: whitening.WhiteNetwork,
    noise: Any,
    share: float,
) -> Outputs | None:
    """Letters of what is read of white states (None: all), each changed by a random ``share``."""
    rng = np.random.default_rng(SEED)

    def changed(part: Floats, size: Any) -> Floats:
        return np.asarray(part + share * size * rng.standard_normal(part.shape))

    if letters.outputs is not None:
        out, direct, mean = letters.outputs
        out = changed(out, np.abs(out).max() if network.rounding == "absolute" else np.abs(out))
        return Outputs(out @ white.states, changed(direct, np.abs(direct)), mean)
    D = network.readout
    if D is None and noise is None:
        return None
    S, size, mean = white.states, np.abs(white.states), None
    if D is not None:
        S, size, mean = D @ S, np.abs(D) @ size, D @ letters.mean
    S = changed(S, size)
    out, direct = S @ white.T, white.r @ S.T
    return Outputs(changed(out, np.abs(out)), changed(direct, np.abs(direct)), mean)


def _under_noise(
    network: StateAffineNetwork, letters: Letters, reached: Reached, noise: Any
) -> WordCoordinates:
    """Usable capacities without input-normal coordinates, which noise makes unnecessary."""
    trees, one = [], np.eye(network.size)
    step_T, step_r = whitening.changes(letters.sizes)
    for share in (0.0, 1.0):
        T, r = letters.T + share * step_T, letters.r + share * step_r
        plain = whitening.WhiteNetwork(T, r, one, one)  # the coordinates of the letters
        read = _read(network, letters, plain, noise, share * whitening.CHANGE) or Outputs(T, r)
        G = whitening.solve(T, r.T @ r, 1e-13)
        deviations = _deviations(noise, np.diag(read.covariance(G)), read.mean)
        trees.append(Tree.under_noise(T, r, G, read.over(deviations), letters.weights))
    return _compared(trees, reached, noise, _estimated(network))


def _estimated(network: StateAffineNetwork) -> Note:
    return note("rounded" if network.rounding == "absolute" else "estimated")


def _compared(
    trees: list[Tree], reached: Reached, noise: Any, basis: Note, arithmetic: str = "floats"
) -> WordCoordinates:
    """The first of several runs, with its differences from the others and rounding as error."""
    tree, *others = trees
    if tree.G is None:
        others.append(tree.rounded())
    change = max(float(np.abs(_sampled(tree) - _sampled(other)).max()) for other in others)
    return WordCoordinates(
        tree=tree, reached=reached.rank, rank=reached.outputs, is_noisy=noise is not None,
        error=MARGIN * change + 8 * EPS * tree.T.shape[1], note=basis, arithmetic=arithmetic,
    )  # fmt: skip


def _sampled(tree: Tree) -> Floats:
    """The numbers on which two runs are compared: short words, memory curve, first degrees."""
    words, letters = list[Word](), range(min(len(tree.weights), 4))
    level: list[Word] = [(k,) for k in letters if k]
    while level and len(words) + len(level) <= SAMPLE:
        words += level
        level = [(k, *w) for w in level for k in letters]
    singles = [tree.capacity(word) for word in words]
    line = tree.line(min(2 * tree.T.shape[1] + 2, 400), negligible=-1.0)
    return np.concatenate([singles, line, [total for _, total in tree.by_degree(3)]])


def observation_noise(noise: Any) -> Noise | Floats | None:
    """The noise of a question: none, one of the classes, or a deviation for each output."""
    if isinstance(noise, list | tuple | np.ndarray) and np.ndim(noise) == 1:
        return np.asarray(noise, dtype=float)
    kind = noise_of(noise)
    if kind is not None and (kind.is_family or kind.state(np.ones(1)).any()):
        raise ValueError(fault("noise_kind", got=kind))
    return kind


def _deviations(noise: Any, variances: Floats, mean: Floats | None) -> Floats:
    """Standard deviations of the noise of what is read, one per state or output."""
    if isinstance(noise, np.ndarray):
        deviations = noise
    elif hasattr(noise, "of_outputs"):
        if mean is None:
            raise ValueError("`noise` of shots is that of observables; give the network outputs.")
        deviations = noise.of_outputs(mean, variances)
    else:
        deviations = noise.levels[0] * noise.observation(np.sqrt(variances))
    if deviations.shape != variances.shape or not (deviations > 0).all():
        raise ValueError(fault("noise", count=len(variances), got=noise))
    return np.asarray(deviations)


def _no_variance(network: StateAffineNetwork, radius: float) -> UnstableNetworkError:
    """The error for ρ(Φ) ≥ 1, with the Lyapunov exponent log‖p(z_n)…p(z_1)v‖/n of simulations."""
    rng, replicas, steps, washout = np.random.default_rng(SEED), 64, 400, 40
    v, growth = rng.standard_normal((replicas, network.size)), np.zeros(replicas)
    for t in range(steps):
        z = network.input.draw(rng, replicas)
        v = step(network.p, 0 * network.q, network.values(z), v)
        lengths = np.maximum(np.linalg.norm(v, axis=1), 1e-300)
        v = v / lengths[:, None]
        growth += np.log(lengths) * (t >= washout)
    rates = growth / (steps - washout)
    exponent, error = float(rates.mean()), float(rates.std() / np.sqrt(replicas))
    growth_is_sure = abs(exponent) > 2 * error
    fate = fault(("growing" if exponent > 0 else "falling") if growth_is_sure else "undecided")
    facts = {"exponent": exponent, "error": error, "fate": fate, "scale": 1 / np.sqrt(radius)}
    return UnstableNetworkError(fault("no_variance", radius=radius, **facts))


def _result(
    network: StateAffineNetwork, words: WordCoordinates, degree: int | None, lags: int | None,
    notify: ProgressCallback,
) -> Capacities:  # fmt: skip
    tree, rank, notes = words.tree, words.rank, list(network.notes)
    if words.reached < network.size:
        notes.append(note("unreached", reached=words.reached, size=network.size))
    total = float(rank)
    if words.is_noisy:
        total = tree.total()
        notes.append(note("noisy", rank=rank))
    notes.append(words.note)
    notify("degrees", 0, None)
    by_degree, table, window, delay = dict[int, float](), np.zeros((0, 0)), np.zeros(0), np.zeros(0)
    line = tree.line(lags or LAGS, negligible=LEFT_OF_CURVE if lags is None else -1.0)
    search, missing = Search(tree), "degrees"
    try:
        top = degree or (DEGREES if network.size <= MANY_STATES else DEGREES // 2)
        for d, capacity in tree.by_degree(top):
            by_degree[d] = capacity
            if degree is None and sum(by_degree.values()) >= total * (1 - LEFT):
                break
        missing = "tables by delay"
        shown = min(len(by_degree), SHOWN)
        steps = tree.affordable_lags(shown)
        table = tree.table(shown, steps)
        window, delay = tree.by_window(table.shape[1]), tree.by_delay(steps)
        missing = "the largest words"
        with suppress(UncertainResultError):  # of an alphabet without end
            search.first(LISTED)
    except KeyboardInterrupt:
        notes.append(note("interrupted", missing=missing))
    beyond = total - sum(by_degree.values())
    if by_degree and beyond > max(LEFT * total, words.error):
        notes.append(note("degrees", beyond=beyond, highest=max(by_degree)))
    name = network.name or repr(network)
    curve = MemoryCurve(
        lags=np.arange(len(line)), values=line, error=np.full(len(line), words.error),
        loss=1 - line, total=by_degree.get(1, float(line.sum())), total_error=words.error,
        rank=None, channels=line[:, None], method="exact", notes=tuple(notes),
        diagnostics={"solver": f"words in {words.arithmetic}"}, network=name,
    )  # fmt: skip
    return Capacities(
        total=total, by_degree=by_degree, by_delay=delay, by_window=window, table=table,
        curve=curve, error=words.error, rank=rank, states=network.read_states, name=name,
        arithmetic=words.arithmetic, notes=tuple(notes),
        listed=tuple(WordCapacity(*pair) for pair in search.words),
    ).with_tree(tree, search)  # fmt: skip
