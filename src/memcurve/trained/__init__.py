"""Trained layers: how long each recurrent layer of a model remembers, from its weights.

``kinds`` says how layers are recognised and what their tensors mean, ``checkpoints`` opens models,
``channels`` computes the memory of thousands of small diagonal networks at once, ``pruning`` leaves
out modes that no memory needs, ``driven`` runs a live layer. Imports ``data``, ``synthesis`` and
the rings below. Start reading at ``memory.layers``, then ``kinds``.
"""

from memcurve.trained.driven import measure_layer
from memcurve.trained.memory import LayerMemory, ModelMemory, layer_network, layers
from memcurve.trained.pruning import PrunedLayer, PrunedModel, pruned_layers

__all__ = [
    "LayerMemory",
    "ModelMemory",
    "PrunedLayer",
    "PrunedModel",
    "layer_network",
    "layers",
    "measure_layer",
    "pruned_layers",
]
