"""The audit itself, step by step."""

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from memcurve.core.arguments import require_limit, require_number, require_size
from memcurve.core.errors import UncertainResultError
from memcurve.core.limits import TooLargeError, estimated_cost, in_words
from memcurve.core.notes import Note
from memcurve.core.progress import Progress, ProgressCallback, progress_callback
from memcurve.data.measuring.models import is_driven
from memcurve.inputs import InputProcess, processes_for
from memcurve.inputs.noise import ObservationNoise
from memcurve.io.adapters import as_network
from memcurve.memory import MemoryCurve, ask, one_level
from memcurve.network import LinearNetwork
from memcurve.network.ensembles import sparse_normal
from memcurve.network.graph import separate_parts
from memcurve.network.operator import Operator
from memcurve.solve import Analysis, Problem
from memcurve.studies.auditing.claims import Bounds, Claim, ClaimContext, claimed_number, judged
from memcurve.studies.auditing.estimates import Estimate, standard_estimates
from memcurve.studies.auditing.losses import RankBudget, rank_budget_of, rank_budget_of_wiring
from memcurve.studies.auditing.result import Audit
from memcurve.studies.auditing.sentences import say
from memcurve.studies.auditing.structure import condition_of, eigenvalues_of
from memcurve.studies.auditing.usable import (
    UsableMemory,
    brief_reason,
    usable_memory,
    usable_memory_at_scale,
)
from memcurve.synthesis import quick_gains

#: Seconds that the curve without noise of a sparse network may take, by estimate. Doubled: those of
#: a quarter more states have it, and audits of them take minutes.
MOST_SECONDS = 15.0
#: Up to so many states an audit reports possible gains. Doubled: seconds for some of these.
MOST_GAINED = 500
#: Noise at which it does so where none is given. Doubled: less memory, and more to be gained.
USUAL_NOISE = 1e-3


def audit(
    network: Any = None,
    *,
    claimed: float | str | None = None,
    k_max: int | None = None,
    samples: int | None = None,
    ridge: float | None = None,
    input_variance: float | None = None,
    input: Any = None,
    noise: Any = None,
    seed: int = 1,
    estimates: bool = True,
    progress: Progress = None,
) -> Audit:
    """Total and usable memory of a network, and what a number claimed for it means.

    For a network that is too large for its noise-free curve, or that is known by its products only,
    the audit has everything else: usable memory, the rank or what the wiring allows, nodes that
    cannot be reached, and what was not computed (``curve`` is None then). A claim is judged by what
    is known: right or wrong where that decides, else ``holds`` is None.

    Where less than a tenth of the rank is usable, under the given noise or else with 12-bit states,
    as in many connectomes, the usable memory comes first and the noise-free total second. The
    :class:`memcurve.Audit` displays itself, and makes reports: ``to_html()``, ``to_markdown()``.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        The network; by default the paper's sparse normal one: 100 nodes, density 0.1, spectral
        radius 0.9. :func:`memcurve.measurement_report` does this for nonlinear models.
    claimed : float or str, optional
        A total memory that was reported for it. Its last digit is taken to be rounded: "98.70" is
        more precise than 98.7. The audit finds conventions and artefacts that give this number.
    k_max, samples, ridge, input_variance : optional
        How the claimed number was obtained, if known: the largest lag summed, the length of the
        simulation, the ridge of the readout (added to XᵀX), the variance of the input.
    input : input process, optional
        As for :func:`memcurve.memory_curve`; white by default.
    noise : float or noise, optional
        Noise for which to compute the usable memory, besides the number formats.
    seed : int
        Of the simulations.
    estimates : bool
        Whether to run standard methods too, which take most of the time. A claim is judged with
        what they report.
    progress : bool or callable
        Show a bar on stderr, or call a function of (label, done, total). By default it
        appears after two seconds, in terminals and notebooks.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.audit(memcurve.ensembles.cyclic(20), claimed=19)
    >>> result.claim.holds, result.claim.explanation.kind
    (True, 'from_lag_1')
    """
    facts = _facts_of_claim(claimed, k_max, samples, ridge, input_variance)
    seed = require_limit(seed, "seed")
    one_level(noise)
    if is_driven(network):
        raise ValueError(say("faults.nonlinear"))
    if network is None:
        network = sparse_normal(100, spectral_radius=0.9, density=0.1, seed=1)
    subject = as_network(network)
    with progress_callback(progress) as callback, Analysis.kept(subject):
        steps = itertools.count()

        def notify(step: str) -> None:
            callback(step, next(steps), None)

        processes = processes_for(input, subject.inputs)
        task = _Task(subject, processes, noise, seed, facts)
        notify("exact memory")
        try:
            _require_time_for(subject)
            curve = _curve(subject, input=task.input)
        except TooLargeError as error:
            return _at_scale(task, brief_reason(error), notify, callback)
        return _in_full(task, curve, estimates, notify)


@dataclass(frozen=True)
class _Task:
    """The arguments of an audit, and the ``facts`` of a claim."""

    network: LinearNetwork
    processes: tuple[InputProcess, ...]
    noise: Any
    seed: int
    facts: dict[str, Any]

    @property
    def white(self) -> bool:
        """Whether all inputs are white."""
        return all(process.is_white for process in self.processes)

    @property
    def input(self) -> tuple[InputProcess, ...] | None:
        """The input processes; None for white ones."""
        return None if self.white else self.processes

    def tolerance(self, total: float) -> float:
        """That of the claim: an integer is rounded by half, unless half is most of the memory."""
        return min(float(self.facts["tolerance"]), 0.2 * max(1.0, total))

    def judged(self, usable: UsableMemory, tolerance: float, **more: Any) -> Claim:
        """The claim, judged by what is known."""
        subject = {"network": self.network, "input": self.input, "usable": usable}
        return judged(ClaimContext(**subject | self.facts | {"tolerance": tolerance} | more))

    def fields(self) -> dict[str, Any]:
        """The fields of an audit that identify the network."""
        names = ", ".join(sorted({process.name for process in self.processes}))
        return {
            "network": self.network.name or f"N = {self.network.size}",
            "size": self.network.size,
            "states": self.network.states,
            "inputs": self.network.inputs,
            "input": "white" if self.white else names,
            "seed": self.seed,
        }


def _in_full(
    task: _Task, curve: MemoryCurve, estimates: bool, notify: Callable[[str], None]
) -> Audit:
    """The audit of a network whose curve without noise is known."""
    subject = task.network
    notify("usable memory")
    usable = usable_memory(subject, task.input, task.noise)
    notify("controllable states")
    budget = rank_budget_of(subject, curve)
    rank = budget.most
    left_out: tuple[Note, ...] = ()
    notify("eigenvalues")
    eigenvalues = eigenvalues_of(subject)
    shown: tuple[Estimate, ...] = ()
    condition = float("nan")
    if estimates:

        def plain() -> MemoryCurve:
            count = 2 * subject.states + 1
            return curve[:count] if task.white and len(curve) >= count else _curve(subject, count)

        standard = Problem.of(subject, 2 * subject.states + 1)
        claimed = task.facts.get("claimed")
        shown, more = standard_estimates(standard, rank, plain, task.seed, notify, claimed=claimed)
        condition = condition_of(standard, rank) if shown else condition
        left_out += more
    claim = None
    if task.facts:
        notify("the claim")
        last, listed = task.facts.get("k_max", 0), curve
        if last >= len(curve) and curve.total - float(curve.values.sum()) >= 1e-9:
            listed = _curve(subject, last + 1, input=task.input)
        tolerance = task.tolerance(curve.total)
        claim = task.judged(usable, tolerance, curve=listed, estimates=shown)
    notify("what could be gained")
    return Audit(
        **task.fields(),
        curve=curve,
        rank_budget=budget,
        estimates=shown,
        usable=usable,
        eigenvalues=eigenvalues,
        condition=condition,
        claim=claim,
        notes=(*curve.notes, *left_out),
        gains=_gains(task),
    )


def _gains(task: _Task) -> dict[str, float]:
    """Possible gains under the noise of the audit; empty where that takes long."""
    noise, network = one_level(task.noise), task.network
    plain = noise is None or isinstance(noise, ObservationNoise)
    if not (task.white and plain and network.C.any() and network.states <= MOST_GAINED):
        return {}
    level = USUAL_NOISE if noise is None else float(noise.levels[0])
    gains: dict[str, float] = {}
    with contextlib.suppress(UncertainResultError, ValueError), np.errstate(all="ignore"):
        gains = quick_gains(network, level) if level > 0 else {}
    return {"noise": level} | {way: gain for way, gain in gains.items() if np.isfinite(gain)}


def _require_time_for(network: LinearNetwork) -> None:
    """Raise a TooLargeError where the curve without noise would take long, or has no matrix."""
    if isinstance(network.A, Operator):
        raise TooLargeError("`network` must have a matrix here: `A` is known by its products only.")
    analysis = Analysis.of(network)
    if not network.is_sparse or not len(analysis):
        return
    largest = max(map(len, separate_parts(analysis.stored)))
    seconds = estimated_cost(largest).seconds
    if seconds > MOST_SECONDS:
        raise TooLargeError(say("faults.long", largest=largest, time=in_words(seconds)))


def _at_scale(
    task: _Task, why: str, notify: Callable[[str], None], callback: ProgressCallback
) -> Audit:
    """The audit of a network that is too large for its curve without noise."""
    subject = task.network
    analysis = Analysis.of(subject)
    with analysis.reporting(callback, products_only=True):
        usable, missing = usable_memory_at_scale(subject, task.input, task.noise, notify)
        notify("controllable states")
        budget, unknown = rank_budget_of_wiring(subject, callback)
        claim = None
        if task.facts:
            notify("the claim")
            bounds = _bounds(usable, budget, white=task.white)
            tolerance = task.tolerance(bounds.least)
            start = bounds.start(subject, budget.most, tolerance)
            claim = task.judged(usable, tolerance, curve=start, estimates=(), bounds=bounds)
    dense = (say("left_out.dense"), say("reasons.dense"))
    left_out = ((say("left_out.curve"), why), *unknown, *missing, dense)
    return Audit(
        **task.fields(),
        rank_budget=budget,
        usable=usable,
        claim=claim,
        notes=subject.notes,
        left_out=dict(left_out),
    )


def _bounds(usable: UsableMemory, budget: RankBudget, *, white: bool) -> Bounds:
    """What is known of the memory without noise; for coloured input the rank is no bound."""
    most = float(budget.most) if white else float("inf")
    best = max(usable.rows, key=lambda row: row.total, default=None)
    if best is None:
        return Bounds(0.0, most, np.zeros(0))
    if budget.rank is not None and white:
        return Bounds(most, most, best.values)
    return Bounds(min(best.total - best.error, most), most, best.values)


def _curve(network: LinearNetwork, lags: int | None = None, *, input: Any = None) -> MemoryCurve:
    return ask(Problem.of(network, lags, input=input))


def _facts_of_claim(
    claimed: Any, k_max: Any, samples: Any, ridge: Any, input_variance: Any
) -> dict[str, Any]:
    """A claim and how it was made, checked; empty without one."""
    given = {"k_max": k_max, "samples": samples, "ridge": ridge, "input_variance": input_variance}
    given = {name: value for name, value in given.items() if value is not None}
    if claimed is None:
        for name, value in given.items():
            raise ValueError(f"`{name}` is about a claimed number, got {value!r}; give `claimed`.")
        return {}
    for name in {"k_max", "samples"} & set(given):
        given[name] = require_size(given[name], name)
    for name in {"ridge", "input_variance"} & set(given):
        given[name] = require_number(given[name], name, "above 0", lambda x: x > 0)
    if "ridge" in given and "samples" not in given:
        raise ValueError(f"`ridge` needs `samples`: their ratio acts like noise; got {ridge!r}.")
    value, tolerance = claimed_number(claimed)
    return {"claimed": value, "tolerance": tolerance} | given
