"""LinearNetwork: a linear recurrent network, validated once and never changed."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from memcurve.core.arguments import exact_array, rectangular_array, require_finite
from memcurve.core.notes import Note, counted, notes_of
from memcurve.core.types import Floats
from memcurve.network.device import DeviceMatrix, is_device_sparse, mask_on_host, on_host
from memcurve.network.graph import largest_modulus
from memcurve.network.operator import REAL_PAIR, FunctionOperator, Operator

#: Products with at most this share of weights, of so many nodes, are quicker with a sparse matrix.
FEW_WEIGHTS = 0.05
MANY_NODES = 200


class Connected:
    """What connectivity A and mask C say by themselves."""

    A: Any
    C: NDArray[Any]
    name: str | None
    notes: tuple[Note, ...] = ()

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
        """Whether A is stored as a sparse array, of scipy or on a device."""
        return not isinstance(self.A, np.ndarray | Operator)

    def simulate(self, inputs: ArrayLike, washout: int = 0) -> Floats:
        """Drive the network from rest and return the states that can be read.

        Parameters
        ----------
        inputs : (T,) or (T, d) array
            One row per time step.
        washout : int
            How many of the first steps to leave out of the result.

        Returns
        -------
        (T - washout, states) array
            Row t holds the states already driven by ``inputs[washout + t]``; complex networks give
            all real parts, then all imaginary parts.
        """
        return np.asarray(self._states(self._series(inputs, washout)[None], washout)[0])

    def simulate_replicas(self, inputs: ArrayLike, washout: int = 0) -> Floats:
        """Drive R copies of the network from rest, each by its own series, side by side.

        All copies advance together, one matrix product per step: much faster than one by one.
        ``inputs`` has shape (R, T) or (R, T, d), the result (R, T - washout, states).
        """
        return self._states(self._series(inputs, washout, replicas=True), washout)

    @abstractmethod
    def _states(self, z: Floats, washout: int) -> Floats:
        """States (R, T − washout, states) for inputs (R, T, d)."""

    def _series(self, inputs: Any, washout: Any, *, replicas: bool = False) -> Floats:
        """The inputs of a simulation as (T, d), or (R, T, d) for replicas, checked."""
        z, d, axes = exact_array(inputs, "inputs"), self.inputs, 3 if replicas else 2
        if d == 1 and z.ndim == axes - 1:
            z = z[..., None]
        if z.ndim != axes or z.shape[-1] != d:
            lead = "R, " * replicas
            raise ValueError(
                f"`inputs` must have shape ({lead}T{',' * (not replicas)}) or ({lead}T, {d}) for "
                f"this network of {counted(d, 'input')}, got {np.shape(inputs)}; one row per "
                f"time step{', one series per replica' * replicas}."
            )
        if np.iscomplexobj(z):
            raise ValueError(
                "`inputs` must be real, got complex numbers; pass real and imaginary "
                "parts as two inputs."
            )
        steps, whole = z.shape[-2], isinstance(washout, int | np.integer)
        if not whole or isinstance(washout, bool) or not 0 <= washout < steps:
            raise ValueError(
                f"`washout` must be an integer from 0 to T - 1 = {steps - 1}, got {washout!r}; "
                f"give a longer input or a shorter washout."
            )
        return z


@dataclass(frozen=True, eq=False, repr=False)
class LinearNetwork(Connected):
    """A linear recurrent network ``x_t = A x_{t-1} + C z_t + shift``.

    Parameters
    ----------
    A : (N, N) array, sparse array or scipy.sparse.linalg.LinearOperator, or a function
        Connectivity, real or complex. ``A[i, j]`` is the weight from node j to node i. Sparse
        arrays are scipy's, or those of torch, cupy and jax, which stay on their device for usable
        memory and the rank. Of an operator, ``LinearOperator((N, N), matvec=function)``, or a
        function x ↦ Ax of vectors like ``C``, usable memory and :func:`memcurve.pruned` are known.
    C : (N,) or (N, d) array
        Input mask, one column per input.
    readout : sequence of int or boolean mask, optional
        The nodes that can be read (default all). It restricts the states, not A.
    shift : (N,) array, optional
        Constant added at each step. It moves the mean of the states only, never the memory.
    name : str, optional
        A label for tables and plots.
    labels : sequence of str, optional
        A name for each node, by which audits call it; ``readout`` may name nodes by these.
    notes : sequence of str, optional
        Caveats about the origin of the network, e.g. that it is linearised. The notes of every
        result computed from the network begin with these.

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
    readout: NDArray[np.intp] | None = None
    _: dataclasses.KW_ONLY
    shift: NDArray[Any] | None = None
    name: str | None = None
    labels: tuple[str, ...] | None = None
    notes: tuple[Note, ...] = ()

    def __init__(
        self,
        A: Any,
        C: ArrayLike,
        readout: ArrayLike | None = None,
        *,
        shift: ArrayLike | None = None,
        name: str | None = None,
        labels: Sequence[str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        if callable(A) and not isinstance(A, type) and not hasattr(A, "shape"):
            A = FunctionOperator(A, C)
        _require_one_order(A, C)
        matrix = validated_matrix(A)
        size = matrix.shape[0]
        if isinstance(matrix, DeviceMatrix | Operator):
            C = mask_on_host(C, matrix.backend)
        if name is not None and not isinstance(name, str):
            raise TypeError(f"`name` must be a string, got {name!r}.")
        names = None if labels is None else validated_labels(labels, size)
        fields: dict[str, Any] = {
            "A": matrix,
            "C": validated_mask(C, size),
            "readout": None if readout is None else validated_readout(readout, size, names),
            "shift": None if shift is None else exact_array(shift, "shift"),
            "name": name,
            "labels": names,
            "notes": _validated_notes(notes),
        }
        if isinstance(matrix, Operator) and any(map(np.iscomplexobj, (fields["C"], shift))):
            rule = "`C` and `shift` must be real where `A` is products, got complex numbers"
            raise TypeError(f"{rule}. {REAL_PAIR}")
        if shift is not None and fields["shift"].shape != (size,):
            raise ValueError(f"`shift` must have shape ({size},), got {fields['shift'].shape}.")
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
        nodes = self.size if self.readout is None else len(self.readout)
        return nodes * (2 if self.is_complex else 1)

    def names(self, nodes: Iterable[int]) -> list[str]:
        """Names of these nodes: their labels, or else their numbers from 0 on."""
        return [str(node) if self.labels is None else self.labels[node] for node in nodes]

    @cached_property
    def spectral_radius(self) -> float:
        """Largest modulus of an eigenvalue of A, as LAPACK computes it, or ARPACK if large.

        Rounding can move it far for very non-normal A; :func:`memcurve.memory_curve` decides
        stability more carefully.
        """
        return largest_modulus(self.A)

    def real_pair(self) -> tuple[Any, Floats]:
        """Return the real (A, C) whose states are the ones read; C has shape (states, d).

        A real network is returned as it is. A complex one becomes
        ``[[Re A, -Im A], [Im A, Re A]]``, ``[Re C; Im C]``, without rounding.
        """
        C = self.C.reshape(self.size, -1)
        if not self.is_complex:
            return self.A, C
        C = np.concatenate([C.real, C.imag])
        A: Any = on_host(self.A)
        blocks = [[A.real, -A.imag], [A.imag, A.real]]
        if not self.is_sparse:
            return np.block(blocks), C
        from scipy.sparse import block_array

        A = block_array(blocks, format="csr")
        A.eliminate_zeros()
        return self.A.like(A) if isinstance(self.A, DeviceMatrix) else A, C

    def _states(self, z: Floats, washout: int) -> Floats:
        drive = z @ self.C.reshape(self.size, -1).T
        if self.shift is not None:
            drive = drive + self.shift
        drive = drive.astype(np.result_type(self.A.dtype, drive), copy=False)
        A = self.A
        if self.size >= MANY_NODES and isinstance(A, np.ndarray):
            from scipy.sparse import csr_array

            is_sparse = np.count_nonzero(A) <= FEW_WEIGHTS * A.size
            A = csr_array(A) if is_sparse else A
        for t in range(1, drive.shape[1]):
            if len(drive) == 1:
                drive[0, t] += A @ drive[0, t - 1]
            else:  # a step is one product for all replicas
                drive[:, t] += (A @ drive[:, t - 1].T).T
        states = drive[:, washout:]
        if self.readout is not None:
            states = states[..., self.readout]
        if not self.is_complex:
            return np.asarray(states)
        return np.concatenate([states.real, states.imag], axis=-1)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but cached properties, which can be computed again."""
        return {k: v for k, v in self.__dict__.items() if k != "_analysis"}

    def replace(self, **changes: Any) -> LinearNetwork:
        """Return a new network with some of its parts exchanged, e.g. ``replace(C=other_mask)``."""
        changed = dataclasses.replace(self, **changes)
        if "A" not in changes and "spectral_radius" in self.__dict__:
            changed.__dict__["spectral_radius"] = self.spectral_radius  # known already
        return changed

    def __repr__(self) -> str:
        parts = [repr(self.name)] * bool(self.name)
        parts += [f"size={self.size}", f"inputs={self.inputs}"]
        parts += ["complex"] * self.is_complex + ["sparse"] * self.is_sparse
        parts += [self.A.kind] if isinstance(self.A, Operator) else []
        if isinstance(self.A, DeviceMatrix):
            parts.append(str(self.A.backend))
        if self.readout is not None:
            parts.append(f"readout={len(self.readout)} nodes")
        return f"LinearNetwork({', '.join(parts)})"


def validated_matrix(A: Any, argument: str = "A") -> Any:
    """A new float64 or complex128 array, dense or csr, square and finite; or products with one."""
    from scipy.sparse.linalg import LinearOperator

    if isinstance(A, LinearOperator | Operator):
        matrix: Any = A if isinstance(A, Operator) else Operator(A)
    elif is_device_sparse(A):
        matrix = DeviceMatrix.of(A, argument)
    else:
        matrix = validated_entries(A, argument)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"`{argument}` must be a square matrix, got shape {tuple(matrix.shape)}; "
            f"{argument}[i, j] is the weight from node j to node i."
            f"{' A diagonal layer is as_network((eigenvalues, B)).' * (matrix.ndim == 1)}"
        )
    if matrix.shape[0] == 0:
        raise ValueError(f"`{argument}` must have at least one node, got shape (0, 0).")
    return matrix


def validated_entries(A: Any, argument: str) -> Any:
    """A new float64 or complex128 array, dense or csr, finite and of any shape."""
    from scipy import sparse

    if sparse.issparse(A):
        given: Any = A
        try:
            given.tocsr().check_format(full_check=True)  # scipy would follow bad indices anywhere
        except ValueError as error:
            text = f"`{argument}` is a damaged sparse array: {error}; build it anew."
            raise ValueError(text) from None
        matrix: Any = sparse.csr_array(given)
        entries = exact_array(matrix.data, argument)
        # copies: sorting in place below must not reach the caller's arrays
        pattern = (matrix.indices.copy(), matrix.indptr.copy())
        matrix = sparse.csr_array((entries, *pattern), shape=matrix.shape)
        matrix.sum_duplicates()
        require_finite(matrix.data, argument)
        matrix.eliminate_zeros()
        for part in (matrix.data, matrix.indices, matrix.indptr):
            part.flags.writeable = False
        return matrix
    return exact_array(A, argument)


def _require_one_order(A: Any, C: Any) -> None:
    """Refuse pandas tables whose labels name the same nodes in different orders."""
    if not hasattr(A, "iloc"):
        return
    rows = list(A.index)
    orders = {
        "A": list(getattr(A, "columns", rows)),
        "C": list(C.index if hasattr(C, "iloc") else rows),
    }
    for argument, labels in orders.items():
        if labels != rows and set(labels) == set(rows):
            remedy = "A.loc[:, A.index]" if argument == "A" else "C.loc[A.index]"
            raise ValueError(
                f"`{argument}` must list the nodes in the order of the rows of `A`, which begin "
                f"with {rows[:3]}; got {labels[:3]}. Use {remedy}."
            )


def validated_mask(C: Any, size: int, argument: str = "C", matrix: str = "A") -> NDArray[Any]:
    """The mask, dense, with a row for each of the nodes of ``matrix``."""
    mask = exact_array(C.toarray() if hasattr(C, "toarray") else C, argument)
    if mask.ndim not in (1, 2) or mask.shape[0] != size or mask.size == 0:
        hint = "; transpose it" if mask.ndim == 2 and mask.shape[1] == size else ""
        raise ValueError(
            f"`{argument}` must have shape ({size},) or ({size}, d) to fit `{matrix}` of {size} "
            f"nodes, got {mask.shape}{hint}."
        )
    return mask


def validated_labels(labels: Any, size: int) -> tuple[str, ...]:
    """A name for each node, all different."""
    names = tuple(labels) if isinstance(labels, Iterable) else ()
    names = () if isinstance(labels, str) else names
    if not all(isinstance(name, str) for name in names) or len(names) != size:
        raise ValueError(
            f"`labels` must be {size} strings, one for each node of `A`; got {len(names)}: "
            f"{labels!r:.80}."
        )
    if len({*names}) < size:
        twice = Counter(names).most_common(1)[0][0]
        raise ValueError(f"`labels` must name each node differently, got {twice!r} twice.")
    return names


def validated_readout(readout: Any, size: int, labels: tuple[str, ...] | None) -> NDArray[np.intp]:
    """Indices of the nodes that are read, each named once."""
    nodes = rectangular_array(readout, "readout")
    if labels is not None and nodes.ndim == 1 and nodes.dtype.kind == "U":
        indices = {name: k for k, name in enumerate(labels)}
        unknown = next((name for name in nodes.tolist() if name not in indices), None)
        if unknown is not None:
            raise ValueError(
                f"`readout` must name nodes by their labels, {labels[0]!r} … {labels[-1]!r}; got "
                f"{unknown!r}."
            )
        nodes = np.array([indices[name] for name in nodes.tolist()], dtype=np.intp)
    if nodes.dtype == bool and nodes.shape == (size,):
        nodes = np.flatnonzero(nodes)
    if nodes.ndim != 1 or nodes.dtype.kind not in "iu" or len(nodes) == 0:
        raise ValueError(
            f"`readout` must list at least one node by its index, or be a boolean mask of length "
            f"{size}; got {readout!r:.80}."
        )
    outside = nodes[(nodes < 0) | (nodes >= size)]
    if len(outside):
        raise ValueError(f"`readout` must hold indices from 0 to {size - 1}, got {outside[0]}.")
    if len(np.unique(nodes)) < len(nodes):
        raise ValueError(f"`readout` must name each node once, got {nodes.tolist()}.")
    return nodes.astype(np.intp)


def _validated_notes(notes: Any) -> tuple[Note, ...]:
    listed = isinstance(notes, Sequence) and not isinstance(notes, str)
    if not listed or not all(isinstance(note, str) for note in notes):
        raise TypeError(f"`notes` must be a sequence of strings, got {notes!r}; give e.g. ['…'].")
    return notes_of(notes, "network")
