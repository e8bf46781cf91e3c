"""The entry point: the contract every method keeps, and what it refuses."""

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

from memcurve import LinearNetwork, MemoryCurve, ensembles, memory_curve, noise_profile
from memcurve.memory.methods import METHODS
from refusals import refuses

NETWORK = ensembles.normal(12, seed=1)


@pytest.mark.parametrize("method", METHODS)
def test_contract_of_every_method(method: str) -> None:
    network, curve = NETWORK, memory_curve(NETWORK, 15, method=method, seed=7)
    assert isinstance(curve, MemoryCurve)
    assert curve.method == method
    assert np.array_equal(curve.lags, np.arange(15))
    assert curve.values.shape == curve.error.shape == curve.loss.shape == (15,)
    assert np.array_equal(curve.channels, curve.values[:, None])
    assert curve.network == network.name
    assert {"memcurve", "numpy", "scipy", "python", "python-flint"} <= set(curve.versions)
    assert curve.seed == 7
    assert len(memory_curve(network, method=method, seed=7)) >= network.size
    again = MemoryCurve.from_json(curve.to_json())
    assert np.array_equal(again.values, curve.values)
    assert np.array_equal(again.error, curve.error, equal_nan=True)
    sparse = memory_curve(network.replace(A=csr_array(network.A)), 15, method=method, seed=7)
    assert np.allclose(sparse.values, curve.values, rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", ["exact", "certified"])
def test_options_are_recorded(method: str) -> None:
    found = memory_curve(NETWORK, 3, method=method, certify_up_to=77)
    assert found.options == {"certify_up_to": 77}


@pytest.mark.parametrize("method", METHODS)
def test_what_each_method_answers(method: str) -> None:
    """Coloured input, noise, several inputs and readouts: right, close, or a clear refusal."""
    network = ensembles.orthogonal(8, seed=2)
    asked: list[tuple[LinearNetwork, dict[str, Any]]] = [
        (network, {"input": "ar:0.5"}),
        (network, {"noise": 0.1}),
        (network.replace(C=np.eye(8, 2)), {}),
        (network.replace(readout=[0, 3]), {}),
    ]
    close = {"exact": 1e-12, "certified": 1e-12, "naive": 1e-9, "montecarlo": 0.1}
    for one, arguments in asked:
        if method not in close:
            with pytest.raises(ValueError, match="'exact', 'certified', 'naive', 'montecarlo'"):
                memory_curve(one, 12, method=method, seed=1, **arguments)
            continue
        found = memory_curve(one, 12, method=method, seed=1, **arguments)
        truth = memory_curve(one, 12, method="certified", **arguments)
        assert np.abs(found.channels - truth.channels).max() <= close[method]
        assert found.method == method


def test_families_of_the_methods_that_take_noise() -> None:
    network, levels = ensembles.orthogonal(6, seed=3), [0.1, 1.0]
    refuses(ValueError, ("`noise`", "2"), memory_curve, network, noise=levels)
    truth = noise_profile(network, levels, lags=10)
    for method, close in (("certified", 1e-12), ("naive", 1e-9), ("montecarlo", 0.1)):
        family = noise_profile(network, levels, lags=10, method=method, seed=1)
        assert family.levels.tolist() == levels
        assert np.abs(family.values - truth.values).max() <= close
