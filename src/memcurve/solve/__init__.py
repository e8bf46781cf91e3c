"""From a question about a linear network to numbers with errors: problem, analysis, factor, answer.

``choose`` has the tree of solvers, ``factor`` what nearly all of them read off, ``errors`` every
error, ``balls`` proven enclosures. Imports ``core``, ``network``, ``inputs`` and ``io``; what other
rings use of it is named here, and nothing else is imported from outside. Start reading at
``choose``, whose docstring has the tree, then ``factor``.
"""

from memcurve.solve.allpass import cascade as cascade
from memcurve.solve.allpass import impulse_response as impulse_response
from memcurve.solve.allpass import memory_of_poles as memory_of_poles
from memcurve.solve.allpass import section_poles as section_poles
from memcurve.solve.allpass import system_matrix as system_matrix
from memcurve.solve.analysis import Analysis as Analysis
from memcurve.solve.answer import MOST_DEFAULT_LAGS as MOST_DEFAULT_LAGS
from memcurve.solve.answer import NEGLIGIBLE_MEMORY as NEGLIGIBLE_MEMORY
from memcurve.solve.answer import Answer as Answer
from memcurve.solve.answer import Lags as Lags
from memcurve.solve.balls import arithmetic as ball_arithmetic  # noqa: F401
from memcurve.solve.choose import LARGEST_ERROR as LARGEST_ERROR
from memcurve.solve.choose import SOLVERS as SOLVERS
from memcurve.solve.choose import answered as answered
from memcurve.solve.choose import certified as certified
from memcurve.solve.choose import few_threads as few_threads
from memcurve.solve.choose import is_usable_memory as is_usable_memory
from memcurve.solve.errors import backward_error as backward_error
from memcurve.solve.errors import curve_error as curve_error
from memcurve.solve.errors import pole_sensitivity as pole_sensitivity
from memcurve.solve.factor import responses_to as responses_to
from memcurve.solve.leaves import input_normal_realization as input_normal_realization
from memcurve.solve.leaves import krylov_model as krylov_model
from memcurve.solve.leaves import reduction_of as reduction_of
from memcurve.solve.powers import solve_stein as solve_stein
from memcurve.solve.problem import Feature as Feature
from memcurve.solve.problem import Problem as Problem
from memcurve.solve.problem import validated_lags as validated_lags
from memcurve.solve.spectrum import Spectrum as Spectrum
