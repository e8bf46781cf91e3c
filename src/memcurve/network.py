"""LinearNetwork: a linear recurrent network, validated once and never changed."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.arguments import exact_array
from memcurve.display import network_table
from memcurve.graph import eigenvalues
from memcurve.validation import (
    validated_mask,
    validated_matrix,
    validated_name,
    validated_notes,
    validated_readout,
    validated_shift,
)


class Connected:
    """What connectivity A and mask C say by themselves."""

    A: Any
    C: NDArray[Any]

    @property
    def size(self) -> int:
        """Number of nodes N."""
        return int(self.A.shape[0])

    @property
    def inputs(self) -> int:
        """Number of input channels d."""
        return 1 if self.C.ndim == 1 else int(self.C.shape[1])

    @property
    def is_sparse(self) -> bool:
        """Whether A is stored as a scipy sparse array."""
        return not isinstance(self.A, np.ndarray)

    def _repr_html_(self) -> str:
        return network_table(self)


@dataclass(frozen=True, eq=False, repr=False)
class LinearNetwork(Connected):
    """A linear recurrent network ``x_t = A x_{t-1} + C z_t + shift``.

    Parameters
    ----------
    A : (N, N) array or scipy sparse array
        Connectivity, real or complex. ``A[i, j]`` is the weight from node j to node i. The entries
        are kept as stored: single precision, integers and booleans convert exactly to float64.
    C : (N,) or (N, d) array
        Input mask, one column an input.
    shift : (N,) array, optional
        Constant added at each step. It moves the mean of the states only, never the memory.
    readout : sequence of int or boolean mask, optional
        The nodes that can be read (default all). It restricts the states, not A.
    name : str, optional
        A label for tables and plots.
    notes : sequence of str, optional
        What one should know about where the network comes from, e.g. that it is linearised. The
        notes of every result computed from the network begin with these.

    Notes
    -----
    The states of a complex network are read through their real and imaginary parts, so every
    complex node counts as two states. See :meth:`real_pair`.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.LinearNetwork([[0.5, 0.0], [1.0, 0.2]], [1.0, 0.0])
    >>> network
    LinearNetwork(size=2, inputs=1)
    >>> network.spectral_radius
    0.5
    """

    A: Any
    C: NDArray[Any]
    _: dataclasses.KW_ONLY
    shift: NDArray[Any] | None = None
    readout: NDArray[np.intp] | None = None
    name: str | None = None
    notes: tuple[str, ...] = ()

    def __init__(
        self,
        A: Any,
        C: ArrayLike,
        *,
        shift: ArrayLike | None = None,
        readout: ArrayLike | None = None,
        name: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        matrix = validated_matrix(A)
        size = matrix.shape[0]
        fields = {
            "A": matrix,
            "C": validated_mask(C, size),
            "shift": None if shift is None else validated_shift(shift, size),
            "readout": None if readout is None else validated_readout(readout, size),
            "name": validated_name(name),
            "notes": validated_notes(notes),
        }
        for field, value in fields.items():
            if isinstance(value, np.ndarray):
                value.flags.writeable = False
            object.__setattr__(self, field, value)

    @property
    def is_complex(self) -> bool:
        """Whether A, C or the shift are complex, so that every node counts as two states."""
        return any(p is not None and p.dtype.kind == "c" for p in (self.A, self.C, self.shift))

    @property
    def states(self) -> int:
        """Number of real states: N, or 2N for a complex network."""
        return self.size * (2 if self.is_complex else 1)

    @property
    def read_states(self) -> int:
        """Number of real states that are read: all of them, or those of the readout's nodes."""
        if self.readout is None:
            return self.states
        return len(self.readout) * (2 if self.is_complex else 1)

    @cached_property
    def spectral_radius(self) -> float:
        """Largest modulus of an eigenvalue of A, as LAPACK computes it.

        Rounding can move it far for very non-normal A; :func:`memcurve.memory_curve` decides
        stability more carefully.
        """
        return float(np.abs(eigenvalues(self.A)).max())

    def real_pair(self) -> tuple[Any, NDArray[np.float64]]:
        """Return the real (A, C) whose states are the ones read; C has shape (states, d).

        A real network is returned as it is. A complex one becomes
        ``[[Re A, -Im A], [Im A, Re A]]``, ``[Re C; Im C]``, without rounding.
        """
        C = self.C.reshape(self.size, -1)
        if not self.is_complex:
            return self.A, C
        C = np.concatenate([C.real, C.imag])
        if self.is_sparse:
            from scipy.sparse import block_array

            A = block_array([[self.A.real, -self.A.imag], [self.A.imag, self.A.real]], format="csr")
            A.eliminate_zeros()
            return A, C
        return np.block([[self.A.real, -self.A.imag], [self.A.imag, self.A.real]]), C

    def simulate(self, inputs: ArrayLike, washout: int = 0) -> NDArray[np.float64]:
        """Drive the network from rest and return the states that can be read.

        Parameters
        ----------
        inputs : (T,) or (T, d) array
            One row a time step.
        washout : int
            How many of the first steps to leave out of the result.

        Returns
        -------
        (T - washout, states) array
            Row t holds the states already driven by ``inputs[washout + t]``; complex networks give
            all real parts, then all imaginary parts.
        """
        z = exact_array(inputs, "inputs")
        z = z.reshape(len(z), -1) if z.ndim in (1, 2) else z
        if z.ndim != 2 or z.shape[1] != self.inputs:
            raise ValueError(
                f"`inputs` must have shape (T,) or (T, {self.inputs}) for this network of "
                f"{self.inputs} input(s), got {np.shape(inputs)}; one row a time step."
            )
        if not isinstance(washout, int | np.integer) or not 0 <= washout < len(z):
            raise ValueError(
                f"`washout` must be an integer from 0 to T - 1 = {len(z) - 1}, got {washout!r}; "
                f"give a longer input or a shorter washout."
            )
        if np.iscomplexobj(z):
            raise ValueError(
                "`inputs` must be real, got complex numbers; pass real and imaginary "
                "parts as two inputs."
            )
        drive = z @ self.C.reshape(self.size, -1).T
        if self.shift is not None:
            drive = drive + self.shift
        states = np.empty((len(z) - washout, self.size), dtype=np.result_type(self.A, drive))
        x = np.zeros(self.size, dtype=states.dtype)
        for t, push in enumerate(drive):
            x = self.A @ x + push
            if t >= washout:
                states[t - washout] = x
        if self.readout is not None:
            states = states[:, self.readout]
        return np.hstack([states.real, states.imag]) if self.is_complex else states

    def replace(self, **changes: Any) -> LinearNetwork:
        """Return a new network with some of its parts exchanged, e.g. ``replace(C=other_mask)``."""
        parts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        unknown = set(changes) - set(parts)
        if unknown:
            raise TypeError(
                f"`replace` knows the parts {', '.join(parts)}; got {', '.join(sorted(unknown))}."
            )
        changed = LinearNetwork(**(parts | changes))
        if "A" not in changes and "spectral_radius" in self.__dict__:
            changed.__dict__["spectral_radius"] = self.spectral_radius  # known already
        return changed

    def __repr__(self) -> str:
        parts = [f"size={self.size}", f"inputs={self.inputs}"]
        if self.name:
            parts.insert(0, repr(self.name))
        if self.is_complex:
            parts.append("complex")
        if self.is_sparse:
            parts.append("sparse")
        if self.readout is not None:
            parts.append(f"readout={len(self.readout)} nodes")
        return f"LinearNetwork({', '.join(parts)})"


def require_network(network: Any) -> None:
    """Raise a TypeError unless ``network`` is a LinearNetwork."""
    if not isinstance(network, LinearNetwork):
        raise TypeError(
            f"`network` must be a memcurve.LinearNetwork, got {type(network).__name__}; wrap the "
            f"matrices as LinearNetwork(A, C)."
        )
