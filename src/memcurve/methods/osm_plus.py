"""Averaged orthogonalised subspace method: the mean of OSM over L random masks (Algorithm 1).

Memory does not depend on the mask, the rounding noise of OSM does: averaging smooths it into a
monotone curve. It converges, but not to the memory curve: at N = 100 it stays off by 0.2 to 0.35.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve import masks as mask_table
from memcurve.arguments import Seed, generator, require_size, table_entry
from memcurve.curve import MemoryCurve
from memcurve.methods.osm import TOTAL_NOTE, subspace_memory
from memcurve.methods.result import dense_single_input, estimated_curve, truncation_for
from memcurve.network import LinearNetwork
from memcurve.progress import Progress, watched

Floats = NDArray[np.float64]

#: The bands are these quantiles over the masks.
QUANTILES = (0.05, 0.95)


def osm_plus(
    network: LinearNetwork,
    lags: int | None,
    *,
    seed: Seed,
    masks: int = 1000,
    distribution: str | Callable[..., Floats] = "normal",
    mask_options: Mapping[str, Any] | None = None,
    truncation: int | None = None,
    mapper: Callable[..., Iterable[Any]] = map,
    progress: Progress = False,
) -> MemoryCurve:
    """Average the subspace method over random masks of unit norm.

    Parameters
    ----------
    network, lags
        As for every method; ``lags=None`` means ``truncation`` lags. The network's own mask is not
        used.
    seed : int, SeedSequence or Generator
        Of the masks.
    masks : int
        Their number L.
    distribution : str or callable
        A random mask of :data:`memcurve.masks.MASKS`, or a function of (size, seed=…) like these.
    mask_options : mapping
        Options of the mask, e.g. ``{"low": 0}`` for the paper's sparse uniform one.
    truncation : int
        Number of columns of the Krylov matrix, at least N; 5N by default.
    mapper : callable
        Anything like ``map``, e.g. that of a ``concurrent.futures`` executor.
    progress : bool or callable
        Show a bar on stderr, or call a function of (label, done, total).
    """
    from threadpoolctl import threadpool_limits

    A, C = dense_single_input(network)
    truncation = truncation_for(len(C), truncation, "truncation", lags)
    count = require_size(masks, "masks")
    draw = distribution
    if isinstance(draw, str):
        draw = table_entry(mask_table.MASKS, distribution, "distribution")
        if not mask_table.is_random(str(distribution)):
            random = ", ".join(filter(mask_table.is_random, mask_table.MASKS))
            raise ValueError(
                f"`distribution` must be random, one of {random}; got {distribution!r}."
            )
    streams = generator(seed).spawn(count)
    drawn = [draw(len(C), seed=stream, **(mask_options or {})) for stream in streams]
    # many small decompositions: BLAS threads of their own only get in each other's way
    with threadpool_limits(1, user_api="blas"):
        found = mapper(partial(_one_mask, A, truncation), drawn)
        curves = np.array(list(watched(found, "OSM+ masks", count, progress)))
    values = curves.mean(axis=0)
    return estimated_curve(
        network,
        "osm_plus",
        values[: lags or truncation],
        total=float(values.sum()),
        bands=np.quantile(curves, QUANTILES, axis=0).T[: lags or truncation],
        notes=[TOTAL_NOTE, f"mean and 90 % bands over {count} masks"],
        options={
            "masks": count,
            "distribution": getattr(distribution, "__name__", distribution),
            "mask_options": dict(mask_options or {}),
            "truncation": truncation,
        },
    )


def _one_mask(A: Floats, truncation: int, C: Floats) -> Floats:
    return subspace_memory(A, C, truncation)
