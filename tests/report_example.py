"""A report as an audit would write it, with names that no renderer may stumble over."""

from __future__ import annotations

import numpy as np

from memcurve.rendering.report import Chart, Document, Section, Series, Table

NASTY = "</script><script>alert('1')</script> | *stars* _under_ `code` $x$ & <b>λ</b>"
LONG = "a_very_long_name_without_any_blank_" * 4
FORMATS = (("float64", 1.1e-16), ("float32", 6e-8), ("16 bit", 1.5e-5), ("12 bit", 2.4e-4))


def memory_chart() -> Chart:
    """A step from 1 to 0, and methods that miss it."""
    lags = np.arange(200.0)
    exact = 0.5 * (1 - np.tanh((lags - 100) / 4))
    exact[:40] = 1.0
    rng = np.random.default_rng(1)
    naive = exact * np.exp(-np.maximum(lags - 55, 0) / 12) + 0.03 * rng.standard_normal(200)
    osm = np.clip(0.5 * (1 - np.tanh((lags - 97) / 13)), 0, 1)
    neutral = np.where(lags < 150, 0.5 * (1 - np.tanh((lags - 54) / 2)), np.nan)
    montecarlo = 0.5 * (1 - np.tanh((lags - 49) / 9))
    spread = 0.06 * np.sqrt(montecarlo * (1 - montecarlo) + 0.02)
    return Chart(
        "Memory at each lag",
        "lag τ (time steps)",
        "memory MC_τ",
        (
            Series("exact", lags, exact),
            Series("naive", lags, naive),
            Series("orthogonalised subspace (OSM+)", lags, osm, dashed=True),
            Series("neutral", lags, neutral, shown=False),
            Series(
                "Monte Carlo, 90 % band",
                lags,
                montecarlo,
                low=montecarlo - spread,
                high=montecarlo + spread,
            ),
        ),
        marks=(("horizon 0.5", 100.0), ("horizon 0.1", 104.0)),
    )


def noise_chart() -> Chart:
    """Usable memory against the noise level."""
    noise = np.logspace(-17, 0, 60)
    usable = 100 / (1 + (noise / 2e-9) ** 0.16)
    return Chart(
        "Usable memory under noise",
        "standard deviation of the noise (input of unit variance)",
        "total usable memory",
        (Series("usable memory", noise, usable, low=usable - 1.5, high=usable + 1.5),),
        log_x=True,
        marks=FORMATS,
        levels=(("N = 100", 100.0),),
    )


def disc_chart() -> Chart:
    """Eigenvalues: 90 that count and 10 that do not."""
    rng = np.random.default_rng(2)
    z = 0.9 * np.sqrt(rng.uniform(0, 1, 100)) * np.exp(2j * np.pi * rng.uniform(0, 1, 100))
    counts = np.arange(100) < 90
    return Chart(
        "Eigenvalues",
        "real part",
        "imaginary part",
        (
            Series("counts", z.real[counts], z.imag[counts]),
            Series("does not count", z.real[~counts], z.imag[~counts]),
        ),
        kind="disc",
    )


def squeezing_chart() -> Chart:
    """Singular values that no floating-point number resolves."""
    k = np.arange(1.0, 101.0)
    exact = 10.0 ** (-40 * ((k - 1) / 99) ** 1.2)
    measured = np.maximum(exact, 1e-17 * (1 + 0.3 * np.sin(k)))
    measured[95:] = 0.0
    return Chart(
        "Squeezing",
        "direction, from the strongest to the weakest",
        "standard deviation of the states, relative to the largest",
        (Series("exact", k, exact), Series("in float64", k, measured, dashed=True)),
        log_y=True,
        levels=(("rounding of float64", 1.1e-16), ("16 bit", 1.5e-5)),
    )


def long_chart(points: int = 100_000) -> Chart:
    """More points than there are pixels, with one peak that must not get lost."""
    x = np.arange(float(points))
    y = np.sin(x / 4000) + 0.05 * np.sin(x * 1.7)
    y[points // 3] = 3.0
    return Chart("A long recording", "time", "state", (Series("state 0", x, y),))


def document() -> Document:
    """The whole report."""
    methods = Table(
        ("method", "total", "largest error", "time", "note"),
        (
            ("exact", "100.0000", "2.5×10⁻¹²", "0.007 s", ""),
            ("naive", "73.9484", "12", "0.02 s", "inverts a Gramian of condition number 6.0×10¹⁷"),
            ("osm_plus", "100.0000", "0.32", "0.5 s", "the total equals N by construction"),
            ("neutral", "54.1990", "1.0", "0.008 s", "inverts L_A, condition number 1.8×10¹⁹"),
            ("montecarlo", "48.7467", "1.0", "0.1 s", "what lies below rounding is lost"),
        ),
        frozenset({1, 2, 3}),
    )
    formats = Table(
        ("stored as", "noise", "usable memory", "of N"),
        tuple(
            (name, f"{level:.1e}", f"{100 / (1 + (level / 2e-9) ** 0.16):.2f}", "100")
            for name, level in FORMATS
        ),
        frozenset({1, 2, 3}),
    )
    return Document(
        title="Audit of reservoir.npz",
        subtitle="sparse normal, N = 100, density 0.1, ρ = 0.9, seed 1",
        verdict=(
            "The network remembers 100 steps of its input, all that 100 nodes can hold; in single "
            "precision about a third of it can be used.",
            "What is published for it with the naive method, 73.9, is an artefact of rounding.",
            "Store states in double precision, or rescale the input mask.",
        ),
        good=False,
        word="Needs attention",
        figures=(
            ("total memory", "100 ± 2.5×10⁻¹²"),
            ("usable in float32", "37.4"),
            ("horizon 0.5", "lag 100"),
            ("spectral radius", "0.9"),
            ("modes that count", "90 of 100"),
        ),
        sections=(
            Section(
                "Memory, lag by lag",
                "The exact curve stays at 1 up to lag 80 and falls to 0 around lag 100. The usual "
                "methods lose half of it, or misplace it.",
                methods,
                memory_chart(),
            ),
            Section(
                "What noise leaves",
                "The memory is there, below the noise floor of the numbers it is read with.",
                formats,
                noise_chart(),
                ("Double precision keeps 93 of 100.", "Twelve bits keep 14."),
            ),
            Section("Eigenvalues", "Ten modes are not excited by the mask.", chart=disc_chart()),
            Section(
                "Squeezing",
                "The weakest direction is 40 orders of magnitude below the strongest.",
                chart=squeezing_chart(),
            ),
            Section(
                NASTY,
                f"Names are whatever people type: {NASTY}\n\nAnd some are long: {LONG}",
                Table((NASTY, LONG), ((NASTY, "1|2"), (LONG, "−3")), frozenset({1})),
                Chart(
                    NASTY,
                    "x <i>",
                    "y & z",
                    (
                        Series(NASTY, np.arange(5.0), np.array([1, 2, np.nan, np.inf, 3.0])),
                        Series(LONG, np.arange(5.0), np.arange(5.0) / 2),
                    ),
                    marks=((NASTY[:30], 2.0),),
                    levels=(("level <b>", 2.5),),
                ),
                (NASTY, "- a dash first", "1. a number first", "# a hash first"),
            ),
            Section("A long recording", "It is drawn from its peaks.", chart=long_chart()),
        ),
        notes=(
            "The eigenvalues λ₁₇ and λ₁₈ are equal to 12 digits.",
            "Totals are over all lags, not only those drawn.",
        ),
        footer="Written by memcurve 0.1.0 from reservoir.npz.",
    )
