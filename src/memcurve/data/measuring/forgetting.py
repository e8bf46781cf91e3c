"""Echo state property: does a model forget its initial conditions under the same input?

Two series with different beginnings and the same input afterwards are run. If the states are a
function of the input history, the two trajectories converge, and the time it takes is the washout
of all other runs. Running one series twice shows intrinsic noise, or a state left from the previous
run.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from memcurve.core.errors import ModelError, UnstableNetworkError
from memcurve.core.types import TINY, Floats
from memcurve.data.measuring.models import Model
from memcurve.data.prose import fault

#: Inputs (R, T, d) of R independent series.
Draw = Callable[[int, int], Floats]

#: Steps that the two pasts have, at first; and that they follow each other at most.
FIRST_STEPS = 256
MOST_STEPS = 1 << 17
#: Pairs of series: those of models that run them together, and of others.
PAIRS = 8
PAIRS_ONE_BY_ONE = 2
#: The distance has stopped falling where its last quarter is above this share of the third.
STANDS_STILL = 0.97
#: Differences between two runs of one series that are reported; up to the second, rounding.
SEEN = 1e-6
ROUNDING = 1e-13
#: Larger states are about to overflow: their squares do.
TOO_LARGE = 1e100


@dataclass(frozen=True)
class Forgetting:
    """Convergence of trajectories from different pasts, in units of unrelated states' distance."""

    distances: Floats  # (pairs, steps): of each pair at each step after the pasts
    washout: int  # steps after which it is as small as it gets, or below what matters
    time: float  # steps in which it falls by a factor e, on average; 0 where it hardly falls
    left: float  # what stays of it
    own_noise: float  # distance of two runs of one series, after the washout
    kept_state: float  # the same in the first steps, where the model was not reset

    @property
    def forgets(self) -> bool:
        """Whether the remaining distance is no more than intrinsic noise."""
        return self.left <= max(2 * self.own_noise, 1e-3)


def forgetting(model: Model, draw: Draw, negligible: float) -> Forgetting:
    """Run pairs of pasts under one input until their distance is ``negligible``, or constant."""
    pairs = PAIRS if model.together else PAIRS_ONE_BY_ONE
    small, steps, stood_still = max(negligible, ROUNDING), FIRST_STEPS, False
    while True:
        past, future = draw(2 * pairs, FIRST_STEPS), draw(pairs, steps)
        both = np.concatenate([past, np.tile(future, (2, 1, 1))], axis=1)
        states = checked_run(model, both)
        distances = _distances(*np.split(states[:, FIRST_STEPS:], 2))
        mean, quarter = distances.mean(axis=0), steps // 4
        left = float(mean[-quarter:].mean())
        if left <= small or 4 * steps > MOST_STEPS:
            break
        if left > STANDS_STILL * mean[-2 * quarter : -quarter].mean():
            # very slow decay looks the same over few steps, unless noise is all that is left
            if stood_still or left <= 2 * _repeated_run(model, both, states)[0]:
                break
            stood_still = True
        steps *= 4
    end = max(small, 2 * left)
    above = np.flatnonzero(mean > end)
    washout = int(above[-1]) + 1 if len(above) else 1
    time = washout / -np.log(end) if end < 0.1 else 0.0
    settled = Forgetting(distances, washout, time, left, *_repeated_run(model, both, states))
    if settled.forgets:
        return settled
    # where it starts it may respond in a way of its own
    return dataclasses.replace(settled, washout=max(washout, FIRST_STEPS))


def _repeated_run(model: Model, inputs: Floats, states: Floats) -> tuple[float, float]:
    """Distances of a repeated run: at its end, and at its beginning beyond that."""
    distance = _distances(states, checked_run(model, inputs)).mean(axis=0)
    first, last = float(distance[:16].max()), float(distance[-(len(distance) // 4) :].mean())
    if first <= ROUNDING:  # then later ones are rounding, which chaos makes large
        return 0.0, 0.0
    return last, first if first > max(10 * last, SEEN) else 0.0


def checked_run(model: Model, inputs: Floats) -> Floats:
    """Run a model within its range, and refuse states beyond all bounds."""
    if model.input_range is not None:
        low, high = model.input_range
        if outside := float(((inputs < low) | (inputs > high)).mean()):
            facts = {"low": low, "high": high, "share": outside, "most": np.abs(inputs).max()}
            raise ValueError(fault("range", name=model.name, **facts))
    with np.errstate(over="ignore", invalid="ignore"):
        states = model.run(inputs)
    if states.shape[:2] != inputs.shape[:2] or states.ndim != 3:
        shapes = {"inputs": inputs.shape, "shape": states.shape}
        raise ModelError(fault("replicas", name=model.name, **shapes))
    finite = np.asarray((np.abs(states) < TOO_LARGE).all(axis=(0, 2)))  # and no NaN
    if not finite.all():
        at = int(finite.argmin())
        largest = np.abs(states[:, :at]).max(initial=0.0)
        facts = {"step": at, "steps": len(finite), "largest": largest}
        raise UnstableNetworkError(fault("diverge", name=model.name, **facts))
    return states


def settled_run(
    model: Model, z: Floats, washout: int, noise: float, rng: np.random.Generator
) -> Floats:
    """States past the washout, with noise of that deviation."""
    states = checked_run(model, z)[:, washout:]
    return states + noise * rng.standard_normal(states.shape) if noise else states


def _distances(one: Floats, other: Floats) -> Floats:
    """Of each pair at each step, in units of each state's spread: 1 where they are unrelated."""
    both = np.concatenate([one, other])
    spread = both.std(axis=(0, 1))
    used = spread > ROUNDING * max(float(np.abs(both).max()), TINY)
    squares = ((one - other)[:, :, used] / spread[used]) ** 2
    return np.asarray(np.sqrt(squares.sum(axis=2) / (2 * max(int(used.sum()), 1))))
