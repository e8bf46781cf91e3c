"""Every way to give `measure` a network, against its recursion written out step by step."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reservoirpy import nodes

import memcurve
from command import Command, failed
from memcurve.core.types import Floats
from memcurve.data.measuring.models import as_model
from memcurve.views.cli.measure import _subject
from memcurve.views.cli.options import NetworkOptions
from refusals import refuses
from written import ARCHIVES

RNG = np.random.default_rng(5)
N = 7
W = 0.4 * RNG.standard_normal((N, N))
WIN = RNG.standard_normal(N)
BIAS = RNG.uniform(-0.5, 0.5, N)
EACH = RNG.uniform(0.2, 1, N)
Z = RNG.uniform(-1, 1, (2, 60, 1))
#: Two recursions in float64 over 60 steps, in another order of operations; and in float32.
SAME, SINGLE = 1e-12, 1e-5
FUNCTIONS = {"tanh": np.tanh, "relu": lambda x: np.maximum(x, 0), "identity": lambda x: x}


def by_hand(
    *, leak: Any = 1.0, bias: Any = 0.0, activation: str = "tanh", scale: float = 1.0
) -> Floats:
    """States of x ← (1 − leak)·x + leak·f(W x + scale·Win z + bias), from rest."""
    states = np.zeros((*Z.shape[:2], N))
    for r, series in enumerate(Z[:, :, 0]):
        x = np.zeros(N)
        for t, z in enumerate(series):
            field = [sum(W[i, j] * x[j] for j in range(N)) + scale * WIN[i] * z for i in range(N)]
            x = (1 - leak) * x + leak * FUNCTIONS[activation](np.array(field) + bias)
            states[r, t] = x
    return states


def subject(file: Path, mask: str | None = None, leak: float | None = None, **options: Any) -> Any:
    """What `memcurve measure FILE` runs, and the notes that it shows."""
    given = {"command": None, "activation": None, "input_scale": None, **options}
    return _subject(str(file), NetworkOptions(mask=mask, leak=leak), **given)


@pytest.mark.parametrize("activation", FUNCTIONS)
@pytest.mark.parametrize("leak", [1.0, 0.3, EACH], ids=["none", "one", "each"])
def test_networks(activation: str, leak: Any) -> None:
    network = memcurve.NonlinearNetwork(
        W, WIN, activation=activation, leak=leak, shift=BIAS, input_scale=0.7
    )
    expected = by_hand(leak=leak, bias=BIAS, activation=activation, scale=0.7)
    assert np.abs(as_model(network).run(Z) - expected).max() <= SAME
    if activation == "identity":
        linear = memcurve.adapters.leaky(W, 0.7 * WIN, leak, bias=BIAS)
        assert np.abs(as_model(linear).run(Z) - expected).max() <= SAME


@pytest.mark.parametrize("ending", ["npz", "mat"])
@pytest.mark.parametrize("lr", [0.3, EACH], ids=["one", "each"])
def test_files_with_a_leak_rate(tmp_path: Path, ending: str, lr: Any) -> None:
    """The leak is applied once, around the activation, and only one may be given."""
    file = tmp_path / f"weights.{ending}"
    arrays = {"W": W, "Win": WIN, "lr": lr, "bias": BIAS}
    ARCHIVES[ending](file, **{name: np.asarray(value) for name, value in arrays.items()})
    network, notes = subject(file, input_scale=0.7)
    assert np.abs(as_model(network).run(Z) - by_hand(leak=lr, bias=BIAS, scale=0.7)).max() <= SAME
    assert "lr·tanh(W x + Win z + bias)" in notes[0]
    linear, _ = subject(file, activation="identity")
    exact = memcurve.load_network(file)
    assert np.abs(as_model(linear).run(Z) - as_model(exact).run(Z)).max() <= SAME
    drawn, _ = subject(file, mask="ones")
    assert np.array_equal(drawn.C, memcurve.masks.make("ones", N, seed=1))  # times no leak
    refuses(ValueError, "--leak 0.5", subject, file, leak=0.5)


def test_files_without_a_leak_rate(tmp_path: Path) -> None:
    file = tmp_path / "weights.npz"
    np.savez(file, A=W, C=WIN)
    network, notes = subject(file, leak=0.3, activation="relu")
    assert np.abs(as_model(network).run(Z) - by_hand(leak=0.3, activation="relu")).max() <= SAME
    assert not notes


@pytest.mark.parametrize("named", [False, True])
def test_biases_of_torch_layers_in_files(tmp_path: Path, named: bool) -> None:
    file = tmp_path / "layer.safetensors"
    biases = {"rnn.bias_ih_l0": BIAS - 1, "rnn.bias_hh_l0": np.ones(N)}
    arrays = {"rnn.weight_hh_l0": W, "rnn.weight_ih_l0": WIN[:, None], **biases}
    ARCHIVES["safetensors"](file, **arrays)
    options = NetworkOptions(
        matrix="rnn.weight_hh_l0" if named else None, mask="rnn.weight_ih_l0" if named else None
    )
    network, _ = _subject(str(file), options, None, None, None)
    assert np.abs(as_model(network).run(Z) - by_hand(bias=BIAS)).max() <= SAME


@pytest.mark.parametrize("activation", FUNCTIONS)
def test_reservoirpy_reservoirs(activation: str) -> None:
    reservoir = nodes.Reservoir(
        N, lr=0.3, W=W, Win=WIN[:, None], bias=BIAS, activation=activation, input_scaling=0.7
    )
    # weights that are given are taken as they are: reservoirpy scales those that it draws
    expected = by_hand(leak=0.3, bias=BIAS, activation=activation)
    for model in (reservoir, reservoir >> nodes.Ridge()):
        assert np.abs(as_model(model).run(Z) - expected).max() <= SINGLE


def test_the_command_shows_what_the_file_tells(tmp_path: Path, command: Command) -> None:
    file = tmp_path / "weights.npz"
    np.savez(file, W=W, Win=WIN, lr=0.3, Wout=WIN)
    asked = ("measure", file, "--precision", 1, "--lags", 20)
    done = command(*asked)
    assert "the leak rate of the file is that of the network" in done.out
    assert "not used: Wout" in done.out
    assert "has a leak rate" in failed(command(*asked, "--leak", 0.3), 2)


def test_a_command_that_fails_is_said_in_one_line(command: Command) -> None:
    said = failed(command("measure", "--command", "false"), 1)
    assert "the command false ended with status 1" in said
