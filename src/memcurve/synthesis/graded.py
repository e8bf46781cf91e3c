"""White coordinates x = Tξ whose smallest directions keep their digits.

G = TTᵀ, and the singular values of T are known to relative accuracy where eigenvalues of G lose
every digit: columns of T, from :func:`memcurve.input_normal`, are graded, and one-sided Jacobi
rotations respect that.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from memcurve.core.errors import UncertainResultError
from memcurve.core.types import EPS, SEED, Floats
from memcurve.network import LinearNetwork
from memcurve.solve import Analysis, input_normal_realization
from memcurve.synthesis.directions import SAFETY, directions_of, rounded_network

#: Where not all directions are known, those above this share of the mask are. Doubled: fewer.
FAR_BELOW = 1e-8


def jacobi(M: Floats) -> tuple[Floats, Floats]:
    """Singular values, largest first, and right singular vectors, each to relative accuracy.

    By LAPACK's dgejsv, rows and columns in any scale.
    """
    from scipy.linalg.lapack import dgejsv

    unit = int(np.frexp(np.abs(M).max(initial=0.0))[1])
    M = np.ldexp(M, -unit)
    wide = len(M) < M.shape[1]
    tall = np.asfortranarray(M.T if wide else M)
    values, U, V, work, _, info = dgejsv(tall, joba=2, jobu=0, jobv=0, jobr=0, jobt=0, jobp=0)
    if info != 0 or not np.isfinite(values).all():
        raise UncertainResultError(f"LAPACK's dgejsv ends with info = {info}.")
    sigma = values * (work[0] / work[1])
    order = np.argsort(-sigma, kind="stable")
    vectors = (U[:, : len(sigma)] if wide else V)[:, order]
    return np.ldexp(sigma[order], unit), np.asarray(vectors)


def state_map(network: LinearNetwork) -> Floats:
    """T (states that are reached, n) in the network's own units."""
    analysis = Analysis.of(network)
    try:
        with np.errstate(all="ignore"):
            T = input_normal_realization(analysis)[2]
            return np.asarray(np.ldexp(T, analysis.exponents[:, None]))
    except UncertainResultError:  # the larger directions alone, to rounding of the largest
        whole = network.replace(readout=None)
        level = FAR_BELOW * float(np.linalg.norm(analysis.mask))
        return directions_of(whole, level, seen=1.0).rows(whole)[analysis.nodes]


def measured(
    network: LinearNetwork, compute: Callable[[LinearNetwork], Floats]
) -> tuple[Floats, Floats]:
    """Positive numbers, and their relative errors.

    These are the largest change of a logarithm among networks rounded at random.
    """
    rng, values = np.random.default_rng(SEED), compute(network)
    others = [compute(rounded_network(network, rng)) for _ in range(3)]
    count = min(map(len, [values, *others]))
    values = values[:count]
    with np.errstate(all="ignore"):
        changes = [np.log(one[:count]) - np.log(values) for one in others]
        change = np.where(values > 0, np.abs(changes).max(axis=0), 0.0)
    return values, np.where(np.isfinite(change), SAFETY * change, np.inf) + 16 * EPS
