"""Reservoirs of reservoirpy and of conn2res.

reservoirpy (0.4) has a Reservoir, or a Model such as ESN that holds one. conn2res makes reservoirs
of connectomes, whose weights are stored (source, target).
"""

import copy
from typing import Any

import numpy as np

from memcurve.core.arguments import exact_array, require_size
from memcurve.core.notes import Note, counted
from memcurve.io import as_mask, note
from memcurve.io.adapters.arrays import exact_or_sparse, fault, recurrent_network
from memcurve.network import LinearNetwork

#: Nodes that have states of their own; the first can be linearised.
_RESERVOIRS = ("Reservoir", "LocalPlasticityReservoir", "IPReservoir", "ES2N", "LIF", "NVAR")


def from_reservoirpy(obj: Any, *, input_dim: int | None = None) -> LinearNetwork:
    """A reservoir's weights, leak and bias; linearised unless its activation is the identity."""
    reservoir = _reservoir(obj)
    source = _label(reservoir)
    if _kind(reservoir) != "Reservoir":
        raise TypeError(fault("no_reservoir", got=source))
    node, notes = _initialised(reservoir, input_dim)
    W, Win, activation = exact_or_sparse(node.W, "W"), node.Win, _activation(node, source)
    bias, lr = _dense(node.bias, "bias"), _dense(node.lr, "lr")
    # x ← (1 − lr)·x + lr·f(W x + Win u + bias)
    network = recurrent_network(W, Win, source=source, activation=activation, lr=lr, bias=bias)
    name = reservoir.name or f"Reservoir, N={network.size}"
    return network.replace(name=name, notes=(*network.notes, *notes))


def is_linear(node: Any) -> bool:
    """Whether a node is linear, so that its weights determine it."""
    return _kind(node) == "Reservoir" and _own_name(node.activation) == "identity"


def drawn_reservoir(obj: Any, input_dim: int | None) -> tuple[Any, int]:
    """A copy of a node with states, or of that of a model, to be run; and its number of inputs."""
    reservoir = _reservoir(obj)
    is_readout = _kind(reservoir) not in _RESERVOIRS and hasattr(reservoir, "fit")
    if is_readout or not hasattr(reservoir, "initialized"):
        raise TypeError(fault("no_states", got=_label(reservoir)))
    node = copy.deepcopy(_initialised(reservoir, input_dim)[0])
    return node, int(node.input_dim)


def _reservoir(obj: Any) -> Any:
    is_model = any(parent.__name__ == "Model" for parent in type(obj).__mro__)
    return _only_reservoir(obj) if is_model else obj


def _only_reservoir(model: Any) -> Any:
    """The one node of a model that has states, driven by the model's input alone."""
    reservoirs = [node for node in model.nodes if _kind(node) in _RESERVOIRS]
    if len(reservoirs) != 1:
        listed = "; ".join(map(_label, reservoirs)) or "none"
        raise ValueError(fault("several", count=len(reservoirs), listed=listed))
    [reservoir] = reservoirs
    for sender, *delay, receiver in model.edges:
        if receiver is reservoir and (any(delay) or _kind(sender) != "Input"):
            what = "feedback" if any(delay) else "input"
            raise ValueError(fault("feedback", what=what, sender=_label(sender)))
    return reservoir


def _initialised(node: Any, input_dim: int | None) -> tuple[Any, list[Note]]:
    """The node itself, or a copy with weights where it has not drawn its own yet."""
    dimension = node.input_dim
    if input_dim is not None and dimension not in (None, require_size(input_dim, "input_dim")):
        facts = {"dimension": dimension, "node": _label(node), "got": input_dim}
        raise ValueError(fault("input_dim", **facts))
    if node.initialized:
        return node, []
    count = dimension or input_dim or 1
    drawn = copy.deepcopy(node)
    drawn.initialize(np.zeros(count))
    return drawn, [note("drawn", inputs=counted(count, "input"))]


def _activation(node: Any, source: str) -> Any:
    function = node.activation
    name = "tanh" if function is np.tanh else _own_name(function)
    if name == "softmax":
        raise ValueError(fault("softmax", source=source))
    return name if name in ("tanh", "identity", "relu") else function


def _own_name(function: Any) -> str:
    """Name of a function of reservoirpy's; empty for a user's own, whatever it is called."""
    own = getattr(function, "__module__", "").startswith("reservoirpy.")
    return getattr(function, "__name__", "") if own else ""


def _kind(node: Any) -> str:
    """Name of the reservoirpy class that says how the node steps; empty for a user's own."""
    parent = next((base for base in type(node).__mro__ if "_step" in vars(base)), object)
    return parent.__name__ if parent.__module__.startswith("reservoirpy.") else ""


def _label(node: Any) -> str:
    named = f" {node.name!r}" if getattr(node, "name", None) else ""
    return f"{type(node).__name__}{named}"


def _dense(value: Any, argument: str) -> Any:
    array = exact_array(value.toarray() if hasattr(value, "toarray") else value, argument)
    return float(array) if array.ndim == 0 else array[:, 0] if array.shape[1:] == (1,) else array


def from_conn2res(
    esn: Any, *, w_in: Any = None, input_gain: Any = None, output_nodes: Any = None
) -> LinearNetwork:
    """An EchoStateNetwork with the input weights its ``simulate`` takes."""
    kind = type(esn).__name__
    own, leak = getattr(esn, "w", None), getattr(esn, "leak_rate", None)
    function = getattr(esn, "activation_function", None)
    if own is None or function is None:
        raise TypeError(fault("no_esn", got=kind))
    if w_in is None:
        raise TypeError(fault("no_w_in"))
    weights, inward = exact_or_sparse(own, "w"), np.atleast_2d(_dense(w_in, "w_in"))
    if inward.ndim != 2 or inward.shape[1] != weights.shape[0]:
        raise ValueError(fault("w_in", size=weights.shape[0], shape=np.shape(w_in)))
    gain = 1.0 if input_gain is None else exact_array(input_gain, "input_gain")
    activation = getattr(function, "__name__", "")
    if activation == "step":
        raise ValueError(fault("no_slope"))
    is_linear = activation == "linear"
    slope = float(np.asarray(function(np.ones(1)))[0]) if is_linear else 1.0
    shape = activation if activation in ("tanh", "relu") else "identity" if is_linear else function
    mask = as_mask((slope * gain * inward).T)
    network = recurrent_network(
        slope * weights.T,
        mask,
        source=f"conn2res {kind}",
        activation=shape,
        lr=1.0 if leak is None else leak,
    )
    return network.replace(readout=output_nodes, name=f"{kind}, N={network.size}")
