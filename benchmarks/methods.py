"""memcurve's methods, those of the paper, and the paper's Algorithm 1 as it is printed."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np

import memcurve
from benchmarks.contenders import Contender, Estimate, Floats
from benchmarks.timing import fresh
from memcurve import LinearNetwork

SEED = 1
#: Masks of OSM+ in the paper, and columns of its Krylov matrices a node.
MASKS = 1000
COLUMNS_PER_NODE = 5
PRINTED = "OSM+ as printed"
OPTIMISED = "OSM+ in memcurve"
EXACT = "exact"


def osm_plus_as_printed(A: Floats, masks: int, truncation: int, rng: np.random.Generator) -> Floats:
    """The paper's Algorithm 1, line by line in NumPy.

    Its masks are normal and of unit norm. ``svd`` has to be the economy one: with all m right
    singular vectors W the product WWᵀ would be the identity. The printed curve has m + 1 entries,
    of which a Krylov matrix of m columns fills m.
    """
    curve = np.zeros(truncation)
    for _ in range(masks):
        C = rng.standard_normal(len(A))
        C /= np.linalg.norm(C)
        krylov = np.empty((len(A), truncation))
        krylov[:, 0] = C
        for k in range(1, truncation):
            krylov[:, k] = A @ krylov[:, k - 1]
        _, _, Wt = np.linalg.svd(krylov, full_matrices=False)
        curve += np.diag(Wt.T @ Wt) / masks
    return curve


def contenders(masks: int) -> list[Contender]:
    """Methods that need no other library; ``masks`` is the number of those of OSM+."""
    named: list[tuple[str, str, str, dict[str, Any]]] = [
        (EXACT, "memory_curve(network)", "exact", {}),
        ("certified", "ball arithmetic, a proven enclosure", "certified", {}),
        ("naive, solve", "Gramian from a Lyapunov equation, solve", "naive", {}),
        ("naive, pinv", "the same, pseudo-inverse", "naive", {"inverse": "pinv"}),
        ("neutral", "the paper's formula without a mask", "neutral", {}),
        ("OSM", "one singular value decomposition, 5N lags", "osm", {}),
        (OPTIMISED, f"{masks} masks, one BLAS thread", "osm_plus", {"masks": masks, "seed": SEED}),
        ("Monte Carlo", "10,000 steps, 5N lags", "montecarlo", {"seed": SEED, "lags": True}),
    ]
    ours = [
        Contender(
            name,
            about,
            partial(measured, method=method, options=options),
            whose="memcurve" if method in ("exact", "certified") else "paper",
        )
        for name, about, method, options in named
    ]
    printed = Contender(
        PRINTED,
        f"Algorithm 1 in NumPy, {masks} masks, m = 5N",
        partial(printed_estimate, masks=masks),
        whose="paper",
    )
    return [*ours, printed]


def measured(network: LinearNetwork, *, method: str, options: dict[str, Any]) -> Estimate:
    """A curve of memcurve; with ``lags`` among the options, to 5N lags."""
    asked = dict(options)
    lags = COLUMNS_PER_NODE * network.size if asked.pop("lags", False) else None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", memcurve.RankWarning)
        curve: Any = memcurve.memory_curve(fresh(network), lags, method=method, **asked)
    return Estimate(0, curve.values)


def printed_estimate(network: LinearNetwork, *, masks: int) -> Estimate:
    """Algorithm 1 on a network; its own mask is not used."""
    rng = np.random.default_rng(SEED)
    truncation = COLUMNS_PER_NODE * network.size
    return Estimate(0, osm_plus_as_printed(network.A, masks, truncation, rng))
