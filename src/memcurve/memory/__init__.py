"""Memory curves and ranks of linear networks, by the exact or another method.

``entry_points`` has the functions, ``curve`` their result, ``methods`` the exact, certified and
published ways to compute a curve, ``batch`` many small networks at once. Imports ``solve`` and the
rings below it, through their façades; what other rings use of it is named here. Start reading at
``entry_points``.
"""

from memcurve.memory.batch import MemoryCurves as MemoryCurves
from memcurve.memory.batch import memory_curves as memory_curves
from memcurve.memory.curve import MemoryCurve as MemoryCurve
from memcurve.memory.curve import NoiseProfile as NoiseProfile
from memcurve.memory.curve import is_known as is_known
from memcurve.memory.density import MemoryDensity as MemoryDensity
from memcurve.memory.density import memory_density as memory_density
from memcurve.memory.entry_points import TotalMemory as TotalMemory
from memcurve.memory.entry_points import ask as ask
from memcurve.memory.entry_points import ask_family as ask_family
from memcurve.memory.entry_points import controllable_spectrum as controllable_spectrum
from memcurve.memory.entry_points import fisher_curve as fisher_curve
from memcurve.memory.entry_points import forecasting_curve as forecasting_curve
from memcurve.memory.entry_points import memory_capacity as memory_capacity
from memcurve.memory.entry_points import memory_curve as memory_curve
from memcurve.memory.entry_points import noise_profile as noise_profile
from memcurve.memory.entry_points import one_level as one_level
from memcurve.memory.entry_points import rank as rank
from memcurve.memory.entry_points import structural_rank as structural_rank
from memcurve.memory.methods import METHODS as METHODS
from memcurve.memory.methods import Method as Method
from memcurve.memory.methods import Variant as Variant
from memcurve.memory.methods.montecarlo import in_range as in_range
from memcurve.memory.methods.montecarlo import lagged_products as lagged_products
from memcurve.memory.methods.montecarlo import montecarlo_bias as montecarlo_bias
from memcurve.memory.methods.paper import cached_gramian as cached_gramian
from memcurve.memory.normal_form import InputNormal as InputNormal
from memcurve.memory.normal_form import input_normal as input_normal
