"""Cases: one form for each, keys that last, and numbers that are those of memory_curve."""

import json
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve import ensembles, memory_curve
from memcurve.studies.sweeping import Case, evaluate
from memcurve.studies.sweeping.cases import QUANTITIES, network_of
from memcurve.views.cli.options import NetworkOptions
from refusals import refuses

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
