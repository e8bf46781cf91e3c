"""A method is declared once: limits, compare, command, audit, page and sweeps read it there."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import ensembles
from memcurve.core.limits import TooLargeError, Work, estimated_cost
from memcurve.memory.methods import METHODS, Method, Variant, estimate
from refusals import refuses

NETWORK = ensembles.normal(12, seed=1)


def half(problem: Any, *, seed: int, share: float = 0.5) -> Any:
    """Say that a share of every state is memory."""
    generator = np.random.default_rng(seed)
    memory = np.full(problem.lags or len(problem.states), share)
    return estimate(memory, f"{share} by decree, {generator.random():.3f}")


TOY = Method(
    name="half",
    run=half,
    help="Half of everything.",
    cost=Work(1, 1, 1),
    compared=True,
    variants=(Variant("half", "Half of it", "a share by decree", {"share": 0.25}),),
)


@pytest.fixture(autouse=True)
def toy() -> Iterator[None]:
    METHODS["half"] = TOY
    yield
    del METHODS["half"]


def test_memory_curve_runs_it() -> None:
    curve = memcurve.memory_curve(NETWORK, 4, method="half", seed=1, share=0.125)
    assert curve.values.tolist() == [0.125] * 4
    assert [note.kind for note in curve.notes] == ["method", "unbounded"]
    refuses(TypeError, "`size`", memcurve.memory_curve, NETWORK, method="half", seed=1, size=3)
    refuses(ValueError, "'half'", memcurve.memory_curve, NETWORK, method="half", seed=1, noise=0.1)


def test_limits_know_its_cost(monkeypatch) -> None:
    assert estimated_cost(1000, TOY.cost, columns=1000).bytes == 2 * 8 * 1000**2
    monkeypatch.setattr("memcurve.core.limits.available_memory", lambda: 10**6)
    monkeypatch.setattr("memcurve.core.limits._ALWAYS_THERE", 0)
    with pytest.raises(TooLargeError):
        memcurve.memory_curve(ensembles.cyclic(400), 400, method="half", seed=1)


def test_samples_that_do_not_fit_are_named() -> None:
    many = {"method": "montecarlo", "samples": 10**15, "seed": 1}
    facts = "`samples`", "1,000,000,000,000,000"
    refuses(TooLargeError, facts, memcurve.memory_curve, NETWORK, **many)


def test_compare_runs_it_by_default_and_twice() -> None:
    assert "half" in [row.method for row in memcurve.compare(NETWORK, seed=1).rows]
    twice = memcurve.compare(NETWORK, ["half", ("half", {"share": 0.75})], lags=8, seed=1)
    assert [row.label for row in twice.rows] == ["exact", "half", "half (share=0.75)"]
    assert [row.total for row in twice.rows[1:]] == [4.0, 6.0]


def test_audits_show_it() -> None:
    shown = {one.key: one for one in memcurve.audit(NETWORK).estimates}
    assert shown["half"].name == "Half of it"
    assert shown["half"].total == pytest.approx(0.25 * 25)


def test_sweeps_take_it() -> None:
    from memcurve.studies.sweeping import evaluate

    case = {"ensemble": "cyclic", "size": 6, "method": "half", "seed": 1, "keep": ["total"]}
    assert evaluate(case | {"options": {"share": 1.0}}) == {"total": 6.0}


def test_the_page_shows_it() -> None:
    from memcurve.views.exploring.answers import shown_methods

    assert shown_methods()["Half of it"][0] is TOY


def test_numbers_do_not_depend_on_threads() -> None:
    """What methods without errors report is mostly rounding, and still the same everywhere."""
    from threadpoolctl import threadpool_limits

    network = ensembles.sparse_normal(100, spectral_radius=0.9, density=0.1, seed=1)
    for name, method in METHODS.items():
        if not method.bounded:
            seed = 1 if method.draws else None
            few = {"masks": 2, "samples": 2000}
            options = {key: few[key] for key in method.options if key in few}
            found = set()
            for threads in (1, 2):
                with threadpool_limits(threads, user_api="blas"):
                    curve = memcurve.memory_curve(network, 120, method=name, seed=seed, **options)
                found.add(curve.values.tobytes())
            assert len(found) == 1, name
