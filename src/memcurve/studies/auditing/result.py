"""Audit: what is known of a network's memory, its verdict and its report."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from memcurve.core.notes import Note, counted
from memcurve.core.result import installed_versions
from memcurve.core.types import Floats
from memcurve.memory import MemoryCurve
from memcurve.rendering.report import Bar, Chart, Document, Reported, Section, Series, Table
from memcurve.rendering.report.document import listed
from memcurve.studies.auditing.claims import FITS, Claim
from memcurve.studies.auditing.estimates import Estimate
from memcurve.studies.auditing.losses import RankBudget
from memcurve.studies.auditing.sentences import TEXTS, capital, number, say, small
from memcurve.studies.auditing.structure import HOPELESS, WORST_CONDITION, Eigenvalues
from memcurve.studies.auditing.usable import INVISIBLE, Usable, UsableMemory

#: A total is off if it differs by more than this share of the truth.
OFF = 0.01
#: A curve with the right total is off if it differs by more than this at some lag.
UNEVEN = 0.05
#: Below this usable share of the rank the verdict begins with usable memory.
BESIDE_THE_POINT = 0.1
#: Charts end where all memory but this share lies before.
SHARE_BEYOND = 1e-3
#: Estimates drawn at first; the others can be switched on.
SHOWN_AT_FIRST = ("gramian_pinv", "osm", "reservoirpy")


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
    network, size, states, inputs
        The network's name, or its size; its nodes, real states and inputs.
    curve, eigenvalues
        The exact memory curve, every value with its error, and the spectrum; None where the network
        is too large.
    rank_budget : RankBudget
        States, rank, margin, and why memory is lost where it is.
    estimates : tuple of Estimate
        What standard methods report, for white input, simulated with ``seed``.
    usable : UsableMemory
        Memory that is left in number formats and under noise.
    condition : float
        Condition number of the correlation matrix of the states, at most 1e15; NaN for several
        inputs, and without ``estimates``, the methods that invert it.
    claim : Claim or None
        The claimed number, judged.
    gains : dict
        Usable memory at a noise level, now and with white states, ten nodes read and a better mask,
        as far as that is quickly found; empty for large networks and coloured input.
    left_out : dict
        What was not computed of a large network, and why.
    """

    FORMAT: ClassVar[str] = "memcurve.Audit/3"
    DERIVED: ClassVar[tuple[str, ...]] = ("verdict", "horizons")

    network: str
    size: int
    states: int
    inputs: int
    input: str
    curve: MemoryCurve | None = None
    rank_budget: RankBudget
    estimates: tuple[Estimate, ...] = ()
    usable: UsableMemory
    eigenvalues: Eigenvalues | None = None
    condition: float = float("nan")
    claim: Claim | None = None
    notes: tuple[Note, ...]
    seed: int
    left_out: Mapping[str, str] = field(default_factory=dict)
    gains: Mapping[str, float] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    @property
    def total(self) -> float:
        """Total memory over all lags, without noise; NaN where it is not known."""
        if self.curve is not None:
            return self.curve.total
        rank = self.rank_budget.rank if self.input == "white" else None
        return float("nan") if rank is None else float(rank)

    @property
    def rank(self) -> int | None:
        """Rank of the Krylov matrix of the stored numbers."""
        return self.rank_budget.rank if self.curve is None else self.curve.rank

    @property
    def horizons(self) -> Mapping[str, int | None]:
        """First lag from which on MC_τ is below 0.5, and below 0.1; None where that is unknown."""
        levels = () if self.curve is None else (0.5, 0.1)
        return {str(level): self.exact.horizon(level) for level in levels}

    @property
    def exact(self) -> MemoryCurve:
        """The curve; an error if it was not computed."""
        if self.curve is None:
            reason = next(iter(self.left_out.values()), "the network is too large")
            raise ValueError(say("faults.no_curve", reason=reason))
        return self.curve

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """The main sentences: the claim, the truth, standard methods, usable memory."""
        claim = "" if self.claim is None else _claim_judged(self.claim, self.total, self.states)
        usable = _usable_in_words(self)
        if self.curve is None:
            names = "; ".join(self.left_out)
            facts = [usable, _total_bounds(self), names and say("verdict.left_out", names=names)]
        elif self.headline is not None:
            facts = [usable, _truth(self), _standard_methods(self)]
        else:
            facts = [_truth(self), usable, _standard_methods(self)]
        return tuple(sentence for sentence in (claim, _as_read(self), *facts) if sentence)

    @property
    def headline(self) -> Usable | None:
        """The usable memory, at 12 bits if no noise is given, where it is under a tenth of rank."""
        row = self.usable.measured
        if self.curve is None:
            return row or next(iter(self.usable.rows), None)
        if row is None or row.total >= BESIDE_THE_POINT * self.rank_budget.most:
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
            _gains(self),
            _section("left_out", "", points=left_out) if left_out else None,
        ]
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        states = f" ({counted(self.states, 'real state')})" if self.states != self.size else ""
        inputs = "one input" if self.inputs == 1 else f"{self.inputs} inputs"
        read = (
            "" if self.rank_budget.read == self.states else f", {self.rank_budget.read} states read"
        )
        return Document(
            title=say("titles.audit", network=self.network),
            subtitle=f"{counted(self.size, 'node')}{states}, {inputs}{read}, input: {self.input}",
            verdict=self.verdict,
            good=None if self.claim is None else self.claim.holds,
            word=_word(self),
            bars=_bars(self),
            scale=say("bars.scale"),
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

    def plot(self, ax: Any = None) -> Any:
        """Draw the exact memory curve; ``to_html()`` has all pictures."""
        return self.exact.plot(ax=ax)

    def __repr__(self) -> str:
        return "\n".join([f"<Audit of {self.network}>", *(f"  {line}" for line in self.verdict)])


# --- The verdict.


def _claim_judged(claim: Claim, total: float, states: int) -> str:
    best, others = claim.explanation, len(claim.explanations) - 1
    facts: dict[str, Any] = {"value": f"{claim.value:.10g}", "best": best.text if best else ""}
    facts |= {"least": number(claim.least), "most": number(claim.most)}
    if claim.holds:
        return say("claims.right", **facts)
    if claim.holds is None:
        facts["best"] = say("claims.one_way", **facts) if best else ""
        is_bounded = math.isfinite(claim.most)
        facts["bounds"] = say(f"claims.{'between' if is_bounded else 'at_least'}", **facts)
        facts["best"] = say("claims.decide", **facts) if is_bounded else facts["best"]
        return say("claims.undecided", **facts)
    truth = number(total)
    if not math.isfinite(total):
        truth = say(f"claims.{'at_least' if claim.value < claim.least else 'at_most'}", **facts)
    if best is None:
        why = say("claims.unexplained")
        if 0 < claim.value <= 1 < states:
            why += say("claims.share", states=states, memory=claim.value * states)
    else:
        gives_digits = abs(best.value - claim.value) <= claim.tolerance
        sure = "likely" if gives_digits and best.fit != "solved for" else "perhaps"
        sure = "certain" if best.likelihood == FITS["as it is"] else sure
        why = say(f"claims.{sure}", **facts)
        if others:
            why += say("claims.others", count=others)
    is_within = claim.least <= claim.value <= claim.most and claim.least < claim.most
    return say("claims.wrong_lag" if is_within else "claims.wrong", **facts, truth=truth, why=why)


def _word(audit: Audit) -> str:
    """The verdict in a word; what was not used of a file may be what was claimed for."""
    if audit.claim is None:
        return say("words.summary")
    word = say(
        {True: "words.holds", False: "words.fails", None: "words.undecided"}[audit.claim.holds]
    )
    if audit.claim.holds:
        best = audit.claim.explanation
        return word + say("words.given_noise") if best and best.kind == "given_noise" else word
    return word + say("words.as_read") if _as_read(audit) else word


def _as_read(audit: Audit) -> str:
    """Parts of a file that were not used, or may have been misread."""
    unused = "; ".join(note for note in audit.notes if note.kind == "unused")
    return unused and say("verdict.as_read", unused=unused)


def _truth(audit: Audit) -> str:
    budget, total = audit.rank_budget, _total(audit)
    if audit.headline is not None:
        missing = _lost_states(budget) if budget.lost > 0 else ""
        return say("verdict.without_noise", total=total, lost=missing)
    if budget.lost > 0:
        losses = "; ".join(loss.text for loss in budget.losses[:2])
        states = say("verdict.lost", read=budget.read, losses=losses)
    elif audit.input == "white":
        states = say(f"verdict.all_{'read' if budget.read < budget.states else 'states'}")
    else:
        states = say("verdict.of_states", states=counted(budget.read, "state"))
    half, tenth, horizons = audit.horizons.get("0.5"), audit.horizons.get("0.1"), ""
    if audit.inputs == 1 and half is not None and tenth is not None and audit.total:
        horizons = say(f"verdict.{'horizons' if tenth else 'no_horizon'}", half=half, tenth=tenth)
    return say("verdict.total", total=total, states=states, horizons=horizons)


def _total_bounds(audit: Audit) -> str:
    """Bounds on a total that was not computed lag by lag."""
    budget, white = audit.rank_budget, audit.input == "white"
    if budget.rank is not None:
        kind = "without_noise" if white else "controllable"
    elif budget.possible is not None:
        kind = "wiring" if white else "wiring_states"
    else:
        return ""
    missing = _lost_states(budget) if budget.losses else ""
    return say(f"verdict.{kind}", total=f"{budget.most:,}", lost=missing)


def _lost_states(budget: RankBudget) -> str:
    """The number of lost states by reason."""
    counts = Counter[str]()
    for loss in budget.losses:
        counts[say(f"lost.{loss.kind}")] += loss.count
    (words, count), *others = ((words, count) for words, count in counts.items() if count)
    first = f"{counted(count, 'state')} {'is' if count == 1 else 'are'} {words}"
    losses = listed([first, *(f"{count:,} {words}" for words, count in others)])
    return say("verdict.lost_states", read=budget.read, losses=losses)


def _total(audit: Audit) -> str:
    """The total with its error."""
    return _with_error(number(audit.total), audit.exact.total_error)


def _with_error(text: str, error: float) -> str:
    return f"{text} ± {error:.1g}" if error > 0 else text


def _standard_methods(audit: Audit) -> str:
    """What standard methods say: a wrong total, a sum that ends too soon, an uneven curve."""
    if not audit.estimates:
        return ""
    white, total = audit.input == "white", audit.rank_budget.most
    wrong = [one for one in audit.estimates if _is_off(one.total, one.truth)]
    right = [one for one in audit.estimates if one not in wrong]
    # the total for white input, without lag 0 where an estimate leaves it out by convention
    lag_0 = float(audit.exact.values[0]) if white else 0.0
    short = [one for one in right if _is_off(one.truth, total - lag_0 * bool(one.first_lag))]
    uneven = [one for one in right if one.largest_error > UNEVEN]
    parts = []
    if wrong:
        is_hopeless = audit.condition >= HOPELESS and any(one.inverts for one in wrong)
        reason = say("verdict.condition", condition=audit.condition) if is_hopeless else ""
        colour = "" if white else say("verdict.white", total=total)
        parts.append(say("verdict.off", totals=_totals(wrong), reason=reason, white=colour))
    if short:
        last = max(one.last_lag for one in short)
        parts.append(say("verdict.short", last=last, totals=_totals(short)))
    if uneven:
        worst = max(uneven, key=lambda one: one.largest_error)
        parts.append(say("verdict.uneven", name=worst.name, error=worst.largest_error))
    return f"{capital('; '.join(parts))}." if parts else say("verdict.agree")


def _totals(estimates: Sequence[Estimate]) -> str:
    return listed(f"{number(one.total)} ({one.name})" for one in estimates)


def _is_off(total: float, truth: float) -> bool:
    return not abs(total - truth) <= OFF * max(truth, 1.0)


def _usable_in_words(audit: Audit) -> str:
    rows, first = sorted(audit.usable.rows, key=lambda row: row.given), audit.headline
    if all(row.given for row in rows) and audit.curve is not None:
        return ""
    if not rows:
        return say("verdict.usable_unknown", reason=audit.usable.reason or "see below")
    others = [row for row in rows if row is not first]
    totals = listed(f"{number(row.total)} {_read(row)}" for row in others) if others else ""
    if first is None:
        is_lost = any(_is_off(row.total, audit.total) for row in rows)
        return say("verdict.usable" if is_lost else "verdict.all_usable", totals=totals)
    horizon = ""
    if first.horizon is not None:
        kind = "verdict.horizon" if first.horizon else "verdict.never_half"
        horizon = say(kind, lag=first.horizon)
    otherwise = totals and say("verdict.otherwise", totals=totals)
    facts = {"how": capital(_read(first)), "total": number(first.total), "others": otherwise}
    return say("verdict.headline", horizon=horizon, **facts)


def _read(row: Usable) -> str:
    """How the states are read."""
    return str(TEXTS["read"].get("given" if row.given else row.name, row.name))


# --- The report.


def _bars(audit: Audit) -> list[Bar]:
    """Bars: the true memory, the claimed one, and the usable one."""
    bars = []
    if audit.curve is not None:
        bars.append(Bar(say("bars.total"), audit.total, _total(audit)))
    if (claim := audit.claim) is not None:
        colour = {True: "good", False: "bad", None: "series-4"}[claim.holds]
        bars.append(Bar(say("bars.claimed"), claim.value, f"{claim.value:.10g}", colour))
    # the best there is, and what verdicts go by
    for row in filter(None, dict.fromkeys([*audit.usable.rows[:1], audit.usable.measured])):
        name = say("bars.usable", read=_read(row))
        bars.append(Bar(name, row.total, _with_error(number(row.total), row.error), "series-5"))
    return bars


def _figures(audit: Audit) -> list[tuple[str, str]]:
    first, budget, curve = audit.headline, audit.rank_budget, audit.curve
    figures: dict[str, str] = {}
    row = first or audit.usable.measured
    usable = "" if row is None else _with_error(number(row.total), row.error)
    if audit.claim is not None:
        figures["claimed"] = f"{audit.claim.value:.10g}"
    if first is not None:
        figures["usable"], figures["0.5"] = usable, _lag(first.horizon, "—")
    if curve is not None:
        total = _with_error(f"{audit.total:.10g}", curve.total_error)
        figures["total" if first is None else "without_noise"] = total
    facts = {"rank": f"{budget.most:,}", "read": f"{budget.read:,}"}
    figures["rank"] = say(f"figures.{'ranked' if budget.rank is not None else 'bound'}", **facts)
    if first is None and row is not None:  # beside the total, which noise hides
        figures["usable"] = usable
    if first is None and curve is not None:
        figures["error"] = small(float(curve.error.max()))
    if audit.eigenvalues is not None:
        figures["radius"] = _radius(audit.eigenvalues.radius)
    if first is None:
        beyond = say("figures.no_lag")
        figures |= {level: _lag(audit.horizons.get(level), beyond) for level in ("0.5", "0.1")}
    name = "" if row is None else say("read.given") if row.given else row.name
    return [(say(f"figures.{kind}", name=name), text) for kind, text in figures.items()]


def _radius(radius: float) -> str:
    """A spectral radius; one that six digits round to 1, by its distance from it."""
    is_near = radius < 1 and f"{radius:.6g}" == "1"
    return say("figures.nearly", gap=1 - radius) if is_near else f"{radius:.6g}"


def _lag(lag: int | None, unknown: str) -> str:
    return unknown if lag is None else say("figures.lag", lag=lag)


def _section(
    kind: str, text: str, rows: Sequence[tuple[str, ...]] = (), *, chart: Chart | None = None,
    points: tuple[str, ...] = (), numeric: Sequence[int] = (1,), **facts: Any,
) -> Section:  # fmt: skip
    """The section of a kind, with a table where there are rows; facts are those of its title."""
    table = Table((*TEXTS["heads"][kind],), (*rows,), frozenset(numeric)) if rows else None
    return Section(say(f"titles.{kind}", **facts), text, table, chart, points)


def _claim(audit: Audit) -> Section | None:
    if audit.claim is None:
        return None
    rows = [
        (one.kind.replace("_", " "), number(one.value), one.fit, one.text)
        for one in audit.claim.explanations
    ]
    text = say("sections.claim" if rows else "sections.no_claim")
    return _section("claim", text, rows, value=f"{audit.claim.value:.10g}")


def _memory(audit: Audit) -> Section | None:
    """The curve, with that of usable memory where it comes first, and those of estimates."""
    curve, first = audit.curve, audit.headline
    if curve is None:
        return _curves_under_noise(audit)
    last = visible_end(curve.values)
    end = max([last, *(one.last_lag for one in audit.estimates)])
    end = min(end, max(4 * audit.rank_budget.most, 2 * last, 10), len(curve) - 1)
    if first is not None:  # usable memory fills the chart
        end = min(end, max(3 * (first.horizon or 0), 10))
    name = say("series.exact" if first is None else "series.without_noise")
    series = [Series(name, curve.lags[: end + 1].astype(float), curve.values[: end + 1])]
    if first is not None:
        series.insert(0, _usable_series(first, end))
    for one in audit.estimates:
        lags = np.arange(one.first_lag, min(one.last_lag, end) + 1, dtype=float)
        drawn = np.clip(one.values[: len(lags)], -0.25, 1.5 * max(1, audit.inputs))
        series.append(Series(one.name, lags, drawn, shown=one.key in SHOWN_AT_FIRST))
    text = say("sections.memory")
    if first is not None:
        text += say("sections.usable_curve", last=last)
    if audit.estimates:
        white = "" if audit.input == "white" else say("sections.for_white")
        text += say("sections.other_curves", white=white)
    return _section("memory", text, chart=_chart("memory", series))


def _chart(kind: str, series: Sequence[Series], shape: str = "lines", **options: Any) -> Chart:
    """The chart of a kind: its title and axes."""
    title, x_label, y_label = TEXTS["charts"][kind]
    return Chart(title, x_label, y_label, tuple(series), shape, **options)


def _usable_series(row: Usable, end: int, name: str = "") -> Series:
    values = row.values[: end + 1]
    name = name or say("series.usable", read=_read(row))
    return Series(name, np.arange(len(values), dtype=float), values)


def _curves_under_noise(audit: Audit) -> Section | None:
    """Curves that are known without the one without noise."""
    rows = sorted(audit.usable.rows, key=lambda row: row is not audit.headline)
    if not rows:
        return None
    series = [_usable_series(row, len(row.values), _read(row)) for row in rows]
    chart = _chart("noisy_memory", series)
    return _section("memory", say("sections.noisy_memory"), chart=chart)


def _gains(audit: Audit) -> Section | None:
    names = TEXTS["gains"]
    rows = [(names[way], f"{v:.4g}") for way, v in audit.gains.items() if way in names]
    if "now" not in audit.gains or len(rows) < 2:
        return None
    return _section("gains", say("sections.gains", noise=audit.gains["noise"]), rows)


def _estimates(audit: Audit) -> Section | None:
    if not audit.estimates:
        return None
    rank, error = str(audit.rank_budget.most), small(float(audit.exact.error.max()))
    rows = [(say("series.exact"), rank, rank, "all", error, "—")]
    for one in audit.estimates:
        lags = f"{one.first_lag}\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}{one.last_lag}"
        totals = number(one.total), number(one.truth)
        rows.append((one.name, *totals, lags, small(one.largest_error), f"{one.seconds:.2g} s"))
    points = tuple(
        f"{one.name}: {one.about}{f'; {one.why}' if one.why else ''}" for one in audit.estimates
    )
    white = "" if audit.input == "white" else say("sections.white_only")
    text = say("sections.estimates") + white
    if audit.condition >= WORST_CONDITION:
        text += say("sections.unbounded", condition=audit.condition)
    elif math.isfinite(audit.condition):
        works = "hopeless" if audit.condition >= HOPELESS else "condition"
        text += say(f"sections.{works}", condition=audit.condition)
    return _section("estimates", text, rows, points=points, numeric=(1, 2, 4, 5))


def _losses(audit: Audit) -> Section:
    budget = audit.rank_budget
    counts = {text: getattr(budget, name) for name, text in TEXTS["states"].items()}
    rows = [(text, f"{n:,}") for text, n in counts.items() if n is not None]
    is_known = budget.rank is not None
    text = say("sections.all_controllable" if is_known else "sections.maybe_controllable")
    if budget.lost > 0:
        least = "" if is_known else say("sections.at_least")
        facts = {"lost": budget.lost, "read": counted(budget.read, "state")}
        text = say("sections.redundant", least=least, **facts)
    if budget.margin is not None:
        text += say("sections.margin", margin=small(budget.margin))
    return _section("losses", text, rows, points=tuple(loss.text for loss in budget.losses))


def _usable(audit: Audit) -> Section:
    usable = audit.usable
    if usable.reason:
        return _section("usable", usable.reason)
    rows = [
        (
            f"{say('read.given')}, {row.name}" if row.given else row.name,
            "—" if math.isnan(row.level) else f"{row.level:.1e}",
            f"{row.total:.4f}",
            small(row.error),
            "—" if row.horizon is None else str(row.horizon),
        )
        for row in usable.rows
    ]
    chart = usable_chart(usable, audit.total)
    return _section("usable", say("sections.usable"), rows, chart=chart, numeric=(1, 2, 3, 4))


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
    is_near = bool(without <= float(usable.totals.max(initial=0.0)) / BESIDE_THE_POINT**0.5)
    marks = tuple(
        (f"{'given' if row.given else row.name}: {number(row.total)}", row.level)
        for row in usable.rows
        if not math.isnan(row.level)
    )
    series = Series(say("series.usable_memory"), usable.levels, usable.totals)
    # a line far above would leave no room for usable memory
    levels = ((say("series.without", total=number(without)), without),) if is_near else ()
    return _chart("usable", [series], log_x=True, marks=marks, levels=levels)


def spectrum_section(eigenvalues: Eigenvalues) -> Section:
    """The eigenvalues in the unit disc, and which of them are controllable."""
    counting = eigenvalues.counting
    how_many, points = "", {say("series.all"): eigenvalues.all}
    if counting is not None:
        kind = "sections.all_count" if eigenvalues.all_count else "sections.some_count"
        how_many = say(kind, count=len(counting), all=len(eigenvalues.all))
        if eigenvalues.all_count:
            points = {say("series.all_count"): counting}
        else:
            points[say("series.counting")] = counting
    series = [Series(name, z.real.copy(), z.imag.copy()) for name, z in points.items()]
    text = say("sections.spectrum", here=how_many)
    return _section("spectrum", text, chart=_chart("spectrum", series, "disc"))
