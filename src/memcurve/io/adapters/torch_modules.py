"""torch.nn: RNN and RNNCell, linearised; gated and bidirectional modules are refused."""

from typing import Any

import numpy as np

from memcurve.core.notes import notes_of
from memcurve.io.adapters.arrays import exact_or_sparse, fault, recurrent_network
from memcurve.network import LinearNetwork
from memcurve.network.ensembles import stacked


def from_torch(module: Any) -> LinearNetwork:
    """h_t = f(W_ih z_t + b_ih + W_hh h_{t−1} + b_hh), about its fixed point, layer upon layer."""
    kinds = {parent.__name__ for parent in type(module).__mro__}
    if kinds & {"LSTM", "GRU", "LSTMCell", "GRUCell"}:
        raise TypeError(fault("gated", got=type(module).__name__))
    if not kinds & {"RNN", "RNNCell"}:
        raise TypeError(fault("no_rnn", got=f"{type(module).__name__}{_held_layers(module)}"))
    if getattr(module, "bidirectional", False):
        raise ValueError(fault("bidirectional"))
    count, cell = getattr(module, "num_layers", 1), "RNNCell" in kinds
    layers: list[LinearNetwork] = []
    rest: Any = None
    for k in range(count):
        layer, rest = _layer(module, "" if cell else f"_l{k}", rest)
        layers.append(layer)
    name = f"{type(module).__name__}, N={' + '.join(str(layer.size) for layer in layers)}"
    if count == 1:
        return layers[0].replace(name=name)
    joined = stacked(layers)
    top = joined.size - layers[-1].size
    notes = [f"{count} layers, all read; the module's output is nodes {top} … {joined.size - 1}"]
    if module.dropout:
        notes.append("dropout between the layers is left out, as in eval()")
    return joined.replace(name=name, notes=(*layers[0].notes, *notes_of(notes, "network")))


def _layer(module: Any, suffix: str, below: Any) -> tuple[LinearNetwork, Any]:
    """One layer about its fixed point, and that point; ``below`` is the point of the one below."""

    def weights(name: str) -> Any:
        return exact_or_sparse(getattr(module, f"{name}{suffix}"), f"{name}{suffix}")

    hidden, inward = (weights(f"weight_{part}") for part in ("hh", "ih"))
    bias = np.zeros(len(hidden))
    if module.bias:
        bias = bias + sum(weights(f"bias_{part}") for part in ("ih", "hh"))
    if below is not None:
        bias = bias + inward @ below
    network = recurrent_network(
        hidden,
        inward,
        source=f"nn.{type(module).__name__} ({module.nonlinearity})",
        activation=module.nonlinearity,
        bias=bias,
    )
    constant = np.zeros(network.size) if network.shift is None else network.shift
    rest = np.linalg.solve(np.eye(network.size) - network.A, constant) if constant.any() else None
    if below is not None:  # the layer below brings its own part of the constant
        constant = constant - network.C.reshape(network.size, -1) @ below
    return network.replace(shift=constant if constant.any() else None), rest


def _held_layers(module: Any) -> str:
    """Which recurrent layers a larger module holds, for the error."""
    held = [
        f".{name}"
        for name, part in (module.named_modules() if hasattr(module, "named_modules") else ())
        if name and type(part).__name__ in ("RNN", "RNNCell")
    ]
    return f", which holds {', '.join(held)}: pass that" if held else ""
