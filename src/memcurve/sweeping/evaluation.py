"""What becomes of a case: a few numbers, and the curve where it is asked for.

Everything is computed with one BLAS thread, whoever calls: sums over several threads are rounded
differently, and the naive methods are made of rounding.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from memcurve import ensembles, masks
from memcurve.curve import MemoryCurve
from memcurve.errors import RankWarning, UncertainResultError
from memcurve.inputs import processes_for
from memcurve.limits import require_room_for_array
from memcurve.memory import memory_curve, noise_profile
from memcurve.network import LinearNetwork
from memcurve.noise import number_formats, parse_noise
from memcurve.solve.analysis import Analysis
from memcurve.sweeping.cases import QUANTITIES, Case
from memcurve.sweeping.workers import blas_libraries


def evaluate(case: Mapping[str, Any]) -> dict[str, Any]:
    """Compute a case, given as :meth:`Case.to_dict` writes it.

    Returns
    -------
    dict
        ``values``, one number a quantity, None where it is not known (an error bound of a method
        that has none, a horizon beyond the lags); and ``curve``, None unless asked for, with the
        lags, the memory, its error and the notes. The same case gives the same bits.

    Examples
    --------
    >>> from memcurve.sweeping import evaluate
    >>> evaluate({"ensemble": "orthogonal", "size": 10, "seed": 1, "keep": ["total", "rank"]})
    {'values': {'rank': 10, 'total': 10.0}, 'curve': None}
    """
    asked = Case.from_dict(case)
    with blas_libraries().limit(limits=1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # `rank_robust` and the notes have it
        network = network_of(asked)
        curve = _curve(asked, network)
        if not math.isfinite(curve.total):
            raise UncertainResultError(
                f"method {asked.method!r} gives a total of {curve.total} for this network; "
                f"method='exact' gives its memory."
            )
        values = _Quantities(asked, network, curve)
        kept = {name: _known(values[name]) for name in asked.keep}
    return {"values": kept, "curve": _content(curve) if asked.curve else None}


def network_of(case: Case) -> LinearNetwork:
    """The network of a case, the same as that of the command with the same options."""
    require_room_for_array((case.size, case.size), f"a network of size {case.size}")
    arguments = case.ensemble_arguments
    network = ensembles.make(case.ensemble, case.size, seed=case.seed, **arguments)
    if case.inputs == 1:
        return network
    # the first two streams of a seed are the network's own connectivity and mask
    streams = np.random.SeedSequence(case.seed).spawn(case.inputs + 1)[2:]
    mask = case.mask or "normal"
    columns = [masks.make(mask, network.size, seed=stream) for stream in streams]
    return network.replace(C=np.column_stack([network.C, *columns]))


class _Quantities:
    """The quantities of one curve by name; what several need is computed at most once."""

    def __init__(self, case: Case, network: LinearNetwork, curve: MemoryCurve) -> None:
        self.case, self.network, self.curve = case, network, curve

    def __getitem__(self, name: str) -> float | int | None:
        quantity = QUANTITIES[name]
        if quantity.number_format is not None:
            return self._usable[quantity.number_format]
        if quantity.share_left is not None:
            return self.curve.horizon(quantity.share_left)
        if name == "error_against_exact":
            return float(np.abs(self.curve.channels - self._exact.channels).max(initial=0.0))
        if name == "total_error_against_exact":
            return math.fsum(self.curve.values) - math.fsum(self._exact.values)
        if name in ("rank", "rank_robust"):
            # a rank is the network's, whatever the method makes of it
            known = self.curve if self.curve.rank is not None else self._plain
            return known.rank if name == "rank" else known.diagnostics.get(name, known.rank)
        if name == "largest_error":
            return float(self.curve.error.max(initial=0.0))
        return float(getattr(self.curve, name))

    @functools.cached_property
    def _plain(self) -> MemoryCurve:
        """The exact curve of the network for white input, without noise."""
        return memory_curve(self.network, 1)

    @functools.cached_property
    def _exact(self) -> MemoryCurve:
        """The exact answer to the same question, at the same lags."""
        if self.case.method == "exact":
            return self.curve
        return _curve(self.case, self.network, exact_at=len(self.curve))

    @functools.cached_property
    def _usable(self) -> dict[str, float]:
        """Exact totals at the noise that number formats amount to, for this network's states."""
        processes = processes_for(self.case.input, self.network.inputs)
        levels = number_formats(Analysis.of(self.network).state_deviations(processes))
        names = [q.number_format for q in QUANTITIES.values() if q.number_format is not None]
        wanted = [levels[name] for name in names]
        family = noise_profile(self.network, wanted, lags=1, input=self.case.input)
        return dict(zip(names, family.totals.tolist(), strict=True))


def _curve(case: Case, network: LinearNetwork, exact_at: int | None = None) -> MemoryCurve:
    """The curve that is asked for, or the exact one at so many lags."""
    noise: Any = parse_noise([case.noise]) if isinstance(case.noise, str) else case.noise
    question = {"input": case.input, "noise": noise, "seed": case.seed}
    how: dict[str, Any] = {"method": case.method, **case.options} if exact_at is None else {}
    curve: MemoryCurve = memory_curve(network, exact_at or case.lags, **question, **how)
    return curve


def _known(value: Any) -> float | int | None:
    """A number as JSON has it; NaN means that it is not known."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return int(value) if isinstance(value, int | np.integer) else float(value)


def _content(curve: MemoryCurve) -> dict[str, Any]:
    return {
        "lags": curve.lags.tolist(),
        "values": curve.values.tolist(),
        "error": [_known(error) for error in curve.error.tolist()],
        "notes": list(curve.notes),
    }
