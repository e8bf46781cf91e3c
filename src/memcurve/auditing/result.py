"""Audit: what is known of a network's memory, with its verdict and its report in plain words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from memcurve.auditing.claims import FITS, Claim
from memcurve.auditing.estimates import Estimate
from memcurve.auditing.losses import Account
from memcurve.auditing.structure import (
    HOPELESS,
    WORST_CONDITION,
    Eigenvalues,
    RoundedWeights,
    Squeezing,
)
from memcurve.auditing.usable import INVISIBLE, Usable, UsableMemory
from memcurve.curve import MemoryCurve
from memcurve.notes import Note, counted
from memcurve.report import Bar, Chart, Document, Reported, Section, Series, Table
from memcurve.report.document import listed
from memcurve.result import installed_versions
from memcurve.types import EPS, Floats

#: A total is off if it differs by more than this share of the truth.
OFF = 0.01
#: A curve with the right total is off if it differs by more than this at some lag.
UNEVEN = 0.05
#: Where less than this share of the rank can be used, the total without noise is beside the point.
BESIDE_THE_POINT = 0.1
#: They hold all but this share of it.
SHARE_BEYOND = 1e-3
#: What became of so many states, by the kind of loss.
LOST_IN_WORDS = {
    "unreached": "never reached from the input",
    "silent": "reached along paths that cancel",
    "twins": "repeating what others hold",
    "repeated": "repeating what others hold",
    "orthogonal": "never excited",
    "unread": "repeating what others hold",
    "wiring": "more than the wiring can drive independently",
    "other": "not driven independently of the others",
}
#: Estimates drawn at first; the others can be switched on.
SHOWN_AT_FIRST = ("gramian_pinv", "osm", "reservoirpy")
#: The word of a report on a claim that holds, does not, or cannot be decided.
_JUDGED = {
    True: "The claim holds", False: "The claim does not hold", None: "The claim is undecided",
}  # fmt: skip
#: Estimates of files that do not say so yet.
_INVERT = ("gramian_solve", "gramian_pinv", "montecarlo")
_BY_CONSTRUCTION = ("osm", "osm_plus")
_IN_WORDS = {
    "float64": "in double precision",
    "float32": "in single precision",
    "16 bit": "with 16 bits",
    "12 bit": "with 12 bits",
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Reported):
    """The outcome of :func:`memcurve.audit`: facts, their verdict and their report.

    Attributes
    ----------
    network : str
        The network's name, or its size.
    size, states, inputs : int
        Numbers of nodes, of real states, and of inputs.
    curve : MemoryCurve or None
        The exact memory curve, every value with its error; None where the network is too large.
    horizons : dict
        First lag that memory is below ½, and below 0.1, at; None where it never is.
    account : Account
        States, rank, margin, and why memory is lost where it is.
    estimates : tuple of Estimate
        What the usual ways would have reported, for white input.
    usable : UsableMemory
        Memory that is left in number formats and under noise.
    eigenvalues, squeezing, rounded
        The spectrum (None where the curve is), Krylov squeezing (None for several inputs), and
        what rounding the weights to single precision does.
    claim : Claim or None
        The claimed number, judged.
    left_out : dict
        What is not told of a large network, and why.
    notes : tuple of Note
        Everything one should know before quoting the numbers.
    seed : int
        Of the simulations.
    versions : dict
        Versions of Python and the packages the numbers depend on.
    """

    FORMAT: ClassVar[str] = "memcurve.Audit/2"
    EARLIER_FORMATS: ClassVar[tuple[str, ...]] = ("memcurve.Audit/1",)
    DERIVED: ClassVar[tuple[str, ...]] = ("verdict",)

    network: str
    size: int
    states: int
    inputs: int
    input: str
    curve: MemoryCurve | None
    horizons: Mapping[str, int | None]
    account: Account
    estimates: tuple[Estimate, ...]
    usable: UsableMemory
    eigenvalues: Eigenvalues | None
    squeezing: Squeezing | None
    rounded: RoundedWeights
    claim: Claim | None
    notes: tuple[Note, ...]
    seed: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    @property
    def total(self) -> float:
        """Total memory over all lags, without noise; NaN where it is not known."""
        if self.curve is None:
            known = self.account.rank if self.input == "white" else None
            return float("nan") if known is None else float(known)
        return self.curve.total

    @property
    def rank(self) -> int | None:
        """Rank of the Krylov matrix of the stored numbers."""
        return self.account.rank if self.curve is None else self.curve.rank

    @property
    def exact(self) -> MemoryCurve:
        """The curve, which has to be there."""
        if self.curve is None:
            raise ValueError(
                f"the memory curve without noise was left out: "
                f"{next(iter(self.left_out.values()), 'the network is too large')}. "
                f"`usable.rows` has the curves under noise."
            )
        return self.curve

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """The few sentences that matter: the claim, the truth, the usual ways, what is usable."""
        claim = "" if self.claim is None else _claim_judged(self.claim, self.total, self.states)
        if self.curve is None:
            facts = [_usable_in_words(self), _possible(self), _not_told(self)]
        else:
            facts = [_truth(self), _others(self), _usable_in_words(self)]
            if self.headline is not None:  # usable memory first
                facts = [facts[-1], *facts[:-1]]
        return tuple(sentence for sentence in (claim, _as_read(self), *facts) if sentence)

    @property
    def headline(self) -> Usable | None:
        """The usable memory, where it comes first: where less than a tenth of the rank is usable.

        It is that under the noise given, or else with 12 bits, as measuring devices record.
        """
        row = self.usable.measured
        if self.curve is None:
            return row or next(iter(self.usable.rows), None)
        if row is None or row.total >= BESIDE_THE_POINT * self.account.most:
            return None
        return row

    def document(self) -> Document:
        """The audit as sentences, tables and charts."""
        truth = [_memory(self), _estimates(self), _losses(self), _usable(self)]
        if self.headline is not None or self.curve is None:
            truth = [_usable(self), _memory(self), _losses(self), _estimates(self)]
        sections = [
            _claim(self),
            *truth,
            None if self.eigenvalues is None else spectrum_section(self.eigenvalues),
            None if self.squeezing is None else squeezing_section(self.squeezing),
            None if self.curve is None else _sensitivity(self),
            _left_out(self),
        ]
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        states = f" ({counted(self.states, 'real state')})" if self.states != self.size else ""
        inputs = "one input" if self.inputs == 1 else f"{self.inputs} inputs"
        read = "" if self.account.read == self.states else f", {self.account.read} states read"
        return Document(
            title=f"Memory audit: {self.network}",
            subtitle=f"{counted(self.size, 'node')}{states}, {inputs}{read}, input: {self.input}",
            verdict=self.verdict,
            good=None if self.claim is None else self.claim.holds,
            word="Summary" if self.claim is None else _judged(self.claim.holds, _as_read(self)),
            bars=_bars(self),
            scale="How many past inputs it remembers",
            figures=_figures(self),
            sections=[section for section in sections if section is not None],
            notes=self.notes,
            footer=f"{versions}; seed {self.seed}.",
        )

    def columns(self) -> Mapping[str, Any]:
        """What the usual ways report, one row each, the exact total first."""
        worst = float("nan") if self.curve is None else self.curve.error.max()
        exact = {"total": self.total, "truth": self.total, "largest_error": worst}
        return {"method": ["exact", *(one.key for one in self.estimates)]} | {
            name: [value, *(getattr(one, name) for one in self.estimates)]
            for name, value in exact.items()
        }

    def to_xarray(self) -> Any:
        """The exact curve as an xarray Dataset, with the verdict among its attributes."""
        return self.exact.to_xarray().assign_attrs(verdict=" ".join(self.verdict))

    def plot(self, ax: Any = None) -> Any:
        """Draw the exact memory curve; ``to_html()`` has all pictures."""
        return self.exact.plot(ax=ax)

    def _derived(self) -> dict[str, Any]:
        return {"verdict": list(self.verdict)}

    @classmethod
    def _upgraded(cls, content: dict[str, Any]) -> dict[str, Any]:
        for one in content.get("estimates", []):
            one.setdefault("inverts", one["key"] in _INVERT)
            one.setdefault("by_construction", one["key"] in _BY_CONSTRUCTION)
        curve = content.get("curve") or {}
        for name in ("format", "inputs"):
            curve.pop(name, None)
        return content

    def __repr__(self) -> str:
        return "\n".join([f"<Audit of {self.network}>", *(f"  {line}" for line in self.verdict)])


# --- The verdict in plain words, with every number it uses.


def _claim_judged(claim: Claim, total: float, states: int) -> str:
    best, others = claim.explanation, len(claim.explanations) - 1
    told = f"The claimed {claim.value:.10g} is"
    if claim.holds is None:
        way = "" if best is None else f" One way to arrive at it: {best.text}."
        known = f"at least {number(claim.least)}"
        if math.isfinite(claim.most):
            known = f"between {number(claim.least)} and {number(claim.most)}"
            way = f" memcurve.rank would tell.{way}"
        return (
            f"{told} possible, and neither confirmed nor refuted: all that is known is that this "
            f"network remembers {known} of its past inputs without noise.{way}"
        )
    truth = number(total)
    if not math.isfinite(total):
        truth = f"at least {number(claim.least)}"
        truth = truth if claim.value < claim.least else f"at most {number(claim.most)}"
    wrong = f"{told} not this network's memory, which is {truth}"
    if claim.least <= claim.value <= claim.most and claim.least < claim.most:
        wrong = f"{told} not the sum up to the lag that was said"
    if best is None:
        share = f" As a share of the {states} states it is {claim.value * states:g}: claim that."
        share = share if 0 < claim.value <= 1 < states else ""
        return f"{wrong}, and none of the known conventions and artefacts gives it.{share}"
    if claim.holds:
        return f"{told} right: {best.text}."
    more = f"; {others} other {'ways' if others > 1 else 'way'} to arrive at it"
    sure = "; perhaps " if best.fit == "solved for" else "; most likely "
    sure = ": " if best.likelihood == FITS["as it is"] else sure
    return f"{wrong}{sure}{best.text}{more if others else ''}."


def _judged(holds: bool | None, as_read: str) -> str:
    """The word of a report; what was left out of a file may be what was claimed for."""
    return f"{_JUDGED[holds]}{' for the network as it was read' if as_read and not holds else ''}"


def _as_read(audit: Audit) -> str:
    """What of a file was not used, or may be something else than it was taken for."""
    unused = [note for note in audit.notes if note.kind == "unused"]
    return f"All of this is of the network as it was read: {'; '.join(unused)}." if unused else ""


def _truth(audit: Audit) -> str:
    account = audit.account
    total = f"{number(audit.total)}{_error(audit.exact)}"
    text = f"This network remembers {total} of its past inputs in total"
    if audit.headline is not None:
        text = f"Without any noise it would remember {total} of its past inputs"
        if account.lost > 0:
            text += f", not {account.read}: that leaves out {_summed(account)}"
        return f"{text}."
    if account.lost > 0:
        text += f", not {account.read}: {'; '.join(loss.text for loss in account.losses[:2])}"
    elif audit.input == "white":
        seen = " that are read" if account.read < account.states else ""
        text += f", as many as it has states{seen}"
    else:
        text += f" (it has {counted(account.read, 'state')})"
    half, tenth = audit.horizons.get("0.5"), audit.horizons.get("0.1")
    if audit.inputs > 1 or half is None or tenth is None or not audit.total:
        return f"{text}."
    if not tenth:
        return f"{text}. At no lag is as much as a tenth of an input left."
    return f"{text}. {_capital(_below_half(half))}, less than a tenth from lag {tenth} on."


def _possible(audit: Audit) -> str:
    """What is known of a total that was not computed lag by lag."""
    account = audit.account
    lost = f", not {account.read:,}: that leaves out {_summed(account)}" if account.losses else ""
    if account.rank is not None:
        if audit.input == "white":
            return f"Without any noise it would remember {account.rank:,} past inputs{lost}."
        return f"Without any noise {account.rank:,} of its states count{lost}."
    if account.possible is None:
        return ""
    what = "past inputs" if audit.input == "white" else "states that count"
    return f"Without any noise its wiring allows up to {account.possible:,} {what}{lost}."


def _not_told(audit: Audit) -> str:
    names = list(audit.left_out)
    return f"Left out, each for a reason given below: {'; '.join(names)}." if names else ""


def _summed(account: Account) -> str:
    """How much is lost for which reason."""
    counts = Counter[str]()
    for loss in account.losses:
        counts[LOST_IN_WORDS[loss.kind]] += loss.count
    (words, count), *others = ((words, count) for words, count in counts.items() if count)
    rest = (f"{count:,} {words}" for words, count in others)
    return listed([f"{counted(count, 'state')} {words}", *rest])


def _error(curve: MemoryCurve) -> str:
    return f" ± {curve.total_error:.1g}" if curve.total_error > 0 else ""


def _others(audit: Audit) -> str:
    if not audit.estimates:
        return ""
    white = audit.input == "white"
    wrong = [one for one in audit.estimates if _is_off(one.total, one.truth)]
    right = [one for one in audit.estimates if one not in wrong]
    # the total for white input, without lag 0 where an estimate leaves it out by convention
    rank, lag_0 = float(audit.account.most), float(audit.exact.values[0]) if white else 0.0
    short = [one for one in right if _is_off(one.truth, rank - lag_0 * bool(one.first_lag))]
    uneven = [one for one in right if one.largest_error > UNEVEN]
    parts = []
    if wrong:
        which = "" if white else f" for white input (total {audit.account.most})"
        parts.append(
            f"the usual ways would have reported{which} {_named(wrong)}{_reason(audit, wrong)}"
        )
    if short:
        last = max(one.last_lag for one in short)
        parts.append(f"sums that end at lag {last} miss what comes later: {_named(short)}")
    if uneven:
        worst = max(uneven, key=lambda one: one.largest_error)
        parts.append(
            f"{worst.name} has the total but is off by up to {worst.largest_error:.2g} at some lags"
        )
    if not parts:
        return "The usual ways to compute it agree with this within 1 %."
    return f"{_capital('; '.join(parts))}."


def _reason(audit: Audit, wrong: Sequence[Estimate]) -> str:
    """Why they are wrong, where that is plain."""
    condition = 0.0 if audit.squeezing is None else audit.squeezing.condition
    if not condition >= HOPELESS or not any(one.inverts for one in wrong):
        return ""
    power = "infinity" if math.isinf(condition) else f"{condition:.0e}"
    return (
        f": the correlations of the states have a condition number of {power} or more, and "
        f"what lies below rounding is lost, or replaced by noise"
    )


def _is_off(total: float, truth: float) -> bool:
    return not abs(total - truth) <= OFF * max(truth, 1.0)


def _usable_in_words(audit: Audit) -> str:
    rows, first = sorted(audit.usable.rows, key=lambda row: row.given), audit.headline
    if all(row.given for row in rows) and audit.curve is not None:
        return ""
    if not rows:
        return f"What of it can be used is not known: {audit.usable.reason or 'see below'}."
    if first is not None:
        rows = [row for row in rows if row is not first]
    told = listed(f"{number(row.total)} {_read(row)}" for row in rows) if rows else ""
    if first is not None:
        opening = "Under the noise given" if first.given else f"Read {_read(first)}"
        lags = "" if first.horizon is None else f": {_below_half(first.horizon)}"
        others = f" It would be {told}." if rows else ""
        return (
            f"{opening}, this network remembers {number(first.total)} of its past "
            f"inputs{lags}.{others}"
        )
    if any(_is_off(row.total, audit.total) for row in rows):
        return f"How much of it can be used depends on how the states are read: {told}."
    return f"Rounding the states costs nearly none of it: {told} can be used."


def _read(row: Usable) -> str:
    """How the states are read."""
    return "under the noise given" if row.given else _IN_WORDS.get(row.name, row.name)


def _below_half(lag: int) -> str:
    return f"less than half of an input is left {f'from lag {lag} on' if lag else 'at any lag'}"


def _capital(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}"


def _named(estimates: Sequence[Estimate]) -> str:
    return listed(f"{number(one.total)} ({one.name})" for one in estimates)


# --- The report.


def _bars(audit: Audit) -> list[Bar]:
    """The answer as a picture: what is true, what was claimed, and what can be used of it."""
    bars = []
    if audit.curve is not None:
        told = f"{number(audit.total)}{_error(audit.curve)}"
        bars.append(Bar("true, over all lags", audit.total, told))
    if audit.claim is not None:
        colour = {True: "good", False: "bad", None: "series-4"}[audit.claim.holds]
        bars.append(Bar("claimed", audit.claim.value, f"{audit.claim.value:.10g}", colour))
    # the best there is, and what verdicts go by
    rows = dict.fromkeys([*audit.usable.rows[:1], audit.usable.measured])
    for row in filter(None, rows):
        bars.append(Bar(f"usable {_read(row)}", row.total, number(row.total), "series-5"))
    return bars


def _figures(audit: Audit) -> list[tuple[str, str]]:
    claimed = [] if audit.claim is None else [("claimed", f"{audit.claim.value:.10g}")]
    below = [
        (f"less than {words} from", "beyond the lags listed" if lag is None else f"lag {lag}")
        for level, words in (("0.5", "half"), ("0.1", "a tenth"))
        for lag in [audit.horizons.get(level)]
    ]
    first, account = audit.headline, audit.account
    rank = f"{'' if account.rank is not None else 'at most '}{account.most:,} of {account.read:,}"
    memory, error, radius = (list[tuple[str, str]]() for _ in range(3))
    if audit.curve is None or audit.eigenvalues is None:
        # for white input without noise the total is the rank
        ranks = [("without noise" if audit.input == "white" else "states that count", rank)]
    else:
        memory = [("total memory", f"{audit.total:.10g}{_error(audit.curve)}")]
        ranks = [("rank", rank)]
        error = [("largest error of a lag", _small(float(audit.curve.error.max())))]
        radius = [("spectral radius", f"{audit.eigenvalues.radius:.6g}")]
    if first is not None:
        name = f"usable, {'noise given' if first.given else first.name}"
        lag = "—" if first.horizon is None else f"lag {first.horizon}"
        without = [("without noise", total) for _, total in memory]
        memory = [(name, number(first.total)), ("less than half of it from", lag), *without]
        error, below = [], []
    return [*claimed, *memory, *ranks, *error, *radius, *below]


def _claim(audit: Audit) -> Section | None:
    if audit.claim is None:
        return None
    title = f"The claimed {audit.claim.value:.10g}"
    rows = tuple(
        (one.kind.replace("_", " "), number(one.value), one.fit, one.text)
        for one in audit.claim.explanations
    )
    if not rows:
        return Section(title, "None of the known conventions and artefacts gives this number.")
    text = (
        "Ways to arrive at the number, the most likely first. One number cannot prove how it was "
        "made; what is known of k_max, samples and ridge narrows it down."
    )
    return Section(
        title, text, Table(("way", "gives", "setting", "in words"), rows, frozenset({1}))
    )


def _memory(audit: Audit) -> Section | None:
    curve = audit.curve
    if curve is None:
        return _curves_under_noise(audit)
    end = max([visible_end(curve.values), *(e.last_lag for e in audit.estimates)])
    end = min(end, max(4 * audit.account.most, 2 * visible_end(curve.values), 10), len(curve) - 1)
    first = audit.headline
    if first is not None:  # what can be used fills the chart
        end = min(end, max(3 * (first.horizon or 0), 10))
    values, error = curve.values[: end + 1], curve.error[: end + 1]
    seen = bool(error.max(initial=0.0) > INVISIBLE)
    low, high = (np.maximum(values - error, 0), values + error) if seen else (None, None)
    series = [Series("exact", curve.lags[: end + 1].astype(float), values, low, high)]
    series[0] = series[0] if first is None else replace(series[0], name="without noise")
    if first is not None:
        usable = first.values[: end + 1]
        lags = np.arange(len(usable), dtype=float)
        series.insert(0, Series(f"usable, {_read(first)}", lags, usable))
    blamed = _blamed(audit)
    row = audit.usable.at(blamed)
    if row is not None and row is not first:
        lags = np.arange(min(end + 1, len(row.values)), dtype=float)
        series.append(Series(f"usable, {_read(row)}", lags, row.values[: end + 1]))
    for one in sorted(audit.estimates, key=lambda one: one.key != blamed):
        lags = np.arange(one.first_lag, min(one.last_lag, end) + 1, dtype=float)
        drawn = np.clip(one.values[: len(lags)], -0.25, 1.5 * max(1, audit.inputs))
        series.append(Series(one.name, lags, drawn, shown=one.key in (blamed, *SHOWN_AT_FIRST)))
    white = "" if audit.input == "white" else " for white input"
    text = (
        "The share of an input that the states hold τ steps later; the area under the curve is "
        "the total."
    )
    if first is not None:
        last = visible_end(curve.values)
        text += f" Drawn as far as some of it can be used; without noise, to lag {last}."
    if audit.estimates:
        text += f" The other curves are what the usual ways report{white} (cut at −0.25 and 1.5)."
    chart = Chart("Memory curve", "lag τ", "memory MC_τ", tuple(series))
    return Section("Memory", text, chart=chart)


def _curves_under_noise(audit: Audit) -> Section | None:
    """Curves that are known without the one without noise."""
    rows = sorted(audit.usable.rows, key=lambda row: row is not audit.headline)
    if not rows:
        return None
    series = tuple(
        Series(_read(row), np.arange(len(row.values), dtype=float), row.values) for row in rows
    )
    text = (
        "The share of an input that can be read from the states τ steps later; the area under the "
        "curve is the usable memory."
    )
    return Section("Memory", text, chart=Chart("Usable memory", "lag τ", "memory MC_τ", series))


def _left_out(audit: Audit) -> Section | None:
    if not audit.left_out:
        return None
    points = tuple(f"{what}: {why}." for what, why in audit.left_out.items())
    return Section("What was left out, and why", points=points)


def _blamed(audit: Audit) -> str:
    """Where a claim that does not hold most likely comes from."""
    if audit.claim is None or audit.claim.holds is not False or audit.claim.explanation is None:
        return ""
    return audit.claim.explanation.source


def _estimates(audit: Audit) -> Section | None:
    if not audit.estimates:
        return None
    rank = str(audit.account.most)
    exact = ("exact", rank, rank, "all", _small(float(audit.exact.error.max())), "—")
    rows = (
        (
            one.name,
            number(one.total),
            number(one.truth),
            f"{one.first_lag}\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}{one.last_lag}",
            _small(one.largest_error),
            f"{one.seconds:.2g} s",
        )
        for one in audit.estimates
    )
    head = ("method", "total", "true sum", "lags", "off by up to", "time")
    points = tuple(
        f"{one.name}: {one.about}{f'; {one.why}' if one.why else ''}" for one in audit.estimates
    )
    text = (
        "What would have been reported for this network, the true sum over the same lags, and how "
        "far off the worst lag is."
    )
    if audit.input != "white":
        text += " All of this is for white input."
    table = Table(head, (exact, *rows), frozenset({1, 2, 4, 5}))
    return Section("What the usual ways say", text, table, points=points)


def _losses(audit: Audit) -> Section:
    account = audit.account
    rows = [("read", f"{account.read:,}")]
    if account.reached is not None:
        rows.append(("reached from the input", f"{account.reached:,}"))
    if account.possible is not None:
        rows.append(("driven independently, if the weights are generic", f"{account.possible:,}"))
    text = "Every state holds memory of its own, as far as is known."
    if account.rank is not None:
        rows.append(("driven independently (rank)", f"{account.rank:,}"))
        text = "Every state holds memory of its own."
    if account.lost > 0:
        hold = "holds no memory of its own" if account.lost == 1 else "hold no memory of their own"
        least = "" if account.rank is not None else "At least "
        text = f"{least}{account.lost:,} of {counted(account.read, 'state')} {hold}."
    if account.rank_robust is not None:
        rows.append(("of these, beyond rounding", str(account.rank_robust)))
    if account.margin is not None:
        text += (
            f" Of those that count, the mode that is excited least would be silenced by a change "
            f"of the mask by {_small(account.margin)} of its length."
        )
    table = Table(("states", "number"), tuple(rows), frozenset({1}))
    points = tuple(loss.text for loss in account.losses)
    return Section("What is lost, and why", text, table, points=points)


def _usable(audit: Audit) -> Section:
    usable = audit.usable
    if usable.reason:
        return Section("Usable memory", usable.reason)
    rows = tuple(
        (
            f"the noise given, {row.name}" if row.given else row.name,
            "—" if math.isnan(row.level) else f"{row.level:.1e}",
            f"{row.total:.4f}",
            _small(row.error),
            "—" if row.horizon is None else str(row.horizon),
        )
        for row in usable.rows
    )
    head = ("states read in", "noise", "usable memory", "± error", "less than half from lag")
    text = (
        "Memory in directions in which the states hardly vary lies below the noise floor of the "
        "numbers they are read with. Floating point rounds each state relative to its size; "
        "converters of 16 and 12 bits are taken to span four standard deviations of the largest."
    )
    table = Table(head, rows, frozenset({1, 2, 3, 4}))
    return Section("Usable memory", text, table, usable_chart(usable, audit.total))


def _sensitivity(audit: Audit) -> Section:
    rounded = audit.rounded
    largest = _small(float(audit.exact.error.max()))
    weights = f"Weights in single precision: {rounded.reason}"
    if not rounded.reason:
        same = "stays" if rounded.rank == audit.account.rank else "becomes"
        weights = (
            f"Weights rounded to single precision move the curve by up to {_small(rounded.moved)}; "
            f"the rank {same} {rounded.rank}."
        )
    ours = f"Rounding in this computation moves no value by more than {largest}."
    return Section("Sensitivity", points=(ours, weights))


def _small(value: float) -> str:
    if math.isnan(value):
        return "unknown"
    return f"{value:.1e}" if 0 < value < 0.01 else f"{value:.3g}"


# --- What a page to explore shows too.


def visible_end(values: Floats) -> int:
    """The lag up to which nearly all memory lies; slow networks hold it in many tiny parts."""
    held = np.cumsum(values)
    share = int(np.searchsorted(held, (1 - SHARE_BEYOND) * held[-1])) if held[-1] > 0 else 0
    seen = np.flatnonzero(values >= INVISIBLE)
    end = max(share, int(seen[-1]) if len(seen) else 10)
    return min(end + 2, len(values) - 1)


def usable_chart(usable: UsableMemory, without: float) -> Chart:
    """Usable memory against noise; number formats, and the noise given, are marked."""
    near = bool(without <= float(usable.totals.max(initial=0.0)) / BESIDE_THE_POINT**0.5)
    marks = tuple(
        (f"{'given' if row.given else row.name}: {number(row.total)}", row.level)
        for row in usable.rows
        if not math.isnan(row.level)
    )
    return Chart(
        "Usable memory against noise",
        "noise on the states (input of variance 1)",
        "total usable memory",
        (Series("usable memory", usable.levels, usable.totals),),
        log_x=True,
        marks=marks,
        # a line far above would leave no room for what can be used
        levels=((f"without noise: {number(without)}", without),) if near else (),
    )


def spectrum_section(found: Eigenvalues) -> Section:
    """The eigenvalues in the unit disc, and which of them count."""
    counting = found.counting
    here, points = "", {"eigenvalues of A": found.all}
    if counting is not None and found.all_count:
        here = f", here all {len(counting)}" if len(counting) != 1 else ", here its only one"
        points = {"eigenvalues, all of which count": counting}
    elif counting is not None:
        here = f", here {len(counting)} of {len(found.all)}"
        points["those that count"] = counting
    series = tuple(Series(name, z.real.copy(), z.imag.copy()) for name, z in points.items())
    text = (
        f"The memory curve is made of the eigenvalues that the input excites{here}. The closer to "
        f"the circle, the longer the memory."
    )
    chart = Chart("Eigenvalues in the unit disc", "real part", "imaginary part", series, "disc")
    return Section("Spectrum", text, chart=chart)


def squeezing_section(found: Squeezing) -> Section:
    """How fast the Krylov vectors run out of new directions."""
    steps = np.arange(1, len(found.components) + 1, dtype=float)
    chart = Chart(
        "Krylov squeezing",
        "j",
        "new direction ‖θ_j‖ / ‖C‖",
        (Series("‖θ_j‖ / ‖C‖", steps, found.components),),
        log_y=True,
        levels=(("rounding", EPS),),
    )
    seen = "It stays above rounding."
    if found.below_rounding is not None:
        seen = (
            f"From j = {found.below_rounding} on it is below rounding; the Krylov matrix of 5N "
            f"columns looks to be of rank {found.numerical_rank}."
        )
    text = f"How much of A^(j−1)·C leads out of the space of the inputs before it. {seen}"
    if not math.isnan(found.condition):
        more = " or more" if found.condition >= WORST_CONDITION else ""
        works = "fail" if found.condition > HOPELESS else "can work"
        text += (
            f" The correlations of the states have a condition number of {found.condition:.1e}"
            f"{more}: formulas that invert their covariance {works}."
        )
    return Section("Squeezing", text, chart=chart)


def number(value: float) -> str:
    """A total in a sentence."""
    if not math.isfinite(value):
        return "no number"
    if abs(value) >= 1e7:  # nonsense, whose size is all there is to it
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"
