"""The audit itself, step by step."""

from __future__ import annotations

import itertools
from typing import Any, overload

import numpy as np

from memcurve.adapters import as_network
from memcurve.arguments import require_number, require_size
from memcurve.auditing.claims import Case, claimed_number, judged
from memcurve.auditing.estimates import Estimate, usual_estimates
from memcurve.auditing.losses import account_of
from memcurve.auditing.result import Audit
from memcurve.auditing.structure import eigenvalues_of, rounded_weights, squeezing_of
from memcurve.auditing.usable import usable_memory
from memcurve.curve import MemoryCurve
from memcurve.ensembles import sparse_normal
from memcurve.inputs import processes_for
from memcurve.measuring import Dossier, dossier
from memcurve.measuring.models import Model, is_driven
from memcurve.memory import ask
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.noise import noise_of
from memcurve.notes import Note
from memcurve.progress import Progress, listening
from memcurve.solve.analysis import Analysis
from memcurve.solve.question import Question


@overload
def audit(
    network: Model | NonlinearNetwork,
    *,
    input: Any = None,
    noise: Any = None,
    seed: int = 1,
    progress: Progress = None,
) -> Dossier: ...


@overload
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
) -> Audit: ...


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
) -> Audit | Dossier:
    """What a network's memory really is, and what a number that was claimed for it means.

    Where less than a tenth of the rank can be used, under the noise given or else with states of 12
    bits, the usable memory comes first, and the total without noise is a remark: of a brain, say.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        The network; by default the paper's sparse normal one: 100 nodes, density 0.1, spectral
        radius 0.9. What is not linear, a :class:`memcurve.NonlinearNetwork`, a torch module with
        gates, a function or one of :mod:`memcurve.models`, is driven and measured instead: the
        result is a :class:`memcurve.Dossier`, for which only ``input``, ``noise``, ``seed`` and
        ``progress`` matter.
    claimed : float or str, optional
        A total memory that was reported for it. Its last digit is taken to be rounded: "98.70"
        says more than 98.7. The audit tells which convention or artefact gives this number.
    k_max, samples, ridge, input_variance : optional
        How the claimed number was made, as far as that is known: the largest lag summed, the
        length of the simulation, the ridge of the readout (added to XᵀX), the variance of the
        input. The more is known, the less is guessed.
    input : input process, optional
        As for :func:`memcurve.memory_curve`; white by default.
    noise : float or noise, optional
        A noise to give the usable memory for, besides the number formats.
    seed : int
        Of the simulations.
    estimates : bool
        Whether to run the usual ways too, which take most of the time. A claim is judged with
        what they report.
    progress : bool or callable
        Show a bar on stderr, or call a function of (label, done, total). By default it shows
        itself after two seconds, in terminals and notebooks.

    Returns
    -------
    Audit
        Shows itself in notebooks; ``to_html()`` and ``to_markdown()`` make reports.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.audit(memcurve.ensembles.cyclic(20), claimed=19)
    >>> result.claim.holds, result.claim.explanation.kind
    (True, 'from_lag_1')
    """
    known: dict[str, Any] = _known_of_claim(claimed, k_max, samples, ridge, input_variance)
    seed = 0 if seed == 0 else require_size(seed, "seed")
    given = noise_of(noise)
    if given is not None and given.is_family:
        raise ValueError("`noise` must be a single level for an audit, got a sequence.")
    if is_driven(network):
        if known:
            raise ValueError(
                "`claimed` is judged for linear networks; memcurve.measure gives the memory of one "
                "that is driven, and memcurve.as_network its linear network for small inputs."
            )
        level = 0.0 if given is None else float(given.levels[0])
        return dossier(network, input=input, noise=level, seed=seed, progress=progress)
    if network is None:
        network = sparse_normal(100, spectral_radius=0.9, density=0.1, seed=1)
    subject = as_network(network)
    with listening(progress) as listener, Analysis.kept(subject):
        steps = itertools.count()

        def tell(step: str) -> None:
            listener(step, next(steps), None)

        tell("exact memory")
        curve = _curve(subject, input=input)
        processes = processes_for(input, subject.inputs)
        white = all(process.is_white for process in processes)
        input = None if white else input
        tell("usable memory")
        usable = usable_memory(subject, input, noise)
        tell("what is lost")
        account = account_of(subject, curve)
        tell("squeezing")
        squeezing = squeezing_of(subject, account.rank)
        left_out: tuple[Note, ...] = ()
        if squeezing is None and subject.inputs == 1 and account.rank:
            text = f"Krylov squeezing: left out, as it takes long for {subject.states:,} states"
            left_out += (Note("method", text),)
        tell("eigenvalues")
        eigenvalues = eigenvalues_of(subject)
        tell("rounded weights")
        rounded = rounded_weights(subject, curve, input)
        shown: tuple[Estimate, ...] = ()
        if estimates:

            def plain() -> MemoryCurve:
                count = 2 * subject.states + 1
                return curve[:count] if white and len(curve) >= count else _curve(subject, count)

            asked = account.rank, plain, seed, tell
            shown, more = usual_estimates(subject, *asked, claimed=known.get("claimed"))
            left_out += more
        claim = None
        if known:
            tell("the claim")
            # an integer may be rounded by half, but not where half is most of the memory
            known["tolerance"] = min(known["tolerance"], 0.2 * max(1.0, curve.total))
            last, listed = known.get("k_max", 0), curve
            if last >= len(curve) and curve.total - float(curve.values.sum()) >= 1e-9:
                listed = _curve(subject, last + 1, input=input)
            case = Case(
                network=subject,
                curve=listed,
                estimates=shown,
                usable=usable,
                input=input,
                condition=float("nan") if squeezing is None else squeezing.condition,
                **known,
            )
            with np.errstate(all="ignore"):
                claim = judged(case)
    return Audit(
        network=subject.name or f"N = {subject.size}",
        size=subject.size,
        states=subject.states,
        inputs=subject.inputs,
        input="white" if white else ", ".join(sorted({one.name for one in processes})),
        curve=curve,
        horizons={"0.5": curve.horizon(0.5), "0.1": curve.horizon(0.1)},
        account=account,
        estimates=shown,
        usable=usable,
        eigenvalues=eigenvalues,
        squeezing=squeezing,
        rounded=rounded,
        claim=claim,
        notes=(*curve.notes, *left_out),
        seed=seed,
    )


def _curve(network: LinearNetwork, lags: int | None = None, *, input: Any = None) -> MemoryCurve:
    return ask(Question.of(network, lags, input=input), warn=False)


def _known_of_claim(
    claimed: Any, k_max: Any, samples: Any, ridge: Any, input_variance: Any
) -> dict[str, Any]:
    """What is known about a claim, checked; empty without one."""
    given = {"k_max": k_max, "samples": samples, "ridge": ridge, "input_variance": input_variance}
    given = {name: value for name, value in given.items() if value is not None}
    if claimed is None:
        for name, value in given.items():
            raise ValueError(
                f"`{name}`={value!r} says how a claimed number was made; give `claimed` too."
            )
        return {}
    for name in {"k_max", "samples"} & set(given):
        given[name] = require_size(given[name], name)
    for name in {"ridge", "input_variance"} & set(given):
        given[name] = require_number(given[name], name, "above 0", lambda x: x > 0)
    if "ridge" in given and "samples" not in given:
        raise ValueError(
            f"`ridge`={ridge!r} needs `samples`, since it is their ratio that acts as a noise."
        )
    value, tolerance = claimed_number(claimed)
    return {"claimed": value, "tolerance": tolerance} | given
