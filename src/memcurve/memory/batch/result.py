"""MemoryCurves: the memory of a stack of networks."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from memcurve.core.errors import UnstableNetworkError
from memcurve.core.notes import Note, counted
from memcurve.core.result import Result
from memcurve.core.types import Codec, Complexes
from memcurve.memory.curve import MemoryCurve, fault, note
from memcurve.network.backend import Array, Backend, to_host
from memcurve.rendering import plot
from memcurve.solve import MOST_DEFAULT_LAGS

# arrays of any namespace, of which the JSON holds the values
Floats = Annotated[Any, Codec(float)]
Integers = Annotated[Any, Codec(np.int64)]

#: More curves than this are drawn as their median and quantiles.
MOST_DRAWN = len(plot.COLOURS)
_CURVES = ("values", "error", "loss")
_NUMBERS = ("total", "rank")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MemoryCurves(Result):
    """Memory of a stack of networks lag by lag, with the error of every number.

    All arrays are of the namespace, and on the device, of what the curves were computed from. The
    leading axes are those of the stack (none for a single network); m is the number of lags.

    Attributes
    ----------
    shape : tuple of int
        The leading axes of the stack.
    lags : (m,) int array
        The lags τ; lag 0 is the input at the same time step as the state.
    values : (..., m) array
        MC_τ. Differentiable with respect to what it was computed from.
    error, loss : (..., m) array
        As of :class:`memcurve.MemoryCurve`. Memory far below ``error`` has no relative accuracy;
        :func:`memcurve.memory_curve` gives that too.
    total : (...) array
        Memory over *all* lags: the rank.
    rank : (...) int array
        Rank of [C, AC, A²C, …] of the stored numbers.
    method : str
        ``"lattice"``, ``"exact"`` (one by one, by memory_curve), or both.
    notes : tuple of Note
        Caveats to read before quoting the numbers; networks are counted in the order of
        the flattened stack.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> rings = np.array([0.5, 0.9])[:, None, None] * np.roll(np.eye(4), 1, axis=0)
    >>> curves = memcurve.memory_curves(rings, [1, 0, 0, 0], lags=6)
    >>> curves.values.round(4)
    array([[0.9961, 0.9961, 0.9961, 0.9961, 0.0039, 0.0039],
           [0.5695, 0.5695, 0.5695, 0.5695, 0.2452, 0.2452]])
    >>> curves.rank
    array([4, 4])
    >>> curves[1].total
    4.0
    """

    FORMAT: ClassVar[str] = "memcurve.MemoryCurves/2"

    shape: tuple[int, ...]
    lags: Integers
    values: Floats
    error: Floats
    loss: Floats
    total: Floats
    rank: Integers
    method: str
    notes: tuple[Note, ...] = ()

    @property
    def _count(self) -> int:
        return math.prod(self.shape)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("this is the curve of a single network: take it as curves[()].")
        return int(self.shape[0])

    def __getitem__(self, network: int | tuple[int, ...]) -> MemoryCurve:
        """The curve of one network, on the CPU: ``curves[3]``, or ``curves[()]`` of a single."""
        index = network if isinstance(network, tuple) else (network,)
        places = np.arange(self._count).reshape(self.shape)
        if len(index) != len(self.shape) or isinstance(places[index], np.ndarray):
            raise IndexError(
                fault("no_such_network", network=network, shape=self.shape, axes=len(self.shape))
            )
        curves: dict[str, Any] = {
            name: to_host(getattr(self, name)[(*index, ...)]) for name in _CURVES
        }
        rank = int(to_host(self.rank)[index])
        return MemoryCurve(
            lags=to_host(self.lags),
            **curves,
            total=float(rank),
            total_error=0.0,
            rank=rank,
            channels=curves["values"][:, None],
            method=self.method,
            notes=self.notes,
            network=f"network {', '.join(map(str, index)) or 'alone'} of a stack",
        )

    def to_numpy(self) -> Self:
        """The same with NumPy arrays, on the CPU and outside of any graph."""
        return self._on_host(self.shape)

    def _on_host(self, lead: tuple[int, ...]) -> Self:
        """The same with NumPy arrays that have these leading axes."""
        lags = to_host(self.lags)
        shapes = dict.fromkeys(_CURVES, (*lead, len(lags))) | dict.fromkeys(_NUMBERS, lead)
        host: Any = {n: to_host(getattr(self, n)).reshape(shape) for n, shape in shapes.items()}
        return dataclasses.replace(self, lags=lags, **host)

    def to_json(self) -> str:
        """The whole result as JSON, one row per network for any shape of the stack."""
        return super(MemoryCurves, self._on_host((self._count,))).to_json()

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Read back what :meth:`to_json` wrote, as NumPy arrays."""
        return super().from_json(text).to_numpy()

    def columns(self) -> Mapping[str, Any]:
        """The memory, one row per lag and one column per network."""
        host = self._on_host((self._count,))
        names = [",".join(map(str, place)) for place in np.ndindex(*self.shape)]
        return {"lag": host.lags} | dict(zip(names, host.values, strict=True))

    def _attributes(self) -> Mapping[str, Any]:
        return {"rank": to_host(self.rank).ravel().tolist(), "method": self.method}

    def plot(self, ax: Any = None) -> Any:
        """Draw the curves; of more than a few, the median and the 5 % and 95 % quantiles."""
        places = list(np.ndindex(self.shape))
        if len(places) <= MOST_DRAWN:
            return plot.curves(*(self[place] for place in places), ax=ax)
        values = self._on_host((len(places),)).values
        low, median, high = np.quantile(values, [0.05, 0.5, 0.95], axis=0)
        bands = np.column_stack([low, high])
        middle = dataclasses.replace(self[places[0]], values=median, bands=bands)
        name = f"{len(places)} networks: median, 5 % to 95 % quantiles ({self.method})"
        return plot.curves(middle, labels=[name], ax=ax)

    def __repr__(self) -> str:
        lags, largest = len(self.lags), float(to_host(self.error).max(initial=0.0))
        notes = "".join(f"\n  note: {note}" for note in self.notes)
        return (
            f"<MemoryCurves of {counted(self._count, 'network')}, {lags} lags, method: "
            f"{self.method or 'none'}, largest error: {largest:.1e}>{notes}"
        )


def stacked(
    backend: Backend,
    shape: tuple[int, ...],
    curves: tuple[Array, ...],
    rank: NDArray[Any],
    method: str,
    notes: Sequence[Note],
) -> MemoryCurves:
    """The result of a stack with these leading axes, from memory, its error and the loss (B, m)."""
    count = int(curves[0].shape[1])
    values, error, loss = (backend.xp.reshape(x, (*shape, count)) for x in curves)
    ranks = rank.astype(np.int64).reshape(shape)
    return MemoryCurves(
        shape=shape,
        lags=backend.put(np.arange(count)),
        values=values,
        error=error,
        loss=loss,
        total=backend.put(ranks.astype(float)),
        rank=backend.put(ranks),
        method=method,
        notes=tuple(notes),
    )


def require_stable(poles: Complexes, argument: str) -> None:
    """Raise where a network (a row) has an eigenvalue of modulus one or more."""
    radius = np.abs(poles).max(axis=1, initial=0.0)
    outside = np.flatnonzero(radius >= 1)
    if len(outside):
        raise UnstableNetworkError(
            fault("unstable_stack", outside=listed(outside), argument=argument, radius=radius.max())
        )


def listed(networks: NDArray[np.intp]) -> str:
    """The networks by number, at most eight of them."""
    numbers = ", ".join(str(k) for k in networks[:8].tolist())
    more = f" and {len(networks) - 8} more" if len(networks) > 8 else ""
    return f"network{'s' if len(networks) > 1 else ''} {numbers}{more}"


def truncation_notes(values: Array, lags: int | None) -> list[Note]:
    """A note where the default number of lags ends before the memory does."""
    if lags is not None or values.shape[1] < MOST_DEFAULT_LAGS:
        return []
    return [note("truncated_stack", count=values.shape[1])]
