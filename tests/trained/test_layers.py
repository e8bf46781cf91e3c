"""Memory of trained layers: closed forms, the exact method by channel, libraries' own runs."""

import itertools
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from safetensors import numpy as safetensors

import memcurve
from data_scenarios import unit_states
from memcurve.core.types import Floats
from memcurve.io import NetworkFileError, open_safetensors
from memcurve.trained import layer_network
from memcurve.trained.channels import channel_memory
from memcurve.trained.kinds import KINDS, recognised
from refusals import refuses

#: Batched singular values of 2n ≤ 32 states at noise 1e-4 and above.
BATCHED = 1e-8


@pytest.mark.parametrize("noise", [0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("modes", ["real", "complex", "acting on each other"])
@pytest.mark.parametrize("inputs", [(), (1,), (3,)], ids=str)
def test_channels_are_what_the_exact_method_gives(
    modes: str, noise: float, inputs: tuple[int, ...]
) -> None:
    rng = np.random.default_rng(7)
    A: Any = rng.uniform(0.3, 0.995, (5, 6))
    drive: Any = rng.normal(size=(5, 6, *inputs))
    if modes == "complex":
        A = A * np.exp(1j * rng.uniform(0.01, 3.1, (5, 6)))
        drive = drive + 1j * rng.normal(size=drive.shape)
    drive[1, 2] = 0
    if inputs == (3,):
        A[0, 1] = A[0, 0]
    elif modes == "acting on each other":  # far from normal, and one that is not excited
        A = A[:, :, None] * np.eye(6) + np.triu(rng.normal(size=(5, 6, 6)), 1)
        drive, A[0, 3:, 3:], A[0, 3:] = drive.reshape(5, 6, -1), 0.5 * np.eye(3), 0
    memory = channel_memory(A, drive, noise, entries=200)  # in several blocks
    for k in range(5):
        heard = drive[k].reshape(6, -1).any(axis=1) | (A.ndim == 3)
        matrix = A[k] if A.ndim == 3 else np.diag(A[k][heard])
        network = memcurve.LinearNetwork(matrix, drive[k][heard])
        curve = memcurve.memory_curve(unit_states(network), 4000, noise=noise)
        within = np.cumsum(curve.values)
        assert abs(memory.usable[k] - curve.total) < BATCHED + memory.error[k]
        assert memory.half[k] == np.searchsorted(within, 0.5 * curve.total) + 1
        assert memory.nine_tenths[k] == np.searchsorted(within, 0.9 * curve.total) + 1
        age = curve.values @ np.arange(len(within)) / curve.total
        assert abs(memory.mean_age[k] - age) < 1e-6 * age
        assert memory.rank[k] == memcurve.rank(network)


def test_one_mode_has_its_closed_form() -> None:
    """MC_τ = (1 − λ²)λ^2τ/(1 + s²): total 1/(1 + s²), mean age λ²/(1 − λ²)."""
    poles, noise = np.array([[0.5], [0.9], [0.999]]), 0.3
    memory = channel_memory(poles, None, noise)
    squares = poles[:, 0] ** 2
    assert np.abs(memory.usable - 1 / (1 + noise**2)).max() < 1e-14
    assert np.abs(memory.mean_age / (squares / (1 - squares)) - 1).max() < 1e-10
    assert (memory.half == np.ceil(np.log(0.5) / np.log(squares))).all()
    assert np.abs(memory.time_constant + 1 / np.log(poles[:, 0])).max() < 1e-9


def test_what_nothing_drives_and_what_forgets_at_once() -> None:
    silent, at_once = np.zeros((2, 1)), np.zeros((2, 2))
    for A, B, usable, rank in (0.5 * np.eye(2), silent, 0, 0), (at_once, silent + 1, 1, 1):
        [layer] = memcurve.layers({"A": A, "B": B}, noise=0.1).layers
        # two readings of one input have half the noise
        assert abs(layer.usable[0] - usable / (1 + 0.1**2 / 2)) < 1e-14
        assert (layer.rank[0], layer.half[0], layer.mean_age[0]) == (rank, 1, 0)


def test_one_input_and_several_agree_next_to_the_circle() -> None:
    """Cascade and sums of powers: modes of a million steps have ages, and their errors hold."""
    rng = np.random.default_rng(3)
    moduli, angles = 1 - 10 ** rng.uniform(-6.5, -1, (40, 6)), 10 ** rng.uniform(-4, 0.4, (40, 6))
    poles, drive = moduli * np.exp(1j * angles), rng.standard_normal((40, 6)) + 1j
    for noise in (1e-2, 1e-6):
        one, several = (channel_memory(poles, b, noise) for b in (drive, drive[:, :, None]))
        assert (np.abs(one.usable - several.usable) <= one.error + several.error).all()
        assert np.isfinite(one.mean_age).all()
        np.testing.assert_allclose(one.mean_age, several.mean_age, rtol=1e-4)
        np.testing.assert_allclose(one.nine_tenths, several.nine_tenths, rtol=1e-6)


def test_poles_next_to_each_other_and_repeated_ones() -> None:
    close = 0.9 + 1e-9 * np.arange(4)
    memory = channel_memory(np.array([close, np.full(4, 0.9)]), None, 1e-3)
    assert memory.rank.tolist() == [4, 1]
    # four states that are one and the same, read four times: noise of variance s²/4
    assert abs(memory.usable[1] - 1 / (1 + 1e-6 / 4)) < 1e-12
    assert abs(memory.usable[0] - memory.usable[1]) < 1e-6


# --- the kinds, each against its formula written once more

rng = np.random.default_rng(1)
A_LOG, BIAS = np.log(np.tile(np.arange(1.0, 5), (3, 1))), rng.normal(-3, 1, 3)


def held(poles: Any, steps: Any) -> tuple[Any, Any]:
    """Poles and drives of the zero-order hold, as in S4D's listing."""
    scaled = np.multiply.outer(steps, poles)
    return np.exp(scaled), (np.exp(scaled) - 1) / poles


CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "LRU": (
        {"nu_log": np.array([-3.0, -2]), "theta_log": np.array([0.1, 0.5])},
        np.exp(-np.exp([-3.0, -2]) + 1j * np.exp([0.1, 0.5]))[None],
    ),
    "S4D": (
        {"log_A_real": np.zeros((2, 3)), "A_imag": np.ones((2, 1)) * np.arange(3.0),
         "log_dt": np.log([0.1, 0.2])},
        held(-1 + 1j * np.arange(3.0), [0.1, 0.2]),
    ),
    "DSS": (
        {"Lambda": np.stack([-np.ones(3), np.arange(3.0)], 1), "log_dt": np.log([0.1, 0.2])},
        held(-1 + 1j * np.arange(3.0), [0.1, 0.2]),
    ),
    "Mamba": (
        {"A_log": A_LOG, "dt_proj.bias": BIAS},
        np.exp(-np.arange(1.0, 5) * np.log1p(np.exp(BIAS))[:, None]),
    ),
    "scalar decay (Mamba-2, DeltaNet)": (
        {"A_log": np.log([1.0, 2, 3]), "dt_bias": BIAS},
        np.exp(-np.array([1.0, 2, 3]) * np.log1p(np.exp(BIAS)))[:, None],
    ),
    "RG-LRU": (
        {"recurrent_param": BIAS, "recurrent_gate_bias": np.zeros((1, 3))},
        np.exp(-4 * np.log1p(np.exp(BIAS)))[:, None],
    ),
    "RWKV": ({"time_decay": BIAS}, np.exp(-np.exp(BIAS))[:, None]),
    "RWKV-6": (
        {"time_decay": BIAS[None, None], "time_decay_w1": np.ones((3, 2))},
        np.exp(-np.exp(BIAS))[:, None],
    ),
    "DeltaNet": (
        {"b_proj.weight": np.ones((2, 8)), "k_proj.weight": np.eye(8)}, np.full((2, 1), 0.5),
    ),
    "lightning attention": (
        {"slope_rate": np.array([0.5, 0.25])[:, None, None]}, np.exp([[-0.5], [-0.25]]),
    ),
    "RWKV-7": (
        {"w0": BIAS, "w1": np.ones((3, 2))}, np.exp(-np.exp(-0.5) / (1 + np.exp(-BIAS)))[:, None],
    ),
    "mLSTM": (
        {"fgate_preact.bias": -BIAS}, 1 / (1 + np.exp(-15 * np.tanh(-BIAS / 15)))[:, None],
    ),
    "GLA": ({"gk_proj.1.bias": BIAS}, (1 / (1 + np.exp(-BIAS)))[:, None] ** (1 / 16)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_kinds_are_recognised_and_decoded(name: str) -> None:
    tensors, expected_poles = CASES[name]
    poles, drive = expected_poles if isinstance(expected_poles, tuple) else (expected_poles, None)
    stored = {f"model.layers.3.{key}": value for key, value in tensors.items()}
    result = memcurve.layers(stored, noise=1e-3)
    [layer] = result.layers
    assert (layer.kind, layer.name) == (name, "model.layers.3")
    expected = channel_memory(poles, drive, 1e-3)
    assert np.abs(layer.usable - expected.usable).max() < BATCHED
    assert np.abs(layer.mean_age / expected.mean_age - 1).max() < 1e-9
    [kind] = [each for each in KINDS if each.name == name]
    assert bool(layer.gate) == bool(kind.gate)
    assert any(kind.source in str(note) for note in result.notes)
    A = layer_network(stored, layer.name).A
    found = np.linalg.eigvals(A.toarray() if hasattr(A, "toarray") else A)
    assert np.abs(found[:, None] - poles[0]).min(axis=0).max() < 1e-12


ORDINARY = 1 / (1 + np.exp(-BIAS))
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any], Any]] = {
    "VMamba": (
        {"A_logs": np.zeros((4, 1)), "dt_projs_bias": np.append(BIAS, 0).reshape(2, 2)}, {},
        [*(1 - ORDINARY), 0.5],
    ),
    "HGRN, a layer a row": (
        {"lower_bounds": np.log([[1.0, 2], [3, 2]])}, {}, [0.5, 0.5, 0.875, 0.75],
    ),
    "mLSTM of NX-AI": ({"fgate.bias": BIAS}, {}, ORDINARY),
    "mLSTM, gates in one": (
        {"ifgate_preact.bias": np.append(np.zeros(3), BIAS)}, {"gate_soft_cap": 30.0},
        1 / (1 + np.exp(-30 * np.tanh(BIAS / 30))),
    ),
    "GLA": ({"gk_proj.1.bias": BIAS}, {"gate_logit_normalizer": 8}, ORDINARY ** (1 / 8)),
    "GLA, decays bounded": (
        {"gk_proj.1.bias": BIAS}, {"gate_logit_normalizer": 1, "clamp_min": -0.1},
        np.maximum(ORDINARY, np.exp(-0.1)),
    ),
    "KDA": (
        {"A_log": np.log(np.full(3, 2.0)), "dt_bias": BIAS},
        {"text_config": {"linear_lower_bound": -5.0}}, np.exp(-5 / (1 + np.exp(-2 * BIAS))),
    ),
    "KDA without a bound": (
        {"A_log": np.zeros(3), "dt_bias": BIAS}, {"kda_safe_gate": False, "kda_lower_bound": -5.0},
        1 - ORDINARY,
    ),
    "Mamba-2, steps bounded": (
        {"A_log": np.zeros(3), "dt_bias": BIAS}, {"time_step_limit": (0.0, 1e-3)},
        [np.exp(-1e-3)] * 3,
    ),
    "Zamba2": (
        {"A_log": np.zeros(3), "dt_bias": BIAS}, {"model_type": "zamba2", "time_step_min": 2.0},
        [np.exp(-2.0)] * 3,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_and_what_configurations_say(name: str) -> None:
    tensors, config, poles = VARIANTS[name]
    settings = SimpleNamespace(to_dict=lambda: config)
    model = memcurve.layers(SimpleNamespace(state_dict=lambda: tensors, config=settings))
    times = np.concatenate([layer.time_constant for layer in model.layers])
    np.testing.assert_allclose(times, -1 / np.log(poles), rtol=1e-12)


def test_gates_can_be_given_or_recorded() -> None:
    stored = {f"mixer.{key}": value for key, value in CASES["Mamba"][0].items()}
    steps = np.array([0.01, 0.1, 1.0])
    [layer] = memcurve.layers(stored, noise=1e-3, gates={"mixer": steps}).layers
    assert np.all(np.diff(layer.mean_age) < 0)
    assert layer.gate == "as given"
    recording = steps * np.linspace(0.5, 1.5, 101)[:, None]
    for share in (0.5, 0.9):
        [recorded] = memcurve.layers(
            stored, noise=1e-3, gates={"mixer": recording}, quantile=share
        ).layers
        [given] = memcurve.layers(stored, noise=1e-3, gates={"mixer": (0.5 + share) * steps}).layers
        np.testing.assert_allclose(recorded.mean_age, given.mean_age, rtol=1e-9)
        assert recorded.gate == f"{share} quantile of a recording"


def test_stacked_layers_are_layers() -> None:
    """Flax stacks layers that it scans over along a leading axis; pruned they stay of one size."""
    one = EXACT["LRU"][1]
    stacked = {f"blocks.{name}": np.stack([x, x + 0.1, x - 0.1]) for name, x in one.items()}
    result = memcurve.layers(stacked, noise=1e-3, hankel=True)
    assert [layer.name for layer in result.layers] == [f"blocks[{k}]" for k in range(3)]
    [alone] = memcurve.layers(one, noise=1e-3, hankel=True).layers
    assert result.layers[0].usable[0] == pytest.approx(alone.usable[0], abs=BATCHED)
    assert np.allclose(result.layers[0].hankel, alone.hankel, rtol=1e-9)
    mamba = {name: np.stack([x, x]) for name, x in CASES["Mamba"][0].items()}
    assert [layer.channels for layer in memcurve.layers(mamba, noise=1e-3).layers] == [3, 3]
    twice = {n: np.stack([np.concatenate([x, x + 1e-3])] * 2) for n, x in one.items()}
    pruned = memcurve.pruned_layers(twice, noise=0.01, tolerance=0.2)
    assert [layer.kept for layer in pruned.layers] == [pruned.tensors["nu_log"].shape[1]] * 2
    assert pruned.tensors["nu_log"].shape[1] < 6


def test_the_heat_map_has_a_row_of_quantiles_for_each_layer() -> None:
    mamba = CASES["Mamba"][0]
    model = memcurve.layers({f"{k}.{n}": x for k in range(2) for n, x in mamba.items()}, noise=1e-3)
    ax = model.plot()
    reach = np.sort(model.layers[0].nine_tenths)
    drawn = ax.images[0].get_array()[0]
    assert drawn[0] == reach[0]
    assert drawn[-1] == reach[-1]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0", "1"]


# --- pruning and Hankel values


def sine_layer(channels: int = 3, modes: int = 8, highest: float = 2.0) -> dict[str, Any]:
    return {
        "s.log_A_real": np.log(np.full((channels, modes), 0.5)),
        "s.A_imag": np.ones((channels, 1)) * np.linspace(0.1, highest, modes),
        "s.log_dt": np.log(np.linspace(0.05, 0.2, channels)),
        "s.C": pairs(channels, modes),
    }


@pytest.mark.parametrize("kind", ["S4D", "LRU", "S5"])
def test_pruned_layers_keep_what_they_promise(kind: str, tmp_path) -> None:
    """Every MC_τ falls, by no more than the bound, and what is saved is the pruned layer."""
    noise, steps = 0.1, np.full((8, 1), np.log(0.1))
    rates = np.concatenate([np.full(4, 0.5), np.full(4, 0.52)])
    turns = np.concatenate([np.linspace(0.5, 3, 4)] * 2)
    stored: dict[str, Any] = {
        "S4D": sine_layer(),
        "LRU": {"nu_log": np.log(rates / 9), "theta_log": np.log(turns / 9),
                "B_re": np.ones((8, 1)), "B_im": np.zeros((8, 1)), "C_re": pairs(2, 8)[..., 0],
                "C_im": pairs(2, 8)[..., 1]},
        "S5": {"Lambda_re": -rates, "Lambda_im": turns, "B": np.tile(pairs(4, 2), (2, 1, 1)),
               "log_step": steps, "C": pairs(2, 8)},
    }[kind]  # fmt: skip
    gated = {f"m.{name}": tensor for name, tensor in CASES["Mamba"][0].items()}
    assert memcurve.pruned_layers(gated, noise=noise).untouched == ("m",)
    result = memcurve.pruned_layers(stored, noise=noise, tolerance=0.3)
    [layer] = result.layers
    assert layer.kept == layer.needed.max() < layer.modes == 8
    assert 0 < layer.bound <= 0.3
    assert 0 <= layer.output_error < 0.1
    result.save(tmp_path / "small.safetensors", stored)
    small = memcurve.layers(tmp_path / "small.safetensors", noise=noise).layers[0]
    whole = memcurve.layers(stored, noise=noise).layers[0]
    assert (small.kind, small.states) == (kind, 2 * layer.kept)
    fall = whole.usable - small.usable
    assert -1e-6 < fall.min() <= fall.max() < layer.bound + 1e-6
    smaller = result.tensors | {k: v for k, v in stored.items() if "dt" in k}
    for channel in range(whole.channels):
        both = (unit_states(layer_network(x, whole.name, channel)) for x in (stored, smaller))
        before, after = (memcurve.memory_curve(one, 40, noise=noise).values for one in both)
        assert -1e-6 < (before - after).min() <= (before - after).max() < layer.bound


def test_pruned_tensors_keep_their_format(torch, tmp_path) -> None:
    whole = {name: torch.as_tensor(x).bfloat16() for name, x in sine_layer().items()}
    torch.save(whole | {"other": torch.ones(3)}, tmp_path / "whole.pt")
    result = memcurve.pruned_layers(tmp_path / "whole.pt", tolerance=0.5)
    result.save(tmp_path / "small.safetensors", tmp_path / "whole.pt")
    small = open_safetensors(tmp_path / "small.safetensors").arrays
    assert {small[name].kind for name in whole} == {"BF16"}
    assert small["other"].kind == "F32"


@pytest.mark.parametrize("case", ["one output", "all states", "real poles"])
def test_hankel_values_against_many_digits(case: str) -> None:
    """√λ(PQ) of the Gramians, to sixty digits: relatively accurate down to the smallest."""
    import mpmath as mp

    tensors, n = sine_layer(3, 6, 0.5), 6
    if case == "real poles":
        n, tensors = 12, {"A_log": np.log(np.tile(np.arange(1.0, 13), (3, 1))),
                         "dt_proj.bias": np.array([-3.0, -2, -1])}  # fmt: skip
    if case == "all states":
        del tensors["s.C"]
    layer = memcurve.layers(tensors, noise=0.1, hankel=True).layers[0]
    for k in range(3):
        with mp.workdps(60):
            c, share = None, mp.mpf(1)
            if case == "real poles":
                step = mp.log(1 + mp.exp(mp.mpf(float(tensors["dt_proj.bias"][k]))))
                rates = [mp.exp(mp.mpf(x)) for x in tensors["A_log"][k].tolist()]
                poles, b = [mp.exp(-step * x) for x in rates], [mp.mpf(1)] * n
            else:
                h, share = mp.mpf(float(np.exp(tensors["s.log_dt"][k]))), mp.mpf(0.5)
                decays, turns = (tensors[f"s.{x}"][k].tolist() for x in ("log_A_real", "A_imag"))
                half = [mp.mpc(-mp.exp(r), w) for r, w in zip(decays, turns, strict=True)]
                half += [mp.conj(a) for a in half]
                poles = [mp.exp(h * a) for a in half]
                b = [(p - 1) / a for p, a in zip(poles, half, strict=True)]
                if "s.C" in tensors:
                    c = [mp.mpc(*x) for x in tensors["s.C"][k].tolist()]
                    c += [mp.conj(v) for v in c]
            P, Q = mp.matrix(len(poles)), mp.matrix(len(poles))
            for (i, p), (j, q) in itertools.product(enumerate(poles), repeat=2):
                P[i, j] = b[i] * mp.conj(b[j]) / (1 - p * mp.conj(q))
                both = share * (i == j) if c is None else mp.conj(c[i]) * c[j]
                Q[i, j] = both / (1 - mp.conj(p) * q)
            squares = mp.eig(P * Q, left=False, right=False)
            exact = np.array(sorted((float(mp.sqrt(abs(x))) for x in squares), reverse=True))
        assert exact[-1] < 1e-6 * exact[0]
        off = np.abs(layer.hankel[k] / exact - 1)
        assert (off < np.maximum(layer.hankel_error[k], 1e-11)).all()
        assert off.max() < 1e-6


@pytest.mark.parametrize("name", ["S4", "fixed (A, B)"])
def test_hankel_values_of_matrices(name: str) -> None:
    """Of all channels at once, against the networks one by one."""
    [layer] = memcurve.layers(EXACT[name][1], noise=0.1, hankel=True).layers
    network = layer_network(EXACT[name][1], layer.name)
    exact = memcurve.hankel_values(network)
    off = np.abs(layer.hankel[0] / exact.values - 1)
    assert (off < layer.hankel_error[0] + exact.errors).all()
    assert off.max() < 1e-9


# --- live layers


def test_measured_layers_agree_with_fixed_gates(torch) -> None:
    """A GRU whose gates are shut to constants is linear in small signals: its exact curve."""
    torch.manual_seed(0)
    layer = torch.nn.RNN(3, 4, batch_first=True, dtype=torch.float64)
    with torch.no_grad():
        layer.weight_hh_l0.copy_(torch.diag(torch.tensor([0.9, 0.7, 0.5, 0.2])))
        layer.bias_ih_l0.zero_()
        layer.bias_hh_l0.zero_()
    measured = memcurve.measure_layer(
        torch.nn.ModuleDict({"rnn": layer}), "rnn", seed=1, scale=1e-6, lags=8, washout=100
    )
    network = memcurve.LinearNetwork(np.diag([0.9, 0.7, 0.5, 0.2]), np.ones(4))
    exact = memcurve.memory_curve(network, 8)
    assert np.abs(measured.values - exact.values).max() < 0.02
    with pytest.raises(ValueError, match="name"):
        memcurve.measure_layer(torch.nn.ModuleDict({"a": torch.nn.Tanh()}), "a", seed=1)


def test_measured_mamba_with_its_gates_driven(torch) -> None:
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    config = transformers.MambaConfig(
        hidden_size=8, num_hidden_layers=1, state_size=4, vocab_size=10
    )
    model = transformers.MambaModel(config)
    found = memcurve.measure_layer(
        model, "layers.0.mixer", seed=1, samples=2000, lags=10, washout=100
    )
    assert 0.5 < found.values[0] <= 1


# --- files as they are


def saved(folder: Path, tensors: dict[str, Any], shards: int = 1) -> Path:
    names = list(tensors)
    weight_map = {}
    for k in range(shards):
        part = {name: np.ascontiguousarray(tensors[name]) for name in names[k::shards]}
        file = f"model-{k + 1:05}-of-{shards:05}.safetensors"
        safetensors.save_file(part, folder / file)
        weight_map |= dict.fromkeys(part, file)
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    (folder / "config.json").write_text(json.dumps({"model_type": "mamba"}))
    return folder


def test_folders_with_shards_are_read_a_layer_at_a_time(tmp_path) -> None:
    tensors = {
        f"backbone.layers.{k}.mixer.{key}": value.astype(np.float32)
        for k in range(3)
        for key, value in CASES["Mamba"][0].items()
    }
    result = memcurve.layers(saved(tmp_path, tensors, shards=2))
    names = {f"backbone.layers.{k}.mixer" for k in range(3)}
    assert {layer.name for layer in result.layers} == names
    assert all(layer.number_format == "f32" for layer in result.layers)
    assert result.layers[0].noise == pytest.approx(np.sqrt(0.54 / 12) * 2.0**-23, rel=0.05)


def test_a_model_of_fifty_gigabytes_takes_the_memory_of_one_layer(tmp_path) -> None:
    """Two sparse shards, of which the bytes that are read are there."""
    weights, files = CASES["Mamba"][0], {}
    for k in range(2):
        name, header, end = f"model-0000{k}.safetensors", {}, 0
        parts = {f"{k}.{n}": x.astype(np.float32) for n, x in weights.items()}
        for key, size in [*((n, x.nbytes) for n, x in parts.items()), (f"{k}.other", 25 * 10**9)]:
            shape = parts[key].shape if key in parts else (size // 4,)
            header[key] = {"dtype": "F32", "shape": shape, "data_offsets": (end, end + size)}
            end += size
        text = json.dumps(header).encode()
        with (tmp_path / name).open("wb") as file:
            file.write(len(text).to_bytes(8, "little") + text)
            file.writelines(x.tobytes() for x in parts.values())
            file.truncate(8 + len(text) + end)
        files |= dict.fromkeys(parts, name)
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": files}))
    code = (
        "import resource, sys, memcurve.trained as trained; "
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; start = peak(); "
        "print(len(trained.layers(sys.argv[1]).layers), (peak() - start) / 1024)"
    )
    run = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, check=True)
    count, megabytes = run.stdout.split()
    assert int(count) == 2
    assert float(megabytes) < 100


def test_other_files_of_models(torch, tmp_path) -> None:
    """Parts of the older kind, .npz of a flattened tree, and a file beside its configuration."""
    np.savez(tmp_path / "jax.npz", **{f"params/lru/{n}": x for n, x in EXACT["LRU"][1].items()})
    assert memcurve.layers(tmp_path / "jax.npz").layers[0].name == "params/lru"
    bounded = {"A_log": torch.zeros(3), "dt_bias": torch.as_tensor(BIAS)}
    files = {}
    for k in range(2):
        file = f"pytorch_model-{k}.bin"
        torch.save({f"{k}.{name}": x for name, x in bounded.items()}, tmp_path / file)
        files |= {f"{k}.{name}": file for name in bounded}
    (tmp_path / "pytorch_model.bin.index.json").write_text(json.dumps({"weight_map": files}))
    (tmp_path / "config.json").write_text(json.dumps({"time_step_limit": [0.0, 1e-3]}))
    for model, count in (tmp_path, 2), (tmp_path / "pytorch_model-1.bin", 1):
        layers = memcurve.layers(model).layers
        assert len(layers) == count
        np.testing.assert_allclose([layer.time_constant for layer in layers], 1e3)


def decays(shape: tuple[int, ...], heads: int) -> dict[str, Any]:
    return {"A_log": np.zeros(shape), "D": np.ones(heads), "dt_bias": np.zeros(heads)}


def mamba(decay: float = 0.0, gate: float = -3.0) -> dict[str, Any]:
    rates = np.log(np.tile(np.arange(1.0, 4.0), (4, 1))) + decay
    return {"mixer.A_log": rates, "mixer.dt_proj.bias": np.full(4, gate)}


@pytest.mark.parametrize(
    ("error", "facts", "model", "options"),
    [
        (NetworkFileError, "weight (3, 3)", {"linear.weight": np.eye(3)}, {}),
        (NetworkFileError, "do not decay", {"rnn.time_decay": np.full(3, -800.0)}, {}),
        (NetworkFileError, "(0,)", {"nu_log": np.zeros(0), "theta_log": np.zeros(0)}, {}),
        (NetworkFileError, ("A_log", "(0,)"), decays((2, 0), 2), {}),
        (NetworkFileError, "2 rates cannot be shared by 1 channel;", decays((3, 2), 3), {}),
        (NetworkFileError, "too large for poles", {"nu_log": np.full(1, 800.0),
                                                   "theta_log": np.zeros(1)}, {}),
        (NetworkFileError, "shape (4, 4); it has", {"B": np.ones((4, 4))} | {
            n: -np.ones(3) for n in ("Lambda_re", "Lambda_im", "log_step")}, {}),
        (NetworkFileError, "NaN or infinite", mamba(np.nan), {}),
        (NetworkFileError, "NaN or infinite", mamba(gate=np.nan), {}),
        (NetworkFileError, "NaN or infinite", mamba(np.inf), {}),
        (NetworkFileError, "'other'", mamba(), {"select": "other"}),
        (NetworkFileError, "S5", {f"s.{n}": np.ones(2) for n in
                                  ("Lambda_re", "Lambda_im", "B", "log_step")}, {}),
        (TypeError, "model", 42, {}),
        (ValueError, ("`noise`", "0"), mamba(), {"noise": 0}),
        (ValueError, ("`noise`", "1e-300"), mamba(), {"noise": 1e-300}),
        (ValueError, ("`noise`", "1e+300"), mamba(), {"noise": 1e300}),
        (ValueError, ("`gates`", "nan"), mamba(), {"gates": {"mixer": [0.1, np.nan, 0.1, 1]}}),
        (ValueError, ("`gates`", "another"), mamba(), {"gates": {"another": np.ones(4)}}),
        (ValueError, ("`gates`", "4 values", "(2,)"), mamba(), {"gates": {"mixer": np.ones(2)}}),
        (ValueError, ("`gates`", "leave out"), CASES["LRU"][0], {"gates": {"LRU": np.ones(1)}}),
        (ValueError, ("`quantile`", "1.5"), mamba(), {"quantile": 1.5}),
    ],
)  # fmt: skip
def test_what_is_no_layer(error: type, facts: Any, model: Any, options: dict[str, Any]) -> None:
    refuses(error, facts, memcurve.layers, model, **options)


def test_one_layer_that_diverged_leaves_the_others() -> None:
    both = {f"{k}.{n}": x for k, x0 in enumerate((0.0, np.nan)) for n, x in mamba(x0).items()}
    result = memcurve.layers(both)
    assert [layer.name for layer in result.layers] == ["0.mixer"]
    assert [note.kind for note in result.notes if "left out: 1.mixer" in note] == ["unused"]


def test_files_that_are_no_model(tmp_path) -> None:
    refuses(NetworkFileError, "no weights", memcurve.layers, tmp_path)
    refuses(FileNotFoundError, "no such file", memcurve.layers, tmp_path / "nowhere")
    index = {"weight_map": {"a": "../other.safetensors"}}
    for name, content, fact in (
        ("empty.safetensors", b"", "empty"),
        ("damaged.safetensors", b"12345678 of another kind", "damaged"),
        ("model.txt", b"weights", ".safetensors"),
        ("model.safetensors.index.json", json.dumps(index).encode(), "outside"),
    ):
        (tmp_path / name).write_bytes(content)
        model = tmp_path if name.endswith("json") else tmp_path / name
        refuses(NetworkFileError, fact, memcurve.layers, model)


@pytest.mark.parametrize("is_stored", [True, False])
def test_retnet_has_the_modes_of_its_heads(is_stored: bool, tmp_path) -> None:
    """S ← γS + (kR^t)ᵀv with keys that stay; torchscale stores decays, fla implies them."""
    decays = 1 - 2.0 ** -np.arange(5, 7)
    angles = 10_000.0 ** -(np.linspace(0, 1, 3) if is_stored else np.arange(0, 6, 2) / 6)
    tensors = {"rel.decay": np.log(decays), "rel.angle": np.repeat(angles, 2)}
    folder = saved(tmp_path, tensors if is_stored else {"weight": np.eye(2)})
    config = {"model_type": "retnet", "num_heads": None if is_stored else 2, "hidden_size": 12}
    (folder / "config.json").write_text(json.dumps(config))
    [layer] = memcurve.layers(folder, noise=1e-3).layers
    assert np.abs(layer.time_constant * np.log(decays) + 1).max() < 1e-6
    turned = np.exp(1j * angles * np.arange(4000)[:, None])
    z = np.random.default_rng(3).standard_normal(4000)
    for k, decay in enumerate(decays):
        states = scan(decay, turned * z[:, None])
        seen = (states[:, :3] + 1j * states[:, 3:]) * turned.conj()  # by queries, which turn too
        poles = decay * np.exp(-1j * angles)
        direct = scan(poles, np.outer(z, np.ones(3)))
        assert np.abs(np.concatenate([seen.real, seen.imag], 1) - direct).max() < 1e-9
        exact = channel_memory(poles[None], None, 1e-3)
        assert layer.usable[k] == pytest.approx(
            exact.usable[0], abs=1e-3 * (not is_stored) + BATCHED
        )


def test_the_command(tmp_path, command) -> None:
    tensors = {f"layers.0.{key}": value for key, value in CASES["Mamba"][0].items()}
    folder = saved(tmp_path, tensors)
    ended = command("layers", folder, "--noise", "1e-3", "--save",
                   tmp_path / "out.json")  # fmt: skip
    assert ended.code == 0
    assert "layers.0" in ended.out
    written = memcurve.ModelMemory.load(tmp_path / "out.json")
    assert written.layers[0].noise == 1e-3
    ended = command("layers", tmp_path / "missing")
    assert ended.code != 0
    assert "missing" in ended.err


# --- as libraries run them


def agrees(states: Floats, z: Floats, network: memcurve.LinearNetwork) -> None:
    """Measured memory of recorded states is that of a network, within its intervals of 90 %."""
    measured = memcurve.memory_from_data(states, z, lags=20, washout=200, noise_floor=1e-4)
    exact = memcurve.memory_curve(unit_states(network), 20, noise=1e-4)
    off = np.abs(measured.values - exact.values) / (measured.error + 1e-6)
    assert np.mean(off <= 1) >= 0.8
    assert off.max() < 2


def scan(poles: Any, driven: Any) -> Floats:
    """States of x_t = λx_{t−1} + b_t, real and imaginary parts, as an associative scan gives."""
    states = np.empty(driven.shape, dtype=complex)
    x = np.zeros(driven.shape[1], dtype=complex)
    for t, b in enumerate(driven):
        x = poles * x + b
        states[t] = x
    return np.concatenate([states.real, states.imag], axis=1)


def run_lru(p: Any, z: Floats) -> Floats:
    """minimal-LRU, lru/model.py."""
    B = (p["B_re"] + 1j * p["B_im"]) * np.exp(p["gamma_log"])[:, None]
    return scan(np.exp(-np.exp(p["nu_log"]) + 1j * np.exp(p["theta_log"])), np.outer(z, B[:, 0]))


def run_s5(p: Any, z: Floats) -> Floats:
    """lindermanlab/S5, s5/ssm.py: discretize_zoh and apply_ssm."""
    poles, B = p["Lambda_re"] + 1j * p["Lambda_im"], p["B"][..., 0] + 1j * p["B"][..., 1]
    discrete = np.exp(poles * np.exp(p["log_step"][:, 0]))
    return scan(discrete, np.outer(z, ((discrete - 1) / poles)[:, None] * B))


def run_s4d(p: Any, z: Floats) -> Floats:
    """state-spaces/s4, s4.py: SSMKernelDiag._setup_step and step, of the first channel."""
    A, dt = -np.exp(p["A_real"][0]) - 1j * p["A_imag"][0], np.exp(p["inv_dt"][0])
    return scan(np.exp(dt * A), np.outer(z, (np.exp(dt * A) - 1) / A))


def run_dss(p: Any, z: Floats) -> Floats:
    """ag1988/dss, version exp with separate steps of real and imaginary parts, first channel."""
    poles, (re, im) = -np.exp(p["Lambda_log_neg_re"]) + 1j * p["Lambda_im"], np.exp(p["log_dt"][0])
    scaled = re * poles.real + 1j * im * poles.imag
    return scan(np.exp(scaled), np.outer(z, (np.exp(scaled) - 1) / poles))


def run_s4(p: Any, z: Floats) -> Floats:
    """state-spaces/s4, SSMKernelDPLR._step_state_linear: the bilinear rule of rank two."""
    w, dt = -np.exp(p["A_real"][0]) - 1j * p["A_imag"][0], np.exp(p["inv_dt"][0, 0])
    P, B = ((x[..., 0] + 1j * x[..., 1])[:, 0] for x in (p["P"], p["B"]))
    P, B = (np.concatenate([x, x.conj()], axis=-1) for x in (P, B[0]))
    w = np.concatenate([w, w.conj()])
    E, D = np.diag(2 / dt + w) - P.T @ P.conj(), np.diag(2 / dt - w) + P.T @ P.conj()
    x, states = np.zeros(len(w), complex), []
    for each in z:
        x = np.linalg.solve(D, E @ x + 2 * B * each)
        states.append(x[: len(w) // 2])
    return np.concatenate([np.real(states), np.imag(states)], axis=1)


def run_fixed(p: Any, z: Floats) -> Floats:
    """keras-lmu: m ← A m + B u."""
    return memcurve.LinearNetwork(p["A"], p["B"]).simulate(z)


def legendre(order: int, theta: float) -> dict[str, Any]:
    """keras-lmu, LMUCell._gen_AB: the Legendre delay of theta steps, zero-order hold."""
    from scipy.signal import cont2discrete

    q = np.arange(order)
    A = np.where(q[:, None] < q, -1, (-1.0) ** (q[:, None] - q + 1)) * (2 * q + 1)[:, None]
    B = ((-1.0) ** q * (2 * q + 1))[:, None]
    system = (A / theta, B / theta, np.eye(order), np.zeros((order, 1)))
    discrete = cont2discrete(system, 1.0)
    return {"A": discrete[0], "B": discrete[1]}


def pairs(*shape: int) -> Floats:
    return np.random.default_rng(3).normal(size=(*shape, 2))


EXACT: dict[str, tuple[Any, dict[str, Any]]] = {
    "LRU": (run_lru, {
        "nu_log": np.log([0.05, 0.1, 0.3]), "theta_log": np.log([0.2, 0.7, 1.5]),
        "gamma_log": np.log([0.3, 0.4, 0.7]), "B_re": pairs(3)[:, :1], "B_im": pairs(3)[:, 1:]}),
    "S5": (run_s5, {
        "Lambda_re": -np.array([0.3, 0.5, 0.8]), "Lambda_im": np.array([1.0, 3, 6]),
        "B": pairs(3, 1), "log_step": np.log([[0.1], [0.2], [0.15]])}),
    "S4D": (run_s4d, {
        "A_real": np.log([[0.5, 0.5, 0.5]]), "A_imag": np.array([[1.0, 3, 6]]),
        "inv_dt": np.log([[0.2]])}),
    "DSS": (run_dss, {
        "Lambda_log_neg_re": np.log([0.5, 0.5]), "Lambda_im": np.array([2.0, 5]),
        "log_dt": np.log([[0.2, 0.1]])}),
    "S4": (run_s4, {
        "A_real": np.log([[0.5, 0.5]]), "A_imag": np.array([[1.0, 3]]), "P": 0.3 * pairs(2, 1, 2),
        "B": pairs(1, 1, 2), "inv_dt": np.log([[0.2]])}),
    "fixed (A, B)": (run_fixed, legendre(4, 10.0)),
}  # fmt: skip


@pytest.mark.parametrize("name", EXACT)
def test_exact_kinds_as_their_libraries_run_them(name: str) -> None:
    run, tensors = EXACT[name]
    [layer] = memcurve.layers(tensors, noise=1e-3).layers
    assert layer.kind == name
    z = np.random.default_rng(3).standard_normal(6000)
    agrees(run(tensors, z), z, layer_network(tensors, layer.name))


def test_slstm_at_small_inputs() -> None:
    """NX-AI/xlstm, src/vanilla/slstm.py: gates with their exponential stabiliser left out."""
    heads, width, size = 2, 3, 1e-4
    R = rng.normal(size=(heads, 4, width, width)) / 2
    bias = np.concatenate([np.zeros((1, 2, 3)), rng.normal(1, 1, (1, 2, 3)), np.zeros((2, 2, 3))])
    vanilla = {"_recurrent_kernel_": R.reshape(heads, 4 * width, width), "_bias_": bias.ravel()}
    compiled = {
        "_recurrent_kernel_": R.transpose(0, 3, 1, 2).reshape(heads, width, 4 * width),
        "_bias_": bias.transpose(1, 0, 2).ravel(),
    }
    z, h, c, n = size * rng.normal(size=(600, 3)), np.zeros(3), np.zeros(3), np.zeros(3)
    states = []
    for each in z:
        i, f, u, o = np.vstack([0 * each, 0 * each, each, 0 * each]) + R[1] @ h + bias[:, 1]
        f, o = 1 / (1 + np.exp(-f)), 1 / (1 + np.exp(-o))
        c, n = f * c + np.exp(i) * np.tanh(u), f * n + np.exp(i)
        states.append(c / n)
        h = o * c / n
    for tensors in (vanilla, compiled):
        linear = layer_network(tensors, "sLSTM", 1).simulate(z)
        assert np.abs(linear - states)[200:].max() < 1e-3 * size


def transformers_rwkv(torch: Any, z: Any) -> tuple[Any, dict[str, Any]]:
    """Keys of zero: the numerator of the state is a sum of values that decay."""
    from transformers.models.rwkv import modeling_rwkv

    decay, zeros = torch.tensor([-2.0, -1.0], dtype=torch.float64), torch.zeros(1, 1, 2).double()
    state, states = None, []
    for each in z:
        _, state = modeling_rwkv.rwkv_linear_attention_cpu(
            decay, decay, zeros, torch.full((1, 1, 2), each).double(), state, return_state=True
        )
        states.append((state[0] * torch.exp(state[2]))[0])
    return torch.stack(states)[:, :1], {"time_decay": decay}


def transformers_mamba(torch: Any, z: Any) -> tuple[Any, dict[str, Any]]:
    from transformers import MambaConfig
    from transformers.models.mamba import modeling_mamba

    config = MambaConfig(hidden_size=8, num_hidden_layers=1, state_size=2, vocab_size=10)
    mixer = modeling_mamba.MambaModel(config).layers[0].mixer
    mixer.dt_proj.bias.data.fill_(0.0)  # Δ = log 2
    channels, T = len(mixer.A_log), len(z)
    states = [
        modeling_mamba.mamba_selective_scan(
            z.expand(1, channels, T), torch.zeros(1, channels, T), -torch.exp(mixer.A_log),
            torch.ones(1, 2, T), readout[:, None].expand(1, 2, T), delta_bias=mixer.dt_proj.bias,
            delta_softplus=True,
        )[0, 0]
        for readout in torch.eye(2)
    ]  # fmt: skip
    return torch.stack(states, dim=1), mixer.state_dict()


def transformers_mamba2(torch: Any, z: Any) -> tuple[Any, dict[str, Any]]:
    from transformers import Mamba2Config
    from transformers.models.mamba2 import modeling_mamba2

    config = Mamba2Config(
        hidden_size=16, num_heads=4, head_dim=8, state_size=4, num_hidden_layers=1, vocab_size=10
    )
    mixer = modeling_mamba2.Mamba2Model(config).layers[0].mixer
    T, one = len(z), torch.ones(1, len(z), 1, 4)
    outputs = modeling_mamba2.mamba2_chunk_scan(
        z[None, :, None, None].expand(1, T, 4, 8), torch.zeros(1, T, 4), -torch.exp(mixer.A_log),
        one, one / 4, chunk_size=64, dt_bias=mixer.dt_bias, dt_softplus=True,
    )  # fmt: skip
    return outputs[0, :, 0, :1], mixer.state_dict()


def transformers_delta(torch: Any, z: Any, decay: Any, beta: float) -> Any:
    """Keys that stay, on the first axis; the output reads it."""
    from transformers.models.qwen3_next import modeling_qwen3_next

    key = torch.tensor([1.0, 0.0]).expand(1, len(z), 1, 2)
    run = modeling_qwen3_next.torch_recurrent_gated_delta_rule
    gates = decay.expand(1, len(z), 1), torch.full((1, len(z), 1), beta)
    outputs, _ = run(key, key, z[None, :, None, None], *gates)
    return outputs[0, :, 0]


def transformers_gated_delta(torch: Any, z: Any) -> tuple[Any, dict[str, Any]]:
    """Keys that hardly erase: β small."""
    A_log, bias = torch.tensor([0.3]), torch.tensor([-1.0])
    decay = -torch.exp(A_log) * torch.nn.functional.softplus(bias)
    return transformers_delta(torch, z, decay, 1e-6), {"A_log": A_log, "dt_bias": bias}


def transformers_delta_net(torch: Any, z: Any) -> tuple[Any, dict[str, Any]]:
    states = transformers_delta(torch, z, torch.zeros(1), 0.5)
    return states, {"b_proj.weight": torch.zeros(1, 4), "k_proj.weight": torch.zeros(4, 4)}


def transformers_rg_lru(torch: Any, z: Any) -> tuple[Any, dict[str, Any]]:
    """The gate at rest, as the module computes it from its own parameters."""
    import transformers

    config = transformers.RecurrentGemmaConfig(
        hidden_size=8, num_hidden_layers=1, vocab_size=10, num_attention_heads=2, lru_width=8,
        intermediate_size=8,
    )  # fmt: skip
    unit = transformers.RecurrentGemmaModel(config).layers[0].temporal_block.rg_lru
    strength = torch.nn.functional.softplus(unit.recurrent_param)
    gate = torch.exp(-8 * torch.sigmoid(unit.recurrent_gate_bias.flatten()) * strength)
    inputs = z[None, :, None].expand(1, len(z), 8)
    start = torch.zeros(1, len(z), 1, dtype=torch.bool)
    states, _ = unit._rnn_scan(inputs, gate.expand(1, len(z), 8), start, None)
    return states[0, :, :1], unit.state_dict()


def transformers_mlstm(torch: Any, z: Any) -> tuple[Any, dict[str, Any]]:
    from transformers.models.xlstm import modeling_xlstm

    bias, one = torch.tensor([[[2.0]]]), torch.ones(1, 1, 1)
    state = (torch.zeros(1, 1, 1, 1), torch.zeros(1, 1, 1), torch.zeros(1, 1, 1))
    states = []
    for each in z:
        _, state = modeling_xlstm.mlstm_recurrent_step_native(
            one, one, each * one, 0 * one, modeling_xlstm.soft_cap(bias, 15.0), *state
        )
        states.append(state[0].flatten())
    return torch.stack(states), {"fgate_preact.bias": bias.flatten()}


@pytest.mark.parametrize(
    "run",
    [
        transformers_rwkv, transformers_mamba, transformers_mamba2, transformers_gated_delta,
        transformers_delta_net, transformers_rg_lru, transformers_mlstm,
    ],
)  # fmt: skip
def test_layers_as_transformers_runs_them(torch, run: Any) -> None:
    pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    z = np.random.default_rng(3).standard_normal(3000)
    with torch.no_grad():
        states, tensors = run(torch, torch.tensor(z, dtype=torch.float32))
    [layer] = memcurve.layers(tensors).layers
    agrees(states.double().numpy(), z, layer_network(tensors, layer.name))


@pytest.mark.parametrize("is_bounded", [True, False])
def test_decays_of_kimi_delta_attention(torch, is_bounded: bool) -> None:
    modeling = pytest.importorskip("transformers.models.bailing_hybrid.modeling_bailing_hybrid")
    config = {
        "linear_head_dim": 4, "linear_num_heads": 2, "hidden_size": 8, "kda_safe_gate": is_bounded,
        "kda_lower_bound": -5.0,
    }  # fmt: skip
    gate = modeling.BailingHybridForgetGate(SimpleNamespace(**config))
    gate.A_log.data, gate.dt_bias.data = torch.tensor([0.0, 0.5]), torch.linspace(-2, 1, 8)
    gate.config = SimpleNamespace(to_dict=lambda: config)
    [layer] = memcurve.layers(gate).layers
    with torch.no_grad():
        decay = gate(torch.zeros(1, 1, 8)).numpy().ravel()
    np.testing.assert_allclose(-1 / layer.time_constant, decay, rtol=1e-6)


TINY = {"hidden_size": 16, "vocab_size": 10, "intermediate_size": 16, "num_attention_heads": 4}
MAMBA2 = {"mamba_n_heads": 4, "mamba_d_head": 8, "mamba_d_state": 4, "num_key_value_heads": 2}
MODELS: dict[str, tuple[str, int, dict[str, Any]]] = {
    "Mamba": ("Mamba", 2, {}),
    "FalconMamba": ("Mamba", 2, {}),
    "Jamba": ("Mamba", 7, {"num_hidden_layers": 8, "num_key_value_heads": 2, "num_experts": 2}),
    "Mamba2": ("scalar", 2, {"num_heads": 4, "head_dim": 8, "state_size": 4}),
    "Bamba": ("scalar", 2, MAMBA2),
    "FalconH1": ("scalar", 2, MAMBA2 | {"mamba_d_ssm": 32}),
    "Qwen3Next": ("scalar", 2, {"num_experts": 2, "num_key_value_heads": 2, "head_dim": 4}),
    "RecurrentGemma": ("RG-LRU", 2, {"lru_width": 16}),
    "Rwkv": ("RWKV", 2, {"attention_hidden_size": 16}),
    "xLSTM": ("mLSTM", 2, {"num_heads": 2}),
    "MiniMax": ("lightning", 1, {"num_key_value_heads": 2, "head_dim": 4, "num_local_experts": 2}),
}


@pytest.mark.parametrize("name", MODELS)
def test_folders_that_transformers_writes(torch, name: str, tmp_path) -> None:
    """Infinite limits of steps, too, are in its JSON; and a live model gives the same."""
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    kind, count, options = MODELS[name]
    config = getattr(transformers, f"{name}Config")(**{"num_hidden_layers": 2} | TINY | options)
    model = getattr(transformers, f"{name}Model")(config)
    model.save_pretrained(tmp_path)
    live, stored = memcurve.layers(model).layers, memcurve.layers(tmp_path).layers
    for one, other in zip(live, stored, strict=True):
        assert one.name == other.name
        assert one.kind.startswith(kind)
        np.testing.assert_array_equal(one.usable, other.usable)
    assert len(live) == count


def test_every_kind_is_tested() -> None:
    others = {"S5", "S4", "RetNet", "fixed (A, B)", "sLSTM", "HGRN"}
    assert {kind.name for kind in KINDS} == {*CASES, *others}
    assert [each.kind.name for each in recognised({"A": (3, 3), "B": (3, 1)})] == ["fixed (A, B)"]


def test_double_precision_leaves_few_states_certain() -> None:
    """Only singular values near the noise are uncertain: three modes are far above 2^-53."""
    [layer] = memcurve.layers(mamba()).layers
    assert layer.number_format == "float64"
    np.testing.assert_allclose(layer.usable, 3, atol=1e-6)
    assert (layer.error < 1e-6).all()
