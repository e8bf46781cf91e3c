"""Random and structured networks: the paper's, and those with known memory.

Keywords that every ensemble shares:

mask : None, str, (N,) array or (N, d) array
    None is the ensemble's own mask, which its docstring names; a string is one of
    :data:`memcurve.masks.MASKS`; an array is taken as it is.
seed : int, SeedSequence or Generator
    Required wherever something is drawn. Connectivity and mask have streams of their own, so the
    same seed with another mask gives the same connectivity. A Generator moves on with each call.

Keywords of the ensembles that are drawn and then scaled:

spectral_radius : float
    What the scaling aims at. From 1 on the network is unstable and has no memory curve.
scaling : str
    ``"spectral_radius"`` makes the largest modulus of an eigenvalue equal to ``spectral_radius``;
    ``"spectral_norm"`` does so with the largest singular value; ``"circular_law"`` divides by
    the radius expected as N → ∞ instead of the one drawn, see :mod:`memcurve.network.scaling`.
sparse : bool
    Store A as a scipy sparse array: the same numbers as without.

"The paper" is Ballarin, Grigoryeva and Ortega, *Memory of recurrent networks: Do we compute it
right?* (arXiv 2305.01457).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memcurve.arguments import require_options, table_entry
from memcurve.ensembles.random import (
    normal,
    orthogonal,
    sp_c,
    sparse_normal,
    sparse_uniform,
    symmetric,
    uniform,
)
from memcurve.ensembles.structured import (
    chain,
    cyclic,
    delay_line,
    hippo_legs,
    hippo_legt,
    lru_ring,
    permutation,
    stacked,
)
from memcurve.network import LinearNetwork

__all__ = [
    "ENSEMBLES",
    "chain",
    "cyclic",
    "delay_line",
    "hippo_legs",
    "hippo_legt",
    "lru_ring",
    "make",
    "normal",
    "orthogonal",
    "permutation",
    "sp_c",
    "sparse_normal",
    "sparse_uniform",
    "stacked",
    "symmetric",
    "uniform",
]

ENSEMBLES: dict[str, Callable[..., LinearNetwork]] = {
    ensemble.__name__: ensemble
    for ensemble in (
        *(normal, uniform, sparse_normal, sparse_uniform, sp_c, symmetric, orthogonal),
        *(permutation, cyclic, delay_line, chain, hippo_legs, hippo_legt, lru_ring),
    )
}


def make(name: str, size: int | None = None, **options: Any) -> LinearNetwork:
    """Return a network of the ensemble called ``name``, one of :data:`ENSEMBLES`.

    Examples
    --------
    >>> from memcurve import ensembles
    >>> ensembles.make("sparse_normal", 50, density=0.2, seed=3).name
    'sparse normal, N=50, density 0.2, ρ=0.9, seed 3'
    """
    ensemble = table_entry(ENSEMBLES, name, "ensemble")
    require_options(ensemble, options)
    return ensemble(size, **options)
