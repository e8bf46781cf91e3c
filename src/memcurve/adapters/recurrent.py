"""Weights, activation, leak and bias → LinearNetwork: as it is where linear, else linearised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from memcurve.files.reading import as_mask
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import Activation, NonlinearNetwork, leaky_pair


def recurrent_network(
    W: Any,
    Win: Any,
    *,
    source: str,
    activation: str | Activation = "tanh",
    lr: Any = 1.0,
    bias: Any = None,
    notes: Sequence[str] = (),
) -> LinearNetwork:
    """The network of x_t = (1 − lr)·x_{t−1} + lr·f(W x_{t−1} + Win z_t + bias).

    Exact where f is ``"identity"``; else linearised where the network rests without input, which a
    note says. ``source`` names in errors what the weights come from.
    """
    mask = as_mask(Win)
    moved = bias is not None and np.any(bias)
    shift = np.broadcast_to(bias, (W.shape[0],)) if moved and np.ndim(bias) == 0 else bias
    if activation == "identity":
        A, C = leaky_pair(W, mask, lr)
        constant = np.asarray(lr) * shift if moved else None
        return LinearNetwork(A, C, shift=constant, notes=tuple(notes))
    try:
        nonlinear = NonlinearNetwork(
            W, mask, activation=activation, leak=lr, shift=shift if moved else None
        )
        linear = nonlinear.linearised()
    except ValueError as error:
        raise type(error)(
            f"{source}: {error} Or record its states and use memcurve.memory_from_data(states, z)."
        ) from error
    return linear.replace(notes=(*linear.notes, *notes))
