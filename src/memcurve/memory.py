"""The entry points: one function, a table of methods, one result type."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import warnings
from collections.abc import Callable, Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.arguments import Seed, generator, table_entry
from memcurve.curve import MemoryCurve
from memcurve.errors import RankWarning
from memcurve.general import Problem
from memcurve.limits import require_room
from memcurve.methods import GENERAL, METHODS
from memcurve.methods.exact import exact_family
from memcurve.methods.forecast import forecast
from memcurve.methods.general import HANGS_ON_DIGITS
from memcurve.network import LinearNetwork, require_network
from memcurve.noise import Noise, ObservationNoise, StateNoise, number_formats
from memcurve.profile import NoiseProfile

MOST_LAGS = 50_000_000


@overload
def memory_curve(
    network: LinearNetwork,
    lags: int | None = None,
    *,
    method: str = "exact",
    input: Any = None,
    noise: float | Noise | None = None,
    seed: Seed | None = None,
    **options: Any,
) -> MemoryCurve: ...
@overload
def memory_curve(
    network: LinearNetwork,
    lags: int | None = None,
    *,
    method: str = "exact",
    input: Any = None,
    noise: Sequence[float] | NDArray[Any],
    seed: Seed | None = None,
    **options: Any,
) -> NoiseProfile: ...
def memory_curve(
    network: LinearNetwork,
    lags: int | None = None,
    *,
    method: str = "exact",
    input: Any = None,
    noise: Any = None,
    seed: Seed | None = None,
    **options: Any,
) -> MemoryCurve | NoiseProfile:
    """Memory of a network lag by lag, and in total.

    ``MC_τ = 1 − min_W E(z_{t−τ} − Wᵀx_t)² / Var z``, from lag τ = 0 on, for the input z and the
    states x that can be read.

    Parameters
    ----------
    network : LinearNetwork
        Any linear network of spectral radius below one, with one input or several, read from all
        its nodes or some.
    lags : int, optional
        ``lags=m`` gives lags 0 … m − 1. By default enough to hold all but 1e-12 of the memory.
    method : str
        ``"exact"`` (default): rounding accuracy in about the time of the eigenvalues;
        ``"certified"``: a proven enclosure in ball arithmetic, for up to some hundred nodes. The
        paper's own, for comparison: ``"naive"``, ``"neutral"``, ``"osm"``, ``"osm_plus"``,
        ``"arnoldi"`` and ``"montecarlo"``, which have no error bound.
    input : input process, optional
        Any weakly stationary input, e.g. ``memcurve.inputs.ARMA(ar=[0.9])``, or a sequence of them
        for several inputs, which are independent; white by default. Scaled to unit variance.
    noise : float, sequence or noise, optional
        Usable memory: a standard deviation of independent errors in the states as they are read,
        relative to input of unit variance, or ``StateNoise(s)``, ``Quantised(step)``,
        ``Float32()``. A sequence of levels gives a :class:`memcurve.NoiseProfile`, a family of
        curves.
    seed : int, SeedSequence or Generator
        Required by the methods that draw random numbers, ``"osm_plus"`` and ``"montecarlo"``.
    **options
        Options of the method, see its own documentation.

    Returns
    -------
    MemoryCurve
        Or a NoiseProfile, where ``noise`` is a sequence.

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
    require_network(network)
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(
            f"`method` must be one of {', '.join(map(repr, METHODS))}, got {method!r}."
        )
    function = METHODS[method]
    allowed = _options_of(function)
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        listed = ", ".join(allowed) or "none"
        raise TypeError(f"method {method!r} takes the options {listed}; got {', '.join(unknown)}.")
    if seed is not None:
        generator(seed)  # refuses what is no seed
    if _takes_seed(function):
        options["seed"] = seed
    count = _validated_lags(lags)
    problem = Problem.of(network, count, input=input, noise=noise)
    if method in GENERAL:
        options |= {"input": problem.processes, "noise": problem.noise}
    else:
        _require_plain(problem, method)
    require_room(problem, method, options)
    if problem.noise is not None and problem.noise.is_family:
        family = _family(problem, method, options, seed)
        _warn_of_rank(family[0])
        return family
    curve = _noted(function(network, count, **options), network)
    _warn_of_rank(curve)
    return dataclasses.replace(curve, seed=seed) if isinstance(seed, int) else curve


def forecasting_curve(
    network: LinearNetwork,
    input: Any,
    horizons: int = 10,
    *,
    noise: Any = None,
    method: str = "exact",
    **options: Any,
) -> MemoryCurve:
    """Forecasting capacity of a network: how much of the inputs to come its states hold.

    ``FC_τ = 1 − min_W E(z_{t+τ} − Wᵀx_t)² / Var z`` for τ = 1, 2, …. Zero for white input: it is a
    property of the input as much as of the network.

    Parameters
    ----------
    network : LinearNetwork
        The network.
    input : input process
        E.g. ``memcurve.inputs.ARMA(ar=[0.9])``, or a sequence of them for several inputs.
    horizons : int
        Number of steps ahead; the result's ``total`` is over all of them, not only those listed.
    noise
        As for :func:`memory_curve`, a single level.
    method : str
        ``"exact"`` or ``"certified"``.
    **options
        ``certify_up_to`` or ``max_size``, as for :func:`memory_curve`.

    Returns
    -------
    MemoryCurve
        With ``kind="forecasting"``; its lags are the steps ahead, from 1 on.

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
    require_network(network)
    found = forecast(network, input, horizons, noise=noise, method=method, **options)
    curve = _noted(found, network)
    _warn_of_rank(curve)
    return curve


def noise_profile(
    network: LinearNetwork,
    levels: ArrayLike | None = None,
    *,
    input: Any = None,
    state_noise: bool = False,
    method: str = "exact",
) -> NoiseProfile:
    """Total usable memory against the noise level, with number formats marked.

    The answer to "why does my simulation show less than N": the memory is there, below the noise
    floor of the numbers it is read with. ``memcurve.plot.profile`` draws it.

    Parameters
    ----------
    network : LinearNetwork
        The network.
    levels : array, optional
        Standard deviations; by default from 1 down to 1e-20, four a decade.
    input
        As for :func:`memory_curve`.
    state_noise : bool
        Whether the noise enters the recursion, rather than the states as they are read.
    method : str
        ``"exact"`` or ``"certified"``.

    Examples
    --------
    >>> import memcurve
    >>> profile = memcurve.noise_profile(memcurve.ensembles.normal(50, seed=1))
    >>> float(profile.totals.max().round(6))
    50.0
    """
    require_network(network)
    table_entry(dict.fromkeys(("exact", "certified")), method, "method")
    chosen = np.logspace(-20, 0, 81) if levels is None else np.atleast_1d(np.asarray(levels))
    noise = (StateNoise if state_noise else ObservationNoise)(chosen)
    result: Any = memory_curve(network, input=input, noise=noise, method=method)
    problem = Problem.of(network, None, input=input, noise=noise)
    marks = number_formats(problem.state_deviations) if network.C.any() else {}
    return NoiseProfile(result.levels, result.curves, result.noise, marks)


def _family(
    problem: Problem, method: str, options: dict[str, Any], seed: Seed | None
) -> NoiseProfile:
    noise = problem.noise
    assert noise is not None
    if method == "exact":
        curves = exact_family(problem.network, problem.lags, **options)
    else:
        curves = []
        count = problem.lags
        for level in noise.levels.tolist():
            one = options | {"noise": type(noise)(level)}  # type: ignore[call-arg]
            curves.append(METHODS[method](problem.network, count, **one))
            count = len(curves[0])
    curves = [_noted(curve, problem.network) for curve in curves]
    if isinstance(seed, int):
        curves = [dataclasses.replace(curve, seed=seed) for curve in curves]
    return NoiseProfile(noise.levels, tuple(curves), noise.label)


def _noted(curve: MemoryCurve, network: LinearNetwork) -> MemoryCurve:
    """The curve with the network's notes before its own."""
    return dataclasses.replace(curve, notes=(*network.notes, *curve.notes))


def _warn_of_rank(curve: MemoryCurve) -> None:
    for note in curve.notes:
        if HANGS_ON_DIGITS in note:
            warnings.warn(note, RankWarning, stacklevel=3)


@functools.cache
def _options_of(function: Callable[..., MemoryCurve]) -> list[str]:
    named = list(inspect.signature(function).parameters)[2:]
    return [name for name in named if name not in ("input", "noise", "seed")]


@functools.cache
def _takes_seed(function: Callable[..., MemoryCurve]) -> bool:
    return "seed" in inspect.signature(function).parameters


def _validated_lags(lags: Any) -> int | None:
    if lags is None:
        return None
    whole = isinstance(lags, int | np.integer) and not isinstance(lags, bool | np.bool_)
    if not whole or lags < 1:
        raise ValueError(
            f"`lags` must be a positive integer or None, got {lags!r}; lags=m means lags 0 … m − 1."
        )
    if lags > MOST_LAGS:
        raise ValueError(
            f"`lags` must be at most {MOST_LAGS:,}, which take gigabytes of memory; got {lags:,}."
        )
    return int(lags)


def _require_plain(problem: Problem, method: str) -> None:
    """Raise where a method of the paper is asked for more than the paper has."""
    network = problem.network
    asked = [
        (not problem.is_white, "coloured input"),
        (problem.noise is not None, "noise"),
        (network.inputs > 1, f"{network.inputs} inputs"),
        (network.readout is not None, "a readout of some nodes"),
    ]
    for found, what in asked:
        if found:
            raise ValueError(
                f"method {method!r} is for one white input without noise, read from all nodes; got "
                f"{what}. The methods {', '.join(map(repr, GENERAL))} answer that."
            )
