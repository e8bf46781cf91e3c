"""Checks of recordings: what is refused, what is found, and how often without reason.

``pytest -m slow`` counts 20,000 valid recordings, with ``-n`` on as many cores; the seed is not one
that any rule of the checks was found with.
"""

from typing import Any

import numpy as np
import pytest
from scipy.signal import lfilter

from data_scenarios import INPUTS, Floats, noisy_orthogonal
from memcurve import NonlinearNetwork, check_recording, ensembles, memory_from_data
from memcurve.data.tails import HEAVIEST, pareto_tail
from refusals import refuses
from tolerances import FOUND_RESTS, LATTICE_STEP, NAMED_SHIFTS

KINDS = [
    ("orthogonal", 50, 1.0),
    ("orthogonal", 100, 1.0),
    ("tanh", 50, 0.1),
    ("tanh", 100, 0.5),
    ("tanh", 100, 2.0),
    ("delay", 50, 1.0),
    ("delay", 100, 1.0),
]


def states_of(kind, size, scale, z, rng, start=0.0):
    if kind == "delay":
        padded = np.concatenate([np.zeros(size), z])
        return np.stack([padded[size - k :][: len(z)] for k in range(size)], axis=1)
    weights = rng.standard_normal((size, size))
    linear = kind == "orthogonal"
    weights = 0.95 * np.linalg.qr(weights)[0] if linear else 0.9 * weights / np.sqrt(size)
    mask = scale * rng.uniform(-1, 1, size)
    states, x = np.empty((len(z), size)), start * rng.standard_normal(size)
    for t, value in enumerate(z):
        x = weights @ x + mask * value
        states[t] = x = x if linear else np.tanh(x)
    return states


def recorded(
    kind="orthogonal", size=20, scale=1.0, *, rows=1000, late=0, inputs=None, burn=400, seed=1
):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(rows + burn + 500) if inputs is None else inputs(rows + burn + 500, rng)
    states = states_of(kind, size, scale, z, rng)
    return states[burn - late : burn - late + rows], z[burn : burn + rows]


def names(findings, *levels):
    return [one.name for one in findings if not levels or one.level in levels]


def only(findings, name):
    (one,) = [one for one in findings if one.name == name]
    return one


# --- what is refused


def test_what_is_no_recording_is_refused():
    states, z = recorded()
    refuses(ValueError, ("`states`", "19 rows"), check_recording, states[:19], z[:19])
    refuses(ValueError, ("999", "1000"), check_recording, states[1:], z)
    refuses(ValueError, ("`washout`", "990"), check_recording, states, z, washout=990)
    for washout in (-1, 2.5):
        refuses(ValueError, "`washout`", check_recording, states, z, washout=washout)


# --- what is found


def test_clean_recordings_have_nothing_to_report():
    findings = check_recording(*recorded())
    assert str(findings) == "nothing to report"
    assert findings.period is None
    assert (findings.shift, findings.washout, findings.coloured) == (0, 0, False)


X, Z = recorded()
FEW, DRIVE = recorded(size=5)
SPREAD = FEW.std(axis=0)
OTHER = np.random.default_rng(9).standard_normal(len(Z))
NEAR = X[:, 3] * (1 + 1e-9 * np.random.default_rng(2).standard_normal(len(Z)))
CONSTANT = np.full(len(Z), 0.1)
#: 20 constant, 21 as 3, 22 as 5, 23 constant.
MORE = np.column_stack([X, CONSTANT, -2 * X[:, 3] + 7, X[:, 5], 0 * Z])
SINGLE, HALF = ("info: the states", "single"), ("info: the states", "half")


def infinite(array):
    found = array.copy()
    found.reshape(len(found), -1)[[100, 300], -1] = np.inf
    return found


def late_infinity():
    long = np.random.default_rng(1).standard_normal((50_000, 2))
    long[18_000, 1] = -np.inf  # every row is looked at
    return long, long[:, 0]


GAPS = ("error: 2 of 950 rows", "row 100", "rows='301:1000'")
#: States and input, what is found, with levels, messages and remedies; and which columns are kept.
FOUND = {
    "nothing": (X, Z, {}, ""),
    "one column of inputs": (X, Z[:, None], {}, ""),
    "one that is not heard": (X, np.column_stack([Z, OTHER]), {"unpaired": "info: input 1: "}, ""),
    "another input": (X, OTHER, {"unpaired": "error: "}, ""),
    "constant input": (X, CONSTANT, {"constant_input": "error: "}, ""),
    "infinite states": (infinite(X), Z, {"not_finite": GAPS}, ""),
    "infinite inputs": (X, infinite(Z), {"not_finite": GAPS}, ""),
    "a late infinity": (*late_infinity(), {"not_finite": "error: "}, ""),
    "constant and equal": (
        MORE, Z, {"constant_columns": "20, 23", "equal_columns": "21 equals 3"}, range(20),
    ),
    "only constant": (
        np.ones((100, 3)), np.arange(100.0), {"constant_columns": "error: ", "coloured": ""}, [],
    ),
    "nearly equal": (np.column_stack([X, NEAR]), Z, {}, ""),
    "rank deficient": (
        np.column_stack([X, X[:, 2] - X[:, 7]]), Z, {"rank_deficient": "warning: 1 of 21"}, "",
    ),
    "20 rows": (
        *recorded(rows=20), {"short": ("error: ", "perfectly"), "alignment_untested": ""}, "",
    ),
    "150 rows": (*recorded(rows=150), {"short": ("warning: ", "7.5 per state")}, ""),
    "300 rows": (*recorded(rows=300), {"short": ("warning: ", "slow")}, ""),
    "clipped": (np.clip(FEW, -1.5, 1.5 * SPREAD), DRIVE, {"clipped": ""}, ""),
    # nine levels, all of them often taken
    "coarse": (np.round(4 * np.tanh(FEW / SPREAD)), DRIVE, {"quantised": ""}, ""),
    "rectified": (np.maximum(FEW, 0), DRIVE, {}, ""),
    "float32": (FEW.astype(np.float32), DRIVE, {"single_precision": SINGLE}, ""),
    "float16": (FEW.astype(np.float16), DRIVE, {"half_precision": HALF}, ""),
    "float32, widened": (FEW.astype("f4").astype(float), DRIVE, {"single_precision": SINGLE}, ""),
    "float16, widened": (FEW.astype("f2").astype(float), DRIVE, {"half_precision": HALF}, ""),
}  # fmt: skip


@pytest.mark.parametrize("case", FOUND)
def test_what_is_found(case):
    states, inputs, expected, kept = FOUND[case]
    findings = check_recording(states, inputs, washout=50 if case.startswith("infinite") else 0)
    assert names(findings) == [*expected]
    for one, facts in zip(findings, expected.values(), strict=True):
        said = f"{one.level}: {one.message}; {one.remedy}"
        assert all(fact in said for fact in ((facts,) if isinstance(facts, str) else facts)), said
    assert findings.ok == (not findings.errors)
    assert (findings.step is None) == ("quantised" not in expected)
    np.testing.assert_array_equal(findings.kept, range(states.shape[1]) if kept == "" else kept)


@pytest.mark.parametrize("k", [2, 10])
@pytest.mark.parametrize("law", ["white", "Rademacher", "four levels"])
def test_an_input_that_is_held_is_named(k, law):
    """The row that is taken is the last of each value, wherever the recording starts."""
    z = np.repeat(INPUTS[law](np.random.default_rng(2), 300), k)
    states = ensembles.normal(5, spectral_radius=0.8, seed=1).simulate(z)
    first = names(check_recording(states, z))
    assert first[0] == "held"
    assert "coloured" not in first
    assert only(check_recording(states, z), "held").remedy.endswith(f"with every={k}")
    cut = only(check_recording(states[3:], z[3:], washout=k), "held")
    start = f"rows='{-3 % k}:' and " if 3 % k else ""
    assert cut.remedy.endswith(f"with {start}every={k}")
    curve = memory_from_data(states[3:], z[3:], 20, rows=f"{-3 % k}:", every=k, checks=False)
    last = slice(3 + -3 % k + k - 1, None, k)
    assert np.array_equal(
        curve.values, memory_from_data(states[last], z[last], 20, checks=False).values
    )


@pytest.mark.parametrize("bits", [6, 8, 12, 16])
@pytest.mark.parametrize("offset", [0.0, 0.3])
def test_quantisation_step_is_found(bits, offset):
    states, z = recorded(size=5)
    step = 3 * float(abs(states).max()) * 2.0**-bits
    findings = check_recording(offset + step * np.round(states / step), z)
    assert findings.step == pytest.approx(step, rel=LATTICE_STEP * 2**bits / 64)
    assert "5 of 5 columns" in only(findings, "quantised").message
    assert not findings.warnings


def test_steps_of_stored_decimals_and_integers():
    states, z = recorded(size=5)
    assert check_recording(np.round(states, 3), z).step == pytest.approx(1e-3, rel=LATTICE_STEP)
    single = np.round(states, 3).astype(np.float32)
    assert check_recording(single, z).step == pytest.approx(1e-3, rel=2.0**-20)
    assert check_recording(np.round(1000 * states).astype(np.int16), z).step == 1


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_findings_do_not_depend_on_units(scale):
    states, z = recorded(late=2)
    findings = check_recording(scale * states + 3 * scale, z * 5 / scale - 1)
    assert names(findings) == ["misaligned"]
    assert findings.shift == 2


def ar(phi):
    return lambda count, rng: lfilter([1], [1, -phi], rng.standard_normal(count))


@pytest.mark.parametrize("phi", [0.3, -0.5, 0.9, 0.99])
@pytest.mark.parametrize("late", [-2, 0, 1])
@pytest.mark.parametrize("kind", ["orthogonal", "tanh", "delay"])
def test_coloured_input_is_named_and_is_no_lead(phi, late, kind):
    findings = check_recording(*recorded(kind, inputs=ar(phi), late=late, scale=0.3))
    assert findings.coloured
    assert "innovations" in only(findings, "coloured").remedy
    assert findings.shift == late


def garch(count, rng):
    z, variance = np.empty(count), 1.0
    for t, normal in enumerate(rng.standard_normal(count)):
        z[t] = np.sqrt(variance) * normal
        variance = 0.1 + 0.3 * z[t] ** 2 + 0.6 * variance
    return z


@pytest.mark.parametrize("late", [-1, 0, 2])
def test_volatile_input_is_dependent_and_no_lead(late):
    findings = check_recording(*recorded("tanh", inputs=garch, scale=0.3, late=late, rows=2000))
    assert "dependent" in names(findings)
    assert not findings.coloured
    assert findings.shift == late


def test_alignment_is_not_judged_by_chaotic_input():
    def chebyshev(count, rng):
        z = np.empty(count)
        z[0] = rng.uniform(-1, 1)
        for t in range(1, count):
            z[t] = np.clip(1 - 2 * z[t - 1] ** 2 + 1e-9 * rng.uniform(-1, 1), -1, 1)
        return z

    findings = check_recording(*recorded("tanh", inputs=chebyshev, scale=0.5))
    assert names(findings) == ["dependent", "alignment_untested"]
    assert findings.shift == 0


@pytest.mark.parametrize("kind", ["orthogonal", "tanh", "delay"])
@pytest.mark.parametrize("chance", [0.5, 0.05])
def test_two_valued_input(kind, chance):
    def coin(count, rng):
        return (rng.random(count) < chance).astype(int)

    findings = check_recording(*recorded(kind, inputs=coin, late=1))
    assert names(findings) == ["misaligned"]
    assert findings.shift == 1


@pytest.mark.parametrize("period", [30, 250, 700])
def test_repeated_input_has_its_period(period):
    def repeated(count, rng):
        return np.resize(rng.standard_normal(period), count)

    findings = check_recording(*recorded(inputs=repeated, late=1))
    assert findings.period == period
    assert str(period) in only(findings, "repeated").message
    assert findings.shift == (1 if period > 40 else 0)
    assert ("alignment_untested" in names(findings)) == (period < 40)


def started(start, seed):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal(3000)
    return states_of("orthogonal", 100, 1.0, z, rng, start), z


@pytest.mark.parametrize("seed", range(4))
def test_transient_is_found_and_gone_after_the_washout(seed):
    states, z = started(100.0, seed)
    findings = check_recording(states, z)
    assert names(findings) == ["transient"]
    assert 50 <= findings.washout <= 300  # 0.95^t · 100 is below 1e-3 at t = 225
    assert f"washout={findings.washout}" in findings[0].remedy
    again = check_recording(states, z, washout=findings.washout)
    assert len(again) == 0
    assert again.washout == findings.washout


def test_start_from_rest_is_mostly_found():
    """It takes N of 30N rows, and is missed where the later rows scatter much."""
    found = [check_recording(*started(0.0, seed)).washout for seed in range(8)]
    assert sum(50 <= washout <= 200 for washout in found) >= FOUND_RESTS * len(found)


@pytest.mark.parametrize("late", [-300, -3, -1, 1, 3, 120])
def test_the_remedy_for_misalignment_aligns(late):
    states, z = recorded(late=late, rows=1500)
    findings = check_recording(states, z)
    assert findings.shift == late
    found = only(findings, "misaligned")
    assert found.level == ("warning" if late > 0 else "error")
    k = abs(late)
    if late > 0:
        assert f"take shift={k}, states[{k}:] with inputs[:-{k}]" in found.remedy
        states, z = states[k:], z[:-k]
    else:
        assert f"take shift=-{k}, states[:-{k}] with inputs[{k}:]" in found.remedy
        states, z = states[:-k], z[k:]
    assert len(check_recording(states, z)) == 0


@pytest.mark.parametrize("late", [-2, 0, 2])
def test_states_even_in_the_input_are_aligned_by_its_square(late):
    states, z = recorded(late=late)
    assert check_recording(states**2, z).shift == late


def test_long_recordings_are_checked_in_part():
    rng = np.random.default_rng(1)
    z = rng.standard_normal(45_000)
    states = states_of("delay", 5, 1.0, z, rng)[:-2]
    assert names(check_recording(states, z[2:])) == ["misaligned"]
    findings = check_recording(states[10:], z[10:-2])
    assert len(findings) == 0
    (note,) = findings.notes
    assert note.kind == "recording"
    assert "20000 of 44988 rows" in note


# --- heavy tails


@pytest.mark.parametrize("shape", [0.2, 0.5, 0.7])
def test_a_pareto_tail_has_its_shape(shape):
    """Values (n/i)^ξ: the largest of n is n^ξ, and that of 100 n is (100 n)^ξ."""
    n = 20_000
    values = np.random.default_rng(1).permutation((n / np.arange(1, n + 1)) ** shape)
    found, largest = pareto_tail(values[:, None], n, 100 * n)
    assert found[0] == pytest.approx(shape, abs=0.02)  # sums in place of integrals
    assert largest[0] == pytest.approx((100 * n) ** shape, rel=0.25)
    with_gaps = np.concatenate([values, np.zeros(n)])[:, None]
    assert pareto_tail(with_gaps, n, 100 * n)[0] == found


def test_what_has_no_tail():
    """Two values, few rows, and a mean that is infinite."""
    spikes = (np.arange(5000) % 50 == 0).astype(float)[:, None]
    assert pareto_tail(spikes, 5000, 5000)[0] == 0
    assert pareto_tail(np.ones((30, 1)), 30, 30)[0] == 0
    cauchy = np.random.default_rng(1).standard_cauchy((5000, 1)) ** 2
    assert pareto_tail(cauchy, 5000, 5000)[0] == HEAVIEST


def test_heavy_tails_are_named_and_widen_the_intervals():
    """The same responses and noise, to inputs of one variance with other tails."""
    scenario, width = noisy_orthogonal(10, 1, 0.1), {}
    for law in ("normal", "heavy"):
        rng = np.random.default_rng(4)
        z = rng.standard_normal(2400) if law == "normal" else rng.standard_t(2.2, 2400)
        z /= z.std()
        X = scenario.network.simulate(z, 400)
        X, z = scenario.observed(X, rng), z[400:]
        said = [one.name for one in check_recording(X, z)]
        assert ("heavy_tails" in said) is (law == "heavy")
        width[law] = memory_from_data(X, z, 20, checks=False).total_error
    assert width["heavy"] > 3 * width["normal"]


# --- how often


@pytest.mark.parametrize(
    ("law", "first", "number"),
    [
        ("spikes of any size", 10, 4),
        ("spikes of any size", 14, 0),
        ("t3", 1, 0),
        ("uniform", 6, 109),
        ("spikes of any size", 13, 102),
        ("t3", 10, 13),
        ("lognormal", 14, 115),
    ],
)
def test_rare_and_large_inputs_raise_no_alarm(law, first, number):
    """A few inputs decide, dependent by chance at the level of 1e-4, or at rest at the start."""
    size, scale = (10, 20, 50)[first % 3], (0.1, 0.5, 2.0)[first // 3 % 3]
    network = ensembles.normal(size, spectral_radius=0.9, seed=first)
    options = {"activation": "identity" if first % 2 else "tanh", "input_scale": scale}
    rng = np.random.default_rng([21, first])
    z = [INPUTS[law](rng, 1300) for _ in range(number + 1)][-1]
    states = NonlinearNetwork(network.A, network.C, **options).simulate(z)
    found = set(names(check_recording(states[300:], z[300:]), "error", "warning"))
    assert not found - {"heavy_tails", "rank_deficient"}


def test_one_huge_input_is_no_lead():
    """Its response would be the basis of the states, in which others meet by chance."""
    rng = np.random.default_rng([21, 1])
    z = rng.standard_t(3, (120, 1300))[0]  # one of 147 among ones of up to 27
    network = ensembles.orthogonal(20, spectral_radius=0.95, seed=1)
    assert abs(z).max() > 100
    findings = check_recording(network.simulate(z)[300:], z[300:])
    assert not findings.errors
    late = check_recording(network.simulate(z)[302:], z[300:-2])
    assert late.shift == -2  # a lead that is one is seen


def shifts_named(trials, first, rows=2000, smaller=1):
    """How many shifts are named, by kind of reservoir."""
    table = {}
    for index, (kind, size, scale) in enumerate(KINDS):
        named = 0
        for seed in range(first + 1000 * index, first + 1000 * index + trials):
            drawn = {"size": size // smaller, "scale": scale, "rows": rows, "seed": seed}
            late = seed % 7 - 3
            named += check_recording(*recorded(kind, late=late, **drawn)).shift == late
        table[kind, size, scale] = named
    return table


def test_shifts_are_named():
    named = shifts_named(3, first=0, rows=1000, smaller=2).values()
    assert sum(named) >= NAMED_SHIFTS * 3 * len(KINDS)


@pytest.mark.slow
def test_rates_over_many_recordings(held):
    for named in shifts_named(100, first=100_000).values():
        held("shifted recordings: named", named / 100, at_least=NAMED_SHIFTS, draws=100)


ROWS, WASHOUT = 1000, 300
BATCHES, EACH = 20, 100
SEED = 2030
#: A valid recording has an error or a warning that is not true of it at most once in 2,000: of as
#: many, more alarms than this come up in less than one of 200 counts.
MOST = 4


def coloured(rng: np.random.Generator, shape: Any) -> Floats:
    """Autoregressions of order one."""
    return np.asarray(lfilter([1], [1, -rng.uniform(-0.8, 0.8)], rng.standard_normal(shape)))


def levels(rng: np.random.Generator, shape: Any) -> Floats:
    """Gaussian numbers of four bits."""
    return np.round(rng.standard_normal(shape) * 2) / 2


VALID: dict[str, Any] = {name: INPUTS[name] for name in list(INPUTS)[:7]} | {
    "coloured": coloured,
    "three inputs": INPUTS["white"],
    "quantised": levels,
}
#: What is true of these inputs, and of small networks that lose a direction.
TRUE = {
    "t3": {"heavy_tails"},
    "t5": {"heavy_tails"},
    "exponential": {"heavy_tails"},
    "coloured": {"coloured"},
}
TRUE_OF_STATES = {"rank_deficient"}


def false_alarms(kind: str, batch: int, count: int = EACH) -> dict[int, list[str]]:
    """Errors and warnings that are not true of valid recordings, by the recording's number."""
    rng = np.random.default_rng([SEED, list(VALID).index(kind), batch])
    size, scale = (10, 20, 50)[batch % 3], (0.1, 0.5, 2.0)[batch // 3 % 3]
    network = ensembles.normal(size, spectral_radius=0.9, seed=batch)
    inputs = 3 if kind == "three inputs" else 1
    mask = rng.standard_normal((size, inputs)) if inputs > 1 else network.C
    activation = "identity" if batch % 2 else "tanh"
    driven = NonlinearNetwork(network.A, mask, activation=activation, input_scale=scale)
    z = VALID[kind](rng, (count, inputs, WASHOUT + ROWS)).transpose(0, 2, 1)
    states = driven.simulate_replicas(z)[:, WASHOUT:]
    if kind == "quantised":  # a converter of twelve bits
        step = 2 * np.abs(states).max() / 2**12
        states = step * np.round(states / step)
    alarms = {}
    for k in range(count):
        findings = check_recording(states[k], z[k, WASHOUT:])
        names = {one.name for one in findings if one.level != "info"}
        if false := names - TRUE.get(kind, set()) - TRUE_OF_STATES:
            alarms[k] = sorted(false)
    return alarms


@pytest.mark.parametrize("kind", VALID)
def test_a_few_valid_recordings(kind: str) -> None:
    assert not false_alarms(kind, 1, 2)


@pytest.mark.slow
@pytest.mark.parametrize("kind", VALID)
def test_valid_recordings_raise_no_alarm(kind: str, held) -> None:
    found = {batch: alarms for batch in range(BATCHES) if (alarms := false_alarms(kind, batch))}
    count, drawn = sum(map(len, found.values())), BATCHES * EACH
    print(kind, found)
    held(f"{kind} input: false alarms", count / drawn, at_most=MOST / drawn, draws=drawn)
