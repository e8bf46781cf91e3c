"""What people type first: the total, noise as a word, a misspelt option, ``dir``."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from pathlib import Path
from typing import get_type_hints

import pytest

import memcurve
from memcurve import ensembles, memory_capacity, memory_curve
from memcurve.memory import METHODS
from memcurve.memory.entry_points import MethodOptions
from refusals import refuses
from repository import ROOT

NETWORK = ensembles.normal(20, spectral_radius=0.9, seed=1)


def test_the_total_is_that_of_the_curve() -> None:
    for noise in (None, 1e-3):
        total, curve = memory_capacity(NETWORK, noise=noise), memory_curve(NETWORK, noise=noise)
        assert (float(total), total.error) == (curve.total, curve.total_error)
    few = memory_capacity(NETWORK, 5)
    assert float(few) == math.fsum(memory_curve(NETWORK, 5).values)
    assert few.error >= 0
    again = pickle.loads(pickle.dumps(few))
    assert (again, again.error) == (few, few.error)
    assert memory_capacity(ensembles.delay_line(7)) == 7


@pytest.mark.parametrize(
    ("text", "noise"),
    [
        ("float32", memcurve.Float32()),
        ("1e-3", 1e-3),
        ("state:0.01", memcurve.StateNoise(0.01)),
        ("12bit:4", memcurve.Quantised(bits=12, low=-4, high=4)),
    ],
)
def test_noise_in_words(text: str, noise: object) -> None:
    assert memory_curve(NETWORK, noise=text).total == memory_curve(NETWORK, noise=noise).total
    refuses(ValueError, ("`noise`", "'float'"), memory_curve, NETWORK, noise="float")


def test_misspelt_options_and_networks() -> None:
    refuses(TypeError, ("nosie", "`noise`"), memory_curve, NETWORK, nosie=1)
    refuses(TypeError, ("lag", "`lags`"), memory_capacity, NETWORK, lag=1)
    refuses(TypeError, ("int", "memcurve.ensembles.normal(42"), memory_curve, 42)


def test_type_checkers_know_the_options(tmp_path: Path) -> None:
    options = {name for method in METHODS.values() for name in method.options} - {"progress"}
    assert {*get_type_hints(MethodOptions)} == options
    script = tmp_path / "script.py"
    script.write_text(
        "import memcurve\nn = memcurve.ensembles.cyclic(5)\n"
        "memcurve.memory_curve(n, 5, noise=1e-3, tolerance=1e-9)\n"
        "memcurve.memory_curve(n, nosie=1)\n"
    )
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports=silent", script]
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=tmp_path, env={"MYPYPATH": f"{ROOT / 'src'}"}
    )
    errors = [line for line in done.stdout.splitlines() if "error" in line and "script" in line]
    assert len(errors) == 1
    assert "script.py:4" in errors[0]
    assert "nosie" in errors[0]


@pytest.mark.parametrize("name", ["inputs", "ensembles", "masks", "nulls", "adapters", "plot"])
def test_public_modules_list_public_names(name: str) -> None:
    module = getattr(memcurve, name)
    listed = dir(module)
    assert {"ensembles": "normal", "inputs": "ARMA", "plot": "curves"}.get(
        name, listed[0]
    ) in listed
    assert not [one for one in listed if one.startswith("_") or one in ("Any", "np", "annotations")]
    assert all(hasattr(module, one) for one in listed)
