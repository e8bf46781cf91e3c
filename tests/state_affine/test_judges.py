"""Estimators of recordings, held to exact capacities: how often their intervals are right."""

from __future__ import annotations

import numpy as np
import pytest

import memcurve
from memcurve.state_affine import StateAffineNetwork

#: Intervals of two standard errors hold this often or more: 95 % but for the draw of 60 of them.
COVERED = 0.85


def drawn(seed: int) -> StateAffineNetwork:
    rng = np.random.default_rng(seed)
    size = 3 + seed % 6
    A, B = rng.standard_normal((2, size, size)) / np.sqrt(size)
    return memcurve.bilinear(0.55 * A, 0.5 * B, rng.standard_normal(size))


def coverage(seeds: range, rows: int) -> dict[int, float]:
    """Share of recordings whose capacity lies within two standard errors, by degree."""
    hits: dict[int, list[bool]] = {1: [], 2: [], 3: []}
    for seed in seeds:
        network = drawn(seed)
        z = np.random.default_rng(1000 + seed).uniform(-1, 1, rows)
        found = memcurve.capacity_from_data(network.simulate(z), z, washout=200)
        exact = memcurve.capacities(network, degree=3)
        for degree, covered in hits.items():
            gap = abs(found.by_degree[degree] - exact.by_degree[degree])
            covered.append(gap <= 2 * found.errors[degree] + 1e-3)
    return {degree: float(np.mean(covered)) for degree, covered in hits.items()}


@pytest.mark.slow
def test_intervals_of_capacity_from_data_cover() -> None:
    found = coverage(range(60), 5000)
    print(found)
    assert all(share >= COVERED for share in found.values())


@pytest.mark.slow
def test_intervals_of_measure_cover() -> None:
    """Normal input, as `measure` draws it; 90 % intervals of the total of linear memory."""
    covered = []
    for seed in range(30):
        network = drawn(seed).replace(input="normal")
        try:
            exact = memcurve.capacities(network, degree=1).by_degree[1]
        except memcurve.UnstableNetworkError:
            continue
        found = memcurve.measure(network, precision=0.1, seed=seed)
        covered.append(abs(found.total - exact) <= found.total_error + 1e-3)
    assert len(covered) > 10
    assert np.mean(covered) >= COVERED - 0.05


def test_one_recording() -> None:
    """What the statistics above repeat, once."""
    assert min(coverage(range(2), 4000).values()) >= 0.5
