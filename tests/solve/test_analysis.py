"""One question, one analysis: what is found out about a network is found out once."""

import pickle
from collections import Counter
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

import memcurve
from memcurve import ensembles
from memcurve.network import graph
from memcurve.solve import analysis as analysis_module
from memcurve.solve.analysis import KEPT_UP_TO, Analysis
from memcurve.solve.problem import Problem

COUNTED = ["reachable_nodes", "strong_components"]


@pytest.fixture
def calls(monkeypatch) -> Iterator[Counter[str]]:
    """How often facts are found out, and questions are built, from here on."""
    counts: Counter[str] = Counter()

    def counted(name: str, function: Any) -> Any:
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            return function(*args, **kwargs)

        return wrapper

    watched = {name: counted(name, vars(graph)[name]) for name in COUNTED}
    monkeypatch.setattr(analysis_module, "graph", SimpleNamespace(**vars(graph) | watched))
    sizes = counted("sizes_by_products", analysis_module.sizes_by_products)
    monkeypatch.setattr(analysis_module, "sizes_by_products", sizes)
    monkeypatch.setattr(Analysis, "_decided", counted("decided", Analysis._decided))
    built: list[tuple[Any, ...]] = []
    initialise = Problem.__init__

    def remembered(self: Problem, *args: Any, **kwargs: Any) -> None:
        initialise(self, *args, **kwargs)
        noise = None if self.noise is None else (type(self.noise), self.noise.levels.tobytes())
        names = tuple(process.name for process in self.processes)
        built.append((id(self.network), self.kind, self.lags, self.horizons, names, noise))

    monkeypatch.setattr(Problem, "__init__", remembered)
    yield counts
    counts["questions"] = len(built)
    assert len(set(built)) == len(built), "a question was built twice"


@pytest.mark.parametrize(
    "network", [ensembles.normal(30, seed=1), ensembles.sparse_normal(30, density=0.1, seed=1)]
)
def test_an_audit_finds_out_once(network: Any, calls: Counter[str]) -> None:
    memcurve.audit(network, noise=1e-3)
    assert calls["decided"] == 1
    assert calls["reachable_nodes"] == 1
    assert calls["sizes_by_products"] <= 2


def test_all_entry_points_share_one_analysis(calls: Counter[str]) -> None:
    network = ensembles.normal(20, seed=1)
    memcurve.memory_curve(network)
    memcurve.compare(network, ["naive", ("naive", {"inverse": "pinv"}), "osm"], lags=40)
    memcurve.noise_profile(network, [1e-3, 1e-6])
    memcurve.forecasting_curve(network, memcurve.inputs.ARMA(ar=[0.5]))
    memcurve.fisher_curve(network)
    memcurve.input_normal(network)
    memcurve.controllable_spectrum(network)
    tiny = 3  # compare loads libraries by running each method on two nodes first
    assert calls["decided"] <= 1 + tiny + 1
    assert calls["strong_components"] <= 1 + tiny + 1


def test_one_decision_serves_all_lags(calls: Counter[str]) -> None:
    network = ensembles.normal(20, seed=2)
    for lags in (None, 5, 50):
        memcurve.memory_curve(network, lags)
    assert calls["decided"] == 1


def test_large_networks_are_not_kept() -> None:
    small, large = ensembles.cyclic(10), ensembles.cyclic(KEPT_UP_TO + 1)
    assert Analysis.of(small) is Analysis.of(small)
    assert Analysis.of(large) is not Analysis.of(large)


def test_an_analysis_is_not_sent_along() -> None:
    network = ensembles.normal(10, seed=1)
    memcurve.memory_curve(network)
    again = pickle.loads(pickle.dumps(network))
    assert "_analysis" in vars(network)
    assert "_analysis" not in vars(again)
    assert memcurve.memory_curve(again).total == 10
