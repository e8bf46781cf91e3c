"""The public surface is one thing: docs/conventions.md, "Results and arguments", as tests.

And what people type first: the total, noise as a word, a misspelt option, ``dir``.
"""

import inspect
import io
import json
import math
import pickle
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, get_type_hints

import jsonschema
import matplotlib as mpl
import numpy as np
import pytest

import memcurve
from command import ended
from memcurve import ensembles, memory_capacity, memory_curve
from memcurve.core import cells
from memcurve.core.notes import Note
from memcurve.core.result import Result
from memcurve.data.measuring import measurement_report
from memcurve.memory.entry_points import MethodOptions
from memcurve.memory.methods import METHODS
from refusals import refuses
from repository import ROOT

mpl.use("Agg")

NETWORK = ensembles.normal(8, spectral_radius=0.8, seed=1)
INPUT = np.random.default_rng(1).standard_normal(600)
STATES = NETWORK.simulate(INPUT)


def swept(folder: Path) -> Any:
    study = memcurve.Study.grid(ensemble="cyclic", size=[3, 5], keep="total")
    return memcurve.sweep(study, folder / "sweep.sqlite", executor="serial")


#: Everything that takes a network, the type of result that it makes, and what else it needs.
TAKES_A_NETWORK: dict[str, tuple[type | None, dict[str, Any]]] = {
    "memory_curve": (memcurve.MemoryCurve, {}),
    "forecasting_curve": (None, {"input": "ar:0.5"}),
    "fisher_curve": (None, {}),
    "noise_profile": (memcurve.NoiseProfile, {"levels": [1e-3, 1e-6]}),
    "compare": (memcurve.Comparison, {"methods": ["naive", "osm"]}),
    "input_normal": (memcurve.InputNormal, {}),
    "controllable_spectrum": (None, {}),
    "rank": (None, {}),
    "structural_rank": (None, {}),
    "audit": (memcurve.Audit, {"claimed": 7.5}),
    "capacities": (memcurve.Capacities, {}),
    "task_error": (memcurve.TaskError, {"target": [1.0, 0.5, 0.2]}),
    "control_energy": (memcurve.ControlEnergy, {}),
    "hankel_values": (memcurve.HankelValues, {}),
    "information": (memcurve.Information, {"noise": 0.1}),
    "improvement": (memcurve.Improvement, {"noise": 0.1, "count": 3}),
    "whitened": (memcurve.Whitened, {}),
    "pruned": (memcurve.Pruned, {"noise": 1e-3, "tolerance": 1e-3}),
    "best_mask": (memcurve.MaskChoice, {"noise": 0.1}),
    "best_readout": (memcurve.ReadoutChoice, {"noise": 0.1, "count": 3}),
    "memory_by_region": (
        memcurve.RegionalMemory, {"regions": np.array(["sensory", "motor"] * 4), "noise": 0.1},
    ),
    "compare_with_nulls": (
        memcurve.NullComparison, {"draws": 2, "seed": 1, "executor": "serial"},
    ),
}  # fmt: skip
TANH = memcurve.NonlinearNetwork(NETWORK.A, NETWORK.C)
#: One of each result type; ``to_xarray`` of some would need more than these have.
MADE: dict[type, Any] = {
    **{kind: lambda folder, name=name, given=given: getattr(memcurve, name)(NETWORK, **given)
       for name, (kind, given) in TAKES_A_NETWORK.items() if kind is not None},
    memcurve.MemoryCurves: lambda folder: memcurve.memory_curves(
        np.stack([0.5 * np.eye(3), np.diag([0.1, 0.2, 0.3])])
    ),
    memcurve.Capacity: lambda folder: memcurve.capacity_from_data(STATES, INPUT, washout=50),
    memcurve.MeasurementReport: lambda folder: measurement_report(
        TANH, seed=1, precision=1, scales=[1.0]
    ),
    memcurve.ScaleProfile: lambda folder: memcurve.measure_scales(
        TANH, [0.1, 1.0], seed=1, precision=1
    ),
    memcurve.Design: lambda folder: memcurve.design("ramp", 3),
    memcurve.JudgedClaim: lambda folder: memcurve.judge_claim("rodan-2011"),
    memcurve.ModelMemory: lambda folder: memcurve.layers(
        {"rnn.nu_log": np.full(3, -2.0), "rnn.theta_log": np.arange(3.0)}
    ),
    memcurve.MemoryDensity: lambda folder: memcurve.memory_density(
        memcurve.ContinuousNetwork([[-1.0]], [1.0])
    ),
    memcurve.Sweep: swept,
    type(memcurve.check_recording(STATES, INPUT)): lambda folder: memcurve.check_recording(
        STATES, INPUT
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module", params=MADE, ids=lambda kind: kind.__name__)
def result(request, folder: Path) -> Any:
    made = MADE[request.param](folder)
    assert type(made) is request.param
    return made


def test_every_result_type_is_here() -> None:
    def below(kind: type) -> set[type]:
        return {kind}.union(*(below(one) for one in kind.__subclasses__()))

    public = {kind for kind in below(Result) if "FORMAT" in vars(kind)}
    assert {kind.__name__ for kind in public} == {kind.__name__ for kind in MADE}


def test_json_goes_both_ways(result: Any, folder: Path) -> None:
    text = result.to_json()
    assert isinstance(text, str)
    content = json.loads(text)
    kind = type(result)
    assert content["format"] == kind.FORMAT == f"memcurve.{kind.__name__}/{kind.FORMAT[-1]}"
    assert kind.from_json(text).to_json() == text
    schema = kind.json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(content, schema)
    path = folder / f"{kind.__name__}.json"
    assert result.save(path) is None
    assert kind.load(path).to_json() == text
    refuses(ValueError, ("`text`", kind.__name__), kind.from_json, "{}")
    assert isinstance(result.notes, tuple)
    assert all(isinstance(note, Note) for note in result.notes)


def test_frames_and_pictures(result: Any) -> None:
    import matplotlib.pyplot as plt
    import pandas as pd
    import xarray as xr
    from matplotlib.axes import Axes

    assert isinstance(result.to_pandas(), pd.DataFrame)
    if find_spec("polars") is not None:
        assert len(result.to_polars()) == len(result.to_pandas())
    assert isinstance(result.to_xarray(), xr.Dataset)
    assert isinstance(result.plot(), Axes)
    figure, ax = plt.subplots()
    assert result.plot(ax=ax) is ax
    plt.close("all")
    assert figure.axes[0] is ax


def test_tables_are_what_the_frame_is(result: Any) -> None:
    """CSV as pandas reads it without being told anything, LaTeX row by row."""
    import pandas as pd

    columns = result.columns()
    frame = pd.read_csv(io.StringIO(result.to_csv()))
    assert list(frame) == list(columns)
    for name, values in columns.items():
        wanted = pd.Series(list(values))
        if wanted.dtype.kind in "if":
            # pandas may read the last digit as its neighbour; Python reads it as it was
            numbers, exact = frame[name].to_numpy(float), wanted.to_numpy(float)
            np.testing.assert_allclose(numbers, exact, rtol=2 * np.finfo(float).eps, atol=0)
        else:
            read = [value if isinstance(value, str) else None for value in frame[name]]
            assert read == [value or None for value in values]
    begin, _, head, _, *rows, _, end, last = result.to_latex().split("\n")
    assert (begin[:16], end, last) == (r"\begin{tabular}{", r"\end{tabular}", "")
    assert len(rows) == len(frame)
    for row in (head, *rows):
        assert len(re.findall(r"(?<!\\)&", row)) == len(columns) - 1 == len(begin) - 18
        assert row.endswith(r" \\")


def test_files_hold_what_their_ending_says(result: Any, folder: Path) -> None:
    """Not JSON under any name."""
    kind = type(result).__name__
    if kind != "Sweep":  # which has endings of its own, see tests/sweeping/test_result.py
        for ending, text in (("csv", result.to_csv()), ("TEX", result.to_latex())):
            result.save(folder / f"{kind}.{ending}")
            assert (folder / f"{kind}.{ending}").read_text() == text
    for name in (f"{kind}.xlsx", kind):
        refuses(ValueError, ("`path`", ".csv", name), result.save, folder / name)
        assert not (folder / name).exists()


@pytest.mark.parametrize("text", ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1"])
def test_spreadsheets_run_no_cell(text: str) -> None:
    """Names of methods and networks come from files of others."""
    assert cells.safe_cell(text) == f"'{text}"
    assert cells.csv_text({"a": [text]}) == f"a\n'{text.strip()}\n"
    assert cells.safe_cell("-1e-3") == "-1e-3"
    assert cells.csv_text({text: [-1.5, np.float32(0.5), None]}).endswith('\n-1.5\n0.5\n""\n')


def test_latex_of_signs_that_mean_something_to_it() -> None:
    table = {"a_b & 50% {#$~^\\": ["τ = Δ", "1e-3"], "±": [-np.inf, 2e-20]}
    assert cells.latex_text(table).split("\n")[2:6] == [
        r"a\_b \& 50\% \{\#\$\textasciitilde{}\textasciicircum{}\textbackslash{} & $\pm$ \\",
        r"\hline",
        r"$\tau$ = $\Delta$ & $-\infty$ \\",
        r"0.001 & $2 \times 10^{-20}$ \\",
    ]


def test_notes_survive_a_file() -> None:
    network = NETWORK.replace(notes=["drawn for a test"])
    curve = memcurve.memory_curve(network, noise=0.1, method="naive")
    again = memcurve.MemoryCurve.from_json(curve.to_json())
    assert [(note.kind, str(note)) for note in again.notes] == [
        (note.kind, str(note)) for note in curve.notes
    ]
    assert [note.kind for note in again.notes] == ["network", "method", "unbounded"]


def test_every_public_name_has_a_runnable_example() -> None:
    """Examples of modules are those of their functions; doctest runs them all."""
    public = {name: getattr(memcurve, name) for name in memcurve.__all__}
    documented = {n: p for n, p in public.items() if inspect.isclass(p) or inspect.isfunction(p)}
    assert len(documented) == len(public) - sum(map(inspect.ismodule, public.values())) - 1
    assert not [n for n, p in documented.items() if ">>>" not in (p.__doc__ or "")]


def test_only_public_names_are_listed() -> None:
    assert dir(memcurve) == sorted(memcurve.__all__)
    assert all(getattr(memcurve, name) is not None for name in memcurve.__all__)
    refuses(AttributeError, "nonsense", getattr, memcurve, "nonsense")


@pytest.mark.parametrize("name", TAKES_A_NETWORK)
def test_networks_are_what_as_network_takes(name: str, tmp_path) -> None:
    function, (_, arguments) = getattr(memcurve, name), TAKES_A_NETWORK[name]
    memcurve.save_network(NETWORK, tmp_path / "network.npz")
    for stands_for_it in (NETWORK, (NETWORK.A, NETWORK.C), str(tmp_path / "network.npz")):
        assert function(stands_for_it, **arguments) is not None
    refuses(TypeError, "`network`", function, 3.5, **arguments)


def test_no_argument_changes_the_type_of_the_result() -> None:
    levels = {"noise": [0.1, 0.2]}
    refuses(ValueError, "memcurve.noise_profile", memcurve.memory_curve, NETWORK, **levels)
    assert inspect.signature(memcurve.memory_curve).return_annotation == "MemoryCurve"


def test_one_name_a_concept() -> None:
    """The certify limit, progress, seeds and methods are called the same everywhere."""
    banned = {"max_size", "closer_look_up_to", "say", "on_progress", "show", "verbose", "rng"}
    for name in memcurve.__all__:
        public = getattr(memcurve, name)
        if inspect.isfunction(public):
            taken = set(inspect.signature(public).parameters)
            assert not taken & banned, name
    for name, method in METHODS.items():
        assert not {*method.options} & {*banned, "burn_in"}, name
    assert "progress" in inspect.signature(memcurve.sweep).parameters
    assert "progress" in inspect.signature(memcurve.audit).parameters


TWENTY = ensembles.normal(20, spectral_radius=0.9, seed=1)


def test_the_total_is_that_of_the_curve() -> None:
    for noise in (None, 1e-3):
        total, curve = memory_capacity(TWENTY, noise=noise), memory_curve(TWENTY, noise=noise)
        assert (float(total), total.error) == (curve.total, curve.total_error)
    few = memory_capacity(TWENTY, 5)
    assert float(few) == math.fsum(memory_curve(TWENTY, 5).values)
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
    assert memory_curve(TWENTY, noise=text).total == memory_curve(TWENTY, noise=noise).total
    refuses(ValueError, ("`noise`", "'float'"), memory_curve, TWENTY, noise="float")


def test_misspelt_options_and_networks() -> None:
    refuses(TypeError, ("nosie", "`noise`"), memory_curve, TWENTY, nosie=1)
    refuses(TypeError, ("`masks`", "tolerance"), memory_curve, TWENTY, masks=3)  # of another method
    refuses(TypeError, ("lag", "`lags`"), memory_capacity, TWENTY, lag=1)
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


def test_type_checkers_know_networks_and_options(tmp_path) -> None:
    """And no public name is of unknown type."""
    options = {name for method in METHODS.values() for name in method.options}
    assert {*get_type_hints(MethodOptions)} == options
    assert (ROOT / "src" / "memcurve" / "py.typed").is_file()
    head = "import memcurve\nimport numpy as np\nimport scipy.signal\n"
    head += "n = memcurve.ensembles.cyclic(5)\n"
    revealed = [f"reveal_type(memcurve.{name})" for name in memcurve.__all__]
    (tmp_path / "script.py").write_text(head + "\n".join([*TYPED, *revealed]))
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--follow-imports=silent"]
    out = ended([*command, "script.py"], cwd=tmp_path, env={"MYPYPATH": f"{ROOT / 'src'}"}).out
    told = dict(re.findall(r"^script.py:(\d+): error: (.*)$", out, re.M))
    for number, (line, fact) in enumerate(TYPED.items(), 5):
        error = told.pop(str(number), "")
        assert fact in error, line
        assert bool(fact) == bool(error), f"{line}: {error}"
    assert not told
    types = re.findall(r'Revealed type is "(.*)"', out)
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
