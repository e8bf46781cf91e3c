"""Relatives of what once went wrong: small networks with questions that cross each other.

Smooth kernels read beside the input, symmetries that a last digit breaks, quotients of graphs,
modes that nearly coincide, double eigenvalues near the circle, weak links, units that differ
wildly, complex networks; each with several inputs, a readout, noise or coloured input at random.
"""

import contextlib
import itertools
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

import hostile
from memcurve import (
    LinearNetwork,
    Quantised,
    RankWarning,
    StateNoise,
    UncertainResultError,
    UnstableNetworkError,
    forecasting_curve,
    inputs,
    memory_curve,
)
from tolerances import EPS
from truth import WHITE, Process, Truth, truth

Rng = np.random.Generator
Pair = tuple[np.ndarray, np.ndarray]


class Drawn(NamedTuple):
    """A network, the nodes that are read, and what is asked about it."""

    A: np.ndarray
    C: np.ndarray
    readout: list[int] | None
    lags: int
    processes: list[Process]
    observation: float
    state: float
    horizons: int


# --- Networks


def _scaled(A: np.ndarray, rng: Rng) -> np.ndarray:
    """A of a spectral radius that is usual, or close to one; by a power of two where that does."""
    largest = np.abs(np.linalg.eigvals(A)).max()
    if not largest > 1e-6:
        return A
    if rng.random() < 0.5:  # sums and differences of the entries stay exact
        return A * 2.0 ** -np.ceil(np.log2(largest * 1.05))
    return A * (rng.choice([0.5, 0.9, 0.99, 1 - 1e-3, 1 - 1e-6]) / largest)


def _last_digits(C: np.ndarray, rng: Rng) -> np.ndarray:
    """A few entries changed in the last digit, or none."""
    C = C.copy()
    for k in rng.permutation(len(C))[: rng.integers(0, 3)]:
        C[k] *= 1 + rng.choice([-1, 1, 2, 16]) * EPS
    return C


def smooth_kernel(rng: Rng) -> Pair:
    """Hilbert, Gaussian, Cauchy or exponential coupling: singular values fall off a cliff."""
    n = int(rng.integers(3, 13))
    x = np.arange(1.0, n + 1) if rng.random() < 0.7 else np.sort(rng.random(n)) * n
    width = rng.uniform(0.5, 4)
    apart = x[:, None] - x
    K = [
        1 / (x[:, None] + x - 1 + (x[0] != 1)),
        np.exp(-((apart / width) ** 2)),
        1 / (1 + (apart / width) ** 2),
        np.exp(-np.abs(apart) / width),
    ][int(rng.integers(4))]
    C = np.zeros(n)
    C[n // 2] = 1
    if rng.random() < 0.3:
        C = rng.choice([np.ones(n), rng.standard_normal(n), np.exp(-((x - x[n // 2]) ** 2))])
    return 0.9 * K / np.abs(np.linalg.eigvals(K)).max(), C


def mirror_pairs(rng: Rng) -> Pair:
    """A mirror-symmetric block driven evenly; another with a mode next to a silent one of it."""
    half = int(rng.integers(1, 4))
    P, Q = rng.standard_normal((2, half, half))
    if rng.random() < 0.7:
        P, Q = P + P.T, Q + Q.T
    scale = 0.9 / max(np.abs(np.linalg.eigvals(P + s * Q)).max() for s in (-1, 1))
    P, Q = P * scale, Q * scale
    near = float(rng.choice(np.linalg.eigvals(P - rng.choice([1, 1, -1]) * Q).real))
    near += rng.choice([-1, 0, 1]) * 10 ** rng.uniform(-17, -6)
    even, odd = rng.permutation([near, rng.uniform(-0.9, 0.9)])
    a, b = (even + odd) / 2, (even - odd) / 2
    c = rng.standard_normal(half)
    mask = np.concatenate([c, c, _last_digits(np.ones(2), rng)])
    return block_diag(np.block([[P, Q], [Q, P]]), [[a, b], [b, a]]), mask


def equitable_partition(rng: Rng) -> Pair:
    """A quotient lifted to cells of several nodes: what differs within a cell is never driven."""
    sizes = [int(s) for s in rng.integers(1, 4, int(rng.integers(2, 4)))]
    quotient = rng.integers(-8, 9, (len(sizes), len(sizes))).astype(float)
    rows = []
    for i, wide in enumerate(sizes):
        for _ in range(wide):
            line = []
            for j, size in enumerate(sizes):  # any row with the right sum
                part = rng.integers(-8, 9, size).astype(float)
                part[-1] = quotient[i, j] - part[:-1].sum()
                line.append(part)
            rows.append(np.concatenate(line))
    mask = np.repeat(rng.standard_normal(len(sizes)), sizes)
    return _scaled(np.array(rows), rng), _last_digits(mask, rng)


def automorphisms(rng: Rng) -> Pair:
    """A commutes with a permutation, which the mask keeps but for last digits."""
    n = int(rng.integers(3, 9))
    move = rng.permutation(n)
    order, power = 1, move
    while not np.array_equal(power, np.arange(n)) and order < 12:
        power, order = move[power], order + 1
    B, total = rng.integers(-8, 9, (n, n)).astype(float), np.zeros((n, n))
    C, mask = rng.integers(-8, 9, n).astype(float), np.zeros(n)
    power = np.arange(n)
    for _ in range(order):
        total += B[np.ix_(power, power)]
        mask += C[power]
        power = move[power]
    return _scaled(total, rng), _last_digits(mask if mask.any() else np.ones(n), rng)


def quaternions(rng: Rng) -> Pair:
    """Real 4×4 blocks, every eigenvalue of which is a double one, up to the circle."""
    blocks = []
    for _ in range(int(rng.integers(1, 3))):
        q = rng.standard_normal(4) * [1, *10 ** rng.uniform(-6, 0, 3)]
        a, b, c, d = q * ((1 - 10 ** rng.uniform(-8, -0.1)) / np.linalg.norm(q))
        blocks.append([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])
    A = block_diag(*blocks)
    C = rng.standard_normal((len(A), 2))
    if rng.random() < 0.4:  # the same input twice, nearly
        C[:, 1] = C[:, 0] + 10 ** rng.uniform(-12, -1) * C[:, 1]
    return A, C


def near_twins(rng: Rng) -> Pair:
    """Blocks whose eigenvalues differ by a few units in the last place, or by little more."""
    n = int(rng.integers(1, 4))
    B = _scaled(rng.standard_normal((n, n)), rng)
    other = B * (1 - rng.choice([0, 1, 2, 2**8, 2**16, 2**26]) * EPS)
    A = block_diag(B, other, rng.uniform(-0.9, 0.9))
    C = rng.standard_normal(len(A)) * 10.0 ** rng.choice([0, -8, -15], len(A))
    return A, C


def weak_links(rng: Rng) -> Pair:
    """Parts in a row, joined by weights down to the last digit; often of the same eigenvalues."""
    sizes = rng.integers(1, 4, int(rng.integers(2, 4)))
    parts = [_scaled(rng.standard_normal((s, s)), rng) for s in sizes]
    if rng.random() < 0.5:
        parts[1] = parts[0].copy()
    A, start = block_diag(*parts), 0
    for before, after in itertools.pairwise(parts):
        middle = start + len(before)
        link = rng.standard_normal((len(after), len(before))) * 2.0 ** -rng.integers(0, 60)
        A[middle : middle + len(after), start:middle] = link
        if rng.random() < 0.2:
            A[start:middle, middle : middle + len(after)] = 2.0**-60 * link.T
        start = middle
    C = np.zeros(len(A))
    C[: len(parts[0])] = 1.0
    return A, C if rng.random() < 0.6 else rng.standard_normal(len(A))


def units(rng: Rng) -> Pair:
    """States measured in units that differ by hundreds of orders; zeros and denormal numbers."""
    n = int(rng.integers(1, 7))
    A = _scaled(rng.standard_normal((n, n)) * (rng.random((n, n)) < rng.choice([0.4, 1.0])), rng)
    C = rng.standard_normal(n) * (rng.random(n) < 0.8)
    exponents = rng.integers(-1, 2, n) * int(rng.choice([1, 30, 200, 450]))
    A = A * np.exp2(exponents[:, None] - exponents.astype(float))
    C = C * np.exp2(exponents.astype(float) + rng.choice([-900, -300, 0, 300]))
    if rng.random() < 0.3:
        A[rng.integers(n), rng.integers(n)] = rng.choice([5e-324, 2.2e-308, 0.0])
    bad = ~np.isfinite(A)
    A[bad] = 0.0
    return A, np.where(np.isfinite(C), C, 0.0)


def tensor(rng: Rng) -> Pair:
    """B ⊗ I, B ⊗ P or B ⊕ B: eigenvalues in multiples, sums and products of each other."""
    n, m = (int(k) for k in rng.integers(2, 4, 2))
    B, P = rng.integers(-4, 5, (n, n)).astype(float), np.roll(np.eye(m), 1, axis=0)
    A = [
        np.kron(B, np.eye(m)),
        np.kron(B, P),
        np.kron(B, np.eye(m)) + np.kron(np.eye(n), P),
    ][int(rng.integers(3))]
    c, d = rng.standard_normal(n), rng.choice([np.ones(m), np.eye(m)[0], rng.standard_normal(m)])
    return _scaled(A, rng), _last_digits(np.kron(c, d), rng)


def silenced(rng: Rng) -> Pair:
    """A mask that misses a mode up to rounding: C = (A − λ)c."""
    n = int(rng.integers(2, 8))
    A = rng.standard_normal((n, n))
    A = _scaled(A + A.T if rng.random() < 0.5 else A, rng)
    values = np.linalg.eigvals(A)
    C = rng.standard_normal(n)
    for value in values[: rng.integers(1, 3)]:
        pair = value.imag != 0
        C = A @ (A @ C) - 2 * value.real * (A @ C) + abs(value) ** 2 * C if pair else (
            A @ C - value.real * C
        )  # fmt: skip
        if pair:
            break
    return A, C if np.any(C) else np.ones(n)


def nearly_defective(rng: Rng) -> Pair:
    """Chains whose self-loops differ by little: eigenvectors nearly parallel."""
    n = int(rng.integers(2, 7))
    loops = rng.uniform(-0.8, 0.8) + 10 ** rng.uniform(-12, -2) * rng.standard_normal(n)
    A = np.diag(loops) + rng.uniform(0.1, 1) * np.eye(n, k=-1)
    if rng.random() < 0.4:
        Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
        A = Q @ A @ Q.T
    return A, rng.choice([np.eye(n)[0], np.ones(n), rng.standard_normal(n)])


def small_graphs(rng: Rng) -> Pair:
    """Directed graphs of equal or integer weights: zeros, delays, lost modes."""
    n = int(rng.integers(2, 11))
    A = (rng.random((n, n)) < rng.uniform(0.1, 0.5)) * rng.integers(1, rng.choice([2, 4]), (n, n))
    C = rng.choice([np.ones(n), np.eye(n)[0], (rng.random(n) < 0.5) + 0.0])
    return _scaled(A.astype(float), rng), C


def delays(rng: Rng) -> Pair:
    """A delay line that feeds, or is fed by, something smooth or slow."""
    m, (B, c) = int(rng.integers(1, 6)), smooth_kernel(rng)
    k = min(len(B), 5)
    B, c = B[:k, :k], c[:k]
    A = block_diag(np.eye(m, k=-1), B)
    C = np.zeros(m + k)
    if rng.random() < 0.5:
        A[m, m - 1] = 1.0  # the line feeds it
        C[0] = 1.0
    else:
        A[0, m:] = 1.0
        C[m:] = c if c.any() else 1.0
    return A, C


def complex_networks(rng: Rng) -> Pair:
    """Complex weights: Hermitian, unitary, diagonal in conjugate pairs, or of any kind."""
    n = int(rng.integers(1, 5))
    M = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
    poles = rng.uniform(0.3, 1 - 1e-4, n) * np.exp(1j * rng.uniform(-np.pi, np.pi, n))
    poles[n // 2 :] = poles[: n - n // 2].conj() if rng.random() < 0.4 else poles[n // 2 :]
    A = [M, M + M.conj().T, np.linalg.qr(M)[0], np.diag(poles)][int(rng.integers(4))]
    A = A * (rng.choice([0.5, 0.9, 0.999]) / np.abs(np.linalg.eigvals(A)).max())
    C = rng.standard_normal(n) + 1j * rng.standard_normal(n) * rng.choice([0, 1])
    return A, rng.choice([C, np.ones(n) + 0j])


def hostile_ones(rng: Rng) -> Pair:
    """The small ones of the other families."""
    names = list(hostile.FAMILIES)
    while True:
        A, C = hostile.FAMILIES[names[int(rng.integers(len(names)))]](rng)
        if len(A) <= 9 and np.any(C):
            return A, C


FAMILIES: dict[str, Callable[[Rng], Pair]] = {
    f.__name__: f
    for f in (
        smooth_kernel, mirror_pairs, equitable_partition, automorphisms, quaternions, near_twins,
        weak_links, units, tensor, silenced, nearly_defective, small_graphs, delays,
        complex_networks, hostile_ones,
    )
}  # fmt: skip


# --- Questions


def drawn(family: str, seed: int) -> Drawn:
    """Draw number ``seed`` of a family: a network, and a question about it."""
    rng = np.random.default_rng([list(FAMILIES).index(family), seed])
    A, C = FAMILIES[family](rng)
    C = C.reshape(len(A), -1)
    if rng.random() < 0.25:
        C = _more_inputs(C, rng)
    readout = None
    if rng.random() < (0.7 if family in ("smooth_kernel", "delays") else 0.25):
        readout = _some_nodes(C, rng)
    processes = [WHITE] * C.shape[1]
    if rng.random() < 0.2:
        processes = [_process(rng) for _ in range(C.shape[1])]
    size = float(np.abs(C).max()) if family == "units" else 1.0  # noise of a size that matters
    level = size * 10 ** rng.uniform(-12, 1)
    kind = rng.choice(["none", "observation", "state"], p=[0.6, 0.25, 0.15])
    noise = level if 1e-140 < level < 1e140 else 0.0
    return Drawn(
        A, C, readout, int(rng.integers(3, 40)), processes,
        noise if kind == "observation" else 0.0, noise if kind == "state" else 0.0,
        int(rng.integers(1, 5)) if rng.random() < 0.2 else 0,
    )  # fmt: skip


def _more_inputs(C: np.ndarray, rng: Rng) -> np.ndarray:
    """One or two inputs more: any, nearly one that is there, or of another size."""
    for _ in range(int(rng.integers(1, 3))):
        other = rng.standard_normal(len(C)) * np.abs(C).max()
        first = C[:, 0]
        chosen = [
            other,
            first + 10 ** rng.uniform(-16, -2) * other,
            1e-8 * other,
            _last_digits(first, rng),
            np.zeros(len(C)),
        ][int(rng.integers(5))]
        C = np.column_stack([C, chosen])
    return C


def _some_nodes(C: np.ndarray, rng: Rng) -> list[int]:
    """Nodes beside the input, or any."""
    beside = np.flatnonzero(~C.any(axis=1))
    if len(beside) and rng.random() < 0.6:
        count = len(beside) if rng.random() < 0.5 else (len(beside) + 1) // 2
        return sorted(rng.permutation(beside)[:count].tolist())
    return sorted(rng.permutation(len(C))[: rng.integers(1, len(C) + 1)].tolist())


def _process(rng: Rng) -> Process:
    """White, AR(1), AR(2) or ARMA, now and then close to the circle or to a zero of the density."""
    near = 1 - 10 ** rng.uniform(-3, -0.2)
    angle = rng.uniform(0, np.pi)
    return [
        WHITE,
        ((rng.choice([-1, 1]) * near,), ()),
        ((2 * near * np.cos(angle), -(near**2)), ()),
        ((), (rng.choice([-near, near]),)),
        ((rng.uniform(-0.9, 0.9),), (rng.uniform(-0.9, 0.9),)),
    ][int(rng.integers(5))]


def real_form(asked: Drawn) -> tuple[np.ndarray, np.ndarray, list[int] | None]:
    """Real and imaginary parts as states of their own."""
    A, C, read = asked.A, asked.C, asked.readout
    if not (np.iscomplexobj(A) or np.iscomplexobj(C)):
        return A, C, read
    A, C = np.asarray(A, complex), np.asarray(C, complex)
    pair = np.block([[A.real, -A.imag], [A.imag, A.real]])
    rows = None if read is None else [*read, *(i + len(A) for i in read)]
    return pair, np.vstack([C.real, C.imag]), rows


def listed_lags(asked: Drawn) -> list[int]:
    """Some of the lags, so that the truth is quick."""
    return [t for t in (0, 1, 2, 3, 5, 8, 13, 21, 34) if t < asked.lags]


def known(asked: Drawn) -> Truth:
    """The truth at :func:`listed_lags`; ArithmeticError where it is unstable."""
    A, C, readout = real_form(asked)
    return truth(
        A, C, listed_lags(asked), arma=asked.processes, horizons=asked.horizons, readout=readout,
        observation=asked.observation**2, state=asked.state**2,
    )  # fmt: skip


def _enclosed(network: LinearNetwork, asked: Drawn, arguments: dict[str, Any]) -> Truth:
    """What the certified method says, where the oracle says nothing."""
    found = memory_curve(network, asked.lags, method="certified", **arguments)
    ahead = np.zeros((0, network.inputs))
    rank = -1 if found.rank is None else found.rank
    return Truth(found.channels[listed_lags(asked)], ahead, found.total, 0.0, rank)


# --- Judgement


def judge(family: str, seed: int) -> str:
    """Compare one draw with the truth and name the outcome.

    Every third is left to floating point alone, so that errors that are large must hold as well.
    """
    asked = drawn(family, seed)
    network = LinearNetwork(asked.A, asked.C, readout=asked.readout)
    process: list[Any] = [inputs.ARMA(ar=list(ar), ma=list(ma)) for ar, ma in asked.processes]
    arguments: dict[str, Any] = {"input": process}
    if all(one == WHITE for one in asked.processes):
        arguments = {}
    if asked.observation:
        rounded = seed % 5 == 0
        step = asked.observation * np.sqrt(12)
        arguments["noise"] = Quantised(step) if rounded else asked.observation
    if asked.state:
        arguments["noise"] = StateNoise(asked.state)
    alone = seed % 3 == 0
    if alone:
        arguments["certify_up_to"] = 0
    ahead = bool(asked.horizons and process and arguments.get("input"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            curve = memory_curve(network, asked.lags, **arguments)
            later = None
            if ahead:
                later = forecasting_curve(network, horizons=asked.horizons, **arguments)
    except UncertainResultError:
        return "left to balls" if alone else "refused"
    except UnstableNetworkError:
        with contextlib.suppress(ArithmeticError):
            known(asked)
            return "VIOLATION: stable"
        return "unstable, refused"
    try:
        fact = known(asked)
    except ArithmeticError:  # unstable in a mode that nothing drives, which the oracle cannot see
        arguments.pop("certify_up_to", None)
        fact = _enclosed(network, asked, arguments)
        later = None
    slack = 4 * EPS  # the truth is rounded too
    if curve.rank is not None and curve.rank != fact.rank:
        return "VIOLATION: rank"
    at = listed_lags(asked)
    if np.any(np.abs(curve.channels[at] - fact.memory) > curve.channel_errors[at] + slack):
        return "VIOLATION: channels"
    off = np.abs(curve.values[at] - fact.memory.sum(axis=1))
    if np.any(off > curve.error[at] + slack * fact.memory.shape[1]):
        return "VIOLATION: error"
    if abs(curve.total - fact.total) > curve.total_error + slack * max(1.0, fact.total):
        return "VIOLATION: total"
    if later is not None:
        if np.any(np.abs(later.channels - fact.forecast) > later.channel_errors + slack):
            return "VIOLATION: forecast"
        allowed = later.total_error + slack * max(1.0, fact.total_forecast)
        if abs(later.total - fact.total_forecast) > allowed:
            return "VIOLATION: total forecast"
    return f"right, {curve.diagnostics['arithmetic']}"
