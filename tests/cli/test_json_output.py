"""``--json``: one strict JSON document is all of stdout, whatever else is asked."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command import Command
from memcurve import Comparison, MemoryCurve, NoiseProfile, ensembles


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    z = np.random.default_rng(3).standard_normal(600)
    X = ensembles.orthogonal(4, spectral_radius=0.8, seed=1).simulate(z)
    file = tmp_path_factory.mktemp("recording") / "rec.npz"
    np.savez(file, states=X[100:], z=z[100:])
    return file


def document(text: str) -> Any:
    """Read strict JSON: no NaN, no infinity, nothing before or after."""

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is no JSON")

    return json.loads(text, parse_constant=refuse)


CURVE = ("curve", "--size", 8)
QUESTIONS = [
    (CURVE, MemoryCurve),
    ((*CURVE, "--method", "osm_plus"), MemoryCurve),
    ((*CURVE, "--profile"), NoiseProfile),
    ((*CURVE, "--inputs", 2, "--readout", "0-3"), MemoryCurve),
    (("compare", "--ensemble", "normal", "--size", 6, "--lags", 20), Comparison),
    (("data",), MemoryCurve),
    (("data", "--estimator", "k_fold"), MemoryCurve),
]


@pytest.mark.parametrize(("asked", "kind"), QUESTIONS)
def test_results_are_read_back(
    command: Command, recording: Path, tmp_path: Path, asked: tuple, kind: Any
) -> None:
    asked = ("data", recording, *asked[1:], "--lags", 6) if asked[0] == "data" else asked
    png, saved = tmp_path / "x.png", tmp_path / "x.json"
    done = command(*asked, "--json", "--plot", png, "--save", saved, "--verbose")
    assert done.code == 0, done.err
    document(done.out)
    assert kind.from_json(done.out).to_json() == done.out.rstrip("\n")
    assert saved.read_text(encoding="utf-8") == done.out.rstrip("\n")
    assert done.err == f"picture written to {png}\nresult written to {saved}\n"


@pytest.mark.parametrize("asked", ["curve", "audit", "compare", "data", "measure --precision 1"])
def test_results_are_saved_as_their_ending_says(
    command: Command, recording: Path, tmp_path: Path, asked: str
) -> None:
    which = [recording] if asked == "data" else ["--ensemble", "normal", "--size", 6]
    for ending, start in ((".csv", ("lag,", "method,")), (".tex", "\\begin{tabular}")):
        done = command(*asked.split(), *which, "--save", tmp_path / f"x{ending}")
        assert done.code == 0, done.err
        assert (tmp_path / f"x{ending}").read_text(encoding="utf-8").startswith(start)
    assert command(*asked.split(), *which, "--save", tmp_path / "x.xls").code == 2
