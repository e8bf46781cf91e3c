"""Studies and cases: what files mean, what is refused, keys that last, numbers of memory_curve."""

import json
import time
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import Study, ensembles, memory_curve
from memcurve.studies.sweeping import Case, evaluate, shipped, sweep
from memcurve.studies.sweeping.cases import QUANTITIES, network_of
from memcurve.views.cli.options import NetworkOptions
from refusals import refuses

GRID = """\
keep = ["total"]

[grid]
ensemble = ["normal", { name = "sparse_normal", density = 0.5 }]
size = { from = 10, to = 20, step = 5 }
method = ["exact", { name = "naive", inverse = "pinv" }]
seed = [1, 2]
"""


def test_a_grid_is_all_combinations_the_last_axis_fastest() -> None:
    study = Study.from_text(GRID)
    cases = list(study.cases())
    assert study.count == len(cases) == 2 * 3 * 2 * 2
    assert len({case.key for case in cases}) == len(cases)
    assert [case.seed for case in cases[:4]] == [1, 2, 1, 2]
    assert [case.size for case in cases[::4]] == [10, 15, 20, 10, 15, 20]
    assert cases[-1].ensemble_options == {"density": 0.5}
    assert cases[-1].options == {"inverse": "pinv"}
    assert cases[5] == study.case_at(5)
    assert study.varied == ("ensemble", "size", "method", "seed")


def test_python_and_toml_are_the_same_study() -> None:
    made = Study.grid(
        ensemble=["normal", {"name": "sparse_normal", "density": 0.5}],
        size=np.array([10, 15, 20]),
        method=["exact", {"name": "naive", "inverse": "pinv"}],
        seed=range(1, 3),
        keep=["total"],
    )
    keys = [case.key for case in made.cases()]
    assert keys == [case.key for case in Study.from_text(GRID).cases()]
    assert keys == [case.key for case in Study.from_text(made.text).cases()]


def test_ranges() -> None:
    study = Study.grid(
        ensemble="cyclic", size=5, spectral_radius={"from": 0.1, "to": 0.4, "count": 4},
        noise={"from": 1e-4, "to": 1e-1, "count": 4, "log": True},
    )  # fmt: skip
    assert study.axes["spectral_radius"] == (0.1, 0.2, 0.3, 0.4)
    assert study.axes["noise"] == (1e-4, 1e-3, 1e-2, 1e-1)
    sizes = Study.grid(ensemble="cyclic", size={"from": 10, "to": 1000, "count": 5, "log": True})
    assert sizes.axes["size"] == (10, 32, 100, 316, 1000)
    without_count = {"ensemble": "sparse_normal", "size": 9, "density": {"from": 0.1, "to": 0.9}}
    refuses(ValueError, ("grid.density", "count"), Study.grid, **without_count)


def test_a_billion_cases_are_counted_at_once() -> None:
    start = time.perf_counter()
    study = Study.grid(ensemble="normal", size=10, seed=range(1, 10**9 + 1))
    assert study.count == 10**9
    assert study.case_at(10**9 - 1).seed == 10**9
    facts = "`study`", "1,000,000", "1,000,000,000", "seed"
    refuses(ValueError, facts, sweep, study, None)
    assert time.perf_counter() - start < 2


VALID = '[grid]\nensemble = "normal"\nsize = 10\nseed = 1\n'


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (VALID.replace("normal", "nromal"), ("grid.ensemble", "'nromal'", "normal")),
        (VALID + "sede = 2", ("grid.sede", "seed")),
        ("colour = 1\n" + VALID, ("colour", "title")),
        (VALID.replace("10", '"ten"'), ("grid.size", "'ten'")),
        (VALID.replace("10", "[]"), "grid.size"),
        (VALID.replace("10", "[5, 5]"), ("grid.size", "5")),
        (VALID.replace("size = 10\n", ""), "grid.size"),
        (VALID.replace("seed = 1\n", ""), ("grid", "`seed`")),
        (VALID + "density = 0.1", ("grid", "`density`")),
        (VALID + 'mask = "one"', ("grid.mask", "'one'")),
        (VALID + "method = { name = 'naive', inv = 1 }", ("grid", "inv", "inverse")),
        (VALID.replace("seed = 1", "seed = { from = 3, to = 1 }"), "grid.seed"),
        (VALID.replace("seed = 1", "seed = { from = 1, to = 3, by = 2 }"), ("grid.seed", "by")),
        (VALID + "noise = { from = 0.5, to = 0.9, count = 1 }", ("grid.noise", "count", "1")),
        (VALID + "noise = { from = 0, to = 1, count = 3, log = true }", ("grid.noise", "0")),
        ('keep = ["totl"]\n' + VALID, ("keep", "'totl'")),
        ('keep = ["total"]', "grid"),
        (VALID + "[random]\nsize = 3", ("random", "no such field", "grid")),
        ("[grid]", "grid.ensemble"),
        ("[grid", "TOML"),
        (VALID.replace("seed = 1", f"seed = {2**63}"), "grid.seed"),
        (VALID.replace('"normal"', '{ name = "chain", loop = nan }'), "grid.ensemble"),
    ],
)
def test_bad_files_are_named_with_field_and_value(text: str, facts: Any, tmp_path) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text, encoding="utf-8")
    refuses(ValueError, ("bad", *([facts] if isinstance(facts, str) else facts)), Study.load, path)


def test_missing_files_and_other_formats(tmp_path) -> None:
    path = tmp_path / "study.toml"
    refuses(FileNotFoundError, (str(path), "architectures"), Study.load, path)
    path.write_bytes(b"\xff\xfe")
    refuses(ValueError, "TOML", Study.load, path)
    refuses(ValueError, "[quick]", Study.from_text, VALID, quick=True)


@pytest.mark.parametrize("name", shipped())
def test_shipped_studies_are_sound(name: str) -> None:
    study, quick = Study.load(name), Study.load(name, quick=True)
    assert study.name == quick.name == name
    assert study.title.endswith("?")
    assert quick.count < study.count / 2
    again = Study.from_text(quick.text, name)
    assert [case.key for case in again.cases()] == [case.key for case in quick.cases()]
    assert evaluate(quick.case_at(0).to_dict()).keys() == set(study.keep)


USABLE = tuple(name for name in QUANTITIES if name.startswith("usable"))
NORMAL: dict[str, Any] = {"ensemble": "normal", "size": 30, "seed": 1}


def test_the_key_of_a_case_never_changes() -> None:
    """Stores would be lost otherwise; a change needs another format than memcurve.Case/1."""
    assert Case(**NORMAL).key == "c42898ef4acb4c7b4deb0680efe38f5ae885218cf04ddd0cf9353a69f1b2bbd9"


@pytest.mark.parametrize(
    "other",
    [
        {"size": np.int64(30)},
        {"seed": np.int64(1)},
        {"input": "white"},
        {"noise": 0},
        {"noise": "0"},
        {"keep": ["total", "rank", "total"]},
        {"inputs": 1, "lags": None, "options": {}},
    ],
    ids=str,
)
def test_equal_cases_have_one_key(other: dict[str, Any]) -> None:
    assert Case(**NORMAL | other) == Case(**NORMAL)
    assert Case(**NORMAL | other).key == Case(**NORMAL).key


def test_what_an_ensemble_takes_is_given_once() -> None:
    by_field = Case(ensemble="sparse_normal", size=9, seed=1, density=1)
    by_option = Case(ensemble="sparse_normal", size=9, seed=1, ensemble_options={"density": 1.0})
    np.testing.assert_array_equal(network_of(by_field).A, network_of(by_option).A)
    twice = {"ensemble": "sparse_normal", "size": 9, "ensemble_options": {"density": 1}}
    refuses(ValueError, ("`density`", "0.1"), Case, **twice, seed=1, density=0.1)


@pytest.mark.parametrize(
    "other",
    [
        {"size": 31}, {"seed": 0}, {"spectral_radius": 0.5}, {"mask": "ones"}, {"inputs": 2},
        {"input": "ar:0.9"}, {"noise": 1e-3}, {"noise": "float32"}, {"method": "naive"},
        {"method": "naive", "options": {"inverse": "pinv"}}, {"lags": 7}, {"keep": ["rank"]},
        {"ensemble_options": {"scaling": "circular_law"}},
    ],
    ids=str,
)  # fmt: skip
def test_other_cases_have_other_keys_and_survive_json(other: dict[str, Any]) -> None:
    case = Case(**NORMAL | other)
    assert case.key != Case(**NORMAL).key
    back = Case(**json.loads(json.dumps(case.to_dict())))
    assert back == case
    assert back.key == case.key
    assert hash(back) == hash(case)


@pytest.mark.parametrize(
    ("fields", "facts"),
    [
        ({"ensemble": "gaussian"}, ("`ensemble`", "'gaussian'")),
        ({"size": None}, "`size`"),
        ({"density": 0.1}, "`density`"),
        ({"seed": None}, "`seed`"),
        ({"seed": -1}, ("`seed`", "-1")),
        ({"noise": -1.0}, "`noise`"),
        ({"input": "series:z.npy"}, "`input`"),
        ({"options": {"inverse": "pinv"}}, ("'exact'", "inverse")),
        ({"options": {"certify_up_to": {1}}}, "`options`"),
        ({"colour": "red"}, "'colour'"),
    ],
)
def test_bad_cases_are_refused(fields: dict[str, Any], facts: Any) -> None:
    refuses((ValueError, TypeError), facts, Case, **NORMAL | fields)


def test_values_are_those_of_memory_curve() -> None:
    case = Case(**NORMAL, method="naive", options={"inverse": "pinv"}, keep=tuple(QUANTITIES))
    found = evaluate(case.to_dict())
    network = memcurve.ensembles.normal(30, seed=1)
    naive = memcurve.memory_curve(network, method="naive", inverse="pinv")
    exact = memcurve.memory_curve(network, len(naive))
    assert found["total"] == pytest.approx(naive.total, abs=1e-6)
    assert found["rank"] == 30
    assert (found["largest_error"], found["total_error"]) == (None, None)
    off = np.abs(naive.values - exact.values).max()
    assert found["error_against_exact"] == pytest.approx(off, abs=1e-6)
    assert found["horizon_half"] == naive.horizon()
    assert found["horizon_tenth"] == naive.horizon(0.1)
    profile = memcurve.noise_profile(network)
    marks = list(profile.marks.values())
    usable = memcurve.noise_profile(network, marks).totals
    np.testing.assert_allclose([found[name] for name in USABLE], usable, rtol=1e-9)


def test_noise_input_and_lags() -> None:
    case = Case(
        **NORMAL, input="ar:0.9", noise="float32", lags=3,
        keep=("total", "horizon_half", "largest_error", "error_against_exact"),
    )  # fmt: skip
    found = evaluate(case.to_dict())
    network = memcurve.ensembles.normal(30, seed=1)
    exact = memcurve.memory_curve(network, 3, input="ar:0.9", noise=memcurve.Float32())
    assert found["total"] == pytest.approx(exact.total, rel=1e-9)
    assert found["horizon_half"] is None
    assert found["error_against_exact"] == 0


def test_several_inputs_are_those_of_the_command() -> None:
    network = network_of(Case(**NORMAL, inputs=3))
    same = NetworkOptions(ensemble="normal", size=30, inputs=3).network(None, "normal")
    np.testing.assert_array_equal(network.C, same.C)


def test_sizes_that_are_stored_sparse() -> None:
    """Usable memory by the solver of large networks; the rank is left out where it takes long."""
    options = {"degree": 4, "scaling": "circular_law"}
    asked = {"ensemble": "sparse_normal", "ensemble_options": options, "noise": 0.5, "seed": 1}
    found = evaluate({**asked, "size": 21_000, "keep": ["total", "rank"]})
    network = ensembles.sparse_normal(21_000, seed=1, degree=4, scaling="circular_law")
    assert network.is_sparse
    assert found["total"] == memory_curve(network, noise=0.5).total
    assert found["rank"] is None
