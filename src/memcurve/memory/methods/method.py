"""Method: the one declaration of a method.

Limits, :func:`memcurve.compare`, the command, audits, the page, sweeps and the reference read it;
nothing else describes a method.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, get_args

import numpy as np

from memcurve.core.arguments import Seed, require_size
from memcurve.core.errors import UncertainResultError, UnstableNetworkError
from memcurve.core.limits import Work, one_thread
from memcurve.core.notes import Note, texts_beside
from memcurve.core.types import Floats
from memcurve.memory.curve import fault
from memcurve.memory.curve import note as noted
from memcurve.solve import Answer, Feature, Problem

Run = TypeVar("Run", bound=Callable[..., Answer])

#: What a method that answers every question answers.
EVERYTHING: tuple[Feature, ...] = get_args(Feature)


@dataclass(frozen=True)
class Variant:
    """A method with some options, as audits and the page show it beside the exact curve.

    ``key`` is for programs, ``name`` and ``about`` are for people; it is run for up to
    ``largest_size`` states, which takes about a minute. ``inverts``: it inverts a covariance of the
    states; ``by_construction``: its total does not depend on the memory.

    Examples
    --------
    >>> from memcurve.memory.methods import METHODS
    >>> METHODS["osm"].variants[0].name
    'OSM'
    """

    key: str
    name: str
    about: str
    options: Mapping[str, Any] = field(default_factory=dict)
    largest_size: int = 1000
    inverts: bool = False
    by_construction: bool = False


#: Those of the methods here, by method.
VARIANTS = {
    name: tuple(Variant(**one) for one in variants)
    for name, variants in texts_beside(__file__, "variants.toml").items()
}


@dataclass(frozen=True)
class Method:
    """A way to compute memory curves.

    ``run(problem, **options)`` returns an Answer; its keyword-only parameters are the options, and
    ``seed`` is among them if the method draws. ``cost`` is what it takes, see
    :mod:`memcurve.core.limits`, with ``columns(problem, options)`` columns of wide arrays, by
    default as many as lags. ``answers`` is what it takes beyond one white input without noise, read
    from all nodes, ``kinds`` are the questions: ``"memory"``, ``"forecasting"``, ``"Fisher"``.
    ``bounded``: its errors hold; ``compared``: :func:`memcurve.compare` runs it by default;
    ``variants``: what audits and the page show of it.

    Examples
    --------
    A method that says N, whatever the network is:

    >>> import numpy as np
    >>> import memcurve
    >>> from memcurve.core.limits import Work
    >>> from memcurve.memory.methods import METHODS, declared, estimate
    >>> @declared("One for each node.", Work(0, 0, 0))
    ... def guess(problem):
    ...     return estimate(np.ones(len(problem.states)), "one for each node")
    >>> memcurve.memory_curve(memcurve.ensembles.cyclic(7), method="guess").total
    7.0
    >>> del METHODS["guess"]
    """

    name: str
    run: Callable[..., Answer]
    help: str
    cost: Work
    answers: tuple[Feature, ...] = ()
    kinds: tuple[str, ...] = ("memory",)
    bounded: bool = False
    columns: Callable[[Problem, Mapping[str, Any]], int | None] | None = None
    compared: bool = False
    variants: tuple[Variant, ...] = ()

    @functools.cached_property
    def options(self) -> dict[str, inspect.Parameter]:
        """Its options, by name."""
        taken = inspect.signature(self.run).parameters.values()
        return {p.name: p for p in taken if p.kind is p.KEYWORD_ONLY and p.name != "seed"}

    @functools.cached_property
    def draws(self) -> bool:
        """Whether it draws random numbers, and so needs a seed."""
        return "seed" in inspect.signature(self.run).parameters

    def can_answer(self, problem: Problem) -> bool:
        """Whether it takes what the question has."""
        return problem.kind in self.kinds and set(problem.features) <= set(self.answers)

    def answer(self, problem: Problem, seed: Seed | None, options: Mapping[str, Any]) -> Answer:
        """Run it, with its seed if it draws."""
        seeded = {"seed": seed} if self.draws else {}
        if self.bounded:  # and says what is out of the range of a number format
            return self.run(problem, **options, **seeded)
        with one_thread():  # what is little but rounding is then the same everywhere
            answer = self.run(problem.narrowed(), **options, **seeded)
        answer.notes += [Note("reach", text) for text in problem.range_remarks()]
        return answer


#: All methods by name, in the order of their declarations.
METHODS: dict[str, Method] = {}


def declared(help: str, cost: Work, **fields: Any) -> Callable[[Run], Run]:
    """Enter a function into :data:`METHODS` under its name; see :class:`Method` for the fields."""

    def declare(run: Run) -> Run:
        METHODS[run.__name__] = Method(run.__name__, run, help, cost, **fields)
        return run

    return declare


def estimate(
    memory: Floats,
    note: str,
    *,
    total: float | None = None,
    bands: Floats | None = None,
    options: Mapping[str, Any] | None = None,
    diagnostics: Mapping[str, Any] | None = None,
) -> Answer:
    """The answer of a method without error bound or rank; ``memory`` has one column per input."""
    channels = memory.reshape(len(memory), -1)
    unknown = np.full(channels.shape, np.nan)
    summed = float(channels.sum()) if total is None else total
    return replace(
        Answer.of_memory(channels, unknown, summed, np.nan),
        notes=[Note("method", note), noted("no_error")],
        options=dict(options or {}),
        diagnostics=dict(diagnostics or {}),
        bands=bands,
        bounded=False,
    )


def dense_single_input(problem: Problem) -> tuple[Any, Any]:
    """A of all states, dense, and the one column of C, scaled where its squares leave float64."""
    require_stable(problem)
    states = problem.analysis.everything
    largest = float(abs(states.mask).max())
    if largest == 0:
        raise UncertainResultError(fault("zero_mask"))
    scale = 1.0 if 1e-100 < largest < 1e100 else largest
    return states.dense, states.mask[:, 0] / scale


def require_stable(problem: Problem) -> None:
    """Raise where LAPACK's eigenvalues say that the network is unstable."""
    radius = float(np.abs(problem.analysis.all_eigenvalues).max(initial=0.0))
    if radius >= 1:
        raise UnstableNetworkError(fault("seems_unstable", radius=radius))


def require_driven(problem: Problem) -> None:
    """Raise where no state that is read is ever driven, or the network is unstable."""
    if not problem.is_driven:
        raise UncertainResultError(fault("nothing_read"))
    require_stable(problem)


def krylov_columns(size: int, truncation: int | None, lags: int | None) -> int:
    """The number of columns of the Krylov matrix: 5N unless given, and at least ``lags``."""
    if truncation is None:
        return max(5 * size, lags or 0)
    if require_size(truncation, "truncation") < size:
        raise ValueError(fault("truncation", size=size, truncation=truncation))
    if lags is not None and lags > truncation:
        raise ValueError(f"`lags` must be at most `truncation`={truncation}, got {lags}.")
    return int(truncation)
