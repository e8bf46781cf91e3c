"""Stacks of poles against closed forms, multi-precision and one network at a time."""

import sys

import numpy as np
import pytest

from draws import drawn_poles
from memcurve import memory_curve
from memcurve.memory.batch import MemoryCurves, curves_of_poles
from memcurve.memory.curve import note
from memcurve.solve.allpass import memory_of_poles
from refusals import refuses
from tolerances import CLOSED_FORM, EPS, WHOLE_SUM
from truth import true_losses

#: The lattice for one network, itself right to a few of these (tests/solve/test_allpass.py).
REFERENCE = 16 * EPS


def stack_of_poles(seed: int, stack: int, count: int, radius: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    poles = np.array([drawn_poles(rng, count, radius) for _ in range(stack)])
    scale = radius / np.abs(poles).max(axis=1)
    return poles * scale[:, None]


def reference(poles: np.ndarray, lags: int) -> tuple[np.ndarray, np.ndarray]:
    memory, loss = zip(*(memory_of_poles(one, lags) for one in poles), strict=True)
    return np.array(memory), np.array(loss)


def assert_within_error(curves: MemoryCurves, memory: np.ndarray, loss: np.ndarray) -> None:
    assert np.all(np.abs(curves.values - memory) <= curves.error + REFERENCE)
    assert np.all(np.abs(curves.loss - loss) <= curves.error + REFERENCE)


@pytest.mark.parametrize("radius", [0.3, 0.9, 0.99, 0.999])
@pytest.mark.parametrize(("count", "stack"), [(1, 4), (7, 2), (7, 20), (60, 2), (60, 80)])
def test_curves_lie_within_their_error(radius: float, count: int, stack: int) -> None:
    poles = stack_of_poles(count, stack, count, radius)
    lags = 3 * poles.shape[1] + 20
    curves = curves_of_poles(poles, lags)
    assert_within_error(curves, *reference(poles, lags))
    assert curves.error.max() <= 1e-12
    assert np.all(curves.rank == poles.shape[1])


def test_against_multi_precision() -> None:
    poles = stack_of_poles(5, 3, 9, 0.97)
    truth = [true_losses(one, 80) for one in poles]
    memory, loss = (np.array(part) for part in zip(*truth, strict=True))
    for copies in (1, 5):  # large networks one by one, many small ones together
        curves = curves_of_poles(np.tile(poles, (copies, 1)), 80)
        memory_error = np.abs(curves.values - np.tile(memory, (copies, 1)))
        assert memory_error.max() <= 8 * poles.shape[1] * EPS
        assert np.abs(curves.loss[:3] - loss).max() <= 8 * poles.shape[1] * EPS
        # relative accuracy, far below the error that is reported
        assert np.all(memory_error[:3] <= 1e-10 * memory)


def test_poles_close_to_the_circle() -> None:
    for poles in (stack_of_poles(3, 3, 20, 0.99999), np.array([[1 - 1e-12, 0.5]], complex)):
        curves = curves_of_poles(poles, 2000)
        assert_within_error(curves, *reference(poles, 2000))


def test_default_lags_hold_the_memory() -> None:
    poles = np.concatenate([stack_of_poles(1, 3, 12, 0.5), stack_of_poles(2, 2, 12, 0.995)])
    curves = curves_of_poles(poles)
    assert np.abs(curves.values.sum(axis=1) - poles.shape[1]).max() <= 3 * WHOLE_SUM
    assert curves.values.shape[1] == max(len(memory_of_poles(one)[0]) for one in poles)


def test_closed_forms() -> None:
    delay = curves_of_poles(np.zeros((1, 5)), 8)
    assert np.abs(delay.values - [[1, 1, 1, 1, 1, 0, 0, 0]]).max() <= CLOSED_FORM
    # a ring of N nodes with weight ρ: MC_τ = ρ^{2kN}(1 − ρ^{2N}), kN ≤ τ < (k + 1)N
    ring = 0.9 * np.exp(2j * np.pi * np.arange(10) / 10)
    expected = 0.9 ** (20 * (np.arange(60) // 10)) * (1 - 0.9**20)
    curve = curves_of_poles(ring, 60)
    assert curve.values.shape == (60,)
    assert np.abs(curve.values - expected).max() <= CLOSED_FORM
    one = curves_of_poles([[0.5]], 4)
    assert np.abs(one.values - 0.75 * 0.25 ** np.arange(4)).max() <= CLOSED_FORM


def test_unpaired_poles_and_conjugates() -> None:
    rng = np.random.default_rng(7)
    upper = 0.9 * np.sqrt(rng.random((2, 6))) * np.exp(1j * rng.uniform(0, np.pi, (2, 6)))
    by_hand = curves_of_poles(np.concatenate([upper, upper.conj()], axis=1), 50)
    added = curves_of_poles(upper, 50, add_conjugates=True)
    assert np.array_equal(by_hand.values, added.values)
    assert np.all(added.rank == 12)
    memory, _ = true_losses(upper[0], 50)
    assert np.abs(curves_of_poles(upper, 50).values[0] - memory).max() <= 100 * EPS


def test_shapes_and_indexing() -> None:
    poles = stack_of_poles(1, 6, 3, 0.9)
    flat, nested = curves_of_poles(poles, 20), curves_of_poles(poles.reshape(2, 3, -1), 20)
    assert nested.shape == (2, 3)
    assert nested.values.shape == (2, 3, 20)
    assert len(nested) == 2
    curve = nested[1, 2]
    assert np.array_equal(curve.values, flat.values[5])
    assert curve.total == poles.shape[1]
    assert flat[-1].values[3] == flat.values[5, 3]
    single = curves_of_poles(poles[0], 20)
    assert np.abs(single[()].values - flat.values[0]).max() <= 100 * EPS
    refuses(TypeError, "single network", len, single)
    for wrong in (0, (0, 3), (0, True), (0, 1.0), (0, slice(2))):
        with pytest.raises(IndexError):
            nested[wrong]
    assert len(list(flat)) == 6
    assert "MemoryCurves of 6 networks, 20 lags" in repr(flat)


def test_other_arrays_need_a_package(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    assert curves_of_poles([[0.5]], 3).values.shape == (1, 3)  # NumPy's do not
    refuses(ModuleNotFoundError, "the extra `arrays`", curves_of_poles, object())


@pytest.mark.slow
def test_lags_that_stop_before_the_memory_does() -> None:
    curves = curves_of_poles([1 - 1e-9])
    assert len(curves.lags) == 100_000
    [note] = [note for note in curves.notes if note.kind == "lags"]
    assert note.startswith("lags are truncated at 100000")
    assert not any(note.kind == "lags" for note in curves_of_poles([0.9]).notes)


def test_complex_poles_without_their_conjugates_are_told():
    poles = np.array([0.9 * np.exp(0.3j), 0.5j])
    both = curves_of_poles(poles, 5, add_conjugates=True)
    np.testing.assert_allclose(both.values, memory_curve((poles, np.ones(2)), 5).values, atol=1e-12)
    paired = np.append(poles, poles.conj())
    for given, alone in ((poles, True), (paired, False), ([0.9, 0.5], False)):
        assert (note("complex_once") in curves_of_poles(given, 5).notes) == alone
    assert note("complex_once") not in both.notes
