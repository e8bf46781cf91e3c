"""Orthogonal reservoirs: more memory, or the same memory in a usable form?"""

import numpy as np

from memcurve.core.types import Floats
from memcurve.inputs.noise import Float64
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.studies.literature.claim import Numbers, Point, Study, Verdict

SIZE = 100  # as theirs
SIGMA = 0.085  # of the weights, as theirs: a spectral radius of about 0.85
INPUT_SCALE = 1e-6  # their weakest, at which tanh is linear
SKIPPED = 1000  # steps before training, more than any lag
TRAINED = 4000  # steps, forty a node
TESTED = 1000  # steps, over which correlations are taken


def _simulated(A: Floats, C: Floats, seed: int) -> float:
    """r² of readouts by pseudo-inverse, on steps they were not trained on, over lags 1 … N."""
    z = np.random.default_rng(seed).uniform(-1, 1, SKIPPED + TRAINED + TESTED)
    X = NonlinearNetwork(A, C, input_scale=INPUT_SCALE).simulate(z)
    lagged = np.stack([np.roll(z, k) for k in range(1, SIZE + 1)], axis=1)
    train, test = slice(SKIPPED, SKIPPED + TRAINED), slice(SKIPPED + TRAINED, None)
    out = X[test] @ (np.linalg.pinv(X[train]) @ lagged[train])
    pairs = zip(out.T, lagged[test].T, strict=True)
    return float(sum(np.corrcoef(one, other)[0, 1] ** 2 for one, other in pairs))


def study(seed: int) -> Study:
    """A random reservoir and its nearest orthogonal one, of the same spectral radius."""
    rng = np.random.default_rng(seed)
    W, C = SIGMA * rng.standard_normal((SIZE, SIZE)), rng.uniform(-1, 1, SIZE)
    U, _, V = np.linalg.svd(W)
    radius = float(np.abs(np.linalg.eigvals(W)).max())
    points, numbers = [], dict[str, float]()
    reservoirs = {"random": W, "orthogonal": radius * (U @ V)}
    for name, A in reservoirs.items():
        network = LinearNetwork(A, C)
        exact, usable = memory_curve(network), memory_curve(network, noise=Float64())
        simulated = _simulated(A, C, seed + 1)
        from_1 = exact.total - float(exact.values[0])
        points.append(Point(name, simulated, from_1, exact.total_error))
        numbers |= {f"{name}_simulated": simulated, f"{name}_exact": exact.total}
        numbers[f"{name}_usable"] = usable.total
    return points, numbers


def judge(numbers: Numbers) -> Verdict:
    """Whether the exact totals, and those usable in double precision, differ as simulations do."""
    gain = {
        kind: numbers[f"orthogonal_{kind}"] - numbers[f"random_{kind}"]
        for kind in ("simulated", "exact", "usable")
    }
    if abs(gain["exact"] - gain["simulated"]) <= 0.1 * abs(gain["simulated"]):
        return Verdict("right", "totals")
    if gain["usable"] > 0.5 * gain["simulated"] > 0:
        return Verdict("right in another sense", "totals", "usable")
    return Verdict("an artefact", "totals")
