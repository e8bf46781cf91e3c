"""The paper's mask-free formula: MC_τ = ι*(Λ*)^τ L_A⁻¹ Λ^τ ι with (L_A)_{kl} = 1/(1 − λ_k λ̄_l).

It follows from the naïve one by cancelling the mask (input mask neutrality) and is just as
ill-conditioned: the eigenvalues of the Cauchy-like matrix L_A fall off like those of the Gramian.
It takes every eigenvalue of A as excited, whatever the mask, and needs them to be distinct.
"""

from __future__ import annotations

import numpy as np

from memcurve.core.arguments import table_entry
from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import Work
from memcurve.memory.curves import estimate
from memcurve.memory.methods.method import Method, dense_single_input
from memcurve.solve import Answer, Problem


def neutral(problem: Problem, *, inverse: str = "solve") -> Answer:
    """Invert the matrix L_A of the eigenvalues.

    Parameters
    ----------
    problem
        The question in the matrices of its network; ``lags=None`` means 5N.
    inverse : str
        ``"solve"`` or ``"pinv"``.
    """
    solve = table_entry(
        {"solve": np.linalg.solve, "pinv": lambda L, X: np.linalg.pinv(L) @ X}, inverse, "inverse"
    )
    A, C = dense_single_input(problem)
    values = np.linalg.eigvals(A).astype(complex)
    L = 1 / (1 - values[:, None] * values.conj())
    condition = float(np.linalg.cond(L))
    X = np.vander(values, problem.lags or 5 * len(C), increasing=True)
    try:
        memory = np.einsum("ij,ij->j", X.conj(), solve(L, X)).real
    except np.linalg.LinAlgError as error:
        raise UncertainResultError(
            f"method 'neutral' fails: {error} in L_A (condition number {condition:.1e}; repeated "
            f"eigenvalues make it singular). Use method='exact'."
        ) from None
    return estimate(
        memory,
        f"inverts a matrix L_A of condition number {condition:.1e} and ignores the mask",
        options={"inverse": inverse},
        diagnostics={"condition": condition},
    )


METHOD = Method(
    name="neutral",
    run=neutral,
    help="The paper's formula without the mask, from eigenvalues alone.",
    cost=Work(5, 8, 5),
    compared=True,
)
