"""Memory of trained layers: closed forms, the exact method by channel, libraries' own runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memcurve
from command import inside
from memcurve.core.types import Floats
from memcurve.io import NetworkFileError
from memcurve.trained import layer_network
from memcurve.trained.channels import channel_memory
from memcurve.trained.kinds import KINDS, recognised
from refusals import refuses

#: Batched singular values of 2n ≤ 32 states at noise 1e-4 and above.
BATCHED = 1e-8
#: Half of a 90 % interval, and room for one miss in a few hundred lags.
INTERVALS = 3


def unit_network(poles: Any, drive: Any) -> memcurve.LinearNetwork:
    """A diagonal layer in real states of standard deviation one, from its definition."""
    from scipy.linalg import solve_discrete_lyapunov

    A, C = np.diag(poles), np.asarray(drive)
    if np.iscomplexobj(poles):
        A, C = np.block([[A.real, -A.imag], [A.imag, A.real]]), np.concatenate([C.real, C.imag])
    sizes = np.sqrt(np.diag(solve_discrete_lyapunov(A, np.outer(C, C))))
    return memcurve.LinearNetwork(A * sizes / sizes[:, None], C / sizes)


@pytest.mark.parametrize("noise", [0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("is_complex", [False, True])
def test_channels_are_what_the_exact_method_gives(is_complex: bool, noise: float) -> None:
    rng = np.random.default_rng(7)
    poles: Any = rng.uniform(0.3, 0.995, (5, 6))
    drive: Any = rng.normal(size=(5, 6))
    if is_complex:
        poles = poles * np.exp(1j * rng.uniform(0.01, 3.1, (5, 6)))
        drive = drive + 1j * rng.normal(size=(5, 6))
    memory = channel_memory(poles, drive, noise, entries=200)  # in several blocks
    for k in range(5):
        curve = memcurve.memory_curve(unit_network(poles[k], drive[k]), noise=noise)
        within = np.cumsum(curve.values)
        assert abs(memory.usable[k] - curve.total) < BATCHED + memory.error[k]
        assert memory.half[k] == np.searchsorted(within, 0.5 * curve.total) + 1
        assert memory.nine_tenths[k] == np.searchsorted(within, 0.9 * curve.total) + 1
        age = curve.values @ np.arange(len(within)) / curve.total
        assert abs(memory.mean_age[k] - age) < 1e-6 * age
    assert (memory.rank == (12 if is_complex else 6)).all()


def test_one_mode_has_its_closed_form() -> None:
    """MC_τ = (1 − λ²)λ^2τ/(1 + s²): total 1/(1 + s²), mean age λ²/(1 − λ²)."""
    poles, noise = np.array([[0.5], [0.9], [0.999]]), 0.3
    memory = channel_memory(poles, None, noise)
    squares = poles[:, 0] ** 2
    assert np.abs(memory.usable - 1 / (1 + noise**2)).max() < 1e-14
    assert np.abs(memory.mean_age / (squares / (1 - squares)) - 1).max() < 1e-10
    assert (memory.half == np.ceil(np.log(0.5) / np.log(squares))).all()
    assert np.abs(memory.time_constant + 1 / np.log(poles[:, 0])).max() < 1e-9


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
CASES: dict[str, tuple[dict[str, Any], Any]] = {
    "LRU": (
        {"nu_log": np.array([-3.0, -2]), "theta_log": np.array([0.1, 0.5])},
        np.exp(-np.exp([-3.0, -2]) + 1j * np.exp([0.1, 0.5]))[None],
    ),
    "S4D": (
        {"log_A_real": np.zeros((2, 3)), "A_imag": np.ones((2, 1)) * np.arange(3.0),
         "log_dt": np.log([0.1, 0.2])},
        np.exp((-1 + 1j * np.arange(3.0)) * np.array([[0.1], [0.2]])),
    ),
    "DSS": (
        {"Lambda": np.stack([np.zeros(3), np.arange(3.0)], 1), "log_dt": np.log([0.1, 0.2])},
        np.exp((-1 + 1j * np.arange(3.0)) * np.array([[0.1], [0.2]])),
    ),
    "Mamba": (
        {"A_log": A_LOG, "dt_proj.bias": BIAS},
        np.exp(-np.arange(1.0, 5) * np.log1p(np.exp(BIAS))[:, None]),
    ),
    "scalar decay per head (Mamba-2, gated DeltaNet)": (
        {"A_log": np.log([1.0, 2, 3]), "dt_bias": BIAS},
        np.exp(-np.array([1.0, 2, 3]) * np.log1p(np.exp(BIAS)))[:, None],
    ),
    "RG-LRU": (
        {"recurrent_param": BIAS, "recurrent_gate_bias": np.zeros((1, 3))},
        np.exp(-4 * np.log1p(np.exp(BIAS)))[:, None],
    ),
    "RWKV": ({"time_decay": BIAS}, np.exp(-np.exp(BIAS))[:, None]),
    "RWKV-7": ({"w0": BIAS}, np.exp(-np.exp(-0.5) / (1 + np.exp(-BIAS)))[:, None]),
    "mLSTM": (
        {"fgate_preact.bias": -BIAS}, 1 / (1 + np.exp(-15 * np.tanh(-BIAS / 15)))[:, None],
    ),
    "GLA": ({"gk_proj.1.bias": BIAS}, (1 / (1 + np.exp(-BIAS)))[:, None] ** (1 / 16)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_kinds_are_recognised_and_decoded(name: str) -> None:
    tensors, poles = CASES[name]
    stored = {f"model.layers.3.{key}": value for key, value in tensors.items()}
    result = memcurve.layers(stored, noise=1e-3)
    [layer] = result.layers
    assert (layer.kind, layer.name) == (name, "model.layers.3")
    expected = channel_memory(poles, None, 1e-3)
    assert np.abs(layer.usable - expected.usable).max() < BATCHED
    assert np.abs(layer.mean_age / expected.mean_age - 1).max() < 1e-9
    [kind] = [each for each in KINDS if each.name == name]
    assert bool(layer.gate) == bool(kind.gate)
    assert any(kind.source in str(note) for note in result.notes)


def test_layers_of_several_inputs_go_by_the_exact_method() -> None:
    P, H = 6, 2
    B = rng.normal(size=(P, H, 2))
    poles, steps = -rng.uniform(0.1, 1, P) + 1j * rng.normal(size=P), rng.uniform(0.05, 0.1, P)
    stored = {
        "ssm.Lambda_re": poles.real, "ssm.Lambda_im": poles.imag, "ssm.B": B,
        "ssm.log_step": np.log(steps)[:, None],
    }  # fmt: skip
    [layer] = memcurve.layers(stored, noise=1e-2).layers
    assert (layer.kind, layer.states, layer.inputs) == ("S5", 2 * P, H)
    discrete = np.exp(poles * steps)
    C = ((discrete - 1) / poles)[:, None] * (B[..., 0] + 1j * B[..., 1])
    network = memcurve.LinearNetwork(np.diag(discrete), C)
    assert layer.rank[0] == memcurve.rank(network) == 2 * P
    assert 0 < layer.usable[0] <= 2 * P


def test_s4_is_its_diagonal_plus_low_rank_matrix() -> None:
    """The conjugate half is implied: real states of the bilinear rule, from the full matrix."""
    n, h = 4, 0.1
    w, P = -0.5 + 1j * np.arange(1.0, n + 1), 0.3 * (rng.normal(size=n) + 1j * rng.normal(size=n))
    b = rng.normal(size=n) + 1j * rng.normal(size=n)
    pairs = {"P": np.stack([P.real, P.imag], -1)[None, None], "B": np.stack([b.real, b.imag], -1)}
    stored = {
        "kernel.log_w_real": np.log(-w.real), "kernel.w_imag": w.imag,
        "kernel.log_dt": np.log([h]), **{f"kernel.{key}": value for key, value in pairs.items()},
    }  # fmt: skip
    [layer] = memcurve.layers(stored, noise=1e-3).layers
    p = np.concatenate([P, P.conj()])
    A = np.diag(np.concatenate([w, w.conj()])) - np.outer(p, p.conj())
    discrete = np.linalg.solve(np.eye(2 * n) - h / 2 * A, np.eye(2 * n) + h / 2 * A)
    network = layer_network(stored, "kernel")
    characteristic = np.poly(np.linalg.eigvals(discrete)).real
    assert np.abs(np.poly(np.linalg.eigvals(network.A)) - characteristic).max() < 1e-10
    assert (layer.kind, layer.states) == ("S4", 2 * n)


def test_gates_can_be_given() -> None:
    tensors, _ = CASES["Mamba"]
    stored = {f"mixer.{key}": value for key, value in tensors.items()}
    steps = np.array([0.01, 0.1, 1.0])
    [layer] = memcurve.layers(stored, noise=1e-3, gates={"mixer": steps}).layers
    assert np.all(np.diff(layer.mean_age) < 0)
    assert layer.gate == "as given"
    with pytest.raises(ValueError, match="gates"):
        memcurve.layers(stored, gates={"another": steps})


# --- files as they are


def saved(folder: Path, tensors: dict[str, Any], shards: int = 1) -> Path:
    safetensors = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
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


def test_folders_with_shards_are_read_a_layer_at_a_time(tmp_path: Path) -> None:
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


def test_shards_outside_of_the_folder_are_not_read(tmp_path: Path) -> None:
    index = {"weight_map": {"a": "../other.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(NetworkFileError, match="outside"):
        memcurve.layers(tmp_path)


def test_what_is_not_recognised_is_said(tmp_path: Path) -> None:
    with pytest.raises(NetworkFileError, match=r"weight \(3, 3\)"):
        memcurve.layers({"linear.weight": np.eye(3)})
    with pytest.raises(NetworkFileError, match="no weights"):
        memcurve.layers(tmp_path)
    with pytest.raises(TypeError, match="model"):
        memcurve.layers(42)
    with pytest.raises(ValueError, match="noise"):
        memcurve.layers({"rnn.w0": np.zeros(3)}, noise=0)
    with pytest.raises(NetworkFileError, match="do not decay"):
        memcurve.layers({"rnn.time_decay": np.full(3, -800.0)})


def test_numbers_that_are_no_layer() -> None:
    weights = {"x.A_log": np.zeros((3, 2)), "x.dt_proj.bias": np.zeros(3)}
    for noise in (0, 1e-300, 1e300):
        refuses(ValueError, ("`noise`", str(noise)), memcurve.layers, weights, noise=noise)
    gates = {"x": [0.1, np.nan, 0.1]}
    refuses(ValueError, ("`gates`", "nan"), memcurve.layers, weights, gates=gates)
    empty = {"x.nu_log": np.zeros(0), "x.theta_log": np.zeros(0)}
    refuses(NetworkFileError, "empty", memcurve.layers, empty)


def test_retnet_has_the_decays_of_its_configuration(tmp_path: Path) -> None:
    folder = saved(tmp_path, {"weight": np.eye(2)})
    config = {"model_type": "retnet", "decoder_retention_heads": 3}
    (folder / "config.json").write_text(json.dumps(config))
    [layer] = memcurve.layers(folder, noise=1e-3).layers
    decays = 1 - 2.0 ** -np.arange(5, 8)
    assert np.abs(layer.time_constant + 1 / np.log(decays)).max() < 1e-9


def test_tables_pictures_and_files(tmp_path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    stored = {f"mixer.{key}": value for key, value in CASES["Mamba"][0].items()}
    result = memcurve.layers(stored)
    result.save(tmp_path / "layers.json")
    again = memcurve.ModelMemory.load(tmp_path / "layers.json")
    assert np.array_equal(again["mixer"].usable, result["mixer"].usable)
    result.save(tmp_path / "layers.csv")
    assert "usable" in (tmp_path / "layers.csv").read_text().splitlines()[0]
    assert "mixer" in result.to_markdown()
    result.plot().figure.savefig(tmp_path / "layers.png")


def test_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tensors = {f"layers.0.{key}": value for key, value in CASES["Mamba"][0].items()}
    folder = saved(tmp_path, tensors)
    ended = inside(monkeypatch, capsys, "layers", folder, "--noise", "1e-3", "--save",
                   tmp_path / "out.json")  # fmt: skip
    assert ended.code == 0
    assert "layers.0" in ended.out
    written = memcurve.ModelMemory.load(tmp_path / "out.json")
    assert written.layers[0].noise == 1e-3
    ended = inside(monkeypatch, capsys, "layers", tmp_path / "missing")
    assert ended.code != 0
    assert "missing" in ended.err


# --- as libraries run them


def agrees(states: Floats, z: Floats, poles: Floats) -> None:
    """Measured memory of recorded states is that of the poles, within its intervals."""
    measured = memcurve.memory_from_data(states, z, lags=20, washout=200, noise_floor=1e-4)
    network = memcurve.LinearNetwork(np.diag(poles), np.ones(len(poles)))
    exact = memcurve.memory_curve(network, 20, noise=1e-4)
    assert abs(measured.values[:3] - exact.values[:3]).max() < 0.05
    sizes = np.maximum(measured.error, 1e-3)
    off = np.abs(measured.values - exact.values) / sizes
    assert np.median(off) < INTERVALS


def test_mamba_as_transformers_runs_it() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    from transformers.models.mamba import modeling_mamba

    torch.manual_seed(0)
    config = transformers.MambaConfig(
        hidden_size=8, num_hidden_layers=1, state_size=2, vocab_size=10
    )
    model = transformers.MambaModel(config)
    mixer = model.layers[0].mixer
    mixer.dt_proj.bias.data.fill_(0.0)  # Δ = log 2
    result = memcurve.layers(model, noise=1e-6)
    layer = result["layers.0.mixer"]
    T, channels = 4000, mixer.A_log.shape[0]
    z = np.random.default_rng(3).standard_normal(T)
    u = torch.tensor(z, dtype=torch.float64).float().expand(1, channels, T)
    states = []
    for k in range(2):  # a readout that picks one state
        readout = torch.zeros(1, 2, T)
        readout[:, k] = 1
        with torch.no_grad():
            y = modeling_mamba.mamba_selective_scan(
                u, torch.zeros(1, channels, T), -torch.exp(mixer.A_log), torch.ones(1, 2, T),
                readout, delta_bias=mixer.dt_proj.bias, delta_softplus=True,
            )  # fmt: skip
        states.append(np.asarray(y[0, 0], dtype=float))
    poles = np.exp(-np.exp(mixer.A_log[0].detach().double().numpy()) * np.log(2))
    assert abs(layer.rank[0] - 2) == 0
    agrees(np.stack(states, axis=1), z, poles)


def test_rg_lru_as_transformers_runs_it() -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    torch.manual_seed(0)
    config = transformers.RecurrentGemmaConfig(
        hidden_size=8, num_hidden_layers=1, vocab_size=10, num_attention_heads=2, lru_width=8,
        intermediate_size=8,
    )  # fmt: skip
    model = transformers.RecurrentGemmaModel(config)
    [layer] = memcurve.layers(model, noise=1e-3).layers
    unit = model.layers[0].temporal_block.rg_lru
    T = 4000
    z = np.random.default_rng(4).standard_normal(T)
    decay = np.exp(-1 / layer.time_constant)
    inputs = torch.tensor(z).float()[None, :, None].expand(1, T, 8)
    gate = torch.tensor(decay).float().expand(1, T, 8)
    with torch.no_grad():
        states, _ = unit._rnn_scan(inputs, gate, torch.zeros(1, T, 1, dtype=torch.bool), None)
    agrees(np.asarray(states[0, :, :1], dtype=float), z, decay[:1])
    # the gate at rest, as the module computes it from its own parameters
    strength = torch.nn.functional.softplus(unit.recurrent_param)
    rest = torch.exp(-8 * torch.sigmoid(unit.recurrent_gate_bias.flatten()) * strength)
    assert np.abs(rest.detach().numpy() - decay).max() < 1e-6


@pytest.mark.parametrize("name", ["Mamba2", "Rwkv", "xLSTM"])
def test_models_of_transformers_are_recognised(name: str) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    transformers = pytest.importorskip("transformers", reason="transformers is not installed")
    options: dict[str, Any] = {
        "Mamba2": {"num_heads": 4, "head_dim": 8, "state_size": 4, "hidden_size": 16},
        "Rwkv": {"hidden_size": 16, "attention_hidden_size": 16},
        "xLSTM": {"hidden_size": 32, "num_heads": 2},
    }
    config = getattr(transformers, f"{name}Config")(
        num_hidden_layers=2, vocab_size=10, **options[name]
    )
    model = getattr(transformers, f"{name}Model")(config)
    assert len(memcurve.layers(model).layers) == 2


def test_every_kind_is_tested() -> None:
    assert {kind.name for kind in KINDS} == {*CASES, "S5", "S4", "fixed (A, B)"}
    assert [each.kind.name for each in recognised({"A": (3, 3), "B": (3, 1)})] == ["fixed (A, B)"]
