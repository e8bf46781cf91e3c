"""The exact method: the tail energy of the all-pass filter with the controllable eigenvalues.

MC_τ = Σ_{j>τ} |b_j|² with Σ_j b_j z^j = Π_k (z − λ̄_k)/(1 − λ_k z); see :mod:`memcurve.allpass`.
Which eigenvalues count is decided by :mod:`memcurve.spectrum`; rounding in them moves the curve by
at most the reported error. Where that error is not small, or the eigenvalues come out at modulus
one or beyond, the method goes on in ball arithmetic by itself.

Coloured input, noise, several inputs and readout subsets are answered by :mod:`memcurve.general`,
in coordinates where the states are white.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.allpass import MOST_DEFAULT_LAGS, memory_of_poles
from memcurve.arguments import require_limit
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError
from memcurve.general import Problem
from memcurve.graph import submatrix
from memcurve.methods.certified import enclose
from memcurve.methods.general import LARGEST_ERROR, answer, curves_of, rank_notes, reach_notes
from memcurve.methods.result import problem_options, single_channel_curve
from memcurve.network import LinearNetwork
from memcurve.spectrum import Spectrum, controllable_spectrum, curve_error


def exact(
    network: LinearNetwork,
    lags: int | None,
    *,
    input: Any = None,
    noise: Any = None,
    certify_up_to: int = 300,
) -> MemoryCurve:
    """Memory curve to rounding accuracy.

    Parameters
    ----------
    network : LinearNetwork
        A stable network.
    lags : int or None
        Number of lags; None chooses enough to hold all but 1e-12 of the memory.
    input, noise
        As for :func:`memcurve.memory_curve`; a single noise level.
    certify_up_to : int
        Number of reachable states up to which ball arithmetic takes over where floating point
        cannot give the curve (about ten seconds at 300); beyond it such a network is refused.
    """
    [curve] = exact_family(network, lags, input=input, noise=noise, certify_up_to=certify_up_to)
    return curve


def exact_family(
    network: LinearNetwork, lags: int | None, *, input: Any, noise: Any, certify_up_to: int = 300
) -> list[MemoryCurve]:
    """The same for all levels of the noise at once, one curve each."""
    certify_up_to = require_limit(certify_up_to, "certify_up_to")
    problem = Problem.of(network, lags, input=input, noise=noise)
    if problem.is_plain:
        return [_plain(problem, certify_up_to)]
    found = answer(problem, certify_up_to)
    options = problem_options(problem) | {"certify_up_to": certify_up_to}
    return curves_of(problem, found, method="exact", options=options)


def _plain(problem: Problem, certify_up_to: int) -> MemoryCurve:
    """White input without noise, one input, all states read: poles are all it takes."""
    network, lags = problem.network, problem.lags
    spectrum = controllable_spectrum(network)
    notes = reach_notes(problem) + rank_notes(spectrum)
    reason = _reason_to_certify(spectrum)
    if not reason:
        memory, loss = (
            memory_of_poles(spectrum.poles, lags)
            if spectrum.poles is not None and spectrum.rank
            else (np.zeros(lags or 1), np.ones(lags or 1))
        )
        error = curve_error(memory, loss, spectrum.sensitivity, spectrum.rank)
        if error.max() > LARGEST_ERROR:
            reason = f"its error estimate is {error.max():.1e}, above {LARGEST_ERROR:g}"
    if reason:
        notes.append(f"computed in ball arithmetic, since in floating point {reason}")
        memory, loss, error = _certified_instead(network, spectrum, lags, certify_up_to, reason)
    return single_channel_curve(
        network,
        method="exact",
        memory=memory,
        loss=loss,
        error=error,
        rank=spectrum.rank,
        capped=lags is None and len(memory) == MOST_DEFAULT_LAGS,
        notes=notes,
        options={"certify_up_to": certify_up_to},
        diagnostics={
            "reachable": len(spectrum.reachable),
            "rank_robust": spectrum.rank_robust,
            "margin": None if np.isnan(spectrum.margin) else spectrum.margin,
            "arithmetic": "ball" if reason else "float64",
        },
    )


def _reason_to_certify(spectrum: Spectrum) -> str:
    if spectrum.poles is None:
        return "the eigenvalues that count cannot be told from those that do not"
    radius = float(np.abs(spectrum.poles).max(initial=0.0))
    if radius >= 1:
        return f"the spectral radius comes out as {radius:.6g}, not below 1"
    if not np.isfinite(spectrum.sensitivity):
        return "the powers of A grow too far for an error estimate"
    return ""


def _certified_instead(
    network: LinearNetwork, spectrum: Spectrum, lags: int | None, certify_up_to: int, reason: str
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    count = len(spectrum.reachable)
    if count > certify_up_to:
        raise UncertainResultError(
            f"floating point cannot give this curve: {reason}. Ball arithmetic can, but the "
            f"network has {count} reachable states and `certify_up_to` is {certify_up_to}; raise "
            f"it (the time grows like the fourth power of the size, about a minute at 500), or "
            f"scale `A` further below spectral radius 1."
        )
    A, C = network.real_pair()
    memory, loss, error, rank, _ = enclose(
        submatrix(A, spectrum.reachable), C[spectrum.reachable, 0], lags
    )
    if rank != spectrum.rank:
        raise UncertainResultError(
            f"two exact computations of the rank disagree ({spectrum.rank} and {rank}): please "
            f"report this network; method='certified' gives an enclosure for the latter."
        )
    return memory, loss, error
