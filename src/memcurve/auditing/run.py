"""The audit itself, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from memcurve.adapters import as_network
from memcurve.arguments import require_number, require_size
from memcurve.auditing.claims import Case, claimed_number
from memcurve.auditing.estimates import Estimate, usual_estimates
from memcurve.auditing.losses import account_of
from memcurve.auditing.recognisers import judged
from memcurve.auditing.result import Audit
from memcurve.auditing.structure import eigenvalues_of, rounded_weights, squeezing_of
from memcurve.auditing.usable import usable_memory
from memcurve.curve import MemoryCurve
from memcurve.ensembles import sparse_normal
from memcurve.inputs import processes_for
from memcurve.memory import ask
from memcurve.network import LinearNetwork
from memcurve.noise import noise_of
from memcurve.notes import Note
from memcurve.progress import Listener, Progress, listening
from memcurve.solve.question import Question


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
    progress: Progress = False,
) -> Audit:
    """What a network's memory really is, and what a number that was claimed for it means.

    Parameters
    ----------
    network : LinearNetwork, or anything that :func:`memcurve.as_network` takes
        The network; by default the paper's sparse normal one: 100 nodes, density 0.1, spectral
        radius 0.9.
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
        Show a bar on stderr, or call a function of (label, done, total).

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
    if noise_of(noise) is not None and noise_of(noise).is_family:  # type: ignore[union-attr]
        raise ValueError("`noise` must be a single level for an audit, got a sequence.")
    subject = as_network(_paper_network() if network is None else network)
    with listening(progress) as listener:
        tell = _Steps(listener)
        tell("exact memory")
        curve = _quiet_curve(subject, input)
        white = all(process.is_white for process in processes_for(input, subject.inputs))
        input = None if white else input
        shown: tuple[Estimate, ...] = ()
        left_out: tuple[Note, ...] = ()
        if estimates:
            plain = curve if white else _quiet_curve(subject, None)
            shown, left_out = usual_estimates(subject, _to_lags(subject, plain), seed, tell)
        tell("usable memory")
        usable = usable_memory(subject, input, noise)
        tell("structure")
        account = account_of(subject, curve)
        squeezing = squeezing_of(subject, account.rank)
        rounded = rounded_weights(subject, curve, input)
        claim = None
        if known:
            tell("the claim")
            # an integer may be rounded by half, but not where half is most of the memory
            known["tolerance"] = min(known["tolerance"], 0.2 * max(1.0, curve.total))
            case = Case(
                network=subject,
                curve=_to_k_max(subject, curve, input, known.get("k_max")),
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
        input="white" if white else ", ".join(_names(input, subject.inputs)),
        curve=curve,
        horizons={"0.5": curve.horizon(0.5), "0.1": curve.horizon(0.1)},
        account=account,
        estimates=shown,
        usable=usable,
        eigenvalues=eigenvalues_of(subject),
        squeezing=squeezing,
        rounded=rounded,
        claim=claim,
        notes=(*curve.notes, *left_out),
        seed=seed,
    )


class _Steps:
    """Tells a listener of steps whose number is not known beforehand."""

    def __init__(self, listener: Listener) -> None:
        self._listener, self._done = listener, 0

    def __call__(self, step: str) -> None:
        self._listener(step, self._done, None)
        self._done += 1


def _paper_network() -> LinearNetwork:
    return sparse_normal(100, spectral_radius=0.9, density=0.1, seed=1)


def _quiet_curve(network: LinearNetwork, input: Any) -> MemoryCurve:
    return ask(Question.of(network, input=input), warn=False)


def _to_lags(network: LinearNetwork, curve: MemoryCurve) -> MemoryCurve:
    """The same curve to 2N lags and one."""
    count = 2 * network.states + 1
    if len(curve) >= count:
        return curve[:count]  # type: ignore[no-any-return]
    return ask(Question.of(network, count), warn=False)


def _names(input: Any, inputs: int) -> list[str]:
    return sorted({process.name for process in processes_for(input, inputs)})


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


def _to_k_max(
    network: LinearNetwork, curve: MemoryCurve, input: Any, k_max: int | None
) -> MemoryCurve:
    """The same curve to lag ``k_max`` at least, where that is known."""
    if k_max is None or k_max < len(curve) or curve.total - float(curve.values.sum()) < 1e-9:
        return curve
    return ask(Question.of(network, k_max + 1, input=input), warn=False)
