"""Orthogonalised subspace method: MC_τ = (WWᵀ)_{ττ}, K_m = UΣWᵀ (the paper's "Subspace Methods").

The projector on the rows of the truncated Krylov matrix, from its singular value decomposition: no
inverse, but singular vectors that belong to singular values below rounding are arbitrary, and with
them a good part of the curve. The total is the trace of a projector of rank N: it equals N by
construction, for every network, also where the memory is less.

OSM+ is the mean of OSM over L random masks (Algorithm 1). Memory does not depend on the mask, the
rounding noise of OSM does: averaging smooths it into a monotone curve. It converges, but not to the
memory curve: at N = 100 it stays off by 0.2 to 0.35.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from memcurve.core.arguments import Seed, generator, require_size, table_entry
from memcurve.core.limits import Work
from memcurve.core.progress import Progress, watched
from memcurve.core.types import Floats
from memcurve.memory.curves import estimate
from memcurve.memory.methods.method import Method, Variant, dense_single_input, truncation_for
from memcurve.network import masks as mask_table
from memcurve.network.krylov import krylov_matrix
from memcurve.solve import Answer, Problem

#: The bands are these quantiles over the masks.
QUANTILES = (0.05, 0.95)
_BY_CONSTRUCTION = "the total equals the number of states by construction, whatever the memory is"
#: Random masks that an audit takes, to ± 0.02 or so. Doubled: a third of its time.
_AUDITED_MASKS = 20


def osm(problem: Problem, *, truncation: int | None = None) -> Answer:
    """Project on the right singular vectors of the Krylov matrix.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means ``truncation`` lags.
    truncation : int
        Number m of columns of the Krylov matrix, at least N; 5N by default.
    """
    lags = problem.lags
    A, C = dense_single_input(problem)
    truncation = truncation_for(len(C), truncation, "truncation", lags)
    whole = subspace_memory(A, C, truncation)
    return estimate(
        whole[: lags or truncation],
        _BY_CONSTRUCTION,
        total=float(whole.sum()),
        options={"truncation": truncation},
    )


def osm_plus(
    problem: Problem,
    *,
    seed: Seed,
    masks: int = 1000,
    distribution: str | Callable[..., Floats] = "normal",
    mask_options: Mapping[str, Any] | None = None,
    truncation: int | None = None,
    mapper: Callable[..., Iterable[Any]] = map,
    progress: Progress = False,
) -> Answer:
    """Average the subspace method over random masks of unit norm.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means ``truncation`` lags. The
        network's own mask is not used.
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
    lags = problem.lags
    A, C = dense_single_input(problem)
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
    found = mapper(partial(subspace_memory, A, truncation=truncation), drawn)
    curves = np.array(list(watched(found, "OSM+ masks", count, progress)))
    values = curves.mean(axis=0)
    return estimate(
        values[: lags or truncation],
        f"mean and 90 % bands over {count} masks; {_BY_CONSTRUCTION}",
        total=float(values.sum()),
        bands=np.quantile(curves, QUANTILES, axis=0).T[: lags or truncation],
        options={
            "masks": count,
            "distribution": getattr(distribution, "__name__", distribution),
            "mask_options": dict(mask_options or {}),
            "truncation": truncation,
        },
    )


def subspace_memory(A: Floats, C: Floats, truncation: int) -> Floats:
    """Diagonal of the projector on the rows of the Krylov matrix, to all ``truncation`` lags."""
    W = np.linalg.svd(krylov_matrix(A, C, truncation), full_matrices=False)[2]
    return np.asarray(np.einsum("ij,ij->j", W, W))


METHODS = (
    Method(
        name="osm",
        run=osm,
        help="The paper's orthogonalised subspace method.",
        cost=Work(4, 4, 5),
        columns=lambda problem, options: options.get("truncation"),
        compared=True,
        variants=(
            Variant(
                "osm", "OSM", "orthogonalised subspace method", largest_size=600,
                by_construction=True,
            ),
        ),
    ),
    Method(
        name="osm_plus",
        run=osm_plus,
        help="OSM averaged over random masks.",
        cost=Work(4, 4, 6),
        columns=lambda problem, options: options.get("truncation"),
        compared=True,
        variants=(
            Variant(
                "osm_plus", "OSM+", f"OSM averaged over {_AUDITED_MASKS} masks",
                {"masks": _AUDITED_MASKS}, largest_size=200, by_construction=True,
            ),
        ),
    ),
)  # fmt: skip
