"""``capacities``: from a network to every capacity, each with an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.arguments import require_size
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.limits import Work, require_room_for_states
from memcurve.core.notes import Note
from memcurve.core.progress import Listener, Progress, listening, silent
from memcurve.core.types import EPS, SEED, Floats
from memcurve.inputs.noise import Noise, noise_of
from memcurve.io.adapters import as_network
from memcurve.memory import MemoryCurve, memory_curve, rank
from memcurve.network import LinearNetwork
from memcurve.state_affine.letters import Letters, letters_of
from memcurve.state_affine.linear import NO_MEMORY, LinearWords
from memcurve.state_affine.network import StateAffineNetwork
from memcurve.state_affine.precise import MOST_STATES, PreciseLetters, white_precisely
from memcurve.state_affine.prose import note
from memcurve.state_affine.ranks import Reached, reached_by_words
from memcurve.state_affine.result import LISTED, Capacities, WordCapacity
from memcurve.state_affine.tree import TABLE_LAGS, Search, Tree, Word
from memcurve.state_affine.white import (
    CHANGE,
    NotWhiteError,
    WhiteNetwork,
    changed_slightly,
    changes,
    lyapunov_exponent,
    solve,
    spectral_radius,
    whitened,
)

#: Errors above this are followed by balls, where the network is small enough. Doubled: fewer
#: networks are.
SMALL_ERROR = 1e-9
#: Directions of numbers known up to rounding are clear above this share. Doubled: fewer are.
CLEAR = 1e-9
#: Errors above this are no answer. Doubled: worse answers are given.
LARGEST_ERROR = 1e-3
#: Degrees that are listed unless others are asked for; half of them above ``MANY`` states. Doubled:
#: twice the equations.
DEGREES = 24
#: States from which fewer degrees are listed. Doubled: longer waits.
MANY = 300
#: Degrees of the table by degree and lag. Doubled: twice the time for what is hardly seen.
SHOWN = 5
#: Share of the total that the degrees may leave. Doubled: coarser tables.
LEFT = 1e-9
#: Lags of the memory curve at most. Doubled: longer curves.
LAGS = 100_000
#: What all later lags may leave of the curve. Doubled: hardly shorter curves.
LEFT_OF_CURVE = 1e-13
#: So many words, the shortest, on which two runs are compared. Doubled: the same error as a rule.
SAMPLE = 400
#: The change of two runs is multiplied by this to bound the error: it was at most a third of the
#: change in 131 networks. Doubled: larger errors are stated.
MARGIN = 2.0


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
    Verstraeten, Schrauwen and Massar 2012).

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
        Highest degree of ``by_degree``; by default until nothing is left, or
        up to 24.
    lags : int, optional
        Number of lags of the memory curve; by default as many as have memory.
    basis : sequence of functions, optional
        b_0 = 1, b_1, …, orthonormal for the law of the input, in place of polynomials: a word's
        numbers are then places in this list.
    progress : bool or function
        As for :func:`memcurve.memory_curve`.

    Returns
    -------
    Capacities

    Notes
    -----
    In coordinates in which the covariance of the states is the identity, the coefficient of a word
    is a product of matrices with ΣTTᵀ + rrᵀ = I, and its capacity the square of its length. These
    coordinates come from an Arnoldi process on words, one Stein equation and a Cholesky factor,
    which proves fading memory. The error is the change under a change of all numbers by 2e-12 of
    themselves, and the dimension must be the rank modulo primes; where one of them fails,
    everything is computed in balls.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> rng = np.random.default_rng(1)
    >>> A, B = (rng.standard_normal((2, 10, 10)) / 10**0.5).tolist()
    >>> network = memcurve.bilinear(0.6 * np.array(A), 0.5 * np.array(B), rng.standard_normal(10))
    >>> result = memcurve.capacities(network)
    >>> result.total, round(sum(result.by_degree.values()), 3)
    (10.0, 10.0)
    >>> bool(result.error < 1e-9)
    True
    """
    if degree is not None:
        degree = require_size(degree, "degree")
    lags = None if lags is None else require_size(lags, "lags")
    linear = network
    if isinstance(network, StateAffineNetwork):
        linear = None if basis is not None else _as_linear(network, noise)
    if linear is not None:
        return _of_linear(as_network(linear), noise, lags, progress)
    require_room_for_states(network.size, Work(3 + 2.0 * len(network.functions), 0, 10))
    with listening(progress) as tell:
        found = coordinates(network, noise, basis, tell)
        return _result(network, found, degree, lags, tell)


class Coordinates(NamedTuple):
    """A tree of words, the exact rank, an error and what is to be said of them."""

    tree: Tree
    rank: int
    error: float
    arithmetic: str
    notes: list[Note]
    noise: Floats | None


def coordinates(
    network: StateAffineNetwork, noise: Any = None, basis: Any = None, tell: Listener = silent
) -> Coordinates:
    """White coordinates of a network, in floats or, where these are not enough, in balls."""
    letters = letters_of(network, basis)
    tell("exact rank", 0, None)
    reached = reached_by_words(network)
    notes = list(network.notes)
    if reached.rank < network.size:
        notes.append(note("reached", reached=reached.rank, states=network.size))
    if network.rounding == "formula" and reached.rank:
        if basis is not None:
            raise ValueError("`basis` must be left out for a layer whose gate is a formula.")
        return _in_balls(network, reached, noise, notes, "letters are rounded away", tell)
    if not reached.rank:
        count = len(letters.T)
        empty = WhiteNetwork(
            np.zeros((count, 0, 0)), np.zeros((count, 0)), np.zeros((network.size, 0))
        )
        nothing = Tree.of(empty, None, None, letters.weights)
        return Coordinates(nothing, reached.outputs, 0.0, "floats", notes, None)
    tree, error, why, found_rank = _in_floats(network, letters, reached, noise, tell)
    if tree is None or error > SMALL_ERROR:
        small = network.size <= MOST_STATES and basis is None and network.is_precise
        if small:
            return _in_balls(network, reached, noise, notes, why, tell)
        if tree is None and noise_of_states(noise) is not None:
            tree, error = _under_noise(network, letters, noise)
            why = f"the error is {error:.1e}"
        if tree is None or error > LARGEST_ERROR:
            raise UncertainResultError(
                f"in floating point {why}, and balls are for up to {MOST_STATES} states whose p "
                f"and q have formulas. What is known: the total without noise is "
                f"{reached.outputs}. Give `noise`, or more of it, e.g. 1e-3 of the states' size."
            )
        notes.append(note("large", error=error, most=MOST_STATES))
    else:
        notes.append(note("estimated" if found_rank == reached.outputs else "rounded"))
    deviations = None if noise_of_states(noise) is None else np.ones(1)
    return Coordinates(tree, found_rank, error, "floats", notes, deviations)


def _in_balls(
    network: StateAffineNetwork, reached: Reached, noise: Any, notes: list[Note], why: str,
    tell: Listener,
) -> Coordinates:  # fmt: skip
    found = white_precisely(network, reached, tell, whiten=noise_of_states(noise) is None)
    read = _deviations(noise, network, found.white, found.out, found.direct, found.output_mean)
    tree = Tree.of(
        found.white, found.out, found.direct, found.weights, rank=reached.outputs, noise=read
    )
    error = 32 * EPS * np.sqrt(found.white.size) * _condition(found, reached, read)
    if error > LARGEST_ERROR:
        raise UncertainResultError(
            f"the outputs that are read depend on each other but for {1 / error:.0e} of their "
            f"size; their rank is {reached.outputs}. Read fewer, or give `noise`."
        )
    said = [*notes, note("balls", bits=found.bits, why=why)]
    return Coordinates(tree, reached.outputs, float(error), "balls", said, read)


def _condition(precise: PreciseLetters, reached: Reached, noise: Floats | None) -> float:
    """How much the whitening of outputs enlarges rounding of their letters."""
    if precise.out is None or precise.direct is None or noise is not None:
        return 1.0
    read = np.concatenate([*precise.out, precise.direct.T], axis=1)
    s = np.linalg.svd(read, compute_uv=False)
    return float(s[0] / max(s[reached.outputs - 1], 1e-300)) if reached.outputs else 1.0


def _in_floats(
    network: StateAffineNetwork, letters: Letters, reached: Reached, noise: Any, tell: Listener
) -> tuple[Tree | None, float, str, int]:
    """A tree in floating point with its error, or why there is none; and the rank of what is read.

    Of numbers that are known only up to rounding, the rank modulo primes may be too high: that of
    words is taken where it is clear.
    """
    absolute, known = network.rounding == "absolute", reached.outputs
    try:
        white = whitened(letters.T, letters.r, tell)
    except NotWhiteError as error:
        radius = spectral_radius(letters.T)
        if radius >= 1 - 1e-9:
            raise _no_variance(network, radius) from error
        return None, np.inf, str(error), known
    if white.size != reached.rank:
        if not absolute or white.size > reached.rank or white.margin < CLEAR:
            short = f"{white.size} directions are found instead of {reached.rank}"
            return None, np.inf, short, known
        known = white.size
    if absolute and letters.out is not None and letters.direct is not None:
        read = np.concatenate([*(letters.out @ white.states), letters.direct.T], axis=1)
        s = np.linalg.svd(read, compute_uv=False)
        known = int((s > CLEAR * s[0]).sum())
    tell("error", 0, None)
    near, moved = changed_slightly(white, letters.T, letters.r, absolute=absolute)
    if not moved < 0.1:
        return None, np.inf, "the covariance is too ill-conditioned", known

    def tree_of(one: WhiteNetwork, shift: float) -> Tree:
        out = direct = None
        if letters.out is not None and letters.direct is not None:
            rng = np.random.default_rng(SEED)
            size = np.abs(letters.out).max() if absolute else np.abs(letters.out)
            out = (letters.out + shift * size * rng.standard_normal(letters.out.shape)) @ one.states
            direct = letters.direct * (1 + shift * rng.standard_normal(letters.direct.shape))
        read = _deviations(noise, network, one, out, direct, letters.output_mean)
        return Tree.of(one, out, direct, letters.weights, rank=known, noise=read)

    tree, other = tree_of(white, 0.0), tree_of(near, CHANGE)
    change = float(np.abs(_sampled(tree) - _sampled(other)).max())
    bound = MARGIN * change + 8 * EPS * white.size
    return tree, bound, f"the error is {bound:.1e}", known


def _under_noise(
    network: StateAffineNetwork, letters: Letters, noise: Any
) -> tuple[Tree | None, float]:
    """Usable capacities where the structure without noise is not known: it is not needed."""
    found = []
    steps = changes(letters.T, letters.r, absolute=network.rounding == "absolute")
    for share in (0.0, 1.0):
        T, r = letters.T + share * steps[0], letters.r + share * steps[1]
        out, direct = (T, r) if letters.out is None else (letters.out, letters.direct)
        try:
            G = solve(T, r.T @ r, 1e-13)
        except NotWhiteError:
            return None, np.inf
        values, vectors = np.linalg.eigh(G)
        S = vectors * np.sqrt(np.maximum(values, 0))
        own = WhiteNetwork(T, r, S)
        read = None if letters.out is None else letters.out @ S
        deviations = _deviations(noise, network, own, read, letters.direct, letters.output_mean)
        if deviations is None or direct is None:
            return None, np.inf
        found.append(Tree.under_noise(T, r, G, out, direct, letters.weights, deviations))
    change = float(np.abs(_sampled(found[0]) - _sampled(found[1])).max())
    return found[0], MARGIN * change + 8 * EPS * network.size


def _sampled(tree: Tree) -> Floats:
    """What two runs are compared on: short words, the memory curve and the first degrees."""
    words: list[Word] = []
    level: list[Word] = [(k,) for k in range(1, min(len(tree.weights), 4))]
    while len(words) + len(level) <= SAMPLE:
        words += level
        level = [(k, *w) for w in level for k in range(min(len(tree.weights), 4))]
    singles = [tree.capacity(word) for word in words]
    line = tree.line(min(2 * tree.T.shape[1] + 2, 400), negligible=-1.0)
    degrees = list(tree.by_degree(3, np.inf).values())
    return np.concatenate([singles, line, degrees])


def noise_of_states(noise: Any) -> Noise | Floats | None:
    """The noise of a question: none, one of the classes, or a deviation for each output."""
    if isinstance(noise, list | tuple | np.ndarray) and np.ndim(noise) == 1:
        return np.asarray(noise, dtype=float)
    found = noise_of(noise)
    if found is not None and (found.is_family or found.state(np.ones(1)).any()):
        raise ValueError(
            f"`noise` must be observation noise of one level, got {found!r}; process noise would "
            f"be another input."
        )
    return found


def _deviations(
    noise: Any, network: StateAffineNetwork, white: WhiteNetwork, out: Any, direct: Any, mean: Any
) -> Floats | None:
    """Standard deviations of the noise of what is read, one a state or output."""
    found = noise_of_states(noise)
    if found is None:
        return None
    if out is None:
        variances = (white.states**2).sum(axis=1)
    else:
        variances = (out**2).sum(axis=(0, 2)) + (direct**2).sum(axis=0)
    if isinstance(found, np.ndarray):
        deviations = found
    elif hasattr(found, "of_outputs"):
        if network.outputs is None:
            raise ValueError("`noise` of shots is that of observables; give the network outputs.")
        deviations = found.of_outputs(mean, variances)
    else:
        deviations = found.levels[0] * found.observation(np.sqrt(variances))
    if deviations.shape != variances.shape or not (deviations > 0).all():
        raise ValueError(
            f"`noise` must be one standard deviation above 0, or {len(variances)} of them, one for "
            f"each state or output that is read; got {noise!r}."
        )
    return deviations


def _no_variance(network: StateAffineNetwork, radius: float) -> UnstableNetworkError:
    """The error for ρ(Φ) ≥ 1, with what a simulation of products says of single trajectories."""
    rng = np.random.default_rng(SEED)
    draws = network.input.draw(rng, (400, 64))

    def p(z: Floats) -> Floats:
        factors = np.stack([np.broadcast_to(f(z), z.shape) for f in network.functions])
        return np.tensordot(factors.T, network.p, 1)

    exponent, error = lyapunov_exponent(p, draws)
    fate = "states grow without bound"
    if exponent + 2 * error < 0:
        fate = (
            "trajectories forget their start almost surely, but with bursts so large that their "
            "variance is infinite"
        )
    elif exponent - 2 * error < 0:
        fate = "whether trajectories forget their start cannot be told"
    return UnstableNetworkError(
        f"the network has no covariance: ρ(Φ) = {radius:.6g} ≥ 1 for Φ(X) = E[p X pᵀ], and "
        f"capacities are shares of variances. Lyapunov exponent {exponent:.3f} ± {error:.3f}: "
        f"{fate}. Scale `p` by less than {1 / np.sqrt(radius):.3g}."
    )


# --- networks without products of state and input


def _of_linear(
    network: LinearNetwork, noise: Any, lags: int | None, progress: Progress
) -> Capacities:
    """A linear network: its words are delays, and the curve has them all."""
    if network.inputs > 1:
        raise ValueError(
            f"`network` must have one input, got {network.inputs}: words are of one input. "
            f"memcurve.memory_curve has the memory of several."
        )
    curve = memory_curve(network, lags, noise=noise, progress=progress)
    words = LinearWords(curve)
    error = max(curve.error.max(initial=0.0), curve.total_error, EPS)
    return Capacities(
        total=curve.total,
        by_degree={1: curve.total},
        by_delay=curve.total - np.append(0.0, np.cumsum(curve.values))[:-1],
        by_window=curve.values,
        table=curve.values[None, :TABLE_LAGS],
        curve=curve,
        error=float(error + words.rest * (words.rest <= NO_MEMORY)),
        rank=rank(network) if curve.rank is None else curve.rank,
        states=network.read_states,
        arithmetic="poles",
        listed=tuple(WordCapacity(*pair) for pair in words.first(LISTED)),
        notes=curve.notes,
        name=network.name or repr(network),
    ).with_tree(words, words)


def _as_linear(network: StateAffineNetwork, noise: Any) -> LinearNetwork | None:
    """The linear network that this one is, if it is one: p constant, q of degree one."""
    if not network.is_polynomial or network.outputs is not None or network.p[1:].any():
        return None
    if len(network.functions) > 1 and not network.q[2:].any() and np.ndim(noise) == 0:
        # noise is in units of the states; without it a mask may have any length, and no rounding
        mask = network.q[1] if noise is None else letters_of(network).r[1]
        return LinearNetwork(network.p[0], mask, name=network.name, notes=network.notes)
    return None


# --- the result


def _result(
    network: StateAffineNetwork, found: Coordinates, degree: int | None, lags: int | None,
    tell: Listener,
) -> Capacities:  # fmt: skip
    tree, notes = found.tree, list(found.notes)
    quiet = found.noise is None
    total = float(found.rank) if quiet else tree.total()
    if not quiet:
        notes.append(note("noise", noise="observation noise", rank=found.rank))
    tell("degrees", 0, None)
    by_degree: dict[int, float] = {}
    table = np.zeros((0, 0))
    window, delay = np.zeros(0), np.zeros(0)
    line = tree.line(lags or LAGS, negligible=LEFT_OF_CURVE if lags is None else -1.0)
    search, listed = Search(tree), tuple[WordCapacity, ...]()
    what = "degrees"
    try:
        top = degree or (DEGREES if tree.T.shape[1] <= MANY else DEGREES // 2)
        by_degree = tree.by_degree(top, np.inf if degree else total * (1 - LEFT))
        what = "tables by delay"
        shown = min(len(by_degree), SHOWN)
        steps = tree.affordable_lags(shown)
        table = tree.table(shown, steps)
        window, delay = tree.by_window(table.shape[1]), tree.by_delay(steps)
        what = "the largest words"
        listed = tuple(WordCapacity(*pair) for pair in _listed(search))
    except KeyboardInterrupt:
        notes.append(note("interrupted", what=what))
    beyond = total - sum(by_degree.values())
    if by_degree and beyond > max(LEFT * total, found.error):
        notes.append(note("degrees", beyond=beyond, last=max(by_degree)))
    linear = by_degree.get(1, float(line.sum()))
    curve = MemoryCurve(
        lags=np.arange(len(line)), values=line, error=np.full(len(line), found.error),
        loss=1 - line, total=linear, total_error=found.error, rank=None, channels=line[:, None],
        method="exact", notes=tuple(notes), diagnostics={"solver": f"words in {found.arithmetic}"},
        network=network.name or f"N = {network.size}",
    )  # fmt: skip
    states = network.size if network.outputs is None else network.outputs[1].shape[1]
    return Capacities(
        total=total, by_degree=by_degree, by_delay=delay, by_window=window, table=table,
        curve=curve, error=found.error, rank=found.rank, states=states,
        arithmetic=found.arithmetic, listed=listed, notes=tuple(notes),
        name=network.name or repr(network),
    ).with_tree(tree, search)  # fmt: skip


def _listed(search: Search) -> Sequence[Any]:
    """The largest words, as many as can be told."""
    try:
        return search.first(LISTED)
    except UncertainResultError:  # of an alphabet without end
        return search.words
