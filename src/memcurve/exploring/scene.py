"""Scene: what the page shows of a network at once, before anything slower arrives."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcurve.allpass import impulse_response
from memcurve.auditing.charts import visible_end
from memcurve.auditing.structure import Eigenvalues, eigenvalues_of
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError, rank_among_notes
from memcurve.exploring.moving import move_eigenvalue
from memcurve.exploring.settings import MOST_NODES
from memcurve.memory import memory_curve
from memcurve.network import LinearNetwork

Floats = NDArray[np.float64]

#: States up to which ball arithmetic may take over: well below a second.
MOST_IN_BALLS = 60
#: Lags that are drawn at most; slower networks go on beyond.
MOST_LAGS = 4000


class TooLargeToWatchError(ValueError):
    """The network is too large to be computed while one watches."""


@dataclass(frozen=True, eq=False)
class Scene:
    """A network and its exact memory for white input without noise.

    Attributes
    ----------
    network : LinearNetwork
        The network.
    curve : MemoryCurve
        Its exact memory.
    eigenvalues : Eigenvalues
        All eigenvalues, and those that count.
    end : int
        The last lag that is drawn.
    response : array or None
        Impulse response b_0, b_1, … of the all-pass filter that makes the curve; None where there
        is no such filter (several inputs, a readout).
    seconds : float
        How long curve and eigenvalues took.
    """

    network: LinearNetwork
    curve: MemoryCurve
    eigenvalues: Eigenvalues
    end: int
    response: Floats | None
    seconds: float


def look(network: LinearNetwork) -> Scene:
    """Compute what is shown at once.

    Raises
    ------
    TooLargeToWatchError
        The network has more than :data:`MOST_NODES` states.
    UnstableNetworkError, UncertainResultError
        As for :func:`memcurve.memory_curve`.
    """
    if network.states > MOST_NODES:
        raise TooLargeToWatchError(
            f"this page computes networks of up to {MOST_NODES} states while you watch, and "
            f"{network.name or 'this one'} has {network.states:,}{_twice(network)}. `memcurve "
            f"curve FILE` and memcurve.memory_curve take it; memcurve.limits.estimated_cost tells "
            f"how long."
        )
    start = time.perf_counter()
    try:
        with rank_among_notes():
            curve = memory_curve(network, certify_up_to=MOST_IN_BALLS)
    except UncertainResultError as error:
        raise UncertainResultError(
            f"{error} This page goes on in ball arithmetic for up to {MOST_IN_BALLS} states only; "
            f"`memcurve curve` and memcurve.memory_curve take more time."
        ) from error
    eigenvalues = eigenvalues_of(network)
    seconds = time.perf_counter() - start
    end = max(1, min(visible_end(curve.values), MOST_LAGS)) if len(curve) > 1 else 0
    poles = eigenvalues.counting
    response = None if poles is None else impulse_response(poles, end + 2)
    return Scene(network, curve, eigenvalues, end, response, seconds)


def look_moved(base: Scene, eigenvalue: complex, to: complex) -> Scene:
    """The same network with one eigenvalue moved.

    Raises
    ------
    ValueError
        It cannot be moved there; among others, where rounding changed which eigenvalues count.
    """
    moved = look(move_eigenvalue(base.network, eigenvalue, to))
    if moved.curve.rank != base.curve.rank:
        raise ValueError(
            f"there it meets another, up to rounding, and {moved.curve.rank} eigenvalues would "
            f"count in place of {base.curve.rank}."
        )
    return moved


def _twice(network: LinearNetwork) -> str:
    return ", two for each complex node" if network.is_complex else ""
