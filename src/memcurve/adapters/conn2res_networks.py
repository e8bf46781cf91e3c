"""conn2res: connectomes as reservoirs, whose weights are stored (source, target)."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.adapters.arrays import RECORD, exact_or_sparse, recurrent_network
from memcurve.arguments import exact_array
from memcurve.io.networks import as_mask
from memcurve.network import LinearNetwork

_BY_NAME = {"tanh": "tanh", "relu": "relu"}


def conn2res(
    w: Any,
    w_in: Any = None,
    *,
    input_gain: Any = None,
    input_nodes: Any = None,
    output_nodes: Any = None,
    name: str | None = None,
) -> LinearNetwork:
    """A linear network from weights as conn2res stores them, (source, target).

    x_t = x_{t−1} w + z_t w_in on rows is the network of A = wᵀ and C = (input_gain·w_in)ᵀ.

    Parameters
    ----------
    w : (N, N) array or scipy sparse array
        Connectivity, ``w[i, j]`` from node i to node j.
    w_in : (d, N) array, optional
        Input weights, a row an input.
    input_gain : float, optional
        Factor of the input weights.
    input_nodes : sequence of int, optional
        In place of ``w_in``: one input drives these nodes, each with weight one.
    output_nodes : sequence of int, optional
        The nodes that can be read (default all).
    name : str, optional
        A label for tables and plots.
    """
    weights = exact_or_sparse(w, "w")
    if weights.ndim != 2 or weights.shape[0] != weights.shape[1]:
        raise ValueError(f"`w` must be a square matrix, got shape {tuple(weights.shape)}.")
    size = int(weights.shape[0])
    if (w_in is None) == (input_nodes is None):
        raise ValueError(
            f"give the input weights `w_in` of shape (d, {size}), or the `input_nodes` that one "
            f"input drives with weight one; got {'neither' if w_in is None else 'both'}."
        )
    inward = _unit_rows(input_nodes, size) if w_in is None else _input_rows(w_in, size)
    gain = 1.0 if input_gain is None else exact_array(input_gain, "input_gain")
    C = as_mask((gain * inward).T)
    return LinearNetwork(weights.T, C, readout=output_nodes, name=name)


def from_conn2res(
    esn: Any, *, w_in: Any = None, input_gain: Any = None, output_nodes: Any = None
) -> LinearNetwork:
    """An EchoStateNetwork with the input weights its ``simulate`` takes."""
    kind = type(esn).__name__
    own = getattr(esn, "w", getattr(esn, "w_hh", None))
    function = getattr(esn, "activation_function", None)
    if own is None or function is None:
        raise TypeError(
            f"`obj` must be a conn2res EchoStateNetwork, got {kind}; pass weights alone to "
            f"memcurve.adapters.conn2res(w, w_in), or {RECORD}."
        )
    # releases before 0.1 keep the input weights in the network, their gain applied
    inward = getattr(esn, "w_ih", None) if w_in is None else w_in
    if inward is None:
        raise TypeError(
            "as_network needs `w_in` for a conn2res EchoStateNetwork, the input weights of shape "
            "(inputs, nodes) that its simulate takes."
        )
    plain = conn2res(own, inward, input_gain=input_gain, output_nodes=output_nodes)
    activation = getattr(function, "__name__", "")
    if activation == "step":
        raise ValueError(
            f"`obj` has the activation step, which has no slope to linearise with; {RECORD}."
        )
    slope = 1.0
    if activation == "linear":
        slope = float(np.asarray(function(np.ones(1)))[0])
    network = recurrent_network(
        slope * plain.A,
        slope * plain.C,
        source=f"conn2res {kind}",
        activation="identity" if activation == "linear" else _BY_NAME.get(activation, function),
    )
    return network.replace(readout=plain.readout, name=f"{kind}, N={network.size}")


def _input_rows(w_in: Any, size: int) -> Any:
    rows = np.atleast_2d(exact_array(w_in.toarray() if hasattr(w_in, "toarray") else w_in, "w_in"))
    if rows.ndim != 2 or rows.shape[1] != size:
        hint = "; transpose it" if rows.ndim == 2 and rows.shape[0] == size else ""
        raise ValueError(
            f"`w_in` must have shape (d, {size}), a row an input and a column a node, got "
            f"{np.shape(w_in)}{hint}."
        )
    return rows


def _unit_rows(input_nodes: Any, size: int) -> Any:
    nodes = np.atleast_1d(np.asarray(input_nodes))
    whole = nodes.ndim == 1 and nodes.dtype.kind in "iu" and len(nodes) > 0
    if not whole or (nodes < 0).any() or (nodes >= size).any():
        raise ValueError(
            f"`input_nodes` must list nodes by their indices from 0 to {size - 1}, got "
            f"{input_nodes!r}."
        )
    row = np.zeros((1, size))
    row[0, nodes] = 1.0
    return row
