"""Cosine sums f(ω) = γ(0) + 2 Σ_{k≤M} γ(k) cos kω: their values and their extrema."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EPS = float(np.finfo(float).eps)
#: Entries of the largest temporary array.
CHUNK = 1 << 21
#: Grid points a period and lag; with 16, no extremum is missed by more than GRID_ERROR ranges.
OVERSAMPLING, GRID_ERROR = 16, 0.02
#: Grid extrema that are refined, the best ones, and Newton steps for each.
CANDIDATES, STEPS = 256, 8


def values(gamma: Floats, omega: Floats) -> Floats:
    """Return f at the (n,) frequencies ``omega``."""
    sums: Floats = 2 * _sums(gamma[:, None], omega)[:, 0].real
    return sums - float(gamma[0])


def on_grid(gamma: Floats, size: int) -> Floats:
    """Return f(2πj/size), j = 0 … size/2, for ``size`` > 2M."""
    half = gamma.copy()
    half[0] /= 2
    return 2 * np.fft.rfft(half, size).real


def rounding(gamma: Floats) -> float:
    """Return a bound on the rounding errors of all functions here, that of γ itself included."""
    lags = np.arange(len(gamma))
    return float(2 * EPS * np.sum((8 + lags) * np.abs(gamma)))


def minimum(gamma: Floats) -> tuple[float, float]:
    """Return the ω in [0, π] where f is smallest, and f there.

    A grid finds the places that can hold the minimum: by Bernstein's inequality |f''| is at most
    M² times half the range of f, so the grid is off by no more than 2 % of the range. Newton
    steps on f' do the rest.
    """
    size = 1 << (OVERSAMPLING * len(gamma) - 1).bit_length()
    grid, step = on_grid(gamma, size), 2 * np.pi / size
    padded = np.concatenate([grid[1:2], grid, grid[-2:-1]])
    local = (grid <= padded[:-2]) & (grid <= padded[2:])
    local &= grid <= grid.min() + GRID_ERROR * np.ptp(grid)
    places = np.flatnonzero(local)
    places = places[np.argsort(grid[places], kind="stable")][:CANDIDATES]
    omega, lowest = _refined(gamma, step * places.astype(float), step)
    if grid[places[0]] <= lowest:
        omega, lowest = float(step * places[0]), float(grid[places[0]])
    omega = abs(omega)
    return min(omega, 2 * np.pi - omega), lowest


def _refined(gamma: Floats, starts: Floats, step: float) -> tuple[float, float]:
    """Follow Newton's steps towards f' = 0 within one ``step``; return the lowest point met."""
    lags = np.arange(len(gamma))
    moments = np.stack([gamma, lags * gamma, lags**2 * gamma], axis=1)
    omega, best = starts, (float(starts[0]), np.inf)
    for _ in range(STEPS):
        sums = _sums(moments, omega)
        height = 2 * sums[:, 0].real - gamma[0]
        slope, curvature = 2 * sums[:, 1].imag, -2 * sums[:, 2].real
        lowest = int(height.argmin())
        if height[lowest] < best[1]:
            best = float(omega[lowest]), float(height[lowest])
        move = np.zeros(len(omega))
        np.divide(-slope, curvature, out=move, where=curvature > 0)
        omega = np.clip(omega + move, starts - step, starts + step)
    return best


def _sums(coefficients: Floats, omega: Floats) -> NDArray[np.complex128]:
    """Return Σ_k c_k e^{−ikω} at each ω for each column c, as an (n, columns) array.

    With k = aB + b, B ≈ √M, the exponentials of b and of aB suffice, 2√M of them for each ω.
    """
    lags, columns = coefficients.shape
    width = int(np.ceil(np.sqrt(lags)))
    rows = -(-lags // width)
    table = np.zeros((rows * width, columns))
    table[:lags] = coefficients
    table = table.reshape(rows, width, columns)
    sums = np.empty((len(omega), columns), complex)
    chunk = max(1, CHUNK // width)
    for start in range(0, len(omega), chunk):
        part = omega[start : start + chunk, None]
        small = np.exp(-1j * part * np.arange(width))
        large = np.exp(-1j * part * (width * np.arange(rows)))
        for column in range(columns):
            inner = small @ table[:, :, column].T
            sums[start : start + chunk, column] = (inner * large).sum(axis=1)
    return sums
