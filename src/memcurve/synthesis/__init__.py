"""Design of networks: from curves to networks, better masks and readouts, pruning.

``designing`` makes a network for a memory curve, ``whitening`` gives a curve its best realization,
``driving`` and ``reading`` choose input weights and the nodes to read, ``pruning`` omits what noise
hides; ``tasks`` and ``energies`` compute errors of linear tasks, information, Hankel values and
control energies from the same factor. Imports ``memory`` and the rings below it through their
façades; others import the names below only. Start reading at ``designing``.
"""

from memcurve.synthesis.designing import Design as Design
from memcurve.synthesis.designing import design as design
from memcurve.synthesis.directions import jacobi as jacobi
from memcurve.synthesis.driving import MaskChoice as MaskChoice
from memcurve.synthesis.driving import best_mask as best_mask
from memcurve.synthesis.energies import ControlEnergy as ControlEnergy
from memcurve.synthesis.energies import HankelValues as HankelValues
from memcurve.synthesis.energies import Information as Information
from memcurve.synthesis.energies import control_energy as control_energy
from memcurve.synthesis.energies import hankel_values as hankel_values
from memcurve.synthesis.energies import information as information
from memcurve.synthesis.improving import Improvement as Improvement
from memcurve.synthesis.improving import improvement as improvement
from memcurve.synthesis.improving import quick_gains as quick_gains
from memcurve.synthesis.pruning import Pruned as Pruned
from memcurve.synthesis.pruning import pruned as pruned
from memcurve.synthesis.reading import ReadoutChoice as ReadoutChoice
from memcurve.synthesis.reading import best_readout as best_readout
from memcurve.synthesis.tasks import TaskError as TaskError
from memcurve.synthesis.tasks import task_error as task_error
from memcurve.synthesis.whitening import Whitened as Whitened
from memcurve.synthesis.whitening import whitened as whitened
