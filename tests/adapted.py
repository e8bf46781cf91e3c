"""What the tests of adapters share: series, and the response of a model to small inputs."""

import numpy as np

#: Two recursions in float64 over a hundred steps, in another order of operations.
SAME = 1e-12
#: A model's response to small inputs by five-point differences.
SMALL_SIGNAL = 1e-10
#: Steps without input after which a model rests, and steps of input after them.
SETTLING, STEPS = 400, 60
#: Size of the small inputs: its fourth power is the error, rounding over it the noise.
SMALL = 2e-4


def series(inputs: int = 1, steps: int = STEPS, seed: int = 7):
    """A random input (steps, inputs), led by an impulse in each channel."""
    z = np.random.default_rng(seed).uniform(-1, 1, (steps, inputs))
    z[:inputs] = np.eye(inputs)
    return z


def leaky_states(W, Win, z, lr=1.0, bias=0.0, f=lambda x: x):
    """X ← (1 − lr)·x + lr·f(W x + Win z + bias) from rest, step by step."""
    x, states = np.zeros(W.shape[0]), []
    for u in z:
        x = (1 - lr) * x + lr * f(W @ x + Win @ u + bias)
        states.append(x)
    return np.array(states)


def small_signal(simulate, z):
    """Change of the states per change of the input, of a model that has settled without input.

    ``simulate`` maps an input (T, d) to states (T, N), from rest.
    """
    quiet = np.zeros((SETTLING, z.shape[1]))

    def states(scale):
        return np.asarray(simulate(np.vstack([quiet, scale * z])))[SETTLING:]

    near, far = states(SMALL) - states(-SMALL), states(2 * SMALL) - states(-2 * SMALL)
    return (8 * near - far) / (12 * SMALL)


def off(network, z, states):
    """Largest difference between a network's states, constants left out, and those of a model."""
    found = network.replace(shift=None).simulate(z)
    assert found.shape == states.shape
    assert np.abs(states).max() > 0.01  # there is something to compare
    return np.abs(found - states).max()
