"""All that an audit says, by kind: the code that decides fills in facts and knows no sentence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from memcurve.report.document import listed

#: Things named in a sentence; the rest are counted. Doubled: longer sentences.
MOST_NAMED = 8

#: Where memory is lost, see :class:`memcurve.auditing.losses.Loss`.
LOSSES = {
    "unreached": "{count} cannot be reached from the input: {nodes}",
    "silent": "paths from the input to {nodes} cancel",
    "twins": "{nodes} always hold proportional states and count once",
    "input_only": "{nodes} are driven by the input alone, hold proportional states and count once",
    "complex_twins": "real or imaginary parts of {nodes} are proportional",
    "groups": "nodes {groups} hold proportional states: each group counts once",
    "repeated": "{eigenvalues} of multiplicity {appears}: one input can control {driven} of each",
    "zeros": "eigenvalue 0 of multiplicity {appears}, of which one input can control {driven}: the "
    "states of some nodes are linear combinations of those of others",
    "orthogonal": "the mask is orthogonal to {count}, as under a symmetry that it shares, so that "
    "the input cannot control them: {eigenvalues}",
    "self_loop_unexcited": "the input cannot control the self-loop of {nodes}",
    "cycle_unexcited": "the input cannot control {eigenvalues} of the cycles among {nodes}",
    "equal_self_loops": "the self-loops of {nodes} have the same weight: one input can control "
    "{driven} of them",
    "equal_cycles": "the cycles among {nodes} share {eigenvalues}, of multiplicity {appears}: one "
    "input can control {driven} of each",
    "unread": "{read} states are read and depend on {rank} independent inputs: the others are "
    "redundant",
    "wiring": "the wiring cannot drive {count} independently, whatever the weights",
    "other": "the input reaches {count} that it cannot control independently of the others",
    "among": "among these, {text}",
}
#: What became of so many states, by the kind of loss.
LOST = {
    "unreached": "unreachable from the input",
    "silent": "reached along paths that cancel",
    "twins": "redundant",
    "repeated": "redundant",
    "orthogonal": "uncontrollable",
    "unread": "redundant",
    "wiring": "more than the wiring can drive independently",
    "other": "uncontrollable",
}
#: How a claimed number can have come about, see :class:`memcurve.auditing.claims.Explanation`.
EXPLANATIONS = {
    "total": "it is the total over all lags, {value:.10g}",
    "from_lag_1": "it is the total without lag 0, {total:.10g} − {first:.6g} = {value:.10g}",
    "from_lag_1_bound": "it is the total without lag 0, {value:.10g}",
    "partial_sum": "it is the sum of MC_τ over lags {first} … {last}, {value:.10g}",
    "cut_off": "it is the sum of MC_τ over lags {first} … {last} only",
    "absolute_correlation": "it is the sum of correlations |r| = √MC_τ, not of their squares, over "
    "lags {first} … {last} only",
    "all_correlations": "it is the sum of correlations |r| = √MC_τ, not of their squares, over all "
    "lags from {first} on",
    "osm": "it is the number of states, {states}, which OSM and OSM+ report by construction (the "
    "trace of a projector), and which theory gives for controllable networks; but the input "
    "controls no more than {rank} of them",
    "complex_nodes": "it counts each of the {size} complex nodes once; their real and imaginary "
    "parts can both be read and together hold {total:.6g}",
    "one_input": "it is the memory of input {channel} alone, from lag {first} on",
    "estimate": "it is what {name} gives here, {value:.4g} ({about})",
    "negative": "it is rounding noise from a Gramian that floating point cannot invert: memory is "
    "never negative",
    "few_samples": "it is R² on the training data with too few samples: {N} states explain "
    "{N}/{samples} of any lag by chance, and lags up to {last} of {samples:,} samples add up to "
    "about {value:.4g}",
    "number_format": "it is the usable memory in {name}, {value:.4g}{of}",
    "given_noise": "it is the usable memory under the given noise, {value:.4g}{of}",
    "noise": "it is the usable memory under noise of standard deviation {level:.2g} on the states",
    "ridge": "it is the R² of a ridge regression with α/T = {variance:.1e}, for input of unit "
    "variance",
    "known_ridge": "it is what a ridge of {ridge:g} over {samples:,} samples leaves, which acts "
    "like noise of standard deviation {level:.2g}, for input of variance {variance:.3g}",
    "tested_ridge": "it is what a ridge of {ridge:g} over {samples:,} samples leaves on test data, "
    "which acts like noise of standard deviation {level:.2g}, for input of variance {variance:.3g}",
    "coloured_input": "it is the total for autocorrelated input, AR(1) with coefficient "
    "{coefficient}{without}; for such input the number of nodes is no bound",
    "fisher": "it is the total Fisher memory at unit noise, {value:.6g}, which is another quantity",
    "scatter": "{text}, give or take {tolerance:.2g}",
}
#: The claim in the verdict.
CLAIMS = {
    "right": "The claimed {value} is right: {best}.",
    "wrong": "The claimed {value} is not this network's memory, which is {truth}{why}.",
    "wrong_lag": "The claimed {value} is not the sum up to the given lag{why}.",
    "undecided": "The claimed {value} is possible, neither confirmed nor refuted: without noise "
    "this network remembers {known} of its past inputs.{decide}{best}",
    "decide": " memcurve.rank would decide.",
    "one_way": " One possible explanation: {best}.",
    "unexplained": ", and no known convention or artefact gives it",
    "share": ". As a share of the {states} states it is {memory:g}: claim that",
    "certain": ": {best}",
    "likely": "; most likely {best}",
    "perhaps": "; perhaps {best}",
    "others": "; {count} below",
}
#: The verdict in a word or two, by whether the claim holds.
WORDS = {
    True: "The claim holds",
    False: "The claim does not hold",
    None: "The claim is undecided",
    "as read": " for the network as it was read",
    "summary": "Summary",
}
#: The other sentences of the verdict.
VERDICT = {
    "as_read": "All of this is about the network as it was read: {unused}.",
    "total": "This network remembers {total} of its past inputs in total{states}.{horizons}",
    "all_states": ", as many as it has states",
    "all_read": ", as many as it has states that are read",
    "of_states": " (it has {states})",
    "lost": ", not {read:,}: {losses}",
    "horizons": " MC_τ drops below 0.5 at lag {half} and below 0.1 at lag {tenth}.",
    "no_horizon": " MC_τ is below 0.1 at all lags.",
    "without_noise": "Without noise it would remember {total} of its past inputs{lost}.",
    "controllable": "Without noise {total} of its states are controllable{lost}.",
    "wiring": "Without noise its wiring allows a total of up to {total}{lost}.",
    "wiring_states": "Without noise its wiring allows up to {total} controllable states{lost}.",
    "lost_states": ", not {read:,}, as {losses}",
    "left_out": "Not computed, for reasons given below: {names}.",
    "agree": "Standard methods agree with this within 1 %.",
    "off": "standard methods would report{white} {totals}{reason}",
    "white": " for white input (total {total})",
    "condition": ": the correlation matrix of the states has a condition number of {condition} or "
    "more, so that directions below rounding are lost or replaced by noise",
    "short": "sums that end at lag {last} miss later lags: {totals}",
    "uneven": "{name} has the right total but is off by up to {error:.2g} at some lags",
    "usable": "Usable memory depends on the precision of the states: {totals}.",
    "all_usable": "Rounding the states costs almost no memory: {totals} is usable.",
    "usable_unknown": "Usable memory is not known: {reason}.",
    "headline": "{how}, this network remembers {total} of its past inputs{horizon}.{others}",
    "horizon": ": MC_τ drops below 0.5 at lag {lag}",
    "never_half": ": MC_τ is below 0.5 at all lags",
    "otherwise": " It would remember {totals}.",
}
#: How states are read.
READ = {
    "float64": "in double precision",
    "float32": "in single precision",
    "16 bit": "with 16 bits",
    "12 bit": "with 12 bits",
    "given": "under the given noise",
}
#: Names of the main figures.
FIGURES = {
    "claimed": "claimed",
    "total": "total memory",
    "error": "largest error of a lag",
    "radius": "spectral radius",
    "rank": "rank",
    "controllable": "controllable states",
    "without_noise": "without noise",
    "0.5": "MC_τ below 0.5",
    "0.1": "MC_τ below 0.1",
    "lag": "from lag {lag}",
    "no_lag": "beyond the lags listed",
    "usable": "usable memory, {name}",
}
#: Bars beside the verdict.
BARS = {
    "scale": "Number of past inputs remembered",
    "total": "true, over all lags",
    "claimed": "claimed",
    "usable": "usable {read}",
}
#: Titles of the sections, and what stands below them.
TITLES = {
    "claim": "The claimed {value}",
    "memory": "Memory",
    "estimates": "What standard methods report",
    "losses": "Lost memory, and why",
    "usable": "Usable memory",
    "sensitivity": "Sensitivity",
    "left_out": "Not computed, and why",
    "spectrum": "Spectrum",
    "squeezing": "Krylov squeezing",
}
SECTIONS = {
    "claim": "Possible explanations of this value, the most likely first. One number cannot prove "
    "how it was made; k_max, samples and ridge, where they are given, narrow it down.",
    "no_claim": "No known convention or artefact gives this number.",
    "memory": "Fraction of the input's variance recoverable τ steps later; the area under the "
    "curve is the total.",
    "usable_curve": " Drawn as far as some of it is usable; without noise it extends to lag "
    "{last}.",
    "other_curves": " The other curves are what standard methods report{white} (cut at −0.25 and "
    "1.5).",
    "for_white": " for white input",
    "noisy_memory": "Fraction of the input's variance recoverable τ steps later; the area under "
    "the curve is the usable memory.",
    "estimates": "Standard methods on this network: their total, the true sum over the same lags, "
    "and the largest error of a lag.",
    "white_only": " All of this is for white input.",
    "all_controllable": "All states are controllable.",
    "maybe_controllable": "All states are controllable, as far as is known.",
    "redundant": "{least}{lost:,} of {read} add no memory of their own.",
    "at_least": "At least ",
    "margin": " The least controllable mode becomes uncontrollable under a relative perturbation "
    "of the input weights of {margin}.",
    "usable": "Memory in directions in which the states hardly vary lies below the noise floor of "
    "the numbers they are read with. Floating point rounds each state relative to its size; 16 and "
    "12 bit converters are taken to span four standard deviations of the largest state.",
    "spectrum": "The memory curve depends on the controllable eigenvalues{here}. The closer they "
    "are to the unit circle, the longer the memory.",
    "all_count": ", here all {count}",
    "some_count": ", here {count} of {all}",
    "squeezing": "Norm of the component of A^(j−1)C orthogonal to the preceding Krylov vectors. "
    "{seen}",
    "above_rounding": "It stays above rounding.",
    "below_rounding": "From j = {first} on it is below rounding; the Krylov matrix of 5N columns "
    "has numerical rank {rank}.",
    "condition": " The correlation matrix of the states has a condition number of {condition:.1e}"
    "{more}: methods that invert it {works}.",
    "rounding": "Rounding errors of this computation change no value by more than {error}.",
    "rounded": "Rounding the weights to single precision changes the curve by up to {moved}; the "
    "rank {stays} {rank}.",
    "not_rounded": "Weights in single precision: {reason}",
}
#: Rows of the table of states.
STATES = {
    "read": "read",
    "reached": "reachable from the input",
    "possible": "controllable for generic weights",
    "rank": "controllable (rank)",
    "rank_robust": "of these, numerically distinguishable",
}
#: Heads of tables.
HEADS = {
    "claim": ("explanation", "gives", "setting", "in words"),
    "estimates": ("method", "total", "true sum", "lags", "off by up to", "time"),
    "losses": ("states", "number"),
    "usable": ("states read in", "noise", "usable memory", "± error", "MC_τ < 0.5 from lag"),
}
#: Titles and axes of the charts.
CHARTS = {
    "memory": ("Memory curve", "lag τ", "memory MC_τ"),
    "noisy_memory": ("Usable memory", "lag τ", "memory MC_τ"),
    "usable": (
        "Usable memory against noise",
        "noise on the states (input of variance 1)",
        "total usable memory",
    ),
    "spectrum": ("Eigenvalues in the unit disc", "real part", "imaginary part"),
    "squeezing": ("Krylov squeezing", "j", "new direction ‖θ_j‖ / ‖C‖"),
}
#: Names of lines and marks in the charts.
SERIES = {
    "exact": "exact",
    "without_noise": "without noise",
    "usable": "usable, {read}",
    "usable_memory": "usable memory",
    "without": "without noise: {total}",
    "all": "eigenvalues of A",
    "all_count": "eigenvalues, all controllable",
    "counting": "controllable eigenvalues",
    "rounding": "rounding",
}
#: Why something is not told.
REASONS = {
    "no_input": "no input enters the network",
    "many_directions": "not computed: the states vary in so many directions that more than "
    "{states} of them take minutes; memcurve.noise_profile computes it",
    "double": "its rounding is below that of the products with A",
    "state_noise": "process noise drives all states, and takes dense matrices of them",
    "dense": "they take dense matrices of all states",
    "products": "`A` is known by its products only",
    "rank_time": "it takes about {time}; memcurve.rank computes it",
    "squeezing": "Krylov squeezing: not computed, as it takes long for {states:,} states",
    "weights": "not computed for more than {states} states",
    "no_memory": "standard methods need a network with some memory: not computed",
    "slow": "not computed, as they take long for {states:,} states: {names}",
    "unstable": "standard methods are not computed: A has an eigenvalue of modulus {radius:.4g} "
    "that the input does not excite, which they cannot know",
    "no_curve": "standard methods are not computed: there is no noise-free curve to compare with",
    "transient": "{name}: not computed, since initial conditions fade too slowly",
    "failed": "{name}: failed: {error}",
}
#: Things that are left out of audits of large networks.
LEFT_OUT = {
    "curve": "memory curve without noise, eigenvalues",
    "dense": "Krylov squeezing, rounded weights, standard methods",
    "double": "states in double precision",
    "formats": "number formats",
    "usable": "usable memory, {name}",
    "rank": "rank, and nodes that cannot be reached",
    "exact_rank": "exact rank",
}
#: Why the protocols of other libraries differ.
PROTOCOL = (
    "lag 0 is not counted; its ridge acts like observation noise of {noise:.1g} for input of unit "
    "variance; correlations over {tested} test rows never vanish"
)


def named(noun: str, things: Sequence[Any]) -> str:
    """Some of the things by name, the others by number: nodes 1, 2 and 7 more."""
    some = [str(thing) for thing in things]
    if len(some) > MOST_NAMED + 1:
        some = [*some[:MOST_NAMED], f"{len(some) - MOST_NAMED} more"]
    plural = "s" * (len(things) != 1)
    return f"{noun}{plural} {listed(some)}" if noun else listed(some)


def capital(text: str) -> str:
    """A text that begins a sentence."""
    return f"{text[:1].upper()}{text[1:]}"


def number(value: float) -> str:
    """A total in a sentence."""
    if not math.isfinite(value):
        return "no number"
    if abs(value) >= 1e7:  # nonsense, whose size is all there is to it
        return f"{value:.1e}"
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.6g}"


def small(value: float) -> str:
    """An error in a table."""
    if math.isnan(value):
        return "unknown"
    return f"{value:.1e}" if 0 < value < 0.01 else f"{value:.3g}"


def complex_number(value: complex) -> str:
    """An eigenvalue."""
    real, imag = round(value.real, 4) + 0.0, round(value.imag, 4)
    shown = f"{'−' if real < 0 else ''}{abs(real):g}"
    return shown if imag == 0 else f"{shown} {'+' if imag > 0 else '−'} {abs(imag):g}i"
