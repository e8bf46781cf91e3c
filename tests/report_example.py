"""A report with charts of every kind, and names that no renderer may stumble over."""

import numpy as np

from memcurve.rendering.report import Chart, Document, Section, Series, Table

NASTY = "</script><script>alert('1')</script> | *stars* _under_ `code` $x$ & <b>λ</b>"
LONG = "a_very_long_name_without_any_blank_" * 4
FORMATS = (("float64", 1.1e-16), ("float32", 6e-8), ("16 bit", 1.5e-5), ("12 bit", 2.4e-4))


def falling(lags: np.ndarray, at: float, width: float) -> np.ndarray:
    return 0.5 * (1 - np.tanh((lags - at) / width))


def memory_chart() -> Chart:
    """Five lines: with a peak, dashed, with a gap and switched off, with a band."""
    lags = np.arange(200.0)
    exact, estimate = falling(lags, 100, 4), falling(lags, 49, 9)
    exact[:40] = 1.0
    gap = np.where(lags < 150, falling(lags, 54, 2), np.nan)
    band = {"low": estimate - 0.05, "high": estimate + 0.05}
    series = (
        Series("exact", lags, exact),
        Series("naive", lags, exact * np.exp(-np.maximum(lags - 55, 0) / 12)),
        Series("orthogonalised subspace (OSM+)", lags, falling(lags, 97, 13), dashed=True),
        Series("neutral", lags, gap, shown=False),
        Series("Monte Carlo, 90 % band", lags, estimate, **band),
    )
    marks = (("horizon 0.5", 100.0), ("horizon 0.1", 104.0))
    return Chart("Memory at each lag", "lag τ (time steps)", "memory MC_τ", series, marks=marks)


def noise_chart() -> Chart:
    """A band over a logarithmic axis, with marks and a level."""
    noise = np.logspace(-17, 0, 60)
    usable = 100 / (1 + (noise / 2e-9) ** 0.16)
    series = Series("usable memory", noise, usable, low=usable - 1.5, high=usable + 1.5)
    x_label = "standard deviation of the noise (input of unit variance)"
    return Chart(
        "Usable memory under noise", x_label, "total usable memory", (series,), log_x=True,
        marks=FORMATS, levels=(("N = 100", 100.0),),
    )  # fmt: skip


def disc_chart() -> Chart:
    rng = np.random.default_rng(2)
    z = 0.9 * np.sqrt(rng.uniform(0, 1, 100)) * np.exp(2j * np.pi * rng.uniform(0, 1, 100))
    parts = {"controllable": z[:90], "uncontrollable": z[90:]}
    series = tuple(Series(name, part.real, part.imag) for name, part in parts.items())
    return Chart("Eigenvalues", "real part", "imaginary part", series, kind="disc")


def squeezing_chart() -> Chart:
    """Singular values that no floating-point number resolves, down to zero."""
    k = np.arange(1.0, 101.0)
    exact = 10.0 ** (-40 * ((k - 1) / 99) ** 1.2)
    measured = np.where(k > 95, 0.0, np.maximum(exact, 1e-17))
    series = (Series("exact", k, exact), Series("in float64", k, measured, dashed=True))
    return Chart("Squeezing", "direction", "deviation", series, log_y=True, levels=FORMATS)


def long_chart(points: int = 100_000) -> Chart:
    """More points than there are pixels, with one peak that must not get lost."""
    x = np.arange(float(points))
    y = np.sin(x / 4000) + 0.05 * np.sin(x * 1.7)
    y[points // 3] = 3.0
    return Chart("A long recording", "time", "state", (Series("state 0", x, y),))


def nasty_chart() -> Chart:
    x = np.arange(5.0)
    values = np.array([1, 2, np.nan, np.inf, 3.0])
    series = (Series(NASTY, x, values), Series(LONG, x, x / 2))
    marks, levels = ((NASTY[:30], 2.0),), (("level <b>", 2.5),)
    return Chart(NASTY, "x <i>", "y & z", series, marks=marks, levels=levels)


def document() -> Document:
    methods = Table(
        ("method", "total", "largest error", "time", "note"),
        (
            ("exact", "100.0000", "2.5×10⁻¹²", "0.007 s", ""),
            ("naive", "73.9484", "12", "0.02 s", "inverts a Gramian of condition number 6.0×10¹⁷"),
            ("osm_plus", "100.0000", "0.32", "0.5 s", "the total equals N by construction"),
        ),
        frozenset({1, 2, 3}),
    )
    rows = tuple((name, f"{level:.1e}", "37.41", "100") for name, level in FORMATS)
    formats = Table(("stored as", "noise", "usable memory", "of N"), rows, frozenset({1, 2, 3}))
    odd = Table((NASTY, LONG), ((NASTY, "1|2"), (LONG, "−3")), frozenset({1}))
    text = f"Names are whatever people type: {NASTY}\n\nAnd some are long: {LONG}"
    points = (NASTY, "- a dash first", "1. a number first", "# a hash first")
    return Document(
        title="Audit of reservoir.npz",
        subtitle="sparse normal, N = 100, density 0.1, ρ = 0.9, seed 1",
        verdict=(
            "The network remembers 100 of its past inputs, as many as it has states; in single "
            "precision about a third of that is usable.",
            "Store states in double precision, or rescale the input weights.",
        ),
        good=False,
        word="Needs attention",
        figures=(("total memory", "100 ± 2.5×10⁻¹²"), ("spectral radius", "0.9")),
        sections=(
            Section("Memory, lag by lag", "It falls around lag 100.", methods, memory_chart()),
            Section("Usable memory", "By number format.", formats, noise_chart(), ("One point.",)),
            Section("Eigenvalues", "Ten modes are uncontrollable.", chart=disc_chart()),
            Section("Squeezing", "Forty orders of magnitude.", chart=squeezing_chart()),
            Section(NASTY, text, odd, nasty_chart(), points),
            Section("A long recording", "It is drawn from its peaks.", chart=long_chart()),
        ),
        notes=("Two eigenvalues are equal to 12 digits.", "Totals are over all lags."),
        footer="Written by memcurve 0.1.0 from reservoir.npz.",
    )
