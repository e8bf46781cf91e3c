"""What people type first: the total, noise as a word, a misspelt option, ``dir``."""

import math
import pickle
import re
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


#: Lines of a user, each with what a type checker must object to, or nothing.
TYPED = {
    "memcurve.memory_curve(n, 5, noise=1e-3, tolerance=1e-9)": "",
    "memcurve.memory_curve((np.eye(2) / 2, np.ones(2)), noise='float32')": "",
    "memcurve.memory_curve(scipy.signal.StateSpace(0.5, 1.0, 1.0, 0.0, dt=1.0))": "",
    "memcurve.memory_capacity('network.npz', seed=1, method='montecarlo', samples=10)": "",
    "memcurve.memory_curve(n, nosie=1)": "nosie",
    "memcurve.memory_capacity(n, nosie=1)": "nosie",
    "memcurve.noise_profile(n, tolerance='small')": "str",
    "memcurve.memory_curve(42)": "int",
    "memcurve.memory_capacity(np.eye(2))": "ndarray",
    "memcurve.memory_curve(n, '5')": "str",
    "memcurve.memory_capacity(n).error.imaginary": "imaginary",
    "memcurve.memory_curve(n, 5).total.nonsense": "nonsense",
}


def test_type_checkers_know_networks_and_options(tmp_path: Path) -> None:
    """And no public name is of unknown type."""
    options = {name for method in METHODS.values() for name in method.options}
    assert {*get_type_hints(MethodOptions)} == options
    assert (ROOT / "src" / "memcurve" / "py.typed").is_file()
    head = "import memcurve\nimport numpy as np\nimport scipy.signal\n"
    head += "n = memcurve.ensembles.cyclic(5)\n"
    revealed = [f"reveal_type(memcurve.{name})" for name in memcurve.__all__]
    (tmp_path / "script.py").write_text(head + "\n".join([*TYPED, *revealed]))
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports=silent"]
    done = subprocess.run(
        [*command, "script.py"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"MYPYPATH": f"{ROOT / 'src'}"},
    )
    told = dict(re.findall(r"^script.py:(\d+): error: (.*)$", done.stdout, re.M))
    for number, (line, fact) in enumerate(TYPED.items(), 5):
        error = told.pop(str(number), "")
        assert fact in error, line
        assert bool(fact) == bool(error), f"{line}: {error}"
    assert not told
    types = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert len(types) == len(revealed)
    assert "Any" not in types


@pytest.mark.parametrize("name", ["inputs", "ensembles", "masks", "nulls", "adapters", "plot"])
def test_public_modules_list_public_names(name: str) -> None:
    module = getattr(memcurve, name)
    listed = dir(module)
    assert {"ensembles": "normal", "inputs": "ARMA", "plot": "curves"}.get(
        name, listed[0]
    ) in listed
    assert not [one for one in listed if one.startswith("_") or one in ("Any", "np", "annotations")]
    assert all(hasattr(module, one) for one in listed)
