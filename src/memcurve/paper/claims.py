"""The paper's numbered claims, each checked numerically: holds, holds as corrected, or fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memcurve.paper import claims_of_computation, claims_of_theory
from memcurve.paper.verdicts import Verdict


@dataclass(frozen=True)
class Claim:
    """A statement of the paper and the function that checks it."""

    where: str
    statement: str
    check: Callable[[], Verdict]


@dataclass(frozen=True)
class Outcome:
    """A claim after its check."""

    where: str
    statement: str
    verdict: str
    figure: str


CLAIMS = tuple(Claim(*entry) for entry in (*claims_of_theory.CLAIMS, *claims_of_computation.CLAIMS))


def check_claims(say: Callable[[str], None] | None = None) -> list[Outcome]:
    """Check every claim in turn; ``say`` is told of each as it is done."""
    from threadpoolctl import threadpool_limits

    outcomes = []
    for claim in CLAIMS:
        with threadpool_limits(1, user_api="blas"):  # many small decompositions
            verdict, figure = claim.check()
        outcomes.append(Outcome(claim.where, claim.statement, verdict, figure))
        if say is not None:
            say(f"{claim.where}: {verdict}")
    return outcomes
