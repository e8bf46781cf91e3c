"""Heavy tails: how much larger values get than those that have come up."""

from __future__ import annotations

import numpy as np

from memcurve.core.types import TINY, Floats

#: Shares of the largest values that a Pareto tail is fitted to; the lightest of the tails counts,
#: so that values which only come in two sizes, as spikes, make none.
TAIL_SHARES = (0.01, 0.02, 0.05)
#: Values that a tail is fitted to at least. Doubled: less scatter, and spikes seem to be a tail.
LEAST_TAIL = 8
#: A tail whose mean is infinite is taken for one that is nearly so: its intervals cannot hold.
HEAVIEST = 0.8


def pareto_tail(series: Floats, known: int, rows: int) -> tuple[Floats, Floats]:
    """Shape ξ of the tail of each column's moduli (Hill), and the largest of ``rows`` values then.

    ``known`` of the values are there, the others are zero.
    """
    counts = sorted({max(LEAST_TAIL, int(share * known)) for share in TAIL_SHARES})
    if known < 4 * counts[-1]:
        return np.zeros(series.shape[1]), np.zeros(series.shape[1])
    first = len(series) - 1 - counts[-1]
    top = np.sort(np.partition(np.abs(series), first, axis=0)[first:], axis=0)[::-1]
    logs = np.log(np.maximum(top, TINY))
    shapes = np.array([logs[:k].mean(axis=0) - logs[k] for k in counts])
    lightest, column = shapes.argmin(axis=0), np.arange(series.shape[1])
    shape = np.minimum(shapes[lightest, column], HEAVIEST)
    count = np.array(counts)[lightest]
    return shape, np.exp(logs[count, column]) * (count * rows / known) ** shape
