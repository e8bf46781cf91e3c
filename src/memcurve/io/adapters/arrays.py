"""Networks from plain arrays: (A, C), (W, Win, lr), (eigenvalues, B), mappings of names."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve.core.arguments import exact_array, rectangular_array
from memcurve.io import (
    Archive,
    as_array,
    as_mask,
    network_parts,
    note,
    tensor_values,
    with_leak,
    words,
)
from memcurve.network import LinearNetwork
from memcurve.network.device import is_device_sparse
from memcurve.network.diagonal import diagonal_network
from memcurve.network.nonlinear import Activation, NonlinearNetwork, leaky_pair

#: The remedy for models without an equivalent linear network.
RECORD = "record its states and use memcurve.memory_from_data(states, z)"


def fault(kind: str, /, **facts: Any) -> str:
    """What is wrong with a model."""
    return words("models", kind, record=RECORD, **facts)


def exact_or_sparse(values: Any, argument: str) -> Any:
    """Return a scipy sparse array as it is, anything else as an exact dense array."""
    values = tensor_values(values)
    return values if hasattr(values, "toarray") else exact_array(values, argument)


def recurrent_network(
    W: Any, Win: Any, *, source: str, activation: str | Activation, lr: Any = 1.0, bias: Any = None
) -> LinearNetwork:
    """The network of (1 − lr)·x + lr·f(W x + Win z + bias), linearised at rest unless f is so."""
    mask = as_mask(Win)
    shift = bias if bias is not None and np.any(bias) else None
    if shift is not None and np.ndim(shift) == 0:
        shift = np.full(W.shape[0], shift)
    if activation == "identity":
        A, C = leaky_pair(W, mask, lr)
        return LinearNetwork(A, C, shift=None if shift is None else np.asarray(lr) * shift)
    try:
        nonlinear = NonlinearNetwork(W, mask, activation=activation, leak=lr, shift=shift)
        return nonlinear.linearised()
    except ValueError as error:
        raise type(error)(f"{source}: {error} Or {RECORD}.") from error


def leaky(
    W: Any,
    Win: Any,
    lr: Any = 1.0,
    *,
    bias: Any = None,
    readout: Any = None,
    name: str | None = None,
) -> LinearNetwork:
    """A linear reservoir with leak, x_t = (1 − lr)·x_{t−1} + lr·(W x_{t−1} + Win z_t + bias).

    It is the network of A = (1 − lr)·I + lr·W and C = lr·Win.

    Parameters
    ----------
    W : (N, N) array, scipy sparse array or torch tensor
        Recurrent weights, ``W[i, j]`` from node j to node i; a sparse W gives a sparse A.
    Win : (N,) or (N, d) array
        Input weights.
    lr : float or (N,) array
        Leak rates from 0 to 1, for all nodes or each.
    bias : float or (N,) array, optional
        Constant; it moves the mean of the states only.
    readout, name
        As for :class:`memcurve.LinearNetwork`.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.adapters.leaky([[0.5]], [1.0], 0.25).A
    array([[0.875]])
    """
    weights, mask = exact_or_sparse(W, "W"), exact_or_sparse(Win, "Win")
    if weights.ndim != 2:
        raise ValueError(f"`W` must be a square matrix, got shape {weights.shape}; give (N, N).")
    lr, bias = tensor_values(lr), None if bias is None else exact_or_sparse(bias, "bias")
    network = recurrent_network(
        weights, mask, source="the reservoir", activation="identity", lr=lr, bias=bias
    )
    return network.replace(readout=readout, name=name)


def diagonal(
    eigenvalues: Any,
    B: Any,
    *,
    step: Any = None,
    discretisation: str = "zoh",
    name: str | None = None,
) -> LinearNetwork:
    """A network with diagonal A, as state-space layers have it: x_t = diag(λ) x_{t−1} + B z_t.

    With a ``step`` h the numbers are those of x′ = diag(λ) x + B z, discretised::

        zoh:       λ̄ = exp(hλ),                  B̄ = (λ̄ − 1)/λ · B
        bilinear:  λ̄ = (1 + hλ/2)/(1 − hλ/2),    B̄ = h/(1 − hλ/2) · B

    Parameters
    ----------
    eigenvalues : (N,) array or torch tensor
        λ, real or complex.
    B : (N,), (N, d) or (N, d, 2) array or torch tensor
        Input matrix; a third axis of two holds real and imaginary parts.
    step : float or (N,) array, optional
        Time step above 0, for all states or each. Without it λ and B are taken as they are.
    discretisation : str
        ``"zoh"``, the zero-order hold, or ``"bilinear"``.
    name : str, optional
        A label for tables and plots.

    Returns
    -------
    LinearNetwork
        With a sparse A. Complex states are read through real and imaginary parts, as by a layer
        that outputs Re(Cx); where λ lists conjugate pairs of a real system, the second of a pair
        adds nothing to the memory.

    Examples
    --------
    >>> import memcurve
    >>> layer = memcurve.adapters.diagonal([-1.0, -2.0], [1.0, 1.0], step=0.1)
    >>> layer.A.diagonal().round(4)
    array([0.9048, 0.8187])
    """
    poles, mask, steps = (tensor_values(value) for value in (eigenvalues, B, step))
    return diagonal_network(poles, mask, step=steps, discretisation=discretisation, name=name)


def from_tuple(
    parts: tuple[Any, ...], *, step: Any = None, discretisation: str | None = None
) -> LinearNetwork:
    """(A, C), (W, Win, lr), (eigenvalues, B) or (eigenvalues, B, step)."""
    if len(parts) not in (2, 3):
        raise ValueError(fault("tuple", count=len(parts)))
    if len(parts) == 2 and is_device_sparse(parts[0]):  # which stays where it is
        return LinearNetwork(*parts)
    first, second, *third = (tensor_values(part) for part in parts)
    if isinstance(first, list | tuple):
        first = rectangular_array(first, "A")
    if not hasattr(first, "tocsr") and np.ndim(first) == 1:
        if third and step is not None:
            raise ValueError(f"`step` is given twice, got {step!r}; leave one out.")
        step = third[0] if third else step
        network = diagonal(first, second, step=step, discretisation=discretisation or "zoh")
        notes = [*network.notes, *([] if network.is_complex else [note("diagonal")])]
        return network.replace(notes=notes)
    if step is not None or discretisation is not None:
        raise ValueError(fault("step"))
    return leaky(first, second, third[0]) if third else LinearNetwork(first, second)


def from_mapping(
    mapping: Mapping[Any, Any], *, matrix: str | None = None, mask: Any = None
) -> LinearNetwork:
    """Take A and C by their names, or what the names there are make of it, as in files."""
    arrays = {}
    for key, value in mapping.items():
        array = value if hasattr(value, "dtype") else rectangular_array(value, str(key))
        arrays[str(key)] = as_array(array, str(key))
    name = mask if isinstance(mask, str) else None
    has_mask = mask is not None and name is None
    parts = network_parts(Archive("the mapping", arrays), matrix, name, has_mask)
    if has_mask:
        parts["C"] = as_mask(tensor_values(mask))
    leak = parts.pop("leak", None)
    return with_leak(LinearNetwork(**parts), leak)
