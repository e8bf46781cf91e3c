"""Models: whatever can be run, every way to give it, and what is wrong with some of them."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reservoirpy import nodes

import memcurve
from adapted import leaky_states
from command import failed
from memcurve import NonlinearNetwork, UnstableNetworkError, ensembles, measure, models
from memcurve.core.errors import ModelError
from memcurve.core.types import Floats
from memcurve.data.measuring.models import as_model, is_driven
from memcurve.views.cli.measure import _subject
from memcurve.views.cli.options import NetworkOptions
from refusals import refuses
from written import ARCHIVES

LINEAR = ensembles.orthogonal(6, spectral_radius=0.8, seed=1)
TANH = NonlinearNetwork(LINEAR.A, LINEAR.C)
Z = np.random.default_rng(1).uniform(-1, 1, (3, 50, 1))
#: The same formula in another order of operations.
ROUNDING = 1e-12


def tanh_step(x: Floats, z: Any) -> Floats:
    return np.tanh(x @ LINEAR.A.T + np.multiply.outer(z, LINEAR.C))


def one_at_a_time(x: Floats, z: float) -> Floats:
    x[:] = np.tanh(LINEAR.A @ x + LINEAR.C * z)  # in place
    return x


WAYS = {
    "network": TANH,
    "function": lambda z: TANH.simulate(z),
    "step": models.Step(tanh_step, np.zeros(6)),
    "step, one at a time": models.Step(one_at_a_time, np.zeros(6)),
    "observed": models.Step(
        lambda s, z: {"x": tanh_step(s["x"], z)}, {"x": np.zeros(6)}, observe=lambda s: s["x"]
    ),
}


@pytest.mark.parametrize("kind", WAYS)
def test_all_ways_to_give_a_model_give_its_states(kind: str) -> None:
    model = as_model(WAYS[kind])
    expected = TANH.simulate_replicas(Z)
    assert np.abs(model.run(Z) - expected).max() <= ROUNDING
    assert np.abs(model.run(Z) - expected).max() <= ROUNDING  # and again, from the start
    assert model.together == (kind in ("network", "step"))
    half = model.scaled(0.5).run(2 * Z)
    assert np.abs(half - expected).max() <= ROUNDING
    assert repr(model)


def test_torch_modules(torch) -> None:
    torch.manual_seed(1)
    for module in (torch.nn.GRU(1, 5), torch.nn.LSTM(1, 5, batch_first=True), torch.nn.RNN(1, 5)):
        states = as_model(module).run(Z)
        assert states.shape == (3, 50, 5)
        with torch.no_grad():
            z = torch.as_tensor(Z, dtype=torch.float32)
            out = module(z if module.batch_first else z.transpose(0, 1))[0]
        out = out if module.batch_first else out.transpose(0, 1)
        assert np.abs(states - out.double().numpy()).max() == 0
    assert is_driven(torch.nn.LSTM(1, 5))
    assert not is_driven(torch.nn.RNN(1, 5))
    assert as_model(torch.nn.LSTMCell(1, 5)).run(Z).shape == (3, 50, 10)
    assert as_model(torch.nn.GRUCell(1, 5)).run(Z).shape == (3, 50, 5)

    class Wrapped(torch.nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.rnn = torch.nn.GRU(1, 4, batch_first=True)
            self.head = torch.nn.Linear(4, 2)

        def forward(self, z: Any) -> Any:
            return self.head(self.rnn(z)[0])

    module = Wrapped()
    assert models.Torch(module, inputs=1).run(Z).shape == (3, 50, 2)
    assert models.Torch(module, states="rnn").run(Z).shape == (3, 50, 4)
    assert module.training
    refuses(ValueError, "`states`", models.Torch, module, states="body")
    refuses(ValueError, "`inputs`", models.Torch, module)
    curve = measure(torch.nn.GRU(1, 8), 40, precision=0.5, seed=1)
    assert 0 < curve.total < 8


SIMULATOR = """
import sys
x = 0.0
for line in sys.stdin:
    x = 0.5 * x + float(line)
    print(x, -x, sep=SEPARATOR)
"""


def test_commands(monkeypatch) -> None:
    for separator in ("' '", "', '"):
        script = SIMULATOR.replace("SEPARATOR", separator)
        states = models.Command([sys.executable, "-c", script]).run(Z[:1])
        assert states.shape == (1, 50, 2)
        assert states[0, 0, 0] == Z[0, 0, 0]
    monkeypatch.setattr(models, "MOST_WRITTEN", 1000)
    for script, said in (
        ("import sys; sys.exit('no licence')", "no licence"),
        ("print('hello')", "hello"),
        ("print(1)", "1"),
        ("import time; time.sleep(60)", "1 s"),
        ("while True: print('1' * 1000)", "it wrote over 1,000 bytes"),
    ):
        model = models.Command([sys.executable, "-c", script], timeout=1)
        refuses(ModelError, said, model.run, Z[:1])
    nowhere = models.Command("no-such-program-anywhere")
    refuses(ModelError, "no-such-program-anywhere", nowhere.run, Z[:1])


def test_states_that_explode_are_named() -> None:
    model = models.Step(lambda x, z: 2 * x + z, np.ones(2))
    refuses(UnstableNetworkError, "step", measure, model, seed=1)


@pytest.mark.parametrize("error", [None, OSError("the device is gone")])
def test_what_was_measured_before_a_model_broke_is_kept(error: OSError | None) -> None:
    calls = [0]

    def breaks(z: Floats) -> Floats:
        calls[0] += 1
        states = TANH.simulate(z)
        if calls[0] > 10:  # two pasts twice, a look, a first round
            if error is not None:
                raise error
            states[len(z) // 2] = np.nan
        return states

    curve = measure(breaks, 10, precision=0.005, seed=1)
    assert not curve.diagnostics["reached"]
    assert curve.total > 1
    assert any("the model failed after" in note for note in curve.notes)
    assert any(str(error or "diverge") in note for note in curve.notes)


def test_a_state_that_is_kept_between_runs_is_found() -> None:
    kept = np.zeros(6)

    def step(x: Floats, z: float) -> Floats:
        kept[:] = np.tanh(LINEAR.A @ kept + LINEAR.C * z)
        return kept.copy()

    curve = measure(models.Step(step, np.zeros(6)), 30, precision=0.5, seed=1)
    assert any("not reset between runs" in note for note in curve.notes)


def test_inputs_out_of_range_are_refused_before_the_model_sees_them() -> None:
    seen: list[float] = []

    def device(z: Floats) -> Floats:
        seen.append(float(np.abs(z).max()))
        return TANH.simulate(z)

    narrow = models.Function(device, input_range=(-0.5, 0.5))
    refuses(ValueError, "-0.5 … 0.5", measure, narrow, input="white", seed=1)
    assert not seen
    assert measure(narrow, 30, precision=0.5, seed=1).total > 1
    assert max(seen) <= 0.5
    refuses(ValueError, "low", models.Function, device, input_range=(1, 1))


@pytest.mark.parametrize(
    "wrong", [lambda z: TANH.simulate(z)[1:], lambda z: np.array(["a"] * len(z)), lambda z: z]
)
def test_states_of_a_wrong_shape(wrong: Any) -> None:
    refuses(ModelError, "states", measure, wrong, seed=1)


def test_a_start_that_is_no_array() -> None:
    refuses(ValueError, "`start`", models.Step, tanh_step, np.zeros((2, 3)))


RNG = np.random.default_rng(5)
N = 7
W = 0.4 * RNG.standard_normal((N, N))
WIN = RNG.standard_normal(N)
BIAS = RNG.uniform(-0.5, 0.5, N)
EACH = RNG.uniform(0.2, 1, N)
U = RNG.uniform(-1, 1, (2, 60, 1))
#: Two recursions in float64 over 60 steps, in another order of operations; and in float32.
SAME, SINGLE = 1e-12, 1e-5
FUNCTIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "identity": lambda x: x}


def by_hand(
    *, leak: Any = 1.0, bias: Any = 0.0, activation: str = "tanh", scale: float = 1.0
) -> Floats:
    f = FUNCTIONS[activation]
    return np.array([leaky_states(W, scale * WIN[:, None], z, leak, bias, f) for z in U])


def subject(file: Path, mask: str | None = None, leak: float | None = None, **options: Any) -> Any:
    """What `memcurve measure FILE` runs, and the notes that it shows."""
    given = {"command": None, "activation": None, "input_scale": None, **options}
    return _subject(str(file), NetworkOptions(mask=mask, leak=leak), **given)


def off(model: Any, expected: Floats) -> float:
    return float(np.abs(as_model(model).run(U) - expected).max())


@pytest.mark.parametrize("ending", ["npz", "mat"])
@pytest.mark.parametrize("lr", [0.3, EACH], ids=["one", "each"])
def test_files_with_a_leak_rate(tmp_path, ending: str, lr: Any) -> None:
    """The leak is applied once, around the activation, and only one may be given."""
    file = tmp_path / f"weights.{ending}"
    arrays = {"W": W, "Win": WIN, "lr": lr, "bias": BIAS}
    ARCHIVES[ending](file, **{name: np.asarray(value) for name, value in arrays.items()})
    network, notes = subject(file, input_scale=0.7)
    assert off(network, by_hand(leak=lr, bias=BIAS, scale=0.7)) <= SAME
    assert "lr·tanh(W x + Win z + bias)" in notes[0]
    linear, _ = subject(file, activation="identity")
    exact = memcurve.load_network(file)
    assert off(linear, as_model(exact).run(U)) <= SAME
    drawn, _ = subject(file, mask="ones")
    assert np.array_equal(drawn.C, memcurve.masks.make("ones", N, seed=1))  # times no leak
    refuses(ValueError, "--leak 0.5", subject, file, leak=0.5)


def test_files_without_a_leak_rate(tmp_path) -> None:
    file = tmp_path / "weights.npz"
    np.savez(file, A=W, C=WIN)
    network, notes = subject(file, leak=0.3, activation="relu")
    assert off(network, by_hand(leak=0.3, activation="relu")) <= SAME
    assert not notes


@pytest.mark.parametrize("named", [False, True])
def test_biases_of_torch_layers_in_files(tmp_path, named: bool) -> None:
    file = tmp_path / "layer.safetensors"
    biases = {"rnn.bias_ih_l0": BIAS - 1, "rnn.bias_hh_l0": np.ones(N)}
    arrays = {"rnn.weight_hh_l0": W, "rnn.weight_ih_l0": WIN[:, None], **biases}
    ARCHIVES["safetensors"](file, **arrays)
    options = NetworkOptions(
        matrix="rnn.weight_hh_l0" if named else None, mask="rnn.weight_ih_l0" if named else None
    )
    network, _ = _subject(str(file), options, None, None, None)
    assert off(network, by_hand(bias=BIAS)) <= SAME


@pytest.mark.parametrize("activation", FUNCTIONS)
def test_reservoirpy_reservoirs(activation: str) -> None:
    reservoir = nodes.Reservoir(
        N, lr=0.3, W=W, Win=WIN[:, None], bias=BIAS, activation=activation, input_scaling=0.7
    )
    # weights that are given are taken as they are: reservoirpy scales those that it draws
    expected = by_hand(leak=0.3, bias=BIAS, activation=activation)
    for model in (reservoir, reservoir >> nodes.Ridge()):
        assert off(model, expected) <= SINGLE


def test_the_command_shows_what_the_file_tells(tmp_path, command) -> None:
    file = tmp_path / "weights.npz"
    np.savez(file, W=W, Win=WIN, lr=0.3, Wout=WIN)
    asked = ("measure", file, "--precision", 1, "--lags", 20)
    done = command(*asked)
    assert "the leak rate of the file is that of the network" in done.out
    assert "not used: Wout" in done.out
    assert "has a leak rate" in failed(command(*asked, "--leak", 0.3), 2)


def test_a_command_that_fails_is_said_in_one_line(command) -> None:
    said = failed(command("measure", "--command", "false"), 1)
    assert "the command false ended with status 1" in said
