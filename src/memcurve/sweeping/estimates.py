"""What a study would take: how many cases are left, and a guess at the time."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import random
import time
from dataclasses import dataclass
from pathlib import Path

from memcurve.sweeping.cases import Case
from memcurve.sweeping.evaluation import evaluate
from memcurve.sweeping.store import Store
from memcurve.sweeping.studies import MANY_CASES, Study

#: So many cases are timed, or fewer where they take longer than this altogether.
_TIMED_CASES, _TIMED_SECONDS = 12, 10.0


@dataclass(frozen=True)
class Estimate:
    """Counts of a study's cases, and what some of those that are left took.

    ``done`` and ``failed`` are None for a study too large to look up; ``seconds`` is the time for
    all that is left, an estimate from ``timed`` cases, None where none was timed.
    """

    count: int
    done: int | None
    failed: int | None
    timed: int
    workers: int
    seconds: float | None
    error: str | None = None

    @property
    def pending(self) -> int:
        """Cases that would be computed."""
        return self.count - (self.done or 0) - (self.failed or 0)


def estimate(
    study: Study,
    store: str | os.PathLike[str],
    *,
    workers: int,
    retry_failed: bool = False,
    time_it: bool = True,
) -> Estimate:
    """Count the cases that are left and, if ``time_it``, time some of them, chosen at random."""
    known = _known(store)
    done = failed = None
    places: range | list[int] = range(study.count)
    if study.count <= MANY_CASES:
        places, done, failed = [], 0, 0
        for place, case in enumerate(study.cases()):
            status = known.get(case.key)
            done += status == "done"
            if status == "failed" and not retry_failed:
                failed += 1
            elif status != "done":
                places.append(place)
    if not places or not time_it:
        return Estimate(study.count, done, failed, 0, workers, None)
    # drawn with a fixed seed, so that the same question has the same answer
    chosen = random.Random(0).sample(places, min(_TIMED_CASES, len(places)))
    _warm_up(study.case_at(chosen[0]))
    start, timed, error = time.perf_counter(), 0, None
    for place in chosen:
        try:
            evaluate(study.case_at(place).to_dict())
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
        timed += 1
        if time.perf_counter() - start > _TIMED_SECONDS:
            break
    each = (time.perf_counter() - start) / timed
    seconds = each * len(places) / min(workers, len(places))
    return Estimate(study.count, done, failed, timed, workers, seconds, error)


def _known(store: str | os.PathLike[str]) -> dict[str, str]:
    """Status of all cases in a store by their keys, nothing where there is none."""
    if not Path(store).is_file():
        return {}
    with Store.open(store, read_only=True) as opened:
        return {
            row.key: row.status for number, _, _ in opened.studies() for row in opened.rows(number)
        }


def _warm_up(case: Case) -> None:
    """Load the libraries, whose time is not that of the cases."""
    with contextlib.suppress(Exception):  # what is wrong with the case is found when it is timed
        evaluate(dataclasses.replace(case, size=4).to_dict())
