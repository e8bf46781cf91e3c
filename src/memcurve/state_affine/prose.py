"""Every sentence that is said of capacities, by its kind."""

from __future__ import annotations

from memcurve.core.notes import Note, NoteKind

#: What reports say.
REPORT = {
    "title": "Capacities of {name}",
    "subtitle": "{states} that are read; every number from moment equations, none from simulation",
    "total": "All capacities together are {total}; the rank of what is read is {rank}.",
    "linear": "Linear memory has {linear} of it, nonlinear functions of past inputs {rest}.",
    "degrees": "Capacity by degree",
    "degrees_text": "The total of all products of past inputs of a degree.",
    "lags": "Capacity by degree and oldest lag",
    "lags_text": "What is held of products whose oldest factor lies so many steps back.",
    "oldest": "oldest lag (time steps)",
    "words": "The largest capacities",
    "words_text": "In exactly decreasing order; p2[3] is the polynomial of degree 2 of z(t-3).",
}
_NOTES: dict[str, tuple[NoteKind, str]] = {
    "reached": ("reach", "{reached} of {states} states are reached by the input"),
    "noise": ("question", "usable capacities under {noise}; without noise the total is {rank}"),
    "balls": (
        "arithmetic",
        "computed in balls of {bits} bits: in floating point {why}",
    ),
    "estimated": (
        "proof",
        "the error is estimated, by computing again with every number changed by 2e-12 of itself; "
        "the rank is exact modulo primes",
    ),
    "rounded": (
        "proof",
        "the rank is that of the numbers up to their rounding, and the error an estimate: p and q "
        "were computed, and have no last digits to count with",
    ),
    "large": (
        "arithmetic",
        "floating point reaches no more than an error of {error:.1e} here, and balls are for up to "
        "{most} states",
    ),
    "degrees": ("lags", "{beyond:.3g} of the capacity is of degrees above {last}"),
    "interrupted": ("other", "interrupted: {what} were not computed"),
}


def note(kind: str, **facts: object) -> Note:
    """The note of a kind, with its facts."""
    category, text = _NOTES[kind]
    return Note(category, text.format(**facts))
