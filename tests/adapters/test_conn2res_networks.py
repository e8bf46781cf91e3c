"""conn2res: weights (source, target) against its recursion, by a stand-in and by itself."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from adapted import SAME, SMALL_SIGNAL, leaky_states, off, series, small_signal
from memcurve import as_network
from refusals import refuses

RNG = np.random.default_rng(6)
W = RNG.standard_normal((15, 15)) * (RNG.random((15, 15)) < 0.4) / 4
W_IN = RNG.standard_normal((2, 15))


def bent(x):
    x[x <= 0] = 0.5 * (np.exp(x[x <= 0]) - 1)
    return x


FUNCTIONS = {
    "linear": lambda x, m=1: m * x,
    "elu": bent,
    "relu": lambda x: np.maximum(0, x),
    "leaky_relu": lambda x: np.maximum(0.5 * x, x),
    "sigmoid": lambda x: 1.0 / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "step": lambda x: (x >= 0.5).astype(int),
}


class EchoStateNetwork:
    """Follows the documented recursion of conn2res' class of that name."""

    def __init__(self, w, activation_function="tanh", leak_rate=None):
        def function(x):
            return FUNCTIONS[activation_function](x)

        function.__name__ = activation_function
        self.w, self.activation_function, self.leak_rate = w, function, leak_rate

    def simulate(self, ext_input, w_in, output_nodes=None):
        leak = 1.0 if self.leak_rate is None else self.leak_rate
        state = leaky_states(self.w.T, w_in.T, ext_input, leak, f=self.activation_function)
        return state if output_nodes is None else state[:, output_nodes]


EchoStateNetwork.__module__ = "conn2res.reservoir"


@pytest.fixture(params=["stand-in", "conn2res"])
def network_class(request):
    if request.param == "stand-in":
        return EchoStateNetwork
    reservoir = pytest.importorskip("conn2res.reservoir", reason="conn2res is not installed")
    return reservoir.EchoStateNetwork


def test_linear(network_class):
    esn, z = network_class(w=W, activation_function="linear"), series(2)
    states = esn.simulate(z, 0.7 * W_IN, output_nodes=[4, 2, 9])
    network = as_network(esn, w_in=W_IN, input_gain=0.7, output_nodes=[4, 2, 9])
    assert off(network, z, states) < SAME
    assert network.notes == ()
    np.testing.assert_array_equal(network.A, W.T)
    assert network.name == "EchoStateNetwork, N=15"
    assert as_network(esn, w_in=W_IN, output_nodes=[1], readout=[2]).readout.tolist() == [2]
    esn.w = csr_array(W)
    assert as_network(esn, w_in=W_IN).is_sparse


@pytest.mark.parametrize(("activation", "leak"), [("tanh", None), ("tanh", 0.3), ("sigmoid", 0.6)])
def test_linearised(network_class, activation, leak):
    esn, z = network_class(w=W, activation_function=activation, leak_rate=leak), series(2)
    network = as_network(esn, w_in=W_IN)
    assert off(network, z, small_signal(lambda u: esn.simulate(u, W_IN), z)) < SMALL_SIGNAL
    assert network.notes[0].startswith("linearised about zero input")


@pytest.mark.parametrize("leak", [None, 0.3])
def test_slope_of_linear(leak):
    esn = EchoStateNetwork(W, "linear", leak)
    esn.activation_function = lambda x: 0.5 * x
    esn.activation_function.__name__ = "linear"
    assert off(as_network(esn, w_in=W_IN), series(2), esn.simulate(series(2), W_IN)) < SAME


def test_refused():
    refuses(TypeError, "`w_in`", as_network, EchoStateNetwork(W))
    refuses(ValueError, "step", as_network, EchoStateNetwork(W, "step"), w_in=W_IN)
    for kinked in ("relu", "leaky_relu", "elu"):
        refuses(ValueError, "`activation`", as_network, EchoStateNetwork(W, kinked), w_in=W_IN)
    refuses(ValueError, ("`w_in`", "15"), as_network, EchoStateNetwork(W), w_in=W_IN.T)
    memristive = EchoStateNetwork(W)
    del memristive.activation_function
    refuses(TypeError, "must be a conn2res EchoStateNetwork", as_network, memristive, w_in=W_IN)
