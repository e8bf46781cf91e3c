"""Memory from Arnoldi vectors, as in the paper's published scripts.

With an orthonormal basis Q of the Krylov space, one vector per lag,
MC_τ = (Qᵀ(QQᵀ + 10⁻¹⁴I)⁻¹Q)_{ττ}.
The vectors are orthonormal whatever the network is, so this is one for every lag up to the step at
which the iteration breaks down and says nothing about the memory beyond its total.
"""

from __future__ import annotations

import numpy as np

from memcurve.core.arguments import require_number
from memcurve.core.limits import Work
from memcurve.memory.curves import estimate
from memcurve.memory.methods.method import Method, dense_single_input
from memcurve.network.krylov import arnoldi_basis
from memcurve.solve import Answer, Problem

REGULARISATION = 1e-14


def arnoldi(problem: Problem, *, breakdown: float = 1e-13) -> Answer:
    """Count the Arnoldi vectors.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means N.
    breakdown : float
        The iteration ends where a step is not longer than this.
    """
    A, C = dense_single_input(problem)
    breakdown = require_number(breakdown, "breakdown", "at least 0", lambda b: b >= 0)
    count = problem.lags or len(C)
    Q, _ = arnoldi_basis(A, C / np.linalg.norm(C), len(C), breakdown=breakdown)
    regular = Q @ Q.T + REGULARISATION * np.eye(len(C))
    found = np.einsum("ij,ij->j", Q, np.linalg.solve(regular, Q))
    memory = np.zeros(count)
    memory[: min(count, len(found))] = found[:count]
    return estimate(
        memory,
        f"one for each of {len(found)} Arnoldi vectors by construction, zero after",
        total=float(found.sum()),
        options={"breakdown": breakdown},
    )


METHOD = Method(
    name="arnoldi",
    run=arnoldi,
    help="One for each Arnoldi vector, as in the paper's published scripts.",
    cost=Work(4, 0, 2),
)
