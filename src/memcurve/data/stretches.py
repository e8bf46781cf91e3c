"""Stretches of a recording that do not move though the input does: recorders that hang or drop out.

A state that keeps its value, to the last digit, while the input goes on changing is stuck. Many
states rest by nature: spiking and rectifying nodes at zero, saturated ones at an extreme, coarse
converters at a level. What is natural shows elsewhere in the same column: it rests often, or comes
back to the same value. So a stretch is stuck only where it is longer than chance makes the others.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]

#: Changes of the input that a state which moves otherwise does not sleep through. Doubled: gaps of
#: up to 20 rows pass.
LEAST_CHANGES = 10
#: Chance that stretches which rest by nature, each step with the same probability, are so long.
#: Doubled: twice as many false alarms.
LEVEL = 1e-6
#: A value that was taken in so many other stretches is one where the state rests by nature.
#: Doubled: states that come back to it five times seem stuck.
VISITS = 4
#: A single column has to move in so many rows for a stretch of it to be stuck: rare spikes are no
#: recorder that hangs. Doubled: those that move in 30 rows pass.
LEAST_MOVES = 20
#: And rests in at most this share of its other rows. Doubled: rare spikes seem stuck.
MOVES = 0.5


class Stretch(NamedTuple):
    """Rows ``first`` … ``last`` − 1 in which some columns are stuck; None for all of them."""

    first: int
    last: int
    column: int | None


def stuck_stretches(states: NDArray[Any], inputs: NDArray[Any]) -> list[Stretch]:
    """Stretches in which all states are stuck, then those in which a single column is."""
    z = np.asarray(inputs).reshape(len(states), -1)
    changes = np.concatenate([[0], np.cumsum((z[1:] != z[:-1]).any(axis=1))])
    still = states[1:] == states[:-1]  # NaN is equal to nothing
    together = still.all(axis=1)
    stretches = [Stretch(*rows, None) for rows in _stuck(states, together, changes, alone=False)]
    if states.shape[1] == 1:
        return stretches
    for stretch in stretches:
        still[max(stretch.first - 1, 0) : stretch.last] = False
    for column in np.flatnonzero(still.sum(axis=0) >= LEAST_CHANGES).tolist():
        one = states[:, [column]]
        rows = _stuck(one, still[:, column], changes, alone=True)
        stretches += [Stretch(*ends, column) for ends in rows]
    return stretches


def without_stuck(
    states: NDArray[Any], stretches: list[Stretch], first: int = 0
) -> NDArray[np.float64]:
    """A copy of the states, of which row 0 is row ``first`` of the recording, NaN where stuck."""
    marked = states.astype(float)
    for stretch in stretches:
        rows = slice(max(stretch.first - first, 0), max(stretch.last - first, 0))
        marked[rows, slice(None) if stretch.column is None else stretch.column] = np.nan
    return marked


def _stuck(
    states: NDArray[Any], still: Bools, changes: NDArray[np.int64], alone: bool
) -> list[tuple[int, int]]:
    """First and last rows of runs without movement that are too long for chance."""
    ends = np.flatnonzero(np.diff(np.concatenate([[0], still, [0]]).astype(np.int8)))
    first, last = ends[::2], ends[1::2]  # rows first … last are equal
    length = changes[last] - changes[first] if len(ends) else np.zeros(0, np.int64)
    if not (length >= LEAST_CHANGES).any():
        return []
    long = length >= max(LEAST_CHANGES, length.max() / 2)
    steps = len(still) - int((last - first)[long].sum())
    moved = steps - int((last - first)[~long].sum())
    rest = 1 - moved / max(steps, 1)  # how often it rests elsewhere
    if alone and (moved < LEAST_MOVES or rest > MOVES):
        return []
    chance = np.log(len(still) / LEVEL) / -np.log(np.clip(rest, 1e-9, 1 - 1e-9))
    stuck = []
    for a, b, size in zip(first[long].tolist(), last[long].tolist(), length[long], strict=True):
        value = states[a]
        visits = int((states[first[~long]] == value).all(axis=1).sum())
        natural = visits >= VISITS and (alone or size < 3 * chance)
        if size > chance and not natural:
            # what was held at the start is the last value that was read; zeros were not
            stuck.append((a if not value.any() else a + 1, b + 1))
    return stuck
