"""Audit: what is known of a network's memory, its verdict and its report."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from memcurve.core.notes import Note, counted
from memcurve.core.result import installed_versions
from memcurve.core.types import EPS, Floats
from memcurve.memory import MemoryCurve
from memcurve.rendering.report import Bar, Chart, Document, Reported, Section, Series, Table
from memcurve.rendering.report.document import listed
from memcurve.studies.auditing import sentences as say
from memcurve.studies.auditing.claims import FITS, Claim
from memcurve.studies.auditing.estimates import Estimate
from memcurve.studies.auditing.losses import Account
from memcurve.studies.auditing.sentences import capital, number, small
from memcurve.studies.auditing.structure import (
    HOPELESS,
    WORST_CONDITION,
    Eigenvalues,
    RoundedWeights,
    Squeezing,
)
from memcurve.studies.auditing.usable import INVISIBLE, Usable, UsableMemory

#: A total is off if it differs by more than this share of the truth.
OFF = 0.01
#: A curve with the right total is off if it differs by more than this at some lag.
UNEVEN = 0.05
#: Where less than this share of the rank can be used, the total without noise is beside the point.
BESIDE_THE_POINT = 0.1
#: They hold all but this share of it.
SHARE_BEYOND = 1e-3
#: Estimates drawn at first; the others can be switched on.
SHOWN_AT_FIRST = ("gramian_pinv", "osm", "reservoirpy")
#: Estimates of files that do not say so yet.
_INVERT = ("gramian_solve", "gramian_pinv", "montecarlo")
_BY_CONSTRUCTION = ("osm", "osm_plus")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Reported):
    """The outcome of :func:`memcurve.audit`: facts, their verdict and their report.

    Examples
    --------
    >>> import memcurve
    >>> result = memcurve.audit(memcurve.ensembles.cyclic(20), estimates=False)
    >>> result.total, result.rank, result.horizons["0.5"]
    (20.0, 20, 20)
    >>> [row.name for row in result.usable.rows]
    ['float64', 'float32', '16 bit', '12 bit']

    Attributes
    ----------
    network : str
        The network's name, or its size.
    size, states, inputs : int
        Numbers of nodes, of real states, and of inputs.
    curve : MemoryCurve or None
        The exact memory curve, every value with its error; None where the network is too large.
    horizons : dict
        First lag from which on MC_τ is below 0.5, and below 0.1; None where that is not known.
    account : Account
        States, rank, margin, and why memory is lost where it is.
    estimates : tuple of Estimate
        What standard methods report, for white input.
    usable : UsableMemory
        Memory that is left in number formats and under noise.
    eigenvalues, squeezing, rounded
        The spectrum (None where the curve is), Krylov squeezing (None for several inputs), and
        what rounding the weights to single precision does.
    claim : Claim or None
        The claimed number, judged.
    gains : dict
        Usable memory at a noise level, now and with white states, ten nodes read and a better mask,
        as far as that is quickly found; empty for large networks and coloured input.
    left_out : dict
        What was not computed of a large network, and why.
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
    gains: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    def computing(self, **ways: Callable[[], Any]) -> Self:
        """The same, with fields that are computed as they are shown."""
        for name in ways:
            del self.__dict__[name]
        self.__dict__["_ways"] = ways
        return self

    def __getattr__(self, name: str) -> Any:
        ways = self.__dict__.get("_ways", {})
        if name not in ways:
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")
        return self.__dict__.setdefault(name, ways[name]())

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
                f"the memory curve without noise was not computed: "
                f"{next(iter(self.left_out.values()), 'the network is too large')}. "
                f"`usable.rows` has the curves under noise."
            )
        return self.curve

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """The few sentences that matter: the claim, the truth, standard methods, usable memory."""
        claim = "" if self.claim is None else _claim_judged(self.claim, self.total, self.states)
        usable = _usable_in_words(self)
        if self.curve is None:
            names = "; ".join(self.left_out)
            left_out = say.VERDICT["left_out"].format(names=names) if names else ""
            facts = [usable, _possible(self), left_out]
        elif self.headline is not None:
            facts = [usable, _truth(self), _others(self)]
        else:
            facts = [_truth(self), usable, _others(self)]
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
        left_out = tuple(f"{what}: {why}." for what, why in self.left_out.items())
        sections = [
            _claim(self),
            *truth,
            None if self.eigenvalues is None else spectrum_section(self.eigenvalues),
            _squeezing(self),
            None if self.curve is None else _sensitivity(self),
            _gains(self),
            Section(say.TITLES["left_out"], points=left_out) if left_out else None,
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
            word=_word(self),
            bars=_bars(self),
            scale=say.BARS["scale"],
            figures=_figures(self),
            sections=[section for section in sections if section is not None],
            notes=self.notes,
            footer=f"{versions}; seed {self.seed}.",
        )

    def columns(self) -> Mapping[str, Any]:
        """What standard methods report, one row per method, the exact total first."""
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


# --- The verdict.


def _claim_judged(claim: Claim, total: float, states: int) -> str:
    best, others = claim.explanation, len(claim.explanations) - 1
    facts: dict[str, Any] = {"value": f"{claim.value:.10g}", "best": best.text if best else ""}
    if claim.holds:
        return say.CLAIMS["right"].format(**facts)
    is_bounded = math.isfinite(claim.most)
    if claim.holds is None:
        bounds = f"at least {number(claim.least)}"
        if is_bounded:
            bounds = f"between {number(claim.least)} and {number(claim.most)}"
        facts |= {"known": bounds, "decide": say.CLAIMS["decide"] if is_bounded else ""}
        return say.CLAIMS["undecided"].format(
            **facts | {"best": say.CLAIMS["one_way"].format(**facts) if best else ""}
        )
    facts["truth"] = number(total)
    if not math.isfinite(total):
        is_below = claim.value < claim.least
        facts["truth"] = f"at {'least' if is_below else 'most'} "
        facts["truth"] += number(claim.least if is_below else claim.most)
    if best is None:
        facts["why"] = say.CLAIMS["unexplained"]
        if 0 < claim.value <= 1 < states:
            facts["why"] += say.CLAIMS["share"].format(states=states, memory=claim.value * states)
    else:
        sure = "perhaps" if best.fit == "solved for" else "likely"
        sure = "certain" if best.likelihood == FITS["as it is"] else sure
        facts["why"] = say.CLAIMS[sure].format(**facts)
        if others:
            facts["why"] += say.CLAIMS["others"].format(count=counted(others, "other explanation"))
    within = claim.least <= claim.value <= claim.most and claim.least < claim.most
    return say.CLAIMS["wrong_lag" if within else "wrong"].format(**facts)


def _word(audit: Audit) -> str:
    """The verdict in a word; what was not used of a file may be what was claimed for."""
    if audit.claim is None:
        return say.WORDS["summary"]
    word = say.WORDS[{True: "holds", False: "fails", None: "undecided"}[audit.claim.holds]]
    return word + say.WORDS["as_read"] if _as_read(audit) and not audit.claim.holds else word


def _as_read(audit: Audit) -> str:
    """What of a file was not used, or may be something else than it was taken for."""
    unused = "; ".join(note for note in audit.notes if note.kind == "unused")
    return say.VERDICT["as_read"].format(unused=unused) if unused else ""


def _truth(audit: Audit) -> str:
    account, total = audit.account, f"{number(audit.total)}{_error(audit.exact)}"
    if audit.headline is not None:
        lost = _lost_states(account) if account.lost > 0 else ""
        return say.VERDICT["without_noise"].format(total=total, lost=lost)
    if account.lost > 0:
        losses = "; ".join(loss.text for loss in account.losses[:2])
        states = say.VERDICT["lost"].format(read=account.read, losses=losses)
    elif audit.input == "white":
        states = say.VERDICT["all_read" if account.read < account.states else "all_states"]
    else:
        states = say.VERDICT["of_states"].format(states=counted(account.read, "state"))
    half, tenth, horizons = audit.horizons.get("0.5"), audit.horizons.get("0.1"), ""
    if audit.inputs == 1 and half is not None and tenth is not None and audit.total:
        horizons = say.VERDICT["horizons" if tenth else "no_horizon"].format(half=half, tenth=tenth)
    return say.VERDICT["total"].format(total=total, states=states, horizons=horizons)


def _possible(audit: Audit) -> str:
    """What is known of a total that was not computed lag by lag."""
    account, white = audit.account, audit.input == "white"
    if account.rank is not None:
        kind = "without_noise" if white else "controllable"
    elif account.possible is not None:
        kind = "wiring" if white else "wiring_states"
    else:
        return ""
    lost = _lost_states(account) if account.losses else ""
    return say.VERDICT[kind].format(total=f"{account.most:,}", lost=lost)


def _lost_states(account: Account) -> str:
    """How much is lost for which reason."""
    counts = Counter[str]()
    for loss in account.losses:
        counts[say.LOST[loss.kind]] += loss.count
    (words, count), *others = ((words, count) for words, count in counts.items() if count)
    first = f"{counted(count, 'state')} {'is' if count == 1 else 'are'} {words}"
    losses = listed([first, *(f"{count:,} {words}" for words, count in others)])
    return say.VERDICT["lost_states"].format(read=account.read, losses=losses)


def _error(curve: MemoryCurve) -> str:
    return f" ± {curve.total_error:.1g}" if curve.total_error > 0 else ""


def _others(audit: Audit) -> str:
    if not audit.estimates:
        return ""
    white, total = audit.input == "white", audit.account.most
    wrong = [one for one in audit.estimates if _is_off(one.total, one.truth)]
    right = [one for one in audit.estimates if one not in wrong]
    # the total for white input, without lag 0 where an estimate leaves it out by convention
    lag_0 = float(audit.exact.values[0]) if white else 0.0
    short = [one for one in right if _is_off(one.truth, total - lag_0 * bool(one.first_lag))]
    uneven = [one for one in right if one.largest_error > UNEVEN]
    parts = []
    if wrong:
        facts = {"totals": _totals(wrong), "reason": _reason(audit, wrong)}
        facts["white"] = "" if white else say.VERDICT["white"].format(total=total)
        parts.append(say.VERDICT["off"].format(**facts))
    if short:
        last = max(one.last_lag for one in short)
        parts.append(say.VERDICT["short"].format(last=last, totals=_totals(short)))
    if uneven:
        worst = max(uneven, key=lambda one: one.largest_error)
        parts.append(say.VERDICT["uneven"].format(name=worst.name, error=worst.largest_error))
    return f"{capital('; '.join(parts))}." if parts else say.VERDICT["agree"]


def _totals(estimates: Sequence[Estimate]) -> str:
    return listed(f"{number(one.total)} ({one.name})" for one in estimates)


def _reason(audit: Audit, wrong: Sequence[Estimate]) -> str:
    """Why they are wrong, where that is plain."""
    condition = 0.0 if audit.squeezing is None else audit.squeezing.condition
    if not condition >= HOPELESS or not any(one.inverts for one in wrong):
        return ""
    power = "infinity" if math.isinf(condition) else f"{condition:.0e}"
    return say.VERDICT["condition"].format(condition=power)


def _is_off(total: float, truth: float) -> bool:
    return not abs(total - truth) <= OFF * max(truth, 1.0)


def _usable_in_words(audit: Audit) -> str:
    rows, first = sorted(audit.usable.rows, key=lambda row: row.given), audit.headline
    if all(row.given for row in rows) and audit.curve is not None:
        return ""
    if not rows:
        return say.VERDICT["usable_unknown"].format(reason=audit.usable.reason or "see below")
    others = [row for row in rows if row is not first]
    totals = listed(f"{number(row.total)} {_read(row)}" for row in others) if others else ""
    if first is None:
        is_lost = any(_is_off(row.total, audit.total) for row in rows)
        return say.VERDICT["usable" if is_lost else "all_usable"].format(totals=totals)
    horizon = ""
    if first.horizon is not None:
        horizon = say.VERDICT["horizon" if first.horizon else "never_half"].format(
            lag=first.horizon
        )
    return say.VERDICT["headline"].format(
        how=capital(_read(first)),
        total=number(first.total),
        horizon=horizon,
        others=say.VERDICT["otherwise"].format(totals=totals) if others else "",
    )


def _read(row: Usable) -> str:
    """How the states are read."""
    return say.READ["given"] if row.given else say.READ.get(row.name, row.name)


# --- The report.


def _bars(audit: Audit) -> list[Bar]:
    """The answer as a picture: what is true, what was claimed, and how much of it is usable."""
    bars = []
    if audit.curve is not None:
        total = f"{number(audit.total)}{_error(audit.curve)}"
        bars.append(Bar(say.BARS["total"], audit.total, total))
    if audit.claim is not None:
        colour = {True: "good", False: "bad", None: "series-4"}[audit.claim.holds]
        bars.append(
            Bar(say.BARS["claimed"], audit.claim.value, f"{audit.claim.value:.10g}", colour)
        )
    # the best there is, and what verdicts go by
    for row in filter(None, dict.fromkeys([*audit.usable.rows[:1], audit.usable.measured])):
        name = say.BARS["usable"].format(read=_read(row))
        bars.append(Bar(name, row.total, number(row.total), "series-5"))
    return bars


def _figures(audit: Audit) -> list[tuple[str, str]]:
    first, account, curve = audit.headline, audit.account, audit.curve
    figures: dict[str, str] = {}
    if audit.claim is not None:
        figures["claimed"] = f"{audit.claim.value:.10g}"
    total = "" if curve is None else f"{audit.total:.10g}{_error(curve)}"
    if first is not None:
        figures["usable"], figures["0.5"] = number(first.total), _lag(first.horizon, "—")
        figures |= {"without_noise": total} if total else {}
    elif total:
        figures["total"] = total
    # for white input without noise the total is the rank
    rank = "without_noise" if audit.input == "white" else "controllable"
    at_most = "" if account.rank is not None else "at most "
    rank = rank if audit.eigenvalues is None else "rank"
    figures[rank] = f"{at_most}{account.most:,} of {account.read:,}"
    if first is None and curve is not None:
        figures["error"] = small(float(curve.error.max()))
    if audit.eigenvalues is not None:
        figures["radius"] = f"{audit.eigenvalues.radius:.6g}"
    if first is None:
        figures |= {level: _lag(audit.horizons.get(level)) for level in ("0.5", "0.1")}
    name = "" if first is None else say.READ["given"] if first.given else first.name
    return [(say.FIGURES[kind].format(name=name), text) for kind, text in figures.items()]


def _lag(lag: int | None, unknown: str = say.FIGURES["no_lag"]) -> str:
    return unknown if lag is None else say.FIGURES["lag"].format(lag=lag)


def _claim(audit: Audit) -> Section | None:
    if audit.claim is None:
        return None
    title = say.TITLES["claim"].format(value=f"{audit.claim.value:.10g}")
    rows = tuple(
        (one.kind.replace("_", " "), number(one.value), one.fit, one.text)
        for one in audit.claim.explanations
    )
    if not rows:
        return Section(title, say.SECTIONS["no_claim"])
    return Section(title, say.SECTIONS["claim"], Table(say.HEADS["claim"], rows, frozenset({1})))


def _memory(audit: Audit) -> Section | None:
    curve, first = audit.curve, audit.headline
    if curve is None:
        return _curves_under_noise(audit)
    last = visible_end(curve.values)
    end = max([last, *(one.last_lag for one in audit.estimates)])
    end = min(end, max(4 * audit.account.most, 2 * last, 10), len(curve) - 1)
    if first is not None:  # usable memory fills the chart
        end = min(end, max(3 * (first.horizon or 0), 10))
    values, error = curve.values[: end + 1], curve.error[: end + 1]
    seen = bool(error.max(initial=0.0) > INVISIBLE)
    low, high = (np.maximum(values - error, 0), values + error) if seen else (None, None)
    name = say.SERIES["exact" if first is None else "without_noise"]
    series = [Series(name, curve.lags[: end + 1].astype(float), values, low, high)]
    if first is not None:
        series.insert(0, _usable_series(first, end))
    blamed = _blamed(audit)
    row = audit.usable.at(blamed)
    if row is not None and row is not first:
        series.append(_usable_series(row, end))
    for one in sorted(audit.estimates, key=lambda one: one.key != blamed):
        lags = np.arange(one.first_lag, min(one.last_lag, end) + 1, dtype=float)
        drawn = np.clip(one.values[: len(lags)], -0.25, 1.5 * max(1, audit.inputs))
        series.append(Series(one.name, lags, drawn, shown=one.key in (blamed, *SHOWN_AT_FIRST)))
    text = say.SECTIONS["memory"]
    if first is not None:
        text += say.SECTIONS["usable_curve"].format(last=last)
    if audit.estimates:
        white = "" if audit.input == "white" else say.SECTIONS["for_white"]
        text += say.SECTIONS["other_curves"].format(white=white)
    return Section(say.TITLES["memory"], text, chart=Chart(*say.CHARTS["memory"], tuple(series)))


def _usable_series(row: Usable, end: int, name: str = say.SERIES["usable"]) -> Series:
    values = row.values[: end + 1]
    return Series(name.format(read=_read(row)), np.arange(len(values), dtype=float), values)


def _curves_under_noise(audit: Audit) -> Section | None:
    """Curves that are known without the one without noise."""
    rows = sorted(audit.usable.rows, key=lambda row: row is not audit.headline)
    if not rows:
        return None
    series = tuple(_usable_series(row, len(row.values), "{read}") for row in rows)
    chart = Chart(*say.CHARTS["noisy_memory"], series)
    return Section(say.TITLES["memory"], say.SECTIONS["noisy_memory"], chart=chart)


def _gains(audit: Audit) -> Section | None:
    gains, names = audit.gains, say.GAINS
    rows = tuple((names[way], f"{value:.4g}") for way, value in gains.items() if way in names)
    if "now" not in gains or len(rows) < 2:
        return None
    text = say.SECTIONS["gains"].format(noise=gains["noise"])
    table = Table(say.HEADS["gains"], rows, frozenset({1}))
    return Section(say.TITLES["gains"], text, table=table)


def _blamed(audit: Audit) -> str:
    """Where a claim that does not hold most likely comes from."""
    if audit.claim is None or audit.claim.holds is not False or audit.claim.explanation is None:
        return ""
    return audit.claim.explanation.source


def _estimates(audit: Audit) -> Section | None:
    if not audit.estimates:
        return None
    rank = str(audit.account.most)
    exact = (say.SERIES["exact"], rank, rank, "all", small(float(audit.exact.error.max())), "—")
    rows = (
        (
            one.name,
            number(one.total),
            number(one.truth),
            f"{one.first_lag}\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}{one.last_lag}",
            small(one.largest_error),
            f"{one.seconds:.2g} s",
        )
        for one in audit.estimates
    )
    points = tuple(
        f"{one.name}: {one.about}{f'; {one.why}' if one.why else ''}" for one in audit.estimates
    )
    text = say.SECTIONS["estimates"] + (
        "" if audit.input == "white" else say.SECTIONS["white_only"]
    )
    table = Table(say.HEADS["estimates"], (exact, *rows), frozenset({1, 2, 4, 5}))
    return Section(say.TITLES["estimates"], text, table, points=points)


def _losses(audit: Audit) -> Section:
    account = audit.account
    counts = {name: getattr(account, name) for name in say.STATES}
    rows = tuple((say.STATES[name], f"{n:,}") for name, n in counts.items() if n is not None)
    is_known = account.rank is not None
    text = say.SECTIONS["all_controllable" if is_known else "maybe_controllable"]
    if account.lost > 0:
        facts = {"lost": account.lost, "read": counted(account.read, "state")}
        least = "" if is_known else say.SECTIONS["at_least"]
        text = say.SECTIONS["redundant"].format(least=least, **facts)
    if account.margin is not None:
        text += say.SECTIONS["margin"].format(margin=small(account.margin))
    points = tuple(loss.text for loss in account.losses)
    table = Table(say.HEADS["losses"], rows, frozenset({1}))
    return Section(say.TITLES["losses"], text, table, points=points)


def _usable(audit: Audit) -> Section:
    usable = audit.usable
    if usable.reason:
        return Section(say.TITLES["usable"], usable.reason)
    rows = tuple(
        (
            f"{say.READ['given']}, {row.name}" if row.given else row.name,
            "—" if math.isnan(row.level) else f"{row.level:.1e}",
            f"{row.total:.4f}",
            small(row.error),
            "—" if row.horizon is None else str(row.horizon),
        )
        for row in usable.rows
    )
    table = Table(say.HEADS["usable"], rows, frozenset({1, 2, 3, 4}))
    chart = usable_chart(usable, audit.total)
    return Section(say.TITLES["usable"], say.SECTIONS["usable"], table, chart)


def _sensitivity(audit: Audit) -> Section:
    rounded = audit.rounded
    facts = {"moved": small(rounded.moved), "rank": rounded.rank, "reason": rounded.reason}
    facts["stays"] = "stays" if rounded.rank == audit.account.rank else "becomes"
    weights = say.SECTIONS["not_rounded" if rounded.reason else "rounded"].format(**facts)
    ours = say.SECTIONS["rounding"].format(error=small(float(audit.exact.error.max())))
    return Section(say.TITLES["sensitivity"], points=(ours, weights))


# --- What a page to explore shows too.


def visible_end(values: Floats) -> int:
    """The lag up to which nearly all memory lies; slow networks hold it in many tiny parts."""
    held = np.cumsum(values)
    share = int(np.searchsorted(held, (1 - SHARE_BEYOND) * held[-1])) if held[-1] > 0 else 0
    seen = np.flatnonzero(values >= INVISIBLE)
    end = max(share, int(seen[-1]) if len(seen) else 10)
    return min(end + 2, len(values) - 1)


def usable_chart(usable: UsableMemory, without: float) -> Chart:
    """Usable memory against noise; number formats, and the given noise, are marked."""
    near = bool(without <= float(usable.totals.max(initial=0.0)) / BESIDE_THE_POINT**0.5)
    marks = tuple(
        (f"{'given' if row.given else row.name}: {number(row.total)}", row.level)
        for row in usable.rows
        if not math.isnan(row.level)
    )
    return Chart(
        *say.CHARTS["usable"],
        (Series(say.SERIES["usable_memory"], usable.levels, usable.totals),),
        log_x=True,
        marks=marks,
        # a line far above would leave no room for usable memory
        levels=((say.SERIES["without"].format(total=number(without)), without),) if near else (),
    )


def spectrum_section(eigenvalues: Eigenvalues) -> Section:
    """The eigenvalues in the unit disc, and which of them are controllable."""
    counting = eigenvalues.counting
    here, points = "", {say.SERIES["all"]: eigenvalues.all}
    if counting is not None:
        facts = {"count": len(counting), "all": len(eigenvalues.all)}
        here = say.SECTIONS["all_count" if eigenvalues.all_count else "some_count"].format(**facts)
        points = {say.SERIES["all_count"]: counting}
        if not eigenvalues.all_count:
            points = {say.SERIES["all"]: eigenvalues.all, say.SERIES["counting"]: counting}
    series = tuple(Series(name, z.real.copy(), z.imag.copy()) for name, z in points.items())
    chart = Chart(*say.CHARTS["spectrum"], series, "disc")
    return Section(say.TITLES["spectrum"], say.SECTIONS["spectrum"].format(here=here), chart=chart)


def _squeezing(audit: Audit) -> Section | None:
    if audit.squeezing is not None:
        return squeezing_section(audit.squeezing)
    if audit.curve is None or audit.inputs > 1 or not audit.account.most:
        return None
    return Section(say.TITLES["squeezing"], say.REASONS["squeezing"].format(states=audit.states))


def squeezing_section(squeezing: Squeezing) -> Section:
    """How fast the Krylov vectors run out of new directions."""
    steps = np.arange(1, len(squeezing.components) + 1, dtype=float)
    title, j, component = say.CHARTS["squeezing"]
    series = Series(component, steps, squeezing.components)
    levels = ((say.SERIES["rounding"], EPS),)
    chart = Chart(title, j, component, (series,), log_y=True, levels=levels)
    first, condition = squeezing.below_rounding, squeezing.condition
    seen = say.SECTIONS["above_rounding" if first is None else "below_rounding"]
    seen = seen.format(first=first, rank=squeezing.numerical_rank)
    text = say.SECTIONS["squeezing"].format(seen=seen)
    if not math.isnan(condition):
        more = " or more" if condition >= WORST_CONDITION else ""
        works = "fail" if condition > HOPELESS else "can work"
        text += say.SECTIONS["condition"].format(condition=condition, more=more, works=works)
    return Section(say.TITLES["squeezing"], text, chart=chart)
