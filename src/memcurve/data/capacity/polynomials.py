"""Polynomials of the input that are orthonormal under its law."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import hermite_e, legendre
from numpy.typing import NDArray

from memcurve.arguments import table_entry

Floats = NDArray[np.float64]

#: The law is recognised by its polynomials up to this degree, hence by six moments: the sample
#: moments of higher degree are too noisy to tell laws apart.
RECOGNISED_BY = 3
#: A sample moment further than this many standard errors from its expectation rules a law out.
RULED_OUT = 5.0
#: Quadrature nodes, enough for the fourth powers of polynomials of degree RECOGNISED_BY.
NODES = 16


@dataclass(frozen=True, eq=False)
class Polynomials:
    """Values p_0, …, p_highest of orthonormal polynomials at every input, one row a degree.

    ``name`` is ``"legendre"``, ``"hermite"`` or ``"empirical"``. An input of k different values
    has polynomials up to degree k − 1 only.
    """

    name: str
    values: Floats

    @property
    def highest(self) -> int:
        """Largest degree there is."""
        return len(self.values) - 1


def polynomials_of(inputs: Floats, degree: int, name: str) -> Polynomials:
    """Polynomials up to ``degree`` of the family ``name``; ``"auto"`` finds it from the data.

    Parameters
    ----------
    inputs : (T,) array
        At least two different values.
    degree : int
        Largest degree wanted; an input of few values has fewer.
    name : str
        ``"auto"``, or one of the families.
    """
    chosen = table_entry({"auto": "auto"} | {n: n for n in FAMILIES}, name, "polynomials")
    different = len(np.unique(inputs)) if len(inputs) else 0
    if different < 2:
        raise ValueError(
            "`inputs` must vary, got a constant series; capacity is a share of its variance."
        )
    if chosen == "auto":
        chosen = recognised(inputs)
    return Polynomials(chosen, FAMILIES[chosen](inputs, min(degree, different - 1)))


def recognised(inputs: Floats) -> str:
    """The family whose polynomials are orthonormal on the data, ``"empirical"`` if none is.

    Compared are the sample means of p_i p_j, i, j ≤ 3, with δ_ij, in units of their standard
    error under the law.
    """
    for name, (nodes, weights) in _QUADRATURES.items():
        family = FAMILIES[name]
        there = _on_nodes(name, nodes)
        spread = np.einsum("ik,jk,k->ij", there**2, there**2, weights) - np.eye(len(there))
        values = family(inputs, RECOGNISED_BY)
        off = values @ values.T / len(inputs) - np.eye(len(values))
        allowed = RULED_OUT * np.sqrt(np.maximum(spread, 0) / len(inputs))
        if (np.abs(off) <= allowed + 1e-9).all():  # p_0² = 1 has no spread, only rounding
            return name
    return "empirical"


def _legendre(inputs: Floats, degree: int) -> Floats:
    """√(2d + 1)·P_d on the range of the data, which a uniform law fills up to O(1/T)."""
    low, high = inputs.min(), inputs.max()
    return _legendre_at(2 * (inputs - low) / (high - low) - 1, degree)


def _legendre_at(points: Floats, degree: int) -> Floats:
    scale = np.sqrt(2 * np.arange(degree + 1) + 1)
    return np.ascontiguousarray((legendre.legvander(points, degree) * scale).T)


def _hermite(inputs: Floats, degree: int) -> Floats:
    """He_d/√d! of the standardised data."""
    return _hermite_at((inputs - inputs.mean()) / inputs.std(), degree)


def _hermite_at(points: Floats, degree: int) -> Floats:
    scale = np.array([1 / math.sqrt(math.factorial(d)) for d in range(degree + 1)])
    return np.ascontiguousarray((hermite_e.hermevander(points, degree) * scale).T)


def _empirical(inputs: Floats, degree: int) -> Floats:
    """Orthonormal under the empirical law: QR of a Vandermonde matrix, any law at all.

    The Vandermonde matrix is that of Legendre polynomials, whose condition stays moderate.
    """
    low, high = inputs.min(), inputs.max()
    vander = legendre.legvander(2 * (inputs - low) / (high - low) - 1, degree)
    factor, triangle = np.linalg.qr(vander)
    signs = np.where(np.diag(triangle) < 0, -1.0, 1.0)  # leading coefficients above zero
    return np.ascontiguousarray((factor * signs * math.sqrt(len(inputs))).T)


FAMILIES: dict[str, Callable[[Floats, int], Floats]] = {
    "legendre": _legendre,
    "hermite": _hermite,
    "empirical": _empirical,
}


def _on_nodes(name: str, nodes: Floats) -> Floats:
    at = _legendre_at if name == "legendre" else _hermite_at
    return at(nodes, RECOGNISED_BY)


def _normalised(rule: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    nodes, weights = rule
    return nodes, weights / weights.sum()


_QUADRATURES = {
    "legendre": _normalised(legendre.leggauss(NODES)),
    "hermite": _normalised(hermite_e.hermegauss(NODES)),
}
