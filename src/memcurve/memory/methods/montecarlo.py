"""Memory from a simulation: covariances of states and past inputs, estimated from T samples.

With γ̂(τ) = 1/(T−τ) Σ_{t>τ} x_t z_{t−τ} (the paper's "Monte Carlo estimation")::

    MC_τ ≈ γ̂(τ)ᵀ Γ⁻¹ γ̂(τ) / Var z

either with the known covariance Γ = I of the standardised states, the paper's estimator, or with
the sample covariance of the states in its place, which is what simulations in practice do. Both
are biased upwards by about N/T per lag, so that totals over many lags exceed N, unless the sample
covariance is so ill-conditioned that more is lost below rounding.

Coloured input and noise are simulated too, several inputs and readouts taken as they are; then with
the sample covariance.
"""

import math
from typing import Any

import numpy as np

from memcurve.core import arguments
from memcurve.core.errors import UncertainResultError, unstable
from memcurve.core.limits import Work, require_room_for_array
from memcurve.core.types import Complexes, Floats
from memcurve.memory.curve import fault
from memcurve.memory.methods.method import EVERYTHING, VARIANTS, declared, estimate, require_driven
from memcurve.network import LinearNetwork
from memcurve.network.graph import ORDINARY
from memcurve.network.krylov import krylov_matrix
from memcurve.solve import Analysis, Answer, Problem, cascade, section_poles

#: Samples drawn by default. Doubled: bias and time.
SAMPLES = 10_000


@declared(
    "Sample covariances of a simulation.",
    Work(5, 2, 15),
    answers=EVERYTHING,
    columns=lambda problem, options: options.get("samples", SAMPLES),
    compared=True,
    variants=VARIANTS["montecarlo"],
)
def montecarlo(
    problem: Problem,
    *,
    seed: arguments.Seed,
    samples: int = SAMPLES,
    washout: int | None = None,
    covariance: str = "sample",
) -> Answer:
    """Simulate the network and estimate its memory; by default 5N lags, at most ``samples``/2.

    Parameters
    ----------
    seed : int, SeedSequence or Generator
        Of the input.
    samples : int
        Number T of samples, above the largest lag and, for the sample covariance, above N.
    washout : int
        Steps simulated before; by default until the start is forgotten to 1e-8, at least 100.
    covariance : str
        ``"sample"``: Γ̂ in place of Γ; ``"known"``: Γ = I, by simulating the standardised network,
        whose bias is :func:`montecarlo_bias`.
    """
    arguments.require_choice(covariance, "covariance", ("sample", "known"))
    network, rng = problem.network, arguments.generator(seed)
    states, samples = network.states, arguments.require_size(samples, "samples")
    count = problem.lags or min(5 * states, max(1, samples // 2))
    if samples <= count or (covariance == "sample" and samples <= states):
        raise ValueError(fault("samples", count=count, states=states, samples=samples))
    is_plain, radius = problem.is_plain, None
    if not is_plain:
        if covariance != "sample":
            raise ValueError(fault("covariance", covariance=covariance))
        require_driven(problem)
    elif (poles := problem.analysis.spectrum.poles) is not None:
        radius = float(np.abs(poles).max(initial=0.0))
        if radius >= 1:
            raise unstable(radius)
    radius = network.spectral_radius if radius is None else radius
    if washout is None:  # until the start is forgotten to 1e-8
        washout = max(100, math.ceil(math.log(1e-8) / math.log(radius)) if radius > 0 else 0)
    washout = arguments.require_limit(washout, "washout")
    require_room_for_array((samples + washout, states), f"`samples`={samples}")
    options: dict[str, Any] = {"samples": samples, "washout": washout}
    if is_plain:
        z = rng.standard_normal((samples + washout, 1))
        if covariance == "known" or radius >= 1:
            network = LinearNetwork(*cascade(section_poles(_poles(problem.analysis))))
        with np.errstate(over="ignore", invalid="ignore"):  # which in_range refuses
            x = network.simulate(z, washout=washout)
        options["covariance"] = covariance
    else:
        x, z = _simulated(problem, samples + washout, washout, rng)
    x, z = in_range(x)[0], z[washout:]
    # γ̂(τ) of each input; it is zero before its start
    padded = np.concatenate([np.zeros((count - 1, z.shape[1])), z])
    sums = np.stack([lagged_products(one, x)[::-1] for one in padded.T], axis=1)
    gamma = (sums / (samples - np.arange(count))[:, None, None]).reshape(-1, x.shape[1])
    rank = x.shape[1]
    if covariance == "known":
        memory = (gamma**2).sum(axis=1)[:, None]
    else:
        solved, _, rank, _ = np.linalg.lstsq(x.T @ x / samples, gamma.T, rcond=None)
        memory = np.einsum("ij,ji->i", gamma, solved).reshape(count, -1) / (z**2).mean(axis=0)
    note = f"one simulation of {samples:,} samples"
    if rank < x.shape[1]:
        note += (
            f"; the sample covariance of {x.shape[1]} states has numerical rank {rank}, and what "
            f"lies below rounding is lost"
        )
    elif is_plain:
        note += f", biased upwards by about N/T = {states / samples:.2g} per lag"
    return estimate(memory, note, options=options)


def _simulated(
    problem: Problem, steps: int, washout: int, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """States that are read, with their noise, and the inputs."""
    [level] = problem.levels.tolist()
    z = np.column_stack(
        [p.simulate(steps, seed=rng) / math.sqrt(p.variance) for p in problem.processes]
    )
    C, drive = problem.C, z
    if problem.state.any():  # noise that enters the recursion is a further input to every state
        C = np.hstack([C, np.diag(level * problem.state)])
        drive = np.hstack([z, rng.standard_normal((steps, len(C)))])
    x = LinearNetwork(problem.A, C).simulate(drive, washout=washout)
    x = x + level * problem.observation * rng.standard_normal(x.shape)
    return x[:, problem.rows], z


def in_range(x: Floats) -> tuple[Floats, float]:
    """States over a power of two, and that, where their squares overflow or vanish in float64."""
    largest = float(np.abs(x).max(initial=0.0))
    if not largest < math.inf:
        raise UncertainResultError(fault("states_overflow"))
    if largest == 0 or ORDINARY[0] <= largest <= ORDINARY[1]:
        return x, 1.0
    exponent = min(max(math.frexp(largest)[1], -1021), 1021)  # whose inverse is a number too
    return np.ldexp(x, -exponent), math.ldexp(1.0, exponent)


def lagged_products(series: Floats, x: Floats, *, least: int = 1024) -> Floats:
    """Σ_i x_i·series_{i+k} for all shifts k that fit, (shifts, states), by FFT, block by block."""
    from scipy.fft import irfft, next_fast_len, rfft

    count = len(series) - len(x) + 1
    block = max(least, 2 * count)
    points: int = next_fast_len(block + count - 1, real=True)
    spectrum: Any = 0.0
    for start in range(0, len(x), block):
        states = np.ascontiguousarray(x[start : start + block].T)
        past = rfft(series[start : start + block + count - 1], points)
        spectrum = spectrum + rfft(states, points).conj() * past
    return np.asarray(irfft(spectrum, points)[:, :count].T)


def montecarlo_bias(
    network: LinearNetwork, lags: int, samples: int, *, as_printed: bool = False
) -> Floats:
    """Exact bias of the estimator with known covariance, lag by lag, for independent normal input.

    With n = T − τ and γ(j) = A^jC in standardised coordinates::

        N/n + n⁻² Σ_{j=0}^{2τ} (n − |j − τ|)₊ γ(j)ᵀγ(2τ − j)

    The paper prints N/n + (2/n) Σ_{j=0}^{τ} γ(j)ᵀγ(2τ − j), which counts j = τ twice and lacks the
    weights of the edges (``as_printed=True``).
    """
    poles = _poles(Analysis.of(network))
    lags, samples = arguments.require_size(lags, "lags"), arguments.require_size(samples, "samples")
    if samples <= lags:
        raise ValueError(f"`samples` must exceed `lags`={lags}, got {samples}; simulate longer.")
    gamma = krylov_matrix(*cascade(section_poles(poles)), 2 * lags - 1)
    inner = gamma.T @ gamma
    bias = np.empty(lags)
    for lag in range(lags):
        n = samples - lag
        j = np.arange(2 * lag + 1)
        products = inner[j, 2 * lag - j]
        if as_printed:
            bias[lag] = (len(poles) + 2 * products[: lag + 1].sum()) / n
        else:
            weights = np.maximum(n - np.abs(j - lag), 0) / n
            bias[lag] = (len(poles) + weights @ products) / n
    return bias


def _poles(analysis: Analysis) -> Complexes:
    poles, shifted = analysis.spectrum.poles, analysis.spectrum.response is not None
    if poles is None or shifted or np.abs(poles).max(initial=0.0) >= 1:
        raise UncertainResultError(fault("uncertain_poles"))
    return poles
