"""Trained layers: how long each recurrent layer of a model remembers, from its weights.

``kinds`` says how layers are recognised and what their tensors mean, ``checkpoints`` opens models,
``channels`` computes the memory of thousands of small diagonal networks at once. Imports
``memory`` and the rings below it. Start reading at ``memory.layers``, then ``kinds``.
"""

from memcurve.trained.memory import LayerMemory, ModelMemory, layer_network, layers

__all__ = ["LayerMemory", "ModelMemory", "layer_network", "layers"]
