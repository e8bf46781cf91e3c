"""The verdict in plain words, with every number it uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from memcurve.auditing.claims import FITS, Claim
from memcurve.auditing.estimates import Estimate
from memcurve.auditing.facts import Facts
from memcurve.auditing.structure import HOPELESS

#: A total is off if it differs by more than this share of the truth.
OFF = 0.01
#: A curve with the right total is off if it differs by more than this at some lag.
UNEVEN = 0.05
_IN_WORDS = {
    "float64": "in double precision",
    "float32": "in single precision",
    "16 bit": "with 16 bits",
    "12 bit": "with 12 bits",
}


def verdict(audit: Facts) -> tuple[str, ...]:
    """Three or four sentences: the claim, the truth, what others would say, what can be used."""
    sentences = [_truth(audit), _others(audit), _usable(audit)]
    if audit.claim is not None:
        sentences.insert(0, _claim(audit.claim, audit.total))
    return tuple(sentence for sentence in sentences if sentence)


def _claim(claim: Claim, total: float) -> str:
    told = f"{claim.value:.10g}"
    best = claim.explanation
    if best is None:
        return (
            f"The claimed {told} is not this network's memory, which is {number(total)}, and none "
            f"of the known conventions and artefacts gives it."
        )
    if claim.holds:
        return f"The claimed {told} is right: {best.text}."
    others = len(claim.explanations) - 1
    more = f"; {others} other {'ways' if others > 1 else 'way'} to arrive at it below"
    more = more if others else ""
    sure = "; perhaps " if best.fit == "solved for" else "; most likely "
    sure = ": " if best.likelihood == FITS["as it is"] else sure
    return (
        f"The claimed {told} is not this network's memory, which is {number(total)}"
        f"{sure}{best.text}{more}."
    )


def _truth(audit: Facts) -> str:
    account = audit.account
    error = f" ± {audit.curve.total_error:.1g}" if audit.curve.total_error > 0 else ""
    text = f"This network remembers {number(audit.total)}{error} of its past inputs in total"
    if account.lost <= 0:
        seen = " that are read" if account.read < account.states else ""
        bound = f"as many as it has states{seen}"
        white = audit.input == "white"
        text += f", {bound}" if white else f" (it has {counted(account.read, 'state')})"
    else:
        reasons = "; ".join(loss.text for loss in account.losses[:2])
        text += f", not {account.read}: {reasons}"
    return f"{text}.{_horizons(audit)}"


def _horizons(audit: Facts) -> str:
    half, tenth = audit.horizons["0.5"], audit.horizons["0.1"]
    if audit.inputs > 1 or half is None or tenth is None or not audit.total:
        return ""
    if not tenth:
        return " At no lag is as much as a tenth of an input left."
    where = f"from lag {half} on" if half else "at any lag"
    return f" Less than half of an input is left {where}, less than a tenth from lag {tenth} on."


def _others(audit: Facts) -> str:
    if not audit.estimates:
        return ""
    wrong = [one for one in audit.estimates if _is_off(one.total, one.truth)]
    short = [
        one
        for one in audit.estimates
        if one not in wrong and _is_off(one.truth, _white_total(audit, one))
    ]
    uneven = [one for one in audit.estimates if one not in wrong and one.largest_error > UNEVEN]
    parts = []
    if wrong:
        told = _listed([f"{number(one.total)} ({one.name})" for one in wrong])
        white = "" if audit.input == "white" else f" for white input (total {audit.account.rank})"
        parts.append(f"the usual ways would have reported{white} {told}{_reason(audit, wrong)}")
    if short:
        told = _listed([f"{number(one.total)} ({one.name})" for one in short])
        last = max(one.last_lag for one in short)
        parts.append(f"sums that end at lag {last} miss what comes later: {told}")
    if uneven:
        worst = max(uneven, key=lambda one: one.largest_error)
        parts.append(
            f"{worst.name} has the total but is off by up to {worst.largest_error:.2g} at some lags"
        )
    if not parts:
        return "The usual ways to compute it agree with this within 1 %."
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _reason(audit: Facts, wrong: Sequence[Estimate]) -> str:
    """Why they are wrong, where that is plain."""
    squeezing = audit.squeezing
    inverted = any(one.inverts for one in wrong)
    if not inverted or squeezing is None or squeezing.condition < HOPELESS:
        return ""
    condition = _power(squeezing.condition)
    return (
        f": the correlations of the states have a condition number of {condition} or more, and "
        f"what lies below rounding is lost, or replaced by noise"
    )


def _white_total(audit: Facts, estimate: Estimate) -> float:
    """The total for white input, without lag 0 where the estimate leaves it out by convention."""
    first = float(audit.curve.values[0]) if estimate.first_lag and audit.input == "white" else 0.0
    return float(audit.account.rank) - first


def _is_off(total: float, truth: float) -> bool:
    return not abs(total - truth) <= OFF * max(truth, 1.0)


def _usable(audit: Facts) -> str:
    rows = [row for row in audit.usable.rows if not row.given]
    given = [row for row in audit.usable.rows if row.given]
    if not rows:
        return ""
    told = [f"{number(row.total)} {_IN_WORDS.get(row.name, row.name)}" for row in rows]
    told += [f"{number(row.total)} under the noise given" for row in given]
    if all(abs(row.total - audit.total) <= OFF * max(audit.total, 1) for row in [*rows, *given]):
        return f"Rounding the states costs nearly none of it: {_listed(told)} can be used."
    return f"How much of it can be used depends on how the states are read: {_listed(told)}."


def counted(count: int, noun: str) -> str:
    """A number of things: 1 state, 2 states."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def number(value: float) -> str:
    """A total in a sentence."""
    if not math.isfinite(value):
        return "no number"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


def _power(value: float) -> str:
    return "infinity" if math.isinf(value) else f"{value:.0e}"


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
