"""The lattice: energy, closed forms, relative accuracy against multi-precision arithmetic."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from draws import drawn_poles
from memcurve.solve.allpass import memory_of_poles, section_poles, sections_of
from memcurve.solve.answer import MOST_DEFAULT_LAGS, Lags
from refusals import refuses
from tolerances import EPS, LAST_DIGIT
from truth import true_losses


@pytest.mark.parametrize("radius", [0.3, 0.9, 0.999])
@pytest.mark.parametrize("seed", range(4))
def test_relative_accuracy_of_memory_and_loss(radius: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    poles = drawn_poles(rng, int(rng.integers(1, 13)), radius)
    lags = 4 * len(poles) + 40
    memory, loss = memory_of_poles(poles, lags)
    true_memory, true_loss = true_losses(poles, lags)
    assert np.abs(memory - true_memory).max() <= 8 * len(poles) * EPS
    # far below rounding: memory of 1e-60 is still right to ten digits
    assert np.allclose(memory, true_memory, rtol=1e-10, atol=0)
    assert np.allclose(loss, true_loss, rtol=1e-10, atol=0)


def test_sections_are_orthogonal() -> None:
    sections = sections_of(section_poles(drawn_poles(np.random.default_rng(1), 20, 0.999999)))
    pairs = sections[np.any(sections[:, 1] != 0, axis=1)]
    assert len(pairs) == 20
    assert np.abs(pairs @ pairs.transpose(0, 2, 1) - np.eye(3)).max() <= 8 * EPS
    singles = sections[np.all(sections[:, 1] == 0, axis=1)][:, ::2, :2]
    assert np.abs(singles @ singles.transpose(0, 2, 1) - np.eye(2)).max() <= 8 * EPS


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), radius=st.floats(0.01, 0.99))
def test_energy_and_total(seed: int, count: int, radius: float) -> None:
    poles = drawn_poles(np.random.default_rng(seed), count, radius)
    memory, loss = memory_of_poles(poles)
    assert np.abs(memory + loss - 1).max() <= LAST_DIGIT
    assert memory[0] == pytest.approx(1 - np.prod(np.abs(poles) ** 2), abs=1e-14)
    assert memory.sum() == pytest.approx(len(poles), abs=1e-12)


def test_lags_do_not_change_the_values() -> None:
    poles = drawn_poles(np.random.default_rng(2), 60, 0.9)
    whole = memory_of_poles(poles, 700)
    for lags in (1, 63, 64, 65, 200):
        part = memory_of_poles(poles, lags)
        assert len(part[0]) == lags
        assert np.array_equal(part[0], whole[0][:lags])


def test_unpaired_poles_are_refused() -> None:
    refuses(ValueError, "conjugate pairs", memory_of_poles, np.array([0.5 + 0.1j]), 3)


def test_choice_of_lags() -> None:
    def chosen(total: float, *blocks: list[float]) -> int | None:
        lags = Lags(None, total)
        ended = [lags.enough(np.array(block)) for block in blocks]
        assert ended == [False] * (len(blocks) - 1) + [lags.count is not None]
        return lags.count

    assert chosen(1, [1.0, 1e-3, 1e-13]) == 3
    assert chosen(1, [1.0, 1e-3]) is None
    # a pole with a time constant beyond 1e12: small values, and all of its memory still to come
    assert chosen(2, [1.0, 1e-13, 1e-13]) is None
    assert chosen(2, [1.0, 1.0, 1e-3, 1e-3, 1e-3], [1e-13]) == 6
    asked = Lags(4, 9.0)
    assert [asked.enough(np.ones(2)), asked.enough(np.ones(2)), asked.count] == [False, True, 4]
    assert len(memory_of_poles(np.array([1 - 1e-9 + 0j]))[0]) == MOST_DEFAULT_LAGS
