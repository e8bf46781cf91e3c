"""Problems drawn at random: networks, inputs, noise and readouts, for every kind of question."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from hostile import FAMILIES, draw
from memcurve import Float32, LinearNetwork, Quantised, StateNoise, ensembles, inputs

LARGEST = 24


class Question(NamedTuple):
    """A network and the arguments of the function that is asked."""

    network: LinearNetwork
    arguments: dict[str, Any]
    kind: str = "memory"


def some_network(rng: np.random.Generator, hostile: bool) -> LinearNetwork:
    """A small network: of the usual ensembles, or of a family on which careless methods fail."""
    if hostile:
        while True:
            family = list(FAMILIES)[int(rng.integers(len(FAMILIES)))]
            network = draw(family, int(rng.integers(10**6)))
            if network.size <= LARGEST and np.any(network.C):
                return badly_scaled(rng, network) if rng.random() < 0.2 else network
    size = int(rng.integers(2, LARGEST))
    name = str(rng.choice(["normal", "symmetric", "orthogonal", "uniform"]))
    return ensembles.make(name, size, spectral_radius=rng.uniform(0.3, 0.98), seed=rng)


def badly_scaled(rng: np.random.Generator, network: LinearNetwork) -> LinearNetwork:
    """The states measured in units that differ by many orders, and a huge or tiny mask."""
    units = 10.0 ** rng.uniform(*(float(rng.choice([1, 4, 10])) * np.array([-1, 1])), network.size)
    A = units[:, None] * network.A / units
    size = 10.0 ** float(rng.choice([-200, -8, 0, 8, 150]))
    return LinearNetwork(A, network.C * units * size, name=f"{network.name}, badly scaled")


def some_process(rng: np.random.Generator) -> inputs.InputProcess:
    """An input: AR, MA, ARMA or a finite autocovariance, at times close to the unit circle."""
    close = 1 - 10 ** rng.uniform(-3, -0.1)
    pick = int(rng.integers(7))
    if pick == 6:  # roots close together
        return inputs.ARMA(ar=-np.poly(rng.uniform(0.5, 0.9, int(rng.integers(2, 6))))[1:])
    if pick == 0:
        return inputs.ARMA(ar=[rng.choice([-1, 1]) * close])
    if pick == 1:
        angle = rng.uniform(0, np.pi)
        return inputs.ARMA(ar=[2 * close * np.cos(angle), -(close**2)])
    if pick == 2:
        return inputs.ARMA(ma=[rng.choice([-1, 1]) * rng.choice([close, 1.0, 2.0])])
    if pick == 3:
        return inputs.ARMA(ar=[rng.uniform(-0.9, 0.9)], ma=rng.uniform(-1, 1, 2))
    if pick == 4:
        return inputs.ARMA(ar=[rng.uniform(-0.8, 0.8), rng.uniform(-0.15, 0.15)], ma=[close])
    weights = rng.uniform(-1, 1, int(rng.integers(2, 9)))
    return inputs.Autocovariance(np.correlate(weights, weights, "full")[len(weights) - 1 :])


def _level(rng: np.random.Generator) -> float:
    return float(10 ** rng.uniform(-14, 1))


def _several(rng: np.random.Generator, network: LinearNetwork) -> LinearNetwork:
    more = rng.standard_normal((network.size, int(rng.integers(1, 5))))
    if rng.random() < 0.3:  # sparse masks
        more *= rng.random(more.shape) < 0.4
    return network.replace(C=np.column_stack([network.C, more]))


def _part(rng: np.random.Generator, network: LinearNetwork) -> LinearNetwork:
    count = int(rng.integers(1, network.size + 1))
    return network.replace(readout=rng.permutation(network.size)[:count])


def _noise(rng: np.random.Generator) -> float | StateNoise:
    """Of either kind."""
    observed = rng.random() < 0.5
    return _level(rng) if observed else StateNoise(_level(rng))


def forecasting(rng: np.random.Generator, network: LinearNetwork) -> Question:
    """Steps ahead, at times through noise or with several inputs."""
    arguments: dict[str, Any] = {"input": some_process(rng), "horizons": 12}
    if rng.random() < 0.3:
        arguments["noise"] = _level(rng)
    if rng.random() < 0.3:
        network = _several(rng, network)
    return Question(network, arguments, "forecasting")


def coloured_noisy(rng: np.random.Generator, network: LinearNetwork) -> Question:
    noise = _noise(rng)
    return Question(network, {"input": some_process(rng), "noise": noise})


def several_coloured(rng: np.random.Generator, network: LinearNetwork) -> Question:
    """Several coloured inputs, alike or not."""
    network = _several(rng, network)
    process: Any = some_process(rng)
    if rng.random() < 0.5:
        process = [some_process(rng) for _ in range(network.inputs)]
    return Question(network, {"input": process})


def several_noisy(rng: np.random.Generator, network: LinearNetwork) -> Question:
    noise = _noise(rng)
    return Question(_several(rng, network), {"noise": noise})


def part_read(rng: np.random.Generator, network: LinearNetwork) -> Question:
    """Some of the nodes, one input or several."""
    return Question(_part(rng, _several(rng, network) if rng.random() < 0.4 else network), {})


def part_read_noisy(rng: np.random.Generator, network: LinearNetwork) -> Question:
    """Some of the nodes, coloured input, noise."""
    arguments: dict[str, Any] = {"noise": _level(rng)}
    if rng.random() < 0.5:
        arguments["input"] = some_process(rng)
    return Question(_part(rng, network), arguments)


def fisher(rng: np.random.Generator, network: LinearNetwork) -> Question:
    """Fisher memory, one input or several."""
    network = _several(rng, network) if rng.random() < 0.3 else network
    size = float(np.abs(network.C).max())  # so that the answer is within the range of floats
    return Question(network, {"noise": size * _level(rng)}, "Fisher")


#: Questions by name; their order is that of the seeds.
KINDS: dict[str, Callable[[np.random.Generator, LinearNetwork], Question]] = {
    "coloured": lambda rng, network: Question(network, {"input": some_process(rng)}),
    "forecasting": forecasting,
    "observation_noise": lambda rng, network: Question(network, {"noise": _level(rng)}),
    "state_noise": lambda rng, network: Question(network, {"noise": StateNoise(_level(rng))}),
    "rounding_noise": lambda rng, network: Question(
        network, {"noise": rng.choice([Float32(), Quantised(_level(rng))])}
    ),
    "coloured_noisy": coloured_noisy,
    "several_inputs": lambda rng, network: Question(_several(rng, network), {}),
    "several_coloured": several_coloured,
    "several_noisy": several_noisy,
    "part_read": part_read,
    "part_read_noisy": part_read_noisy,
    "fisher": fisher,
}


def question(kind: str, seed: int, hostile: bool) -> Question:
    """Draw question number ``seed`` of a kind."""
    rng = np.random.default_rng([list(KINDS).index(kind), seed, int(hostile)])
    return KINDS[kind](rng, some_network(rng, hostile))
