"""MemoryCurves: the memory of a stack of networks."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.batch.backend import Array, Backend, to_host
from memcurve.curve import MemoryCurve


class Origin(NamedTuple):
    """How the curve of one network was made, and what to know about it alone."""

    method: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class MemoryCurves:
    """Memory of a stack of networks lag by lag, with the error of every number.

    All arrays are of the namespace, and on the device, of what the curves were computed from. The
    leading axes are those of the stack (none for a single network); m is the number of lags.

    Attributes
    ----------
    lags : (m,) int array
        The lags τ; lag 0 is the input at the same time step as the state.
    values : (..., m) array
        MC_τ. Differentiable with respect to what it was computed from.
    error : (..., m) array
        Bound on ``|values − truth|`` for the stored numbers, as of :class:`memcurve.MemoryCurve`.
        Memory far below it has no relative accuracy; :func:`memcurve.memory_curve` gives that too.
    loss : (..., m) array
        1 − MC_τ, also where ``values`` rounds to 1; off by at most ``error``.
    total : (...) array
        Memory over *all* lags: the rank.
    rank : (...) int array
        Rank of [C, AC, A²C, …] of the stored numbers.
    method : str
        ``"circle"``, ``"lattice"`` or ``"exact"`` (one by one, by memory_curve), or several.
    notes : tuple of str
        Everything one should know before quoting the numbers.
    origins : tuple of Origin
        Method and notes of each network, in the order of the flattened stack.

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

    lags: Array
    values: Array
    error: Array
    loss: Array
    total: Array
    rank: Array
    method: str
    notes: tuple[str, ...] = ()
    origins: tuple[Origin, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """The leading axes of the stack."""
        return tuple(self.values.shape[:-1])

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("this is the curve of a single network: take it as curves[()].")
        return int(self.shape[0])

    def __getitem__(self, network: int | tuple[int, ...]) -> MemoryCurve:
        """The curve of one network, on the CPU: ``curves[3]``, or ``curves[()]`` of a single."""
        index = network if isinstance(network, tuple) else (network,)
        whole = all(isinstance(k, int | np.integer) and not isinstance(k, bool) for k in index)
        if not whole or len(index) != len(self.shape):
            raise IndexError(
                f"a stack of shape {self.shape} takes {len(self.shape)} integers to name a "
                f"network, got {network!r}."
            )
        try:
            flat = int(np.arange(len(self.origins)).reshape(self.shape)[index])
        except IndexError:
            raise IndexError(
                f"network {network!r} is not in this stack of shape {self.shape}."
            ) from None
        values, error, loss = (
            to_host(part[(*index, ...)]) for part in (self.values, self.error, self.loss)
        )
        rank = int(to_host(self.rank).reshape(-1)[flat])
        origin = self.origins[flat]
        return MemoryCurve(
            lags=to_host(self.lags),
            values=values,
            error=error,
            loss=loss,
            total=float(rank),
            total_error=0.0,
            rank=rank,
            channels=values[:, None],
            method=origin.method,
            notes=(*self.notes, *origin.notes),
            network=f"network {', '.join(map(str, index)) or 'alone'} of a stack",
        )

    def to_numpy(self) -> MemoryCurves:
        """The same with NumPy arrays, on the CPU and outside of any graph."""
        return dataclasses.replace(
            self,
            lags=to_host(self.lags),
            values=to_host(self.values),
            error=to_host(self.error),
            loss=to_host(self.loss),
            total=to_host(self.total),
            rank=to_host(self.rank),
        )

    def __repr__(self) -> str:
        count = len(self.origins)
        lags = int(self.values.shape[-1])
        largest = float(to_host(self.error).max(initial=0.0))
        notes = "".join(f"\n  note: {note}" for note in self.notes)
        return (
            f"<MemoryCurves of {count} network{'' if count == 1 else 's'}, {lags} lags, method: "
            f"{self.method or 'none'}, largest error: {largest:.1e}>{notes}"
        )


def assembled(
    backend: Backend,
    *,
    shape: tuple[int, ...],
    values: Array,
    error: Array,
    loss: Array,
    rank: NDArray[np.int64],
    origins: tuple[Origin, ...],
    notes: tuple[str, ...],
) -> MemoryCurves:
    """The result of a flattened stack (B, m), in the stack's own shape."""
    lags = int(values.shape[1])

    def folded(array: Array) -> Array:
        return backend.xp.reshape(array, (*shape, lags))

    return MemoryCurves(
        lags=backend.put(np.arange(lags)),
        values=folded(values),
        error=folded(error),
        loss=folded(loss),
        total=backend.put(rank.astype(float).reshape(shape)),
        rank=backend.put(rank.reshape(shape)),
        method=" and ".join(sorted({origin.method for origin in origins})),
        notes=notes,
        origins=origins,
    )
