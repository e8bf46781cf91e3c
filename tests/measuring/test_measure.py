"""measure: held to what is exact, to its precision, and to its budget."""

import itertools
import json
from typing import Any

import numpy as np
import pytest

import memcurve
from command import failed, succeeded
from memcurve import NonlinearNetwork, ensembles, inputs, measure, models
from memcurve.core.errors import ModelError
from memcurve.data.measuring import run
from refusals import refuses
from word_oracle import contracting, step_of

#: Half a 90 % interval is 1.64 standard errors; fixed seeds stay within 3.3 of them.
TWICE = 2.0
#: A noise-free linear network, whose states hold each input up to rounding.
EXACT = 1e-6


@pytest.mark.parametrize(
    ("kind", "noise"), [("normal", 1e-2), ("symmetric", 1e-3), ("cyclic", 0.1)]
)
def test_intervals_hold_the_exact_memory(kind: str, noise: float) -> None:
    drawn: dict[str, Any] = {} if kind == "cyclic" else {"seed": 3}
    network = getattr(ensembles, kind)(20, spectral_radius=0.9, **drawn)
    exact = memcurve.memory_curve(network, noise=noise)
    curve = measure(network, precision=0.1, noise=noise, seed=1)
    assert curve.diagnostics["reached"]
    assert curve.total_error <= 0.1
    assert abs(curve.total - exact.total) <= TWICE * curve.total_error
    shared = min(len(curve), len(exact))
    off = np.abs(curve.values - np.pad(exact.values[:shared], (0, len(curve) - shared)))
    assert (off <= 3 * TWICE * curve.error + EXACT).all()
    assert curve.method == "measured"


def test_a_linear_network_without_noise_is_known_at_once() -> None:
    network = ensembles.orthogonal(20, spectral_radius=0.9, seed=1)
    curve = measure(network, seed=1)
    assert curve.total == pytest.approx(20, abs=EXACT)
    assert curve.diagnostics["steps"] < 4000


def test_several_inputs() -> None:
    network = ensembles.normal(12, spectral_radius=0.8, seed=2)
    network = network.replace(C=np.random.default_rng(1).standard_normal((12, 2)))
    exact = memcurve.memory_curve(network, noise=0.1)
    curve = measure(network, precision=0.1, noise=0.1, seed=1)
    assert curve.channels.shape[1] == 2
    assert abs(curve.total - exact.total) <= TWICE * curve.total_error


def test_complex_networks_and_readouts_are_read_as_they_simulate() -> None:
    drawn = ensembles.lru_ring(6, seed=1).replace(readout=[0, 2, 4])
    z = np.random.default_rng(1).standard_normal((1, 40, 1))
    assert np.allclose(models.Network(drawn).run(z)[0], drawn.simulate(z[0]), atol=1e-12)


def test_coloured_input_gives_the_memory_of_its_innovations() -> None:
    network = ensembles.orthogonal(10, spectral_radius=0.9, seed=1)
    curve = measure(network, input=inputs.ARMA(ar=[0.7]), precision=0.3, seed=1)
    assert curve.diagnostics["ar_order"] >= 1
    assert curve.total == pytest.approx(10, abs=0.5)


def test_state_affine_networks_have_their_exact_memory() -> None:
    network = contracting(5, seed=2)
    model = models.Step(step_of(network), np.zeros(5), input_range=(-1, 1))
    assert model.together
    curve = measure(model, 60, precision=0.02, seed=1)
    exact = memcurve.capacities(network, degree=1).by_degree[1]
    assert abs(curve.total - exact) <= TWICE * curve.total_error


def test_precision_of_single_lags() -> None:
    network = ensembles.normal(10, spectral_radius=0.9, seed=1)
    curve = measure(network, 30, precision=0.01, of="lags", noise=0.3, seed=1)
    assert curve.error.max() <= 0.01
    assert len(curve) == 30


def test_small_inputs_approach_the_linear_network() -> None:
    linear = ensembles.orthogonal(15, spectral_radius=0.9, seed=1)
    network = NonlinearNetwork(linear.A, linear.C)
    profile = memcurve.measure_scales(network, [1.0, 1e-3, 0.1], seed=1)
    assert profile.scales.tolist() == [1e-3, 0.1, 1.0]
    assert profile.totals[0] == pytest.approx(profile.limit.total, abs=0.05)
    assert (np.diff(profile.totals) < 0).all()
    assert "limit" in repr(profile)


def test_what_ends_before_the_precision_says_so() -> None:
    linear = ensembles.normal(20, spectral_radius=0.9, seed=1)
    network = NonlinearNetwork(linear.A, linear.C)
    curve = measure(network, precision=1e-4, steps=5000, seed=1)
    assert not curve.diagnostics["reached"]
    assert curve.diagnostics["precision"] == curve.total_error > 1e-4
    assert any("raise `steps`" in note for note in curve.notes)
    curve = measure(network, precision=1e-4, budget=1e-3, seed=1)
    assert any("raise `budget`" in note for note in curve.notes)


def test_the_same_seed_gives_the_same_numbers(monkeypatch) -> None:
    """However busy the machine is: there is no clock unless a budget is given."""
    network = NonlinearNetwork(*ensembles.normal(8, seed=1).real_pair())
    one = measure(network, precision=0.5, seed=4).values
    hours = itertools.count(0, 3600)
    monkeypatch.setattr(run.time, "monotonic", lambda: float(next(hours)))
    assert (one == measure(network, precision=0.5, seed=4).values).all()


def test_an_interval_of_too_few_rows_is_not_what_was_asked_for() -> None:
    """A slow network, whose interval is narrow long before it holds."""
    linear = ensembles.normal(40, spectral_radius=0.9, seed=1)
    slow = NonlinearNetwork(linear.A, linear.C, activation="identity", leak=0.3)
    few, enough = (
        measure(slow, 60, precision=3.0, noise=0.01, steps=steps, seed=1) for steps in (2100, None)
    )
    assert few.total_error <= 3.0  # narrow enough, by itself
    assert not few.diagnostics["reached"]
    assert any("few rows" in note for note in few.notes)
    assert any("from too few rows to rely on it" in note for note in few.notes)
    assert enough.diagnostics["reached"]
    assert enough.diagnostics["rows"] >= enough.diagnostics["rows_wanted"] == 60 * 40
    assert not any("few rows" in note for note in enough.notes)


def test_the_interval_of_a_slow_mode_includes_its_thin_tail() -> None:
    """Memory near the unit circle, half of it at lags that no test finds one by one."""
    network = ensembles.symmetric(10, spectral_radius=0.99, seed=1)
    curve = measure(network, precision=0.3, noise=0.1, steps=20_000, seed=1)
    exact = memcurve.memory_curve(network, noise=0.1)
    assert abs(curve.total - exact.total) <= curve.total_error
    assert curve.diagnostics["reached"]
    assert not any("understate" in note for note in curve.notes)
    assert len(curve) >= 2 * curve.diagnostics["end_lag"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"precision": 0}, "`precision`"),
        ({"budget": -1}, "`budget`"),
        ({"of": "all"}, "`of`"),
        ({"noise": -1}, "`noise`"),
        ({"start": np.zeros(3)}, "start"),
        ({"input": lambda rng, shape: rng.uniform(size=3)}, "(3,)"),
    ],
)
def test_bad_arguments(changes: dict[str, Any], said: str) -> None:
    refuses((ValueError, TypeError), said, measure, ensembles.cyclic(4), seed=1, **changes)


def test_what_is_no_model() -> None:
    refuses(TypeError, "`model`", measure, 3.0, seed=1)
    refuses(ModelError, "constant", measure, lambda z: np.ones((len(z), 3)), seed=1)


def test_the_command(tmp_path, command) -> None:
    picture, result = tmp_path / "memory.png", tmp_path / "memory.json"
    asked = ("--size", 10, "--precision", 0.5, "--plot", picture, "--save", result)
    done = succeeded(command("measure", *asked))
    assert "total memory" in done.out
    assert picture.stat().st_size > 1000
    assert memcurve.MemoryCurve.load(result).method == "measured"
    done = command("measure", "--size", 6, "--scales", 0.1, 1, "--json")
    assert json.loads(done.out)["format"] == "memcurve.ScaleProfile/1"
    said = failed(command("measure", "--report", "--lags", 3), 2)
    assert "--lags" in said
    said = failed(command("measure", "nothing.py:model"), 2)
    assert "there is no such file" in said


def test_models_of_a_python_file_and_commands(tmp_path, command) -> None:
    file = tmp_path / "mine.py"
    file.write_text("import numpy as np\ndef line(z):\n    return np.stack([z, z**3], axis=1)\n")
    done = succeeded(command("measure", f"{file}:line", "--lags", 5))
    assert "line" in done.out
    assert "has no other" in failed(command("measure", f"{file}:other"), 2)


def test_a_model_that_holds_nothing_has_a_memory_of_zero() -> None:
    own = np.random.default_rng(1)
    curve = measure(lambda z: own.standard_normal((len(z), 3)), 20, precision=0.2, seed=1)
    assert abs(curve.total) <= curve.total_error <= 0.2
    assert any("intrinsic noise" in note for note in curve.notes)
    rng = np.random.default_rng(2)
    saturated = NonlinearNetwork(np.abs(rng.standard_normal((30, 30))), rng.standard_normal(30))
    assert abs(measure(saturated, 20, precision=1, seed=1, budget=20).total) < 1


def test_what_depends_on_its_past_is_never_reached() -> None:
    """Two attractors: whichever a run starts in, its total is that of these runs alone."""
    linear = ensembles.normal(6, spectral_radius=0.5, seed=1)
    model = NonlinearNetwork(linear.A + 1.5 * np.eye(6), linear.C, input_scale=0.1)
    curve = measure(model, precision=1.0, seed=1, steps=20_000, progress=False)
    assert curve.total_error <= 1
    assert not curve.diagnostics["forgets"]
    assert not curve.diagnostics["reached"]
    assert any("holds for these runs alone" in note for note in curve.notes)
