"""Exact capacities of state-affine networks: bilinear, quantum, selective, polynomial features.

``network`` has the network and ``laws`` the law of its input; ``letters`` expands it, ``white``
finds input-normal coordinates, ``precise`` the same in balls, ``ranks`` the exact dimension;
``tree`` evaluates words, ``faults`` has what errors say. Imports ``memory`` and the rings below it;
others import the names below only. Start reading at ``evaluation``, the entry point.
"""

from memcurve.state_affine import laws as laws
from memcurve.state_affine import quantum as quantum
from memcurve.state_affine.builders import as_state_affine as as_state_affine
from memcurve.state_affine.builders import bilinear as bilinear
from memcurve.state_affine.builders import cascade as cascade
from memcurve.state_affine.builders import features as features
from memcurve.state_affine.builders import from_functions as from_functions
from memcurve.state_affine.builders import gated_layer as gated_layer
from memcurve.state_affine.builders import product as product
from memcurve.state_affine.builders import rg_lru_layer as rg_lru_layer
from memcurve.state_affine.builders import selective_layer as selective_layer
from memcurve.state_affine.builders import side_by_side as side_by_side
from memcurve.state_affine.evaluation import capacities as capacities
from memcurve.state_affine.laws import Law as Law
from memcurve.state_affine.network import Formula as Formula
from memcurve.state_affine.network import StateAffineNetwork as StateAffineNetwork
from memcurve.state_affine.quantum import ising_reservoir as ising_reservoir
from memcurve.state_affine.result import Capacities as Capacities
from memcurve.state_affine.result import target_name as target_name
from memcurve.state_affine.tasks import WordTarget as WordTarget
from memcurve.state_affine.tasks import as_target as as_target
from memcurve.state_affine.tasks import delayed_product as delayed_product
from memcurve.state_affine.tasks import function_target as function_target
from memcurve.state_affine.tasks import narma10 as narma10
from memcurve.state_affine.tasks import predicted_error as predicted_error
