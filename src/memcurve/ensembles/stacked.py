"""Deep networks: layers that drive each other, assembled into one big network."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memcurve.network import LinearNetwork


def stacked(layers: Sequence[LinearNetwork], *, delayed: bool = False) -> LinearNetwork:
    """Join layers: the first is driven by the input, each other one by the states of the one below.

    x¹_t = A₁x¹_{t−1} + C₁z_t and xᵏ_t = A_k xᵏ_{t−1} + C_k xᵏ⁻¹_t, so that C_k has as many columns
    as the layer below has nodes. Written as one network the blocks of A are
    A_kj = C_k ⋯ C_{j+1} A_j for j < k, and those of C are C_k ⋯ C₁.

    Parameters
    ----------
    layers : sequence of LinearNetwork
        From the input upwards.
    delayed : bool
        Whether a layer sees the one below one step later, xᵏ_t = A_k xᵏ_{t−1} + C_k xᵏ⁻¹_{t−1};
        then A_kj = C_k for j = k − 1 only.

    Returns
    -------
    LinearNetwork
        With the nodes of all layers, the first layer's first; ``readout`` selects layers.

    Examples
    --------
    >>> import memcurve
    >>> import numpy as np
    >>> bottom = memcurve.ensembles.delay_line(3)
    >>> top = memcurve.LinearNetwork(np.eye(2, k=-1), [[0, 0, 1], [0, 0, 0]])
    >>> deep = memcurve.ensembles.stacked([bottom, top], delayed=True)
    >>> memcurve.memory_curve(deep).total
    5.0
    """
    if isinstance(layers, LinearNetwork):
        raise TypeError("`layers` must be a sequence of LinearNetworks, got a single one.")
    layers = list(layers)
    if not layers:
        raise ValueError("`layers` must hold at least one LinearNetwork, got none.")
    for k, layer in enumerate(layers):
        if not isinstance(layer, LinearNetwork):
            raise TypeError(f"`layers` must be LinearNetworks, got {type(layer).__name__}.")
        if layer.readout is not None:
            raise ValueError(
                f"layer {k} of `layers` has a readout; leave it out and give one to the whole, "
                f"stacked(…).replace(readout=…)."
            )
        if k > 0 and layer.inputs != layers[k - 1].size:
            raise ValueError(
                f"layer {k} of `layers` must have one input for each of the {layers[k - 1].size} "
                f"nodes of the layer below, got {layer.inputs}; its C must have shape "
                f"({layer.size}, {layers[k - 1].size})."
            )
    dtype = complex if any(layer.is_complex for layer in layers) else float
    ends = np.cumsum([0, *(layer.size for layer in layers)])
    own = [slice(a, b) for a, b in itertools.pairwise(ends.tolist())]
    A = np.zeros((ends[-1], ends[-1]), dtype=dtype)
    C = np.zeros((ends[-1], layers[0].inputs), dtype=dtype)
    C[own[0]] = layers[0].C.reshape(layers[0].size, -1)
    for k, layer in enumerate(layers):
        below = layer.C.reshape(layer.size, -1)
        if k > 0 and delayed:
            A[own[k], own[k - 1]] = below
        elif k > 0:
            A[own[k]] = below @ A[own[k - 1]]
            C[own[k]] = below @ C[own[k - 1]]
        A[own[k], own[k]] = _dense(layer)
    names = [layer.name or f"N={layer.size}" for layer in layers]
    return LinearNetwork(
        A,
        C[:, 0] if C.shape[1] == 1 else C,
        shift=_shift(layers, own, dtype, delayed),
        name=f"{len(layers)} layers: {'; '.join(names)}",
        notes=tuple(dict.fromkeys(note for layer in layers for note in layer.notes)),
    )


def _dense(layer: LinearNetwork) -> NDArray[np.generic]:
    return np.asarray(layer.A.toarray() if layer.is_sparse else layer.A)


def _shift(
    layers: Sequence[LinearNetwork], own: Sequence[slice], dtype: type, delayed: bool
) -> NDArray[np.generic] | None:
    """Constants: a layer's own, and what those below pass on within a step."""
    if all(layer.shift is None for layer in layers):
        return None
    shift = np.zeros(own[-1].stop, dtype=dtype)
    for k, layer in enumerate(layers):
        if layer.shift is not None:
            shift[own[k]] = layer.shift
        if k > 0 and not delayed:
            shift[own[k]] += layer.C.reshape(layer.size, -1) @ shift[own[k - 1]]
    return shift
