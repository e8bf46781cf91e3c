"""Numbers that are right by another convention: lags from 1, a cut-off, |r| in place of r²."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from memcurve.auditing.claims.case import Case, Explanation, Floats

#: Largest lags that people choose, besides multiples of the number of nodes.
ROUND_LAGS = (10, 15, 20, 25, 30, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 400, 500, 1000)


def the_total(case: Case) -> Iterator[Explanation]:
    """The claim is right."""
    if case.cut:  # what is summed up to k_max is another number
        return
    total = case.curve.total
    text = f"it is the total over all lags, {total:.10g}"
    yield from case.explanation("total", total, "as it is", text, case.curve.total_error)


def lags_from_one(case: Case) -> Iterator[Explanation]:
    """Lag 0 is left out, as in many libraries."""
    first = float(case.curve.values[0])
    if first <= case.tolerance or case.cut:
        return
    value = case.curve.total - first
    text = f"it is the total without lag 0, {case.curve.total:.10g} − {first:.6g} = {value:.10g}"
    yield from case.explanation("from_lag_1", value, "as it is", text)


def cut_off(case: Case) -> Iterator[Explanation]:
    """The sum ends at some lag k_max, before the memory does."""
    found = _partial_sums(case, case.curve.values, "cut_off", "the sum of MC_τ")
    yield from sorted(found, key=lambda one: abs(one.value - case.claimed))


def absolute_correlation(case: Case) -> Iterator[Explanation]:
    """|r| is summed in place of r²: Σ√MC_τ."""
    if case.network.inputs > 1:
        return
    roots = np.sqrt(np.clip(case.curve.values, 0, None))
    what = "the sum of correlations |r| = √MC_τ, not of their squares,"
    if case.k_max is None and case.whole:
        for first in (0, 1):
            value = float(roots[first:].sum())
            text = f"it is {what} over all lags from {first} on"
            yield from case.explanation("absolute_correlation", value, "as it is", text)
    found = _partial_sums(case, roots, "absolute_correlation", what)
    yield from sorted(found, key=lambda one: abs(one.value - case.claimed))


def complex_nodes(case: Case) -> Iterator[Explanation]:
    """Complex nodes are counted once, though their real and imaginary parts are both read."""
    if not case.network.is_complex or case.curve.rank != case.network.states:
        return
    text = (
        f"it counts each of the {case.network.size} complex nodes once; real and imaginary parts "
        f"can both be read, and hold {case.curve.total:.6g} together"
    )
    yield from case.explanation("complex_nodes", float(case.network.size), "as it is", text)


def one_input(case: Case) -> Iterator[Explanation]:
    """The memory of one of several inputs."""
    if case.network.inputs == 1 or not case.whole or case.k_max is not None:
        return
    for channel, values in enumerate(case.curve.channels.T):
        for first in (0, 1):
            text = f"it is the memory of input {channel} alone, from lag {first} on"
            value = float(values[first:].sum())
            yield from case.explanation("one_input", value, "as it is", text)


def _partial_sums(case: Case, terms: Floats, kind: str, what: str) -> Iterator[Explanation]:
    """Sums over lags 0 … k−1, 0 … k and 1 … k for a known, a round or the fitting k."""
    sums = np.concatenate([[0.0], np.cumsum(terms)])
    # what lies beyond the lags listed is known of the memory, not of its roots
    everything = float(sums[-1]) if kind == "absolute_correlation" else case.curve.total
    whole = (everything, everything - float(terms[0]))

    def spanned(first: int, last: int) -> tuple[float, str]:
        end = min(last + 1, len(sums) - 1)
        return float(sums[end] - sums[first]), f"it is {what} over lags {first} … {last} only"

    def is_another(first: int, last: int) -> bool:
        """Whether the cut-off, and taking roots, make a difference at all."""
        value, _ = spanned(first, last)
        end = min(last + 1, len(sums) - 1)
        squares = float(case.sums[end] - case.sums[first])
        rooted = kind == "absolute_correlation"
        cut = last >= first and whole[first] - value > case.tolerance
        return cut and not (rooted and abs(squares - value) <= case.tolerance)

    spans = []
    if case.k_max is not None:
        spans = [(0, case.k_max - 1), (0, case.k_max), (1, case.k_max)]
    else:
        spans = [(first, last - 1 + first) for last in _round_lags(case) for first in (0, 1)]
    for first, last in spans:
        value, text = spanned(first, last)
        if is_another(first, last):
            fit = "as it is" if case.k_max is not None else "round value"
            yield from case.explanation(kind, value, fit, text)
    if case.k_max is not None:
        return
    for first in (0, 1):
        past = int(np.searchsorted(sums - sums[first], case.claimed))
        # the sum that comes closest ends before or after the claimed number is passed
        near = [k for k in (past - 1, past) if first < k < len(sums)]
        last = min(near, key=lambda k: abs(sums[k] - sums[first] - case.claimed), default=0) - 1
        if first <= last < len(terms) - 1 and (first, last) not in spans:
            value, text = spanned(first, last)
            if is_another(first, last):
                yield from case.explanation(kind, value, "solved for", text)


def _round_lags(case: Case) -> list[int]:
    N = case.states
    multiples = [N // 2, N, 3 * N // 2, 2 * N, 3 * N, 4 * N, 5 * N]
    return sorted({k for k in (*ROUND_LAGS, *multiples) if k > 0})
