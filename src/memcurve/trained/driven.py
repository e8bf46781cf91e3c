"""Layers that are run: what the output of a live layer remembers of its input, gates and all."""

from collections.abc import Callable
from typing import Any

import numpy as np

from memcurve.core.arguments import Seed, generator, require_number, require_size, table_entry
from memcurve.core.optional import optional
from memcurve.data import memory_from_data
from memcurve.memory import MemoryCurve


def measure_layer(
    model: Any,
    name: str = "",
    *,
    seed: Seed,
    samples: int = 10_000,
    scale: float = 1.0,
    run: Callable[[Any, Any], Any] | None = None,
    **options: Any,
) -> MemoryCurve:
    """Measure the memory of a layer of a live torch module, its gates driven by the input.

    White noise z_t enters the layer along one random direction of its input, and its output is
    regressed on z as :func:`memcurve.memory_from_data` does: what can be read from the output
    linearly, whereas :func:`memcurve.layers` computes the memory of the states at a fixed gate.

    Parameters
    ----------
    model : torch.nn.Module
        A model, or the layer itself.
    name : str
        Name of the layer among ``model.named_modules()``; the model itself by default.
    seed : int, SeedSequence or Generator
        Seed of the direction and of the input.
    samples : int
        Number of time steps.
    scale : float
        Standard deviation of each input channel.
    run : function, optional
        ``run(layer, inputs)`` gives the outputs (1, samples, outputs) for inputs
        (1, samples, width), where calling the layer takes more than these.
    **options
        As for :func:`memcurve.memory_from_data`, e.g. ``lags`` and ``washout``.

    Examples
    --------
    >>> import memcurve
    >>> import torch
    >>> _ = torch.manual_seed(1)
    >>> layer = torch.nn.GRU(4, 8, batch_first=True)
    >>> curve = memcurve.measure_layer(layer, seed=1, samples=2000, lags=5, washout=100)
    >>> bool(curve.values[0] > 0.9)
    True
    """
    torch = optional("torch", "running a layer", "torch")
    layer = table_entry(dict(model.named_modules()), name, "name")
    length = require_size(samples, "samples")
    size = require_number(scale, "scale", "above 0", lambda x: x > 0)
    width = _width(layer)
    rng = generator(seed)
    direction = rng.standard_normal(width)
    direction *= size * np.sqrt(width) / np.linalg.norm(direction)
    z = rng.standard_normal(length)
    weights = next(layer.parameters())
    inputs = torch.as_tensor(np.outer(z, direction)[None]).to(weights)
    with torch.no_grad():
        outputs = layer(inputs) if run is None else run(layer, inputs)
    outputs = outputs[0] if isinstance(outputs, tuple) else outputs
    states = np.asarray(outputs.detach().to(torch.float64).cpu()).reshape(length, -1)
    return memory_from_data(states, z, **options)


def _width(layer: Any) -> int:
    """How many channels a layer's input has: of the first part that says so."""
    for part in layer.modules():
        for attribute in ("in_features", "input_size", "hidden_size"):
            width = getattr(part, attribute, None)
            if isinstance(width, int):
                return width
    raise ValueError(
        f"`name` must be a layer whose input width is known, got {type(layer).__name__}: no part "
        f"of it has in_features, input_size or hidden_size; name a layer around it."
    )
