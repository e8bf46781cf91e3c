"""The entry point: one function, a table of methods, one result type."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from memcurve.arguments import Seed, generator
from memcurve.curve import MemoryCurve
from memcurve.methods import METHODS
from memcurve.network import LinearNetwork

MOST_LAGS = 50_000_000


def memory_curve(
    network: LinearNetwork,
    lags: int | None = None,
    *,
    method: str = "exact",
    input: Any = None,
    noise: Any = None,
    seed: Seed | None = None,
    **options: Any,
) -> MemoryCurve:
    """Memory of a network lag by lag, and in total.

    ``MC_τ = 1 − min_W E(z_{t−τ} − Wᵀx_t)² / Var z`` for white input z, from lag τ = 0 on.

    Parameters
    ----------
    network : LinearNetwork
        Any linear network of spectral radius below one.
    lags : int, optional
        ``lags=m`` gives lags 0 … m − 1. By default enough to hold all but 1e-12 of the memory.
    method : str
        ``"exact"`` (default): rounding accuracy in about the time of the eigenvalues;
        ``"certified"``: a proven enclosure in ball arithmetic, for up to some hundred nodes. The
        paper's own, for comparison: ``"naive"``, ``"neutral"``, ``"osm"``, ``"osm_plus"``,
        ``"arnoldi"`` and ``"montecarlo"``, which have no error bound.
    input, noise
        Reserved for coloured input and usable memory under noise; only white input without noise
        is available so far.
    seed : int, SeedSequence or Generator
        Required by the methods that draw random numbers, ``"osm_plus"`` and ``"montecarlo"``.
    **options
        Options of the method, see its own documentation.

    Returns
    -------
    MemoryCurve

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> curve = memcurve.memory_curve(network)
    >>> curve.total
    50.0
    >>> bool(curve.error.max() < 1e-11)
    True
    """
    if not isinstance(network, LinearNetwork):
        raise TypeError(
            f"`network` must be a memcurve.LinearNetwork, got {type(network).__name__}; wrap the "
            f"matrices as LinearNetwork(A, C)."
        )
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(
            f"`method` must be one of {', '.join(map(repr, METHODS))}, got {method!r}."
        )
    _require_available(network, input, noise)
    function = METHODS[method]
    allowed = _options_of(function)
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise TypeError(
            f"method {method!r} takes the options {', '.join(allowed)}; got {', '.join(unknown)}."
        )
    if seed is not None:
        generator(seed)  # refuses what is no seed
    if "seed" in allowed:
        options["seed"] = seed
    curve = function(network, _validated_lags(lags), **options)
    return dataclasses.replace(curve, seed=seed) if isinstance(seed, int) else curve


@functools.cache
def _options_of(function: Callable[..., MemoryCurve]) -> list[str]:
    return list(inspect.signature(function).parameters)[2:]


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


def _require_available(network: LinearNetwork, input: Any, noise: Any) -> None:
    for name, value, meaning in (
        ("input", input, "coloured input"),
        ("noise", noise, "usable memory under noise"),
    ):
        if value is not None:
            raise ValueError(
                f"`{name}` must be None, got {value!r}: {meaning} is not available in this version."
            )
    if network.inputs != 1:
        raise ValueError(
            f"`network` must have one input, got {network.inputs}: several inputs are not "
            f"available in this version; pass one column of C at a time."
        )
    if network.readout is not None:
        raise ValueError(
            f"`network` must be read from all its nodes, got a readout of {len(network.readout)}: "
            f"readout subsets are not available in this version; use network.replace(readout=None)."
        )
