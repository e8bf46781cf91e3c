"""The exact method: the tail energy of the all-pass filter with the controllable eigenvalues.

``MC_τ = Σ_{j>τ} |b_j|²`` with Σ_j b_j z^j = Π_k (z − λ̄_k)/(1 − λ_k z); see
:mod:`memcurve.allpass`. Which eigenvalues count is decided by :mod:`memcurve.spectrum`; rounding in
them moves the curve by at most the reported error. Where that error is not small, or the
eigenvalues come out at modulus one or beyond, the method goes on in ball arithmetic by itself.

Coloured input, noise, several inputs and readout subsets are answered by :mod:`memcurve.general`,
in coordinates where the states are white.
"""

from __future__ import annotations

import contextlib
import functools
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memcurve.allpass import (
    MOST_DEFAULT_LAGS,
    NEGLIGIBLE_MEMORY,
    memory_of_poles,
    memory_of_ring,
)
from memcurve.arguments import require_limit
from memcurve.curve import MemoryCurve
from memcurve.errors import UncertainResultError
from memcurve.general import Problem
from memcurve.methods.certified import enclose
from memcurve.methods.general import (
    LARGEST_ERROR,
    ONE_THREAD,
    answer,
    curves_of,
    rank_notes,
    reach_notes,
)
from memcurve.methods.result import problem_options, single_channel_curve
from memcurve.network import LinearNetwork
from memcurve.network.graph import submatrix
from memcurve.spectrum import Spectrum, controllable_spectrum, curve_error

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

Floats = NDArray[np.float64]


def exact(
    network: LinearNetwork,
    lags: int | None,
    *,
    input: Any = None,
    noise: Any = None,
    certify_up_to: int = 300,
    assume_controllable: bool = False,
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
    assume_controllable : bool
        Skip the question which modes the mask excites and count all reachable states, in little
        more than the time of the eigenvalues; for one white input without noise. A note says so.
        Where floating point cannot give the curve, the question is asked after all.
    """
    [curve] = exact_family(
        network,
        lags,
        input=input,
        noise=noise,
        certify_up_to=certify_up_to,
        assume_controllable=assume_controllable,
    )
    return curve


def exact_family(
    network: LinearNetwork,
    lags: int | None,
    *,
    input: Any,
    noise: Any,
    certify_up_to: int = 300,
    assume_controllable: bool = False,
) -> list[MemoryCurve]:
    """The same for all levels of the noise at once, one curve each."""
    certify_up_to = require_limit(certify_up_to, "certify_up_to")
    if not isinstance(assume_controllable, bool | np.bool_):
        raise TypeError(
            f"`assume_controllable` must be True or False, got {assume_controllable!r}."
        )
    problem = Problem.of(network, lags, input=input, noise=noise)
    if problem.is_plain:
        with _few_threads(network.states):
            return [_plain(problem, certify_up_to, bool(assume_controllable))]
    if assume_controllable:
        raise ValueError(
            "`assume_controllable` is for one white input without noise, read from all nodes: "
            "elsewhere the mask shapes more than the rank. Leave it out."
        )
    found = answer(problem, certify_up_to)
    options = problem_options(problem) | {"certify_up_to": certify_up_to}
    return curves_of(problem, found, method="exact", options=options)


def _few_threads(states: int) -> contextlib.AbstractContextManager[Any]:
    """One thread for networks so small that several get in each other's way."""
    if states > ONE_THREAD:
        return contextlib.nullcontext()
    one_thread: contextlib.AbstractContextManager[Any] = _blas_libraries().limit(
        limits=1, user_api="blas"
    )
    return one_thread


@functools.cache
def _blas_libraries() -> ThreadpoolController:
    """NumPy's and SciPy's; to look for them takes as long as the curve of a small network."""
    import scipy.linalg  # noqa: F401 - what is not loaded yet is not found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _plain(problem: Problem, certify_up_to: int, assume_controllable: bool) -> MemoryCurve:
    """White input without noise, one input, all states read: poles are all it takes."""
    network, lags = problem.network, problem.lags
    spectrum = controllable_spectrum(network, assume_controllable=assume_controllable)
    reason, memory, loss, error = _in_floating_point(spectrum, lags)
    if reason and spectrum.assumed:
        spectrum = controllable_spectrum(network)
        reason, memory, loss, error = _in_floating_point(spectrum, lags)
    notes = reach_notes(problem) + rank_notes(spectrum)
    options: dict[str, Any] = {"certify_up_to": certify_up_to}
    if assume_controllable:
        options["assume_controllable"] = True
    if spectrum.assumed:
        notes.append(
            f"rank {spectrum.rank} is assumed, not computed: every mode of the reachable states is "
            f"taken to be excited by the mask"
        )
    if reason:
        notes.append(f"computed in ball arithmetic, since in floating point {reason}")
        memory, loss, error = _certified_instead(network, spectrum, lags, certify_up_to, reason)
    at_the_cap = lags is None and len(memory) == MOST_DEFAULT_LAGS
    return single_channel_curve(
        network,
        method="exact",
        memory=memory,
        loss=loss,
        error=error,
        rank=spectrum.rank,
        capped=at_the_cap and spectrum.rank - memory.sum() > NEGLIGIBLE_MEMORY,
        notes=notes,
        options=options,
        diagnostics={
            "reachable": len(spectrum.reachable),
            "rank_robust": None if spectrum.assumed else spectrum.rank_robust,
            "margin": None if np.isnan(spectrum.margin) else spectrum.margin,
            "arithmetic": "ball" if reason else "float64",
        },
    )


def _in_floating_point(spectrum: Spectrum, lags: int | None) -> tuple[str, Floats, Floats, Floats]:
    """Memory, loss and error, and why they are not good enough, or an empty string."""
    none = np.zeros(lags or 1)
    reason = _reason_to_certify(spectrum)
    if reason or spectrum.rank == 0:
        return reason, none, none + 1, none
    if spectrum.ring is not None:
        return "", *memory_of_ring(*spectrum.ring, lags)
    assert spectrum.poles is not None
    memory, loss = memory_of_poles(spectrum.poles, lags)
    error = curve_error(memory, loss, spectrum.sensitivity, spectrum.rank)
    if error.max() > LARGEST_ERROR:
        reason = f"its error estimate is {error.max():.1e}, above {LARGEST_ERROR:g}"
    return reason, memory, loss, error


def _reason_to_certify(spectrum: Spectrum) -> str:
    if spectrum.poles is None:
        return "the eigenvalues that count cannot be told from those that do not"
    if spectrum.ring is not None:
        return ""
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
