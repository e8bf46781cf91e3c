"""All directions of a dense network at once, against eigenvectors and closed forms.

Small networks of all kinds are held to exact sums in ``test_direct``.
"""

from __future__ import annotations

import numpy as np
import pytest

from memcurve import LinearNetwork, ObservationNoise, ensembles, inputs, noise_profile
from memcurve.solve.analysis import Analysis, Task
from memcurve.solve.answer import Outcome
from memcurve.solve.question import Question
from memcurve.solve.solvers import LARGEST_ERROR
from memcurve.solve.white import solve_white
from memcurve.solve.whole import Hessenberg, is_whole, solve_whole

LEVELS = np.logspace(-20, 0, 41)


def task_of(network: LinearNetwork, input: object = None) -> Task:
    question = Question.of(network, 400, input=input, noise=ObservationNoise(LEVELS))
    return Task(question, Analysis(network))


def agree(one: Outcome, other: Outcome) -> None:
    assert np.all(np.abs(one.memory - other.memory) <= one.memory_error + other.memory_error)
    assert np.all(np.abs(one.total - other.total) <= one.total_error + other.total_error)


@pytest.mark.parametrize("kind", ["normal", "symmetric", "orthogonal", "sparse_normal"])
def test_as_eigenvectors_have_it(kind: str) -> None:
    network = ensembles.make(kind, 310, seed=2)
    task = task_of(network)
    assert is_whole(task)
    found = solve_whole(task)
    assert found.largest_error.max() <= LARGEST_ERROR
    agree(found, solve_white(task_of(network)))


def test_coloured_input() -> None:
    network, input = ensembles.orthogonal(40, seed=1), inputs.ARMA(ar=[0.7])
    agree(solve_whole(task_of(network, input)), solve_white(task_of(network, input)))


def test_a_ring_has_a_closed_form() -> None:
    """K repeats the unit vectors: σ_i² = ρ^{2i}/(1 − ρ^{2N}), and lag τ is in direction τ mod N."""
    size, radius = 30, 0.7
    ring = radius * np.roll(np.eye(size), 1, axis=0)
    found = solve_whole(task_of(LinearNetwork(ring, np.eye(size)[0])))
    sizes = radius ** np.arange(size) / np.sqrt(1 - radius ** (2 * size))
    for level, total, error, memory in zip(
        LEVELS, found.total, found.total_error, found.memory[:, :, 0], strict=True
    ):
        share = sizes**2 / (sizes**2 + level**2)
        assert abs(total - share.sum()) <= error <= 1e-6
        expected = share * (1 - radius ** (2 * size))
        assert memory[:size] == pytest.approx(expected, rel=0, abs=1e-10)


def test_the_form_is_that_of_the_network() -> None:
    """‖H^k c‖ = ‖A^k C‖, and Q turns the small states into those of the network."""
    network = ensembles.normal(12, seed=3)
    form, x, y = Hessenberg(network.A, network.C), network.C, None
    assert np.all(np.tril(form.H, -2) == 0)
    for _ in range(5):
        y = form.c if y is None else form.H @ y
        assert np.sqrt((y**2).sum()) == pytest.approx(np.linalg.norm(x), rel=1e-13)
        assert form.sizes(y) == pytest.approx(x**2, rel=1e-12, abs=1e-14)
        x = network.A @ x


def test_a_profile_marks_the_same_number_formats() -> None:
    for kind in ("normal", "orthogonal"):
        network = ensembles.make(kind, 310, seed=1)
        whole = noise_profile(network, LEVELS[[0, -1]])
        some = noise_profile(network, [1e-2])
        for name, level in whole.marks.items():
            assert level == pytest.approx(some.marks[name], rel=1e-6)
