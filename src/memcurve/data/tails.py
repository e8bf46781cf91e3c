"""Standard errors of means: of series that depend on their past, and of ones with heavy tails."""

import numpy as np

from memcurve.core.types import TINY, Floats

#: Shares of the largest values that a Pareto tail is fitted to; the lightest of the tails counts,
#: so that values which only come in two sizes, as spikes, make none.
TAIL_SHARES = (0.01, 0.02, 0.05)
#: Values that a tail is fitted to at least. Doubled: less scatter, and spikes seem to be a tail.
LEAST_TAIL = 8
#: A tail whose mean is infinite is taken for one that is nearly so: its intervals cannot hold.
HEAVIEST = 0.8
#: The error that a tail makes, in units of what values beyond the largest expected would add.
#: Intervals of Gaussian input are 4 % wider for it at 1,000 rows. Doubled: 16 %.
UNSEEN_TAIL = 3.5


def variance_of_mean(series: Floats, count: int, rows: int) -> Floats:
    """Squared standard error of the mean of each column over ``rows``, of which ``given`` are here.

    To the long-run variance L comes what values too rare to have come up may add. Beyond the
    largest of ``rows`` values that a Pareto tail of shape ξ expects, M, there is on average
    Mξ/(1 − ξ) more than M per ``rows`` rows; and large values come in clusters, as those of
    bilinear states do, where the series depends on its past: of L over the variance, on average.
    """
    # quantiles of a mean over its own long-run variance are wider than normal ones (Kiefer and
    # Vogelsang 2005): by 1.33 times the share of the rows that Bartlett's window has
    long_run = long_run_variance(series) * (1 + 3.5 * len(series) ** (-2 / 3))
    shape, largest = pareto_tail(series, count, rows)
    cluster = np.maximum(long_run / np.maximum((series**2).mean(axis=0), TINY), 1.0)
    unseen = UNSEEN_TAIL * cluster * largest * shape / (1 - shape) / rows
    return np.asarray(long_run * len(series) / count / rows + unseen**2)


def long_run_variance(series: Floats) -> Floats:
    """Long-run variance of each column, with Bartlett's window over 1.3·n^(1/3) lags."""
    window = int(np.ceil(1.3 * len(series) ** (1 / 3)))
    variance = (series**2).sum(axis=0)
    for j in range(1, window + 1):
        variance = variance + 2 * (1 - j / (window + 1)) * (series[j:] * series[:-j]).sum(axis=0)
    return np.asarray(np.maximum(variance, 0.0) / len(series))


def pareto_tail(series: Floats, values: int, rows: int) -> tuple[Floats, Floats]:
    """Shape ξ of the tail of each column's moduli (Hill), and the largest of ``rows`` values then.

    ``given`` of the values are there, the others are zero.
    """
    counts = sorted({max(LEAST_TAIL, int(share * values)) for share in TAIL_SHARES})
    if values < 4 * counts[-1]:
        return np.zeros(series.shape[1]), np.zeros(series.shape[1])
    first = len(series) - 1 - counts[-1]
    top = np.sort(np.partition(np.abs(series), first, axis=0)[first:], axis=0)[::-1]
    logs = np.log(np.maximum(top, TINY))
    shapes = np.array([logs[:k].mean(axis=0) - logs[k] for k in counts])
    lightest, column = shapes.argmin(axis=0), np.arange(series.shape[1])
    shape = np.minimum(shapes[lightest, column], HEAVIEST)
    count = np.array(counts)[lightest]
    return shape, np.exp(logs[count, column]) * (count * rows / values) ** shape
