"""Masks: their norms, their laws, where they are zero, and what is refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memcurve import masks

RANDOM = ["normal", "uniform", "sparse_normal", "sparse_uniform"]
#: A unit norm is a quotient of two rounded numbers, summed over at most 60 squares.
NORM_ERROR = 1e-14


@pytest.mark.parametrize("name", masks.MASKS)
@pytest.mark.parametrize("size", [1, 2, 60])
def test_every_mask_has_the_norm_asked_for(name, size):
    assert np.linalg.norm(masks.make(name, size, seed=1)) == pytest.approx(1, abs=NORM_ERROR)
    three = masks.make(name, size, seed=1, norm=3.0)
    assert three.shape == (size,)
    assert np.linalg.norm(three) == pytest.approx(3, abs=3 * NORM_ERROR)


@pytest.mark.parametrize("name", RANDOM)
def test_norm_scales_the_draw_and_inputs_are_independent_columns(name):
    drawn = masks.make(name, 40, seed=5, norm=None)
    scaled = masks.make(name, 40, seed=5)
    np.testing.assert_allclose(scaled, drawn / np.linalg.norm(drawn), atol=NORM_ERROR)
    mask = masks.make(name, 50, seed=2, inputs=3)
    assert mask.shape == (50, 3)
    np.testing.assert_allclose(np.linalg.norm(mask, axis=0), 1, atol=NORM_ERROR)
    assert np.linalg.matrix_rank(mask) == 3


def test_deterministic_masks():
    np.testing.assert_array_equal(masks.ones(4), [0.5, 0.5, 0.5, 0.5])
    np.testing.assert_array_equal(masks.ones(3, norm=None), [1, 1, 1])
    np.testing.assert_array_equal(masks.basis(3), [1, 0, 0])
    np.testing.assert_array_equal(masks.basis(3, node=2, norm=None), [0, 0, 1])
    np.testing.assert_array_equal(masks.make("basis", 3, node=1, norm=2.0), [0, 2, 0])


@pytest.mark.parametrize(
    ("name", "variance", "fourth"), [("normal", 1, 3), ("uniform", 1 / 3, 1 / 5)]
)
def test_moments_within_five_standard_errors(name, variance, fourth):
    count = 200_000
    for options in ({}, {"density": 0.25}):
        kind = f"sparse_{name}" if options else name
        values = masks.make(kind, count, seed=11, norm=None, **options)
        values = values[values != 0]
        assert abs(values.mean()) < 5 * np.sqrt(variance / len(values))
        error = np.sqrt((fourth - variance**2) / len(values))
        assert abs((values**2).mean() - variance) < 5 * error
    if name == "uniform":
        assert np.abs(values).max() <= 1


@given(
    size=st.integers(1, 60),
    density=st.floats(1e-6, 1),
    inputs=st.integers(1, 3),
    seed=st.integers(0, 2**64),
    name=st.sampled_from(["sparse_normal", "sparse_uniform"]),
)
def test_sparse_masks_never_vanish(size, density, inputs, seed, name):
    mask = masks.make(name, size, seed=seed, density=density, inputs=inputs).reshape(size, -1)
    np.testing.assert_array_equal(
        np.count_nonzero(mask, axis=0), np.full(inputs, max(1, round(density * size)))
    )


def test_sparse_positions_are_even():
    draws, size = 4000, 10
    rng = np.random.default_rng(3)
    hits = sum(masks.sparse_normal(size, seed=rng, density=0.2) != 0 for _ in range(draws))
    assert np.abs(hits / draws - 0.2).max() < 5 * np.sqrt(0.2 * 0.8 / draws)
