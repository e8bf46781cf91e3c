"""The entry points: a question, a method, one result type."""

from __future__ import annotations

import contextlib
import dataclasses
import difflib
import inspect
import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core import arguments
from memcurve.core.errors import RankWarning, unstable
from memcurve.core.limits import WORK, Work, fits, require_room_for_states
from memcurve.core.progress import Progress, progress_callback
from memcurve.inputs import noise as noises
from memcurve.io.adapters import as_network
from memcurve.memory.curve import MemoryCurve, NoiseProfile, fault
from memcurve.memory.curves import curves_of
from memcurve.memory.methods import METHODS, Method
from memcurve.network.graph import (
    StructuralRank,
    generically_driven,
    reachable_nodes,
    separate_parts,
)
from memcurve.network.linear import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.network.operator import Operator
from memcurve.network.tall import backend_of
from memcurve.solve import Analysis, Problem, Spectrum, is_usable_memory

MOST_HORIZONS = 100_000


class SystemLike(Protocol):
    """A linear system of scipy.signal or control."""

    @property
    def poles(self) -> Any: ...


class GraphLike(Protocol):
    """A networkx graph, or a connectome."""

    @property
    def nodes(self) -> Any: ...


#: What :func:`memcurve.as_network` takes: pairs of arrays, files, and models, which are called.
NetworkLike: TypeAlias = (
    LinearNetwork
    | NonlinearNetwork
    | tuple[Any, ...]
    | str
    | os.PathLike[str]
    | Mapping[str, Any]
    | SystemLike
    | GraphLike
    | Callable[..., Any]
)


class MethodOptions(TypedDict, total=False):
    """Options of the methods, by name, for type checkers; each method takes some of them."""

    tolerance: float | None
    certify_up_to: int
    solver: str | None
    inverse: str
    ridge: float
    truncation: int | None
    masks: int
    distribution: str
    mask_options: Mapping[str, Any] | None
    samples: int
    washout: int | None
    covariance: str


class CurveOptions(MethodOptions, total=False):
    """The keywords of :func:`memory_curve`."""

    method: str
    input: Any
    noise: Any
    seed: arguments.Seed | None
    progress: Progress


def memory_curve(
    network: NetworkLike,
    lags: int | None = None,
    *,
    method: str = "exact",
    input: Any = None,
    noise: Any = None,
    seed: arguments.Seed | None = None,
    progress: Progress = None,
    **options: Unpack[MethodOptions],
) -> MemoryCurve:
    """Memory of a network lag by lag, and in total.

    ``MC_τ = 1 − min_W E(z_{t−τ} − Wᵀx_t)² / Var z``, from lag τ = 0 on, for the input z and the
    states x that can be read.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        Any linear network of spectral radius below one, with one input or several, read from all
        its nodes or some.
    lags : int, optional
        ``lags=m`` gives lags 0 … m − 1. By default enough to hold all but 1e-12 of the memory.
    method : str
        ``"exact"``: rounding accuracy in a few times the time of the eigenvalues; ``"certified"``:
        proven bounds, for up to some hundred nodes. The paper's own have no error bound:
        ``"naive"``, ``"neutral"``, ``"osm"``, ``"osm_plus"``, ``"arnoldi"``, ``"montecarlo"``.
    input : input process, optional
        E.g. ``memcurve.inputs.ARMA(ar=[0.9])``, or one for each of several inputs, which are
        independent; white by default. Scaled to unit variance.
    noise : float or noise, optional
        Usable memory: the standard deviation of observation noise, for input of unit variance;
        ``StateNoise(s)`` (process noise), ``Quantised(step)``, ``Float32()``; or a text as on the
        command line, ``"float32"``, ``"state:1e-3"``, ``"12bit:4"``. Several levels at once are a
        :func:`memcurve.noise_profile`.
    seed : int, SeedSequence or Generator
        For the methods that draw random numbers, ``"osm_plus"`` and ``"montecarlo"``.
    progress : bool or function
        Show the progress, or call ``progress(label, done, total)``; by default it appears after
        two seconds, in terminals and notebooks.
    **options
        Options of the method.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> curve = memcurve.memory_curve(network)
    >>> curve.total
    50.0
    >>> bool(curve.error.max() < 1e-11)
    True
    >>> round(memcurve.memory_curve(network, noise=1e-3).total, 6)
    22.81856
    >>> delay_line = memcurve.ensembles.delay_line(10)
    >>> round(memcurve.memory_curve(delay_line, input=memcurve.inputs.ARMA(ar=[0.9])).total, 3)
    14.263
    """
    problem = Problem.of(as_network(network), lags, input=input, noise=one_level(noise))
    return _warned(ask(problem, method, seed=seed, options=options, progress=progress))


class TotalMemory(float):
    """A total memory: a float, with a bound of its ``error`` (NaN where there is none).

    Examples
    --------
    >>> from memcurve.memory import TotalMemory
    >>> TotalMemory(9.75, 0.01)
    TotalMemory(9.75 ± 0.01)
    """

    error: float

    def __new__(cls, total: float, error: float) -> TotalMemory:
        made = super().__new__(cls, total)
        made.error = error
        return made

    def __getnewargs__(self) -> tuple[float, float]:  # type: ignore[override]
        return float(self), self.error

    def __repr__(self) -> str:
        return f"TotalMemory({float(self)!r} ± {self.error:.2g})"


def memory_capacity(
    network: NetworkLike, lags: int | None = None, **question: Unpack[CurveOptions]
) -> TotalMemory:
    """The total memory of a network, ``Σ_τ MC_τ``, with its error.

    Without noise it is the rank of the network's controllability matrix, most often N (Jaeger
    2001): :func:`memory_curve` has it lag by lag; with ``noise`` it is the usable memory.

    It takes what :func:`memory_curve` takes, and returns a float with the attribute ``error``. With
    ``lags=m`` it is the sum over lags 0 … m − 1.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> total = memcurve.memory_capacity(network)
    >>> float(total), total.error < 1e-9
    (50.0, True)
    >>> round(memcurve.memory_capacity(network, noise=1e-3), 3)
    22.819
    """
    curve = memory_curve(network, lags, **question)
    summed = curve if lags is None else curve[:lags]
    return TotalMemory(summed.total, summed.total_error)


def forecasting_curve(
    network: NetworkLike,
    input: Any,
    horizons: int = 10,
    *,
    noise: Any = None,
    method: str = "exact",
    **options: Unpack[MethodOptions],
) -> MemoryCurve:
    """Forecasting capacity of a network: how well its states predict future inputs.

    ``FC_τ = 1 − min_W E(z_{t+τ} − Wᵀx_t)² / Var z`` for τ = 1, 2, …. Zero for white input: it is a
    property of the input as much as of the network.

    Parameters
    ----------
    network, input, noise, method, **options
        As for :func:`memory_curve`; the method is ``"exact"`` or ``"certified"``.
    horizons : int
        Number of steps ahead, the result's lags, from 1 on; its ``total`` is over all steps.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.delay_line(10)
    >>> curve = memcurve.forecasting_curve(network, memcurve.inputs.ARMA(ar=[0.9]), 3)
    >>> curve.values.round(6)
    array([0.81    , 0.6561  , 0.531441])
    >>> round(curve.total, 6)
    4.263158
    """
    horizons = arguments.require_size(horizons, "horizons")
    if horizons > MOST_HORIZONS:
        raise ValueError(f"`horizons` must be at most {MOST_HORIZONS:,}, got {horizons:,}.")
    question = {"input": input, "noise": one_level(noise), "horizons": horizons}
    problem = Problem.of(as_network(network), 1, kind="forecasting", **question)
    return _warned(ask(problem, method, options=options))


def fisher_curve(
    network: NetworkLike,
    noise: float = 1.0,
    lags: int | None = None,
    *,
    method: str = "exact",
    **options: Unpack[MethodOptions],
) -> MemoryCurve:
    """Fisher memory of a network lag by lag, and in total.

    ``F_τ = Cᵀ(Aᵀ)^τ R⁻¹ A^τ C / s²`` with ``R = Σ_j A^j (A^j)ᵀ``: the Fisher information that the
    states, under process noise, have about past inputs (Ganguli, Huh and Sompolinsky 2008).

    Parameters
    ----------
    network, lags, method, **options
        As for :func:`memory_curve`; the method is ``"exact"`` or ``"certified"``. Of a complex
        network the real and imaginary parts are states with noise each.
    noise : float
        Standard deviation s of the process noise.

    Examples
    --------
    >>> import memcurve
    >>> curve = memcurve.fisher_curve(memcurve.ensembles.symmetric(30, seed=1))
    >>> round(curve.total, 12)
    1.0
    """
    s = arguments.require_number(noise, "noise", "above 0, the standard deviation", lambda x: x > 0)
    subject: LinearNetwork = as_network(network)
    if subject.readout is not None:
        raise ValueError(fault("partial_fisher"))
    problem = Problem.of(subject, lags, noise=noises.StateNoise(s), kind="Fisher")
    return _warned(ask(problem, method, options=options))


def noise_profile(
    network: NetworkLike,
    levels: ArrayLike | None = None,
    *,
    lags: int | None = None,
    input: Any = None,
    state_noise: bool = False,
    method: str = "exact",
    seed: arguments.Seed | None = None,
    progress: Progress = None,
    **options: Unpack[MethodOptions],
) -> NoiseProfile:
    """Total usable memory against the noise level, with number formats marked.

    This answers "why does my simulation show less than N": the memory exists, below the noise floor
    of the numbers that the states are read with. ``profile.plot()`` draws it.

    Parameters
    ----------
    network, lags, input, method, seed, progress, **options
        As for :func:`memory_curve`.
    levels : array, optional
        Standard deviations; by default from 1 down to 1e-20, four per decade.
    state_noise : bool
        Whether it is process noise rather than observation noise.

    Examples
    --------
    >>> import memcurve
    >>> profile = memcurve.noise_profile(memcurve.ensembles.normal(50, seed=1))
    >>> float(profile.totals.max().round(6))
    50.0
    """
    if isinstance(levels, noises.Noise):
        raise TypeError(fault("levels", levels=levels))
    chosen = np.logspace(-20, 0, 81) if levels is None else levels
    is_process = arguments.require_flag(state_noise, "state_noise")
    kind = noises.StateNoise if is_process else noises.ObservationNoise
    noise = kind(np.atleast_1d(noises.standard_deviations(chosen, "levels")))
    problem = Problem.of(as_network(network), lags, input=input, noise=noise)
    parts = [problem]
    declared = arguments.table_entry(METHODS, method, "method")
    if not declared.bounded:  # which take one level at a time
        parts = [dataclasses.replace(problem, noise=kind(s)) for s in noise.levels.tolist()]
    curves: tuple[MemoryCurve, ...] = ()
    for part in parts:
        curves += ask_family(part, method, seed=seed, options=options, progress=progress)
    _warned(curves[0])
    marks = {}
    if problem.network.C.any():
        with backend_of(problem.network.A).collective():
            sizes = problem.analysis.deviations(problem.processes)
        is_whole = problem.network.readout is None
        marks = noises.number_formats(sizes if is_whole else sizes[problem.asked])
    return NoiseProfile(noise.levels, curves, noise.label, marks)


def controllable_spectrum(network: NetworkLike) -> Spectrum:
    """The controllable eigenvalues of a stable network with one input.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> ring = 0.9 * np.roll(np.eye(6), 1, axis=0)
    >>> network = memcurve.LinearNetwork(ring, [1, 0, 0, 1, 0, 0])
    >>> memcurve.controllable_spectrum(network).rank
    3
    """
    return Analysis.of(as_network(network)).spectrum


def rank(network: NetworkLike, *, progress: Progress = False) -> int:
    """Exact rank of [C, AC, A²C, …] for the stored numbers: the total memory without noise.

    No eigenvalue is computed, and the network need not be stable: with random u and modulo a prime
    p of some 30 bits, the shortest recurrence of uᵀAᵏC has the rank for its degree (Wiedemann
    1986), so that 2·rank products with A suffice; for each prime, 10,000 nodes with 100,000 edges
    take some seconds, 100,000 with a million a quarter of an hour.

    The result is never above the rank, and certain where it is that of :func:`structural_rank`.
    Otherwise two primes or three agree: it is too low with a probability of about (2n/p)² for n
    states and one input, (n²/p)² at most for several.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> ring = 0.9 * np.roll(np.eye(6), 1, axis=0)
    >>> memcurve.rank((ring, [1, 0, 0, 1, 0, 0])), memcurve.rank((ring, [1, 0, 0, 2, 0, 0]))
    (3, 6)
    """
    problem = Problem.of(as_network(network))
    if not problem.is_driven:
        return 0
    with progress_callback(progress) as notify:
        return problem.analysis.exact_rank(problem.rows, notify=notify)


def structural_rank(network: NetworkLike) -> StructuralRank:
    """Structural rank: the rank for almost all weights, and the uncontrollable nodes.

    As many nodes as possible are covered by disjoint cycles and, for each input, a path from it;
    their number is the rank of [C, AC, A²C, …] for all weights but some of measure zero, and a
    bound on it for these (Hosoe 1980). 100,000 nodes with a million edges take seconds. Of complex
    networks, whose real and imaginary parts are states each, the numbers are those of states, real
    parts first, and ``rank`` is a bound, as their weights are not independent.

    Examples
    --------
    >>> import memcurve
    >>> fan = [[0, 0, 0], [0.5, 0, 0], [0.3, 0, 0]]  # one node drives two others
    >>> memcurve.structural_rank((fan, [1, 0, 0]))
    StructuralRank(rank=2, unreached=array([], dtype=int64), surplus=array([2]))
    """
    subject = as_network(network)
    if subject.readout is not None:
        raise ValueError(fault("partial_wiring"))
    A, C = subject.real_pair()
    driven, reached = generically_driven(A, C), np.zeros(len(C), dtype=bool)
    reached[reachable_nodes(A, C)] = True
    uncontrollable = np.flatnonzero(~reached), np.flatnonzero(reached & ~driven)
    return StructuralRank(int(np.count_nonzero(driven)), *uncontrollable)


def ask(problem: Problem, method: str = "exact", **how: Any) -> MemoryCurve:
    """Answer a question by one of the methods, as :func:`ask_family` does."""
    [curve] = ask_family(problem, method, **how)
    return curve


def ask_family(
    problem: Problem,
    method: str = "exact",
    *,
    seed: arguments.Seed | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = False,
) -> tuple[MemoryCurve, ...]:
    """Answer a question by one of the methods, a curve for each of its noise levels."""
    options = options or {}
    declared = arguments.table_entry(METHODS, method, "method")
    if unknown := sorted(set(options) - set(declared.options)):
        names = [*inspect.signature(memory_curve).parameters, *declared.options]
        near = difflib.get_close_matches(unknown[0], names, 1)
        taken = f"method {method!r} takes the options {', '.join(declared.options) or 'none'}"
        remedy = f"did you mean `{near[0]}`?" if near else f"{taken}."
        raise TypeError(f"unexpected option {', '.join(f'`{name}`' for name in unknown)}; {remedy}")
    if seed is not None:
        arguments.generator(seed)  # refuses what is no seed
    _require_answers(declared, problem)
    A = problem.network.A
    if isinstance(A, Operator) and not (method == "exact" and is_usable_memory(problem)):
        raise A.needs_matrix("exact curves, process noise and other methods")
    _require_room(declared, problem, options)
    takes_eigenvalues = not is_usable_memory(problem)  # minutes for a large sparse network
    if problem.network.is_sparse and takes_eigenvalues and problem.analysis.unstable_radius:
        raise unstable(problem.analysis.unstable_radius)
    with contextlib.ExitStack() as stack:
        stack.enter_context(backend_of(A).collective())
        if progress is not False:  # else the caller reports progress
            notify = stack.enter_context(progress_callback(progress))
            stack.enter_context(problem.analysis.reporting(notify))
        answer = declared.answer(problem, seed, options)
    return curves_of(problem, answer, method=declared.name, seed=seed)


def _require_answers(method: Method, problem: Problem) -> None:
    """Raise where a method is asked for more than it answers."""
    if method.can_answer(problem):
        return
    able = [name for name, other in METHODS.items() if other.can_answer(problem)]
    features = [feature for feature in problem.features if feature not in method.answers]
    missing = f"a {problem.kind} curve" if problem.kind not in method.kinds else ", ".join(features)
    raise ValueError(
        fault("unsupported", method=method.name, missing=missing, able=", ".join(map(repr, able)))
    )


def _require_room(method: Method, problem: Problem, options: Mapping[str, Any]) -> None:
    """Raise a TooLargeError where a method cannot answer for lack of memory."""
    if method.name == "certified":  # it has a limit of its own
        return
    columns = problem.lags if method.columns is None else method.columns(problem, options)
    # what is no number, the method refuses
    columns = int(columns) if isinstance(columns, int | np.integer) and columns < 1e300 else None
    work = _work_of(problem) if method.name == "exact" else method.cost
    states = problem.network.states
    if isinstance(problem.network.A, Operator) or fits(states, work, columns=columns):
        return
    if method.name == "exact":  # only states that inputs reach count, on one white input by parts
        sparse = problem.network.is_sparse
        if sparse and is_usable_memory(problem):
            return  # products with A, and few directions; what else might be tried asks again
        states = len(problem.states)
        if problem.is_plain and states and (sparse or fits(states, Work(2, 0, 0), columns=0)):
            states = max(map(len, separate_parts(problem.states.stored)))
    reason = fault("without_noise") if problem.noise is None else ""
    if problem.noise is not None and problem.noise.state(np.ones(1)).any():
        reason = fault("full_rank")
    require_room_for_states(states, work, columns=columns, reason=reason)


def _work_of(problem: Problem) -> Work:
    """What the exact method takes for a question."""
    if problem.kind == "Fisher":
        return WORK["Fisher"]
    if problem.is_plain:
        return WORK["exact"]
    if problem.network.readout is not None:
        return WORK["readout"]
    if problem.noise is not None:
        return WORK["noise"]
    return WORK["several inputs" if problem.is_white else "coloured"]


def one_level(noise: Any) -> Any:
    """The noise, if it is a single level."""
    meant = noises.noise_of(noise)
    if meant is not None and meant.is_family:
        raise ValueError(fault("several_levels", count=len(meant.levels)))
    return meant


def _warned(curve: MemoryCurve) -> MemoryCurve:
    """The curve, with a warning where its rank hangs on the last digits."""
    for note in curve.notes:
        if note.kind == "rank":
            warnings.warn(note, RankWarning, stacklevel=3)
    return curve
