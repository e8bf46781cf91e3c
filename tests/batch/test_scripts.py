"""The example that trains eigenvalues, and the benchmark of the GPU where there is none."""

import importlib
import json
import sys
from types import ModuleType

import pytest

from repository import ROOT

pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def training(monkeypatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "examples")
    return importlib.import_module("train_lru_memory")


def test_a_few_steps_already_flatten_the_memory(training: ModuleType) -> None:
    found = training.train(20, seed=1)
    assert found.losses[-1] <= found.losses[0] / 4
    held = slice(0, training.HELD_LAGS)
    assert found.end[held].sum() > found.start[held].sum() + 5
    assert len(training.table(found).splitlines()) == 1 + training.SHOWN_LAGS // 5


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_the_default_steps_reach_the_target(training: ModuleType, seed: int, held) -> None:
    found = training.train(training.DEFAULT_STEPS, seed)
    assert found.start[: training.HELD_LAGS].min() < 0.6
    smallest = found.end[: training.HELD_LAGS].min()
    held(f"trained: smallest MC_τ below lag {training.HELD_LAGS}", smallest, at_least=0.95)


def test_example_as_a_command(training: ModuleType, tmp_path, monkeypatch, capsys) -> None:
    picture = tmp_path / "flat.png"
    monkeypatch.setattr(sys, "argv", ["train", "--steps", "3", "--plot", str(picture)])
    training.main()
    shown = capsys.readouterr().out
    assert "step     3" in shown
    assert "over all lags 64 always" in shown
    assert picture.stat().st_size > 10_000


def test_benchmark_of_the_gpu_runs_on_a_cpu(tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.syspath_prepend(ROOT)
    gpu = importlib.import_module("benchmarks.gpu")
    output = tmp_path / "gpu.json"
    arguments = ["gpu", "--device", "cpu", "--sizes", "30", "60", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", arguments)
    gpu.main()
    assert "within the errors" in capsys.readouterr().out
    found = json.loads(output.read_text(encoding="utf-8"))
    assert [row["rank"] for row in found["rows"]] == [30, 60]
    assert all(row["difference_to_cpu"] <= 1e-12 for row in found["rows"])
    assert all(row["memory_curves_s"] > 0 for row in found["rows"])
