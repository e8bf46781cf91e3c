"""Number formats have a range: states that overflow or vanish are not read."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import memcurve
from memcurve import Float32, Float64, LinearNetwork, MemoryCurve, Quantised, inputs, memory_curve
from memcurve.inputs.noise import Noise, floating_point_deviations, number_formats
from memcurve.solve.analysis import Analysis
from memcurve.studies.sweeping import evaluate
from tolerances import agree

ADC = Quantised(bits=12, low=-4, high=4)
DIAGONAL = np.diag([0.5, -0.6, 0.7])


def chain(gain: float, length: int) -> LinearNetwork:
    return LinearNetwork(np.diag(np.full(length - 1, gain), -1), np.eye(length)[0])


def said(curve: MemoryCurve) -> str:
    return "; ".join(note for note in curve.notes if note.kind == "reach")


# All states out of range


@pytest.mark.parametrize("method", ["exact", "certified"])
@pytest.mark.parametrize("made", [np.asarray, csr_array])
@pytest.mark.parametrize("size", [1e200, 1e-200])
def test_a_mask_beyond_single_precision(size: float, made: Any, method: str) -> None:
    network = LinearNetwork(made(DIAGONAL), size * np.array([1.0, 2.0, 3.0]))
    single = memory_curve(network, noise=Float32(), method=method)
    assert single.total == single.total_error == 0
    word = "large" if size > 1 else "small"
    assert f"3 of 3 states are too {word} for float32" in said(single)
    double = memory_curve(network, noise=Float64(), method=method)
    assert abs(double.total - 3) <= double.total_error + 1e-12
    assert said(double) == ""


def test_a_mask_beyond_a_converter() -> None:
    curve = memory_curve(LinearNetwork(DIAGONAL, np.full(3, 9.0)), noise=ADC)
    assert curve.total == 0
    assert "3 of 3 states are outside the range -4 … 4" in said(curve)
    away = Quantised(bits=8, low=50, high=60)
    assert memory_curve(LinearNetwork(DIAGONAL, np.ones(3)), noise=away).total == 0


# Some


@pytest.mark.parametrize("method", ["exact", "certified"])
@pytest.mark.parametrize(
    ("gain", "noise", "count"),
    [
        (1e30, Float32(), 2),  # 1, 1e30
        (1e-30, Float32(), 2),
        (1e30, Float64(), 11),  # 1, …, 1e300
        (1e-30, Float64(), 11),
        (16.0, ADC, 1),
    ],
)
def test_chains_of_gains(gain: float, noise: Noise, count: int, method: str) -> None:
    """Node τ of a delay line holds lag τ alone, and does as long as it is in range."""
    curve = memory_curve(chain(gain, 12), 12, noise=noise, method=method)
    assert np.all(np.abs(curve.values[:count] - 1) <= curve.error[:count] + 1e-6)
    assert np.all(curve.values[count:] <= curve.error[count:])
    assert f"{12 - count} of 12 state" in said(curve)
    assert curve.diagnostics["unreadable"] == 12 - count


@pytest.mark.parametrize("method", ["exact", "certified"])
@pytest.mark.parametrize(("noise", "lost"), [(Float32(), 1e200), (Float32(), 1e-200), (ADC, 1e200)])
@pytest.mark.parametrize("made", [np.asarray, csr_array])
def test_states_in_range_are_read_as_if_alone(
    made: Any, noise: Noise, lost: float, method: str
) -> None:
    rng = np.random.default_rng(1)
    A, C = rng.standard_normal((6, 6)), 0.1 * rng.standard_normal(6)
    A *= 0.7 / np.abs(np.linalg.eigvals(A)).max()
    sizes = np.array([1, lost, 1, 1, lost, 1])
    A, C = A * (sizes[:, None] / sizes), C * sizes  # which drive each other
    whole = memory_curve(LinearNetwork(made(A), C), 8, noise=noise, method=method)
    some = memory_curve(LinearNetwork(A, C, readout=[0, 2, 3, 5]), 8, noise=noise, method=method)
    assert agree(whole, some)
    assert "2 of 6 states are" in said(whole)
    assert whole.rank == some.rank
    assert whole.total > 1


def test_readouts_count_what_they_read() -> None:
    network = LinearNetwork(DIAGONAL, [1, 1e200, 1e-200], readout=[0, 1])
    curve = memory_curve(network, noise=Float32())
    assert "1 of 2 states is too large" in said(curve)
    assert "small" not in said(curve)
    assert agree(curve, memory_curve(LinearNetwork(DIAGONAL[:1, :1], [1]), noise=Float32()))


def test_inputs_alike_and_several() -> None:
    A = np.diag([0.5, 0.6, 0.7, 0.8])
    twice = np.array([[1, 1e200, 1, 1e200]] * 2).T
    for mask in (twice, twice * [[1, 2], [3, 1], [2, 5], [1, 1]]):
        whole, some = LinearNetwork(A, mask), LinearNetwork(A[::2, ::2], mask[::2])
        assert agree(*(memory_curve(one, 9, noise=Float32()) for one in (whole, some)))


# Units


@pytest.mark.parametrize("method", ["exact", "certified"])
@pytest.mark.parametrize(
    ("noise", "powers"), [(Float32(), (-80, 110)), (Float64(), (-960, -500, 900))]
)
def test_powers_of_two_in_range_change_nothing(
    noise: Noise, powers: tuple[int, ...], method: str
) -> None:
    rng = np.random.default_rng(2)
    A, C = rng.standard_normal((8, 8)), rng.standard_normal(8)
    A *= 0.8 / np.abs(np.linalg.eigvals(A)).max()
    plain = memory_curve(LinearNetwork(A, C), 10, noise=noise, method=method)
    for power in powers:
        moved = memory_curve(LinearNetwork(A, np.ldexp(C, power)), 10, noise=noise, method=method)
        assert agree(plain, moved)
        assert moved.values == pytest.approx(plain.values, abs=1e-15)
        assert said(moved) == ""


# Equal steps below the smallest normal number


def test_equal_steps_in_any_units() -> None:
    """Errors too small for float64 are known in units of powers of two."""
    sizes = np.array([1.0, 1.5, 0.9])
    for noise in (Float32(), Float64()):
        for below in (10, 100, 1000):  # the smallest normal number
            found = noise.relative_observation(sizes, noise.min_exponent - below)
            assert found == pytest.approx(np.ldexp(1 / np.sqrt(12), below - noise.digits), rel=1e-9)
        normal = floating_point_deviations(sizes, noise.digits)
        assert np.array_equal(noise.relative_observation(sizes, noise.min_exponent + 40), normal)


def test_small_states_lose_memory_to_equal_steps() -> None:
    """A delay line again: MC_τ = g²/(g² + q²/12)."""
    curve = memory_curve(chain(2.0**-12, 13), 13, noise=Float32())
    gains, step = np.ldexp(1.0, -12 * np.arange(13)), np.ldexp(1.0, -149)
    expected = gains**2 / (gains**2 + step**2 / 12)
    assert curve.values[11:] == pytest.approx(expected[11:], rel=1e-9)  # 2^−132 and 2^−144
    assert "2 of 13 states are below the smallest normal number" in said(curve)


# Converters


@pytest.mark.parametrize(("size", "clipped"), [(0.999, 0), (1.001, 2), (7.9, 2)])
def test_converters_clip(size: float, clipped: int) -> None:
    network = LinearNetwork(np.zeros((2, 2)), [[size, 0], [0, size]])
    curve = memory_curve(network, 1, noise=ADC)
    assert (f"{clipped} of 2 states are beyond the range" in said(curve)) == bool(clipped)
    alike = memory_curve(network, 1, noise=Quantised(ADC.step))  # without a range
    assert agree(curve, alike)
    assert said(alike) == ""


# Levels of formats, audits, sweeps


def test_formats_that_hold_no_state_have_no_level() -> None:
    assert "float32" not in number_formats(np.full(3, 1e200))
    marks, moved = (number_formats(np.array([s, 2 * s])) for s in (1.0, 2.0**100))
    assert all(moved[name] == np.ldexp(marks[name], 100) for name in marks)
    mixed = number_formats(np.array([1.0, 1e200]))
    assert mixed["float32"] == number_formats(np.ones(1))["float32"]


def test_audits_know_the_range() -> None:
    rows = memcurve.audit(LinearNetwork(DIAGONAL, [1e200, 1.0, 1.0])).usable.rows
    totals = {row.name: row.total for row in rows}
    assert totals["float32"] == pytest.approx(2, abs=1e-6)
    assert totals["float64"] == pytest.approx(3, abs=1e-6)


@pytest.mark.parametrize("method", ["naive", "montecarlo"])
def test_estimates_know_the_range(method: str) -> None:
    network = LinearNetwork(DIAGONAL, [1e200, 1.0, 1.0])
    curve = memory_curve(network, 20, noise=Float32(), method=method, seed=1)
    assert curve.total == pytest.approx(2, abs=0.1)
    assert "1 of 3 states is too large for float32" in said(curve)
    with pytest.raises(memcurve.UncertainResultError, match="number format"):
        memory_curve(network.replace(readout=[0]), 20, noise=Float32(), method=method, seed=1)


def test_sweeps_know_the_range() -> None:
    """Noise of one size stands for rounding, but not for overflow."""
    case = {"ensemble": "delay_line", "size": 5, "keep": ["usable_float32", "usable_float64"]}
    kept = evaluate(case | {"ensemble_options": {"gain": 1e30}})
    assert kept["usable_float32"] == pytest.approx(2)


@pytest.mark.filterwarnings("ignore::memcurve.RankWarning")  # of the mask that spans 200 decades
def test_noise_whose_square_vanishes_next_to_the_largest_state() -> None:
    network = LinearNetwork(DIAGONAL, [1, 1e200, 1])
    exact, proven = (memory_curve(network, 9, noise=1e-3, method=m) for m in ("exact", "certified"))
    assert agree(exact, proven)


@pytest.mark.parametrize("phi", [0.9, 0.9999])
def test_sizes_under_inputs_that_remember_long(phi: float) -> None:
    loops, input = np.diag(DIAGONAL), inputs.ARMA([phi])
    network = LinearNetwork(DIAGONAL, np.ones(3))
    variances = (1 + loops * phi) / ((1 - loops**2) * (1 - loops * phi))  # of unit input
    assert Analysis(network).deviations((input,)) == pytest.approx(np.sqrt(variances), rel=1e-10)
    narrow = Quantised(bits=12, low=-0.1, high=0.1)
    assert memory_curve(network, 5, input=input, noise=narrow).total == 0
    curve, free = (memory_curve(network, 5, input=input, noise=n) for n in (Float32(), None))
    assert curve.total == pytest.approx(free.total, rel=1e-4)
