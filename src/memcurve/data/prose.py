"""What is said of a recording: every sentence of the findings and the notes, by its kind.

The code that decides names a kind and gives the facts. What stands before the dot of a kind is the
name that a finding has for programs.
"""

from __future__ import annotations

import re
from typing import Any, cast

from memcurve.core.notes import Note, NoteKind
from memcurve.data.findings import Finding, Level

#: Kind and level, message → remedy.
FINDINGS = """
not_finite: error
    {count} of {rows} rows hold infinite numbers, the first is row {first}; nothing else was checked
    → find out what overflowed; the longest stretch without is rows='{start}:{stop}', {length} rows
stuck: warning
    no state moves in rows {where}, {count} of {rows}, though the input does
    → left out; find out why the recorder hung or dropped out
stuck.columns: warning
    columns that do not move for a while though the input does: {columns}, in rows {where}
    → left out; find out why the recorder hung or dropped out
stuck.everywhere: error
    no state moves in rows {where}, {count} of {rows}, though the input does
    → record the states again
empty_columns: warning
    {what} in most rows of {count} of {columns} columns: {names}
    → left out
empty_columns.all: error
    {what} in most rows of {count} of {columns} columns: {names}
    → record the states again
missing_rows: warning
    NaN in {count:,} of {rows}, the first is row {first:,} after the washout{where}
    → left out, with rows that have NaN among their past inputs; nothing to do unless what was
      recorded decides which rows are missing
constant_columns: warning
    constant in {count} of {columns} columns: {names}
    → left out: constant columns carry no information
constant_columns.all: error
    constant in {count} of {columns} columns: {names}
    → record the states again
clocks: info
    clocks, not states, in {count} of {columns} columns, which count the rows: {names}
    → left out
equal_columns: warning
    like an earlier column up to scale and offset, in {count} of {columns}: {copy} equals
    {original}{more}
    → left out ({names}): a readout gains nothing from a copy
short.perfect: error
    there are {rows} rows for {columns} states, not more than states: every input is fitted
    perfectly, at every lag
    → record {wanted} rows or more, or read fewer states
short.unreliable: warning
    there are {rows} rows for {columns} states, {ratio:.1f} a state: totals and their standard
    errors are unreliable
    → record {wanted} rows or more
short.slow: warning
    there are {rows} rows for {columns} states, {ratio:.1f} a state: totals of slow networks are
    biased, and their intervals understate the uncertainty
    → record {wanted} rows or more, 60 a state for slow networks
constant_input: error
    the input is constant, {value:g}: there is nothing to remember
    → drive with independent input
repeated: warning
    the input repeats after {period} steps: a sample of {period}, not {rows}, and lags from {period}
    on repeat the first ones
    → drive with input that does not repeat, or keep one period
coloured: warning
    the input is not white: autocorrelation {r:.3f} at lag 1 (Ljung–Box over {lags} lags, p =
    {p:.1e}); memory at neighbouring lags is shared
    → memory_from_data takes the memory of its innovations
coloured.still: warning
    the input is not white: autocorrelation {r:.3f} at lag 1 (Ljung–Box over {lags} lags, p =
    {p:.1e}); memory at neighbouring lags is shared
    → memory_from_data takes the memory of its innovations, which are not white either: drive with
      independent input
dependent: warning
    {series} uncorrelated but not independent: {what} earlier ones correlate (p = {p:.1e})
    → standard errors assume independence; drive with iid input
two_valued: info
    the input takes two values
    → nothing to do; squares and other even powers of it are constant
heavy_tails: warning
    the input has heavy tails: by its largest values, moments of order {order:.1f} and above are
    infinite, so that {rows} rows hardly determine its variance, which memory is relative to
    → intervals hold for inputs no larger than these; use bounded input, or more rows
half_precision: info
    states look stored in half precision: errors of {error:.1e} of their standard deviations
    → record in double precision if memory below this noise floor matters
single_precision: info
    states look stored in single precision: errors of {error:.1e} of their standard deviations
    → record in double precision if memory below this noise floor matters
quantised: info
    quantised in {count} of {columns} columns, steps of up to {step:.4g}: errors of {error:.1e} of
    their standard deviations
    → quote the memory as that at this noise floor, or record with more bits
clipped: warning
    {count} columns sit at their largest or smallest value in up to {percent:.1f} % of the rows:
    clipped or saturated ({names})
    → widen the recorder's range or drive the system less
rectified: info
    {count} columns have their extreme at zero in 1 % of the rows or more: rectified ({names})
    → as it should be for rectifying nodes
transient: warning
    the first {start} rows have not settled: at the start the states are {ratio:.2g} times as far
    from their mean as later
    → drop them, e.g. with washout={washout}
rank_deficient: warning
    {weak} of {count} directions of the states are not above their rounding, σ_min/σ_max =
    {ratio:.1e}
    → what they hold is lost: quote the memory as that at this noise floor
alignment_untested.rows: info
    the alignment of states and input was not tested: too few rows
    → check it by hand, or record longer with independent input
alignment_untested.input: info
    the alignment of states and input was not tested: the input can be predicted from its own past,
    and states that predict it need not lead
    → check it by hand, or record longer with independent input
unpaired: error
    the states show no memory of the input at any lag (largest R² {largest:.3f}, by chance up to
    {chance:.3f})
    → check that these states belong to this input; record longer if memory is weak
misaligned.lead: error
    the states lead by {steps}: they hold R² = {r2:.2f} of the input {steps} ahead (by chance up to
    {chance:.2f})
    → take shift=-{k}, states[:-{k}] with inputs[{k}:]; filters that look ahead show like this too
misaligned.late: warning
    the states are late by {steps}: they hold nothing of the input at {dead} and R² = {r2:.2f} at
    lag {k}
    → take shift={k}, states[{k}:] with inputs[:-{k}], unless this delay is the system's own
"""

#: Kind, and what the note is about.
NOTES = """
partly_checked: recording
    of {rows} rows, {checked} were looked at for storage, transient, rank and alignment
clocks: recording
    left out {count} of {columns} columns, which count the rows as clocks do
stuck: recording
    rows {first}:{last} {others}left out: states do not move there, though the input does
inputs_related: recording
    the inputs correlate with each other, by up to {r:.2f}: this is the memory that independent ones
    would have with the same response
taken_for_white: question
    the input is coloured and was taken for white: this is the memory that white input would have
    with the same response, not that of the input itself
innovations: question
    the input is coloured: this is the memory of its innovations, the residuals of an autoregression
    of order {order}; of the input itself the states hold {total:.4g} over these lags (R² above what
    shifted inputs give), and the number of states is no bound on that
total.zero: method
    estimated from {rows:,} rows; errors are half the {level:.0%} intervals. No sum over any of the
    {lags} lags listed stands out from noise: the total is zero, within its error
total.end: method
    estimated from {rows:,} rows; errors are half the {level:.0%} intervals. Of the {lags} lags
    listed, the total is over 0 … {end}: no sum over later ones stands out from noise
total.all: method
    estimated from {rows:,} rows; errors are half the {level:.0%} intervals. The total is over all
    {lags} lags listed
last_lag: lags
    there is memory up to the last lag: ask for more `lags`
missing: missing
    {rows} left out, with NaN or with NaN among the {lags} inputs to compare with
few_rows: recording
    few rows: {per_state:.3g} a state, {per_input:.2g} for each of the {length} lagged inputs of the
    fit. Intervals need {any} and {input}; here they are {wider:.2g} times as wide, and may still
    understate the uncertainty: record longer
few_rows.slow: recording
    few rows: {per_state:.3g} a state, {per_input:.2g} for each of the {length} lagged inputs of the
    fit. Intervals need {any} and {input}, and {slow} a state for memory spread thin over {lags}
    lags, as here; they are {wider:.2g} times as wide, and may still understate the uncertainty:
    record longer
collinear: recording
    lagged inputs nearly follow from one another: the responses to them scatter {inflation:.3g}
    times as much in the mean square as those to uncorrelated ones; intervals are {wider:.2g} times
    as wide for it
unexplained: recording
    effective dimension {explained:.3g}: the other {unexplained:.3g} of {states} are not linearly
    explained by the last {length} inputs, but by noise, nonlinearity, or older inputs
capacity.heavy_tails: recording
    the input is heavy-tailed (kurtosis {kurtosis:.3g}): a few large values decide the targets of
    higher degree, whose capacities and errors are unreliable
capacity.dependent: recording
    the inputs are not independent in time, so that the targets are not orthogonal: `raw` counts
    some capacity under several of them; `capacity` is what independent inputs would give with the
    same response
capacity.values: recording
    the input takes {values} values only, so that no factor of a target has a degree above {highest}
capacity.rank: recording
    the {states} states have rank {rank}{constant}: what the others hold lies below rounding, and
    the capacity is at most {rank}
capacity.few_rows: recording
    {rows} rows are few for {rank} states (below {wanted} a state): weak targets are lost and errors
    are unreliable; record more
capacity.singly: recording
    {count} targets are significant, too many for {rows} rows: the weakest {beyond} are estimated
    singly; record more
capacity.chance: method
    about {chance:.0f} of the {count:,} targets pass the cut by chance; their capacities are small.
    A lower `threshold` admits fewer
capacity.lag: lags
    degree {degree} still has a capacity of {capacity:.2g} at its longest lag {lag}; longer ones
    hold more
capacity.window: lags
    degree {degree} still has a capacity of {capacity:.2g} at the end of its window {window}; a
    wider one holds more
capacity.unexplained: lags
    {dimensions:.3g} of the states' dimensions are unaccounted for: higher degrees, longer lags,
    weak targets below the cut, or noise
capacity.stuck: recording
    {what} in rows {first}:{last} of the states though the input does, which takes capacity away:
    leave these rows out
in_sample: method
    in-sample R²: too high by about N/T a lag, totals exceed N for many lags
ezekiel: method
    Ezekiel's adjusted R²: its correction takes the states for independent of z
split: method
    squared correlation on test rows (reservoirpy's way): that of a trained readout, not the memory;
    a lag without memory adds about one over the number of test rows
k_fold: method
    cross-validated R²: what a readout trained on this many rows achieves, below MC
thresholded: method
    thresholded R²: small memory is cut off, the rest keeps its upward bias
no_error: unbounded
    no error bound: this estimator has none; the default one has
"""


def _sentences(text: str) -> dict[str, tuple[str, str]]:
    """By kind, what stands behind its colon, and the indented lines that follow as one."""
    entries = re.findall(r"^(\S+): (\w+)\n((?: +.*\n)+)", text, re.MULTILINE)
    return {kind: (subject, " ".join(lines.split())) for kind, subject, lines in entries}


_FINDINGS, _NOTES = _sentences(FINDINGS), _sentences(NOTES)


def finding(kind: str, *, level: Level | None = None, **facts: Any) -> Finding:
    """The finding of a kind, filled with facts; ``level`` where it is not the usual one."""
    usual, sentence = _FINDINGS[kind]
    message, remedy = (part.format(**facts) for part in sentence.split(" → "))
    return Finding(level or cast("Level", usual), kind.partition(".")[0], message, remedy)


def note(kind: str, **facts: Any) -> Note:
    """The note of a kind, filled with facts."""
    subject, sentence = _NOTES[kind]
    return Note(cast("NoteKind", subject), sentence.format(**facts))
