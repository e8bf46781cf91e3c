"""Networks: linear ones, whose memory is computed, and nonlinear ones, which are simulated.

``ensembles`` and ``masks`` draw them, ``graph`` analyses their wiring, ``tall`` is the backend of
tall arrays (host, device, ranks of an MPI job). Imports ``core``. Start reading at ``linear``.
"""

from __future__ import annotations

from memcurve.network.linear import LinearNetwork

__all__ = ["LinearNetwork"]
