"""Published claims about memory, re-examined: one small file per claim, a study, a verdict."""

from importlib import import_module
from typing import Any

from memcurve.core.arguments import require_limit, table_entry
from memcurve.core.notes import texts_beside
from memcurve.core.progress import Progress, progress_callback
from memcurve.studies.literature.claim import JudgedClaim, PublishedClaim

__all__ = ["CLAIMS", "JudgedClaim", "PublishedClaim", "judge_claim"]


def _published(name: str, about: dict[str, Any]) -> PublishedClaim:
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    lists = {key: tuple(about.get(key, ())) for key in ("needs", "compared")}
    return PublishedClaim(name=name, study=module.study, judge=module.judge, **about | lists)


_TEXTS = texts_beside(__file__, "claims.toml")
#: The claims by name, oldest first.
CLAIMS: dict[str, PublishedClaim] = {name: _published(name, _TEXTS[name]) for name in _TEXTS}


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
    claim: PublishedClaim = table_entry(CLAIMS, name, "name")
    seed = require_limit(seed, "seed")
    with progress_callback(progress) as notify:
        notify(f"examining {name}", 0, None)
        return claim.judged(*claim.study(seed), seed)
