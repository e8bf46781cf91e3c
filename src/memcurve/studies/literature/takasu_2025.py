"""Memory against the number of nodes that are read."""

import numpy as np

from memcurve.data import memory_from_data
from memcurve.memory import memory_curve
from memcurve.network import ensembles
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 200  # nodes
RADIUS = 0.9  # spectral, below 1 for stability
NOISE = 1e-3  # stands for what limits readouts of finite recordings
READ = (5, 10, 20, 50, 100, 200)  # nodes read, from few to all
STEPS = 10_000  # of the tanh network, by which its totals are known to 0.2
WASHOUT = 200  # steps before them
LAGS = 100  # at the last of which nothing is remembered


def study(seed: int) -> Study:
    """Usable memory, and the exact total, of the first nodes of a random network; with tanh too."""
    network = ensembles.normal(SIZE, spectral_radius=RADIUS, seed=seed)
    z = np.random.default_rng(seed).standard_normal(STEPS + WASHOUT)
    states = NonlinearNetwork(network.A, network.C).simulate(z)
    points, tanh = [], list[float]()
    for read in READ:
        part = network.replace(readout=range(read))
        exact = memory_curve(part)
        usable = memory_curve(part, noise=NOISE).total
        points.append(Point(f"{read} of {SIZE} nodes read", usable, exact.total, exact.total_error))
        curve = memory_from_data(states[:, :read], z, LAGS, washout=WASHOUT, checks=False)
        tanh.append(curve.total)
    totals = {"usable": [p.then for p in points], "exact": [p.true for p in points], "tanh": tanh}
    slopes = {
        name: np.diff(np.log(values)) / np.diff(np.log(READ)) for name, values in totals.items()
    }
    return points, {
        "exact_slope": float(slopes["exact"].min()),
        "first_slope": float(slopes["usable"][0]),
        "last_slope": float(slopes["usable"][-1]),
        "first": points[0].then,
        "last": points[-1].then,
        "tanh_first": tanh[0],
        "tanh_last": tanh[-1],
        "tanh_error": float(curve.total_error),
        "tanh_slope": float(slopes["tanh"][-1]),
    }


def judge(numbers: Numbers) -> Verdict:
    """Whether the exact total grows more slowly than the readouts, or only usable memory does."""
    if numbers["exact_slope"] < 0.9:
        return Verdict("right", "growth", noise=NOISE)
    sublinear = numbers["last_slope"] < 0.5
    return Verdict("right in another sense" if sublinear else "an artefact", "growth", noise=NOISE)
