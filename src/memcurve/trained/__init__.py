"""Trained layers: how long each recurrent layer of a model remembers, from its weights.

``kinds`` says how layers are recognised and what their tensors mean, ``checkpoints`` opens models,
``channels`` computes the memory of thousands of small diagonal networks at once, ``pruning`` leaves
out modes that no memory needs, ``driven`` runs a live layer. Imports ``data``, ``synthesis`` and
the rings below. Start reading at ``memory.layers``, then ``kinds``.
"""

from memcurve.trained.driven import measure_layer as measure_layer
from memcurve.trained.memory import LayerMemory as LayerMemory
from memcurve.trained.memory import ModelMemory as ModelMemory
from memcurve.trained.memory import layer_network as layer_network
from memcurve.trained.memory import layers as layers
from memcurve.trained.pruning import PrunedLayer as PrunedLayer
from memcurve.trained.pruning import PrunedModel as PrunedModel
from memcurve.trained.pruning import pruned_layers as pruned_layers
