"""torch's recurrent layers, tensors, linear pairs and state dicts against torch itself."""

import numpy as np
import pytest

from adapted import SMALL_SIGNAL, off, series, small_signal
from memcurve import as_network
from refusals import refuses

torch = pytest.importorskip("torch", reason="torch is not installed")
nn = torch.nn

TANH_NOTE = "linearised about zero input: tanh replaced by its slope where the nodes rest"


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def outputs(rnn, z):
    """Output of an nn.RNN for an input (T, d)."""
    with torch.no_grad():
        return rnn(torch.from_numpy(z))[0].numpy()


def layer_states(rnn, z):
    """States of all layers: each layer's weights in an nn.RNN of its own."""
    held, states = z, []
    for k in range(rnn.num_layers):
        size = rnn.input_size if k == 0 else rnn.hidden_size
        one = nn.RNN(size, rnn.hidden_size, nonlinearity=rnn.nonlinearity, bias=rnn.bias).double()
        own = {key: v for key, v in rnn.state_dict().items() if key.endswith(f"_l{k}")}
        one.load_state_dict({key.replace(f"_l{k}", "_l0"): v for key, v in own.items()})
        held = outputs(one, held)
        states.append(held)
    return np.hstack(states)


def weakened(module, factor=0.5):
    """Recurrent weights scaled down, so that the layers rest soon."""
    with torch.no_grad():
        for name, weight in module.named_parameters():
            if "weight_hh" in name:
                weight *= factor
    return module


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("layers", [1, 3])
@pytest.mark.parametrize("inputs", [1, 2])
def test_rnn(bias, layers, inputs):
    rnn = weakened(nn.RNN(inputs, 20, num_layers=layers, bias=bias).double())
    z = series(inputs)
    network = as_network(rnn)
    states = small_signal(lambda u: layer_states(rnn, u), z)
    assert off(network, z, states) < SMALL_SIGNAL
    top = np.arange(20 * (layers - 1), 20 * layers)
    response = small_signal(lambda u: outputs(rnn, u), z)
    assert off(network.replace(readout=top), z, response) < SMALL_SIGNAL
    assert network.notes[0] == TANH_NOTE
    assert (len(network.notes) == 2) == (layers > 1)
    quiet = np.zeros((500, inputs))  # the constants keep the network where the layers rest
    rest = layer_states(rnn, quiet)[-1]
    assert np.abs(network.simulate(quiet)[-1] - rest).max() < SMALL_SIGNAL
    assert bool(np.abs(rest).max() > 0.1) == bias


@pytest.mark.parametrize("nonlinearity", ["tanh", "relu"])
def test_cell(nonlinearity):
    cell = weakened(nn.RNNCell(2, 10, nonlinearity=nonlinearity).double())
    z = series(2)

    def simulate(u):
        with torch.no_grad():
            h, states = torch.zeros(10, dtype=torch.float64), []
            for row in torch.from_numpy(u):
                h = cell(row, h)
                states.append(h.numpy())
        return np.array(states)

    assert off(as_network(cell), z, small_signal(simulate, z)) < SMALL_SIGNAL


class Wrapped(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.ModuleDict({"rnn": nn.RNN(1, 4)})


def test_modules_refused():
    for gated in (nn.LSTM(1, 3), nn.GRU(1, 3), nn.LSTMCell(1, 3), nn.GRUCell(1, 3)):
        refuses(TypeError, ("its gates multiply", "memory_from_data"), as_network, gated)
    refuses(ValueError, "got bidirectional=True", as_network, nn.RNN(1, 3, bidirectional=True))
    refuses(ValueError, "`activation`", as_network, nn.RNN(1, 3, nonlinearity="relu", bias=False))
    refuses(TypeError, ("Wrapped", ".encoder.rnn"), as_network, Wrapped())
    assert as_network(Wrapped().encoder["rnn"]).size == 4
    refuses(
        TypeError,
        "got Linear; state-space layers go to memcurve.layers",
        as_network,
        nn.Linear(2, 2),
    )
    refuses(TypeError, "got torch.Tensor", as_network, torch.zeros(2, 2))


def test_tensors_in_tuples():
    A, C = torch.randn(5, 5, requires_grad=True), torch.randn(5, 2)
    np.testing.assert_array_equal(as_network((A, C)).A, A.detach().numpy())
    np.testing.assert_array_equal(
        as_network((A, C, torch.tensor(0.5))).C, 0.5 * C.numpy().astype(float)
    )
    assert as_network((A.to_sparse(), C)).is_sparse
    np.testing.assert_array_equal(as_network((A.to_sparse(), C)).A.toarray(), as_network((A, C)).A)
    half = as_network((A.bfloat16(), C.bfloat16()))
    np.testing.assert_array_equal(half.A, A.bfloat16().float().detach().numpy())
    turned = torch.randn(5, dtype=torch.complex64)
    np.testing.assert_array_equal(
        as_network((turned.conj(), C)).A.diagonal(), turned.numpy().conj()
    )
    assert as_network((nn.Parameter(A), C)).size == 5


def test_state_dicts():
    rnn = nn.ModuleDict({"rnn": nn.RNN(2, 6)})
    state = rnn.state_dict()
    names = {"matrix": "rnn.weight_hh_l0", "mask": "rnn.weight_ih_l0"}
    network = as_network(state, **names)
    np.testing.assert_array_equal(network.A, state["rnn.weight_hh_l0"].numpy())
    np.testing.assert_array_equal(network.C, state["rnn.weight_ih_l0"].numpy())
    assert network.notes == ()
    given = as_network(state, matrix="rnn.weight_hh_l0", mask=torch.ones(6))
    np.testing.assert_array_equal(given.C, np.ones(6))
    with pytest.raises(ValueError, match=r"hidden.*rnn\.weight_hh_l0"):
        as_network(state, matrix="hidden", mask="rnn.weight_ih_l0")
    two = nn.ModuleDict({"a": nn.RNN(1, 2), "b": nn.RNN(1, 2)}).state_dict()
    refuses(ValueError, ("W and Win", "a.weight_ih_l0"), as_network, two)
    np.testing.assert_array_equal(
        as_network({"W": np.eye(2), "Win": [1.0, 2.0], "lr": 0.5}).C, [0.5, 1.0]
    )
