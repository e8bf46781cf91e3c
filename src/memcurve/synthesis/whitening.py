"""The realization of a memory curve that is most robust to noise."""

import contextlib
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from memcurve.core.arguments import exact_array
from memcurve.core.errors import UncertainResultError, rank_among_notes
from memcurve.core.notes import Note
from memcurve.core.types import Floats
from memcurve.memory import input_normal, noise_profile
from memcurve.network import LinearNetwork
from memcurve.solve import Analysis
from memcurve.synthesis import directions
from memcurve.synthesis.result import Network, SynthesisResult
from memcurve.synthesis.schur import banded, schur_parameters

#: Levels of noise at which the gain is reported.
LEVELS = (1e-6, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
#: Relative gain of usable memory that a sentence speaks of. Doubled: fewer gains are named.
NOTICEABLE = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Whitened(SynthesisResult):
    """A network with white states, from :func:`memcurve.whitened`.

    Attributes
    ----------
    network : LinearNetwork
        The same memory curve and state power, with uncorrelated states of equal variance, as many
        as the rank; banded for a single input (see :func:`memcurve.design`).
    power : float
        State power tr G, the sum of the variances of all states, of both networks.
    levels : (k,) array
        Standard deviations of observation noise.
    before, after : (k,) arrays
        Usable memory of the given network, NaN where it is not known, and of the white one.
    errors : (k,) array
        Bounds on the error of ``before``.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.whitened(memcurve.ensembles.normal(20, seed=1))
    >>> bool((result.before <= result.after + result.errors).all())
    True
    """

    FORMAT: ClassVar[str] = "memcurve.Whitened/1"

    network: Network
    power: float
    levels: Floats
    before: Floats
    after: Floats
    errors: Floats
    name: str
    notes: tuple[Note, ...] = ()

    @property
    def gain(self) -> dict[float, float]:
        """Usable memory that is gained, by noise level."""
        return dict(zip(self.levels.tolist(), (self.after - self.before).tolist(), strict=True))

    def _rows(self) -> list[dict[str, float]]:
        columns = self.columns()
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

    @property
    def verdict(self) -> tuple[str, ...]:
        """The main findings in a few sentences."""
        rows = [row for row in self._rows() if np.isfinite(row["before"])]
        if not rows:
            return super().verdict
        best = max(rows, key=lambda row: row["after"] - row["before"])
        is_gain = best["after"] > (1 + NOTICEABLE) * best["before"]
        return *super().verdict, self._prose["gain" if is_gain else "no_gain"].format(**best)

    def figures(self) -> list[tuple[str, str]]:
        """The main numbers by name, as text."""
        name, text = self._prose["level"]
        rows = [(name.format(**row), text.format(**row)) for row in self._rows()]
        return super().figures() + [(name, text.replace("nan", "unknown")) for name, text in rows]


def whitened(network: Any, levels: Any = LEVELS) -> Whitened:
    """The network with the same memory curve and state power, and the most usable memory.

    At state power P = tr G the usable memory of n states is at most n·(P/n)/(P/n + s²), with
    equality if and only if G = (P/n)I (Jensen): states that are white. Then MC_τ(s) is MC_τ times
    that factor. The poles determine the curve, the realization how much of it survives noise.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        A stable network of any number of inputs, read from all its nodes.
    levels : array
        Standard deviations of observation noise at which the gain is reported.

    Examples
    --------
    >>> import memcurve
    >>> network = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> white = memcurve.whitened(network, [1e-3])
    >>> white.before.round(1), white.after.round(1)
    (array([22.8]), array([50.]))
    """
    noise = np.atleast_1d(exact_array(levels, "levels"))
    if noise.ndim != 1 or noise.size == 0:
        raise ValueError(f"`levels` must be standard deviations above 0, got {levels!r}.")
    noise = np.sort([directions.noise_level(level, "levels") for level in noise.tolist()])
    subject = directions.stable_subject(network)
    directions.require_all_read(subject)
    problem = directions.driven_problem(subject, None)
    with rank_among_notes():
        A, C = _white(subject)
        deviations = problem.analysis.deviations(problem.processes)
        power, n = float(np.square(deviations).sum()), len(A)
        before, errors = np.full(len(noise), np.nan), np.full(len(noise), np.nan)
        with contextlib.suppress(UncertainResultError):  # noise too far below rounding
            profile = noise_profile(subject, noise, lags=1)
            before, errors = profile.known_totals, profile.total_errors
    name = directions.display_name(subject)
    made = LinearNetwork(
        A, np.sqrt(power / n) * C, name=f"{name}, white states", notes=subject.notes
    )
    after = n / (1 + noise**2 * n / power)
    return Whitened(made, power, noise, before, after, errors, name, subject.notes)


def _white(network: LinearNetwork) -> tuple[Floats, Floats]:
    """A' and C' with white states of unit variance: banded for one input with known poles."""
    if network.inputs == 1:
        spectrum = Analysis.of(network).spectrum
        if spectrum.poles is not None and len(spectrum.poles) == spectrum.rank:
            return banded(schur_parameters(spectrum.poles))
    realization = input_normal(network)
    C = realization.C
    return realization.A, C if C.shape[1] > 1 else C[:, 0]
