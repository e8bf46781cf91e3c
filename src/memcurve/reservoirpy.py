"""Drop-in replacement for ``reservoirpy.observables``: one import changes, the number is right.

``from memcurve.reservoirpy import memory_capacity`` in place of
``from reservoirpy.observables import memory_capacity``.
"""

import warnings
from typing import Any

import numpy as np

from memcurve.core.arguments import require_size
from memcurve.core.errors import RecordingWarning
from memcurve.core.types import Floats
from memcurve.data import memory_from_data
from memcurve.data.measuring import measure
from memcurve.io.adapters import as_network
from memcurve.io.adapters.reservoirs import drawn_reservoir, is_linear
from memcurve.memory import memory_curve

__all__ = ["memory_capacity"]

#: Largest input that reservoirpy draws by default.
AMPLITUDE = 0.8
#: Half-width of the interval of a measured total, per node.
PRECISION = 0.005


def memory_capacity(
    model: Any,
    k_max: int,
    as_list: bool = False,
    series: Any = None,
    test_size: int | float = 0.2,
    seed: Any = None,
) -> float | Floats:
    """Memory capacity of a reservoirpy model, over lags 1 … ``k_max``.

    It is exact for a reservoir whose activation is the identity. Any other is driven until its
    memory is known to 0.005 per node, or for a minute, or by the ``series`` given.

    Parameters
    ----------
    model : reservoirpy Model or node
        Its reservoir is used; no readout is trained, since memory is that of the best one.
    k_max : int
        The largest lag; lag 0 is left out, as reservoirpy does.
    as_list : bool
        Whether to return the memory of each lag.
    series : (T, 1) or (T,) array, optional
        The input to use; uniform in [-0.8, 0.8] by default.
    test_size
        Accepted for compatibility. All rows are used, and the bias of fitting is removed.
    seed : int, Generator or RandomState, optional
        Seed of everything drawn at random; 0 by default.

    Returns
    -------
    float, or (k_max,) array if ``as_list``
    """
    k_max = require_size(k_max, "k_max")
    z = None if series is None else np.asarray(series, float).reshape(len(series), -1)
    node = drawn_reservoir(model, None if z is None else z.shape[1])[0]
    if z is not None:
        node.reset()
        inputs: Any = z[:, 0] if z.shape[1] == 1 else z
        washout = min(k_max, len(z) // 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RecordingWarning)  # they are among the curve's notes
            curve = memory_from_data(node.run(z), inputs, k_max + 1, washout=washout)
    elif is_linear(node):
        curve = memory_curve(as_network(node), k_max + 1)
    else:
        precision = PRECISION * int(node.output_dim or node.units)
        start = 0 if seed is None else seed
        if isinstance(start, np.random.RandomState):  # which reservoirpy takes, too
            start = int(start.randint(2**31))
        curve = measure(node, k_max + 1, precision=precision, input=_drawn, seed=start)
    values = np.clip(curve.values[1 : k_max + 1], 0.0, None)
    return values if as_list else float(values.sum())


def _drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> Floats:
    return rng.uniform(-AMPLITUDE, AMPLITUDE, shape)


def __dir__() -> list[str]:
    return __all__
