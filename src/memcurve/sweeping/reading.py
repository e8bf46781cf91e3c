"""Results out of a store: which study is meant, its rows, and the runs that computed them."""

from __future__ import annotations

from typing import Any

from memcurve.sweeping.results import Sweep
from memcurve.sweeping.store import Store
from memcurve.sweeping.studies import Study

FORMAT = "memcurve.Sweep/1"
#: The text of a study that is a list of cases begins so.
LISTED = "# cases given one by one"
_MOST_SEEDS = 1000


def read_sweep(store: Store, number: int, asked: Study | None = None) -> Sweep:
    """The results of the study ``number`` of a store that is open.

    ``asked`` is a study of the same cases; title, picture and the order of the rows are then its.
    """
    text = next(text for known, text, _ in store.studies() if known == number)
    rows = list(store.rows(number))
    begun = store.provenances(number)
    name = next((run["name"] for run in reversed(begun) if "name" in run), "study")
    study = None if text.startswith(LISTED) else asked
    if study is None and not text.startswith(LISTED):
        study = Study.from_text(text, name)
    elif study is not None and study.text != text:
        text, name = study.text, study.name
        places = {case.key: place for place, case in enumerate(study.cases())}
        rows.sort(key=lambda row: places[row.key])
    seeds = sorted({row.case["seed"] for row in rows if "seed" in row.case})
    shown: Any = seeds
    if len(seeds) > _MOST_SEEDS:
        shown = {"from": seeds[0], "to": seeds[-1], "count": len(seeds)}
    # a run that found everything done has computed nothing, and is not among them
    runs = [{"run": run, **about} for run, about in store.computed_by(number).items()]
    provenance = {"format": FORMAT, "name": name, "study": text, "runs": runs, "seeds": shown}
    return Sweep(tuple(rows), study, provenance)


def study_number(store: Store, study: Study | int | None) -> int:
    """The number of the study that is meant: by its text, or else by its cases."""
    known = store.studies()
    if not known:
        raise ValueError(f"{store.path} holds no study; run the sweep first.")
    if study is None:
        return known[-1][0]
    if isinstance(study, int):
        if study not in [number for number, _, _ in known]:
            numbers = ", ".join(str(number) for number, _, _ in known)
            raise ValueError(f"`study` must be one of {numbers} in {store.path}; got {study}.")
        return study
    for number, text, _ in reversed(known):
        if text == study.text:
            return number
    # a comment, a title or a picture may have changed since
    alike = [
        number
        for number, text, _ in reversed(known)
        if not text.startswith(LISTED) and sum(store.counts(number).values()) == study.count
    ]
    keys = {case.key for case in study.cases()} if alike else set()
    for number in alike:
        if keys == store.keys(number):
            return number
    raise ValueError(
        f"{store.path} has no results of study {study.name!r} as it is now, with its "
        f"{study.count:,} cases; it holds {len(known)} other(s). Run the sweep, which computes "
        f"only what is new; in Python, leave `study` out for the latest."
    )
