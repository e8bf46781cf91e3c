"""Exact memory of linear networks: a problem, its analysis, a factor, its evaluation, a curve.

``memory`` has the entry points, ``choose`` the tree of solvers; ``methods`` are exact, certified
and published ways to compute one curve, ``batch`` many small networks at once. Imports ``core``,
``network``, ``inputs`` and ``io``; what others use of it is named here, and nothing else is
imported from outside. Start reading at ``choose``, whose docstring has the tree, then ``factor``.
"""

from memcurve.solve.allpass import cascade as cascade
from memcurve.solve.allpass import impulse_response as impulse_response
from memcurve.solve.allpass import section_poles as section_poles
from memcurve.solve.analysis import Analysis as Analysis
from memcurve.solve.batch import MemoryCurves as MemoryCurves
from memcurve.solve.batch import memory_curves as memory_curves
from memcurve.solve.curve import MemoryCurve as MemoryCurve
from memcurve.solve.curve import NoiseProfile as NoiseProfile
from memcurve.solve.curve import is_known as is_known
from memcurve.solve.factor import responses_to as responses_to
from memcurve.solve.leaves import krylov_model as krylov_model
from memcurve.solve.memory import ask as ask
from memcurve.solve.memory import ask_family as ask_family
from memcurve.solve.memory import controllable_spectrum as controllable_spectrum
from memcurve.solve.memory import fisher_curve as fisher_curve
from memcurve.solve.memory import forecasting_curve as forecasting_curve
from memcurve.solve.memory import memory_curve as memory_curve
from memcurve.solve.memory import noise_profile as noise_profile
from memcurve.solve.memory import one_level as one_level
from memcurve.solve.memory import rank as rank
from memcurve.solve.memory import reduced as reduced
from memcurve.solve.memory import structural_rank as structural_rank
from memcurve.solve.methods import METHODS as METHODS
from memcurve.solve.methods import Method as Method
from memcurve.solve.methods import Variant as Variant
from memcurve.solve.methods.montecarlo import in_range as in_range
from memcurve.solve.methods.montecarlo import lagged_products as lagged_products
from memcurve.solve.methods.montecarlo import montecarlo_bias as montecarlo_bias
from memcurve.solve.modes import LostModes as LostModes
from memcurve.solve.modular import proportional_rows as proportional_rows
from memcurve.solve.normal_form import InputNormal as InputNormal
from memcurve.solve.normal_form import input_normal as input_normal
from memcurve.solve.problem import Problem as Problem
from memcurve.solve.states import States as States
