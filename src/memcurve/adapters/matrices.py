"""Plain matrices: (A, C), (W, Win, lr), (eigenvalues, B), and pairs of torch's nn.Linear."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.adapters.diagonal_layers import diagonal
from memcurve.adapters.recurrent import recurrent_network
from memcurve.arguments import exact_array
from memcurve.files.checkpoints import tensor_values
from memcurve.network import LinearNetwork


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
    weights, mask, rates = (tensor_values(value) for value in (W, Win, lr))
    weights = weights if hasattr(weights, "tocsr") else exact_array(weights, "W")
    if weights.ndim != 2:
        raise ValueError(f"`W` must be a square matrix, got shape {weights.shape}.")
    mask = mask if hasattr(mask, "toarray") else exact_array(mask, "Win")
    shift = None if bias is None else exact_array(tensor_values(bias), "bias")
    network = recurrent_network(
        weights, mask, source="the reservoir", activation="identity", lr=rates, bias=shift
    )
    return network.replace(readout=readout, name=name)


def from_tuple(
    parts: tuple[Any, ...], *, step: Any = None, discretisation: str | None = None
) -> LinearNetwork:
    """(A, C), (W, Win, lr), (eigenvalues, B) or (eigenvalues, B, step)."""
    if len(parts) not in (2, 3):
        raise ValueError(
            f"`obj` must be a tuple (A, C), (W, Win, lr), (eigenvalues, B) or (eigenvalues, B, "
            f"step); got one of {len(parts)} parts."
        )
    if any(_is_linear_module(part) for part in parts):
        return _from_linear_modules(parts)
    first, second, *third = (tensor_values(part) for part in parts)
    is_vector = not hasattr(first, "tocsr") and np.ndim(first) == 1
    if is_vector:
        if third and step is not None:
            raise ValueError(f"`step` is given twice, got {step!r}; leave one out.")
        chosen = third[0] if third else step
        return diagonal(first, second, step=chosen, discretisation=discretisation or "zoh")
    if step is not None or discretisation is not None:
        raise ValueError(
            "`step` and `discretisation` are for (eigenvalues, B) with a vector of eigenvalues; "
            "discretise a matrix with scipy.signal.cont2discrete, or pass scipy.signal.StateSpace."
        )
    return leaky(first, second, third[0]) if third else LinearNetwork(first, second)


def _is_linear_module(part: Any) -> bool:
    return any(
        parent.__module__.startswith("torch.nn") and parent.__name__ == "Linear"
        for parent in type(part).__mro__
    )


def _from_linear_modules(parts: tuple[Any, ...]) -> LinearNetwork:
    """h_t = hidden(h_{t−1}) + inward(z_t) for two modules nn.Linear."""
    if len(parts) != 2 or not all(_is_linear_module(part) for part in parts):
        raise ValueError(
            "`obj` must be a pair of nn.Linear, the recurrent one first, where one of its parts is "
            "an nn.Linear; give their weights otherwise, (hidden.weight, inward.weight, lr)."
        )
    hidden, inward = parts
    biases = [exact_array(tensor_values(p.bias), "bias") for p in parts if p.bias is not None]
    return recurrent_network(
        exact_array(tensor_values(hidden.weight), "A"),
        exact_array(tensor_values(inward.weight), "C"),
        source="the pair of nn.Linear",
        activation="identity",
        bias=sum(biases) if biases else None,
    )
