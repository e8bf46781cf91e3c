"""Published claims about memory, re-examined: one small file per claim, a study, a verdict."""

from __future__ import annotations

from typing import Any

from memcurve.core.arguments import require_limit, table_entry
from memcurve.core.optional import optional
from memcurve.core.progress import Progress, listening
from memcurve.studies.literature import (
    aceituno_2017,
    conn2res_score,
    farkas_2016,
    gallicchio_2020,
    ganguli_2008,
    gonon_2020,
    jaeger_2001,
    reservoirpy_docs,
    rodan_2011,
    verzelli_2021,
    whale_2026,
    white_2004,
)
from memcurve.studies.literature.claim import JudgedClaim, PublishedClaim, judged

__all__ = ["CLAIMS", "JudgedClaim", "PublishedClaim", "judge_claim"]

#: The claims by name, oldest first.
CLAIMS: dict[str, PublishedClaim] = {
    module.CLAIM.name: module.CLAIM
    for module in (
        jaeger_2001,
        white_2004,
        ganguli_2008,
        rodan_2011,
        farkas_2016,
        aceituno_2017,
        gallicchio_2020,
        gonon_2020,
        verzelli_2021,
        conn2res_score,
        reservoirpy_docs,
        whale_2026,
    )
}
#: The extra that installs a package that studies need, where there is one.
_EXTRAS = {"reservoirpy": "adapters"}


def judge_claim(name: str, *, seed: int = 1, progress: Progress = None) -> JudgedClaim:
    """Run the study of a published claim, and judge it.

    Parameters
    ----------
    name : str
        One of :data:`memcurve.studies.literature.CLAIMS`, e.g. ``"rodan-2011"``.
    seed : int
        Of everything drawn at random.
    progress : bool, callable or None
        Show a bar on stderr; None shows it by itself after two seconds.

    Examples
    --------
    >>> import memcurve
    >>> memcurve.judge_claim("rodan-2011").word
    'right'
    """
    claim: Any = table_entry(CLAIMS, name, "name")
    seed = require_limit(seed, "seed")
    for package in claim.needs:
        optional(package, f"the study of {name}", _EXTRAS.get(package))
    with listening(progress) as tell:
        return judged(claim, claim.study(seed, tell), seed)
