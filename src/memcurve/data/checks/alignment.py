"""Whether the states belong to the inputs they are paired with."""

from __future__ import annotations

import numpy as np

from memcurve.data.checks.findings import EPS, LEAST, Finding, Floats

#: Rows from which on states without any of the input are no accident.
SURE = 300


def check_alignment(
    basis: Floats, targets: tuple[Floats, ...], level: float, found: list[Finding]
) -> int:
    """By how many steps the states are late (or lead, negative), where the input tells."""
    n, rank = basis.shape
    if not targets or n < max(LEAST, 2 * rank):
        message = "the alignment of states and input was not tested: "
        message += "too few rows" if targets else "the input can be foretold from its own past, "
        message += "" if targets else "and states that foretell it need not lead"
        remedy = "check it by hand, or record longer with independent input"
        found.append(Finding("info", "alignment_untested", message, remedy))
        return 0
    reach, count = n // 2, len(targets)
    shares = np.array([_shares(basis, target, reach) for target in targets])
    cuts = np.array([_chance(s, n, rank, level / (2 * reach + 1) / count) for s in shares])
    known = shares > cuts[:, None]
    persistence = float(np.median((basis[1:] * basis[:-1]).sum(axis=0)))
    if persistence > 0.8:
        # The basis was made with later rows too: slow states seem to foresee a little of what is
        # about to come. Those that really lead hold far more of the input they saw last.
        known[:, :reach] &= shares[:, :reach] > np.maximum(2 * cuts[:, None], 0.3 * shares.max())
    alive = np.flatnonzero(known.any(axis=0)) - reach
    if len(alive) == 0:
        best = int(shares.max(axis=1).argmax())
        message = "the states hold nothing of the input, at no lag (largest R² "
        message += f"{shares[best].max():.3f}, by chance up to {cuts[best]:.3f})"
        remedy = "check that these states belong to this input; record longer if memory is weak"
        # few rows, or memory spread thin over many lags, show nothing at any single one
        window = max(1, reach // 8)
        sums = [np.convolve(share, np.ones(window), "valid") for share in shares]
        thin = any(one[reach] > 1.5 * one[: reach - window].max() for one in sums)
        sure = not thin and n >= max(SURE, 20 * (1 + persistence) / (1 - persistence))
        found.append(Finding("error" if sure else "info", "unpaired", message, remedy))
        return 0
    k = int(alive[0])
    if k > 0:
        # a weak lag before the first sure one counts as alive where chance is rarely so large
        loose = np.array([_chance(s, n, rank, 1e-3 / k / count) for s in shares])
        weak = np.flatnonzero((shares[:, reach : reach + k] > loose[:, None]).any(axis=0))
        k = int(weak[0]) if len(weak) else k
    largest = float(shares[:, reach + k].max())
    if k < 0:
        message = f"the states lead by {_steps(-k)}: they hold R² = {largest:.2f} of the input "
        message += f"{_steps(-k)} ahead (by chance up to {cuts.max():.2f})"
        remedy = f"pass states[:{k}], inputs[{-k}:], dropping the first {_steps(-k, 'input')}; "
        remedy += "filters that look ahead show like this too"
        found.append(Finding("error", "misaligned", message, remedy))
    elif k > 0:
        dead = "lag 0" if k == 1 else f"lags 0 to {k - 1}"
        message = f"the states are late by {_steps(k)}: they hold nothing of the input at {dead} "
        message += f"and R² = {largest:.2f} at lag {k}"
        remedy = f"pass states[{k}:], inputs[:-{k}], unless this delay is the system's own"
        found.append(Finding("warning", "misaligned", message, remedy))
    return k


def _chance(shares: Floats, n: int, rank: int, level: float) -> float:
    """The R² that chance exceeds at ``level``: Beta's, or a wider one where the far future is.

    Of rare or heavy-tailed inputs a few rows decide R², which then scatters more than Beta. No
    state knows the far future, so its R² show by how much.
    """
    from scipy import stats

    far = shares[: max(2, len(shares) // 4)]
    mean, size = float(far.mean()), (n - 1) / 2
    spread = mean * (1 - mean) / max(float(far.var()), EPS) - 1
    if 0 < spread < size:
        wide = stats.beta.isf(level, mean * spread, (1 - mean) * spread)
        wide = max(wide, mean + 1.5 * (float(far.max()) - mean))
    else:
        wide = 0.0
    return float(max(wide, stats.beta.isf(level, rank / 2, size - rank / 2)))


def _steps(count: int, word: str = "step") -> str:
    return f"{count} {word}" + ("" if count == 1 else "s")


def _shares(basis: Floats, target: Floats, reach: int) -> Floats:
    """R² of target_{t−τ} on the states for τ = −reach … reach, from one correlation a direction.

    R²_τ = Σ_j (Σ_t Q_tj y_{t−τ})² / Σ_t y²_{t−τ}, sums over the rows where both are known.
    """
    from scipy import fft

    size = fft.next_fast_len(len(target) + reach + 1, real=True)
    transform = fft.rfft(target, size)[:, None]
    power = np.zeros(size)
    for first in range(0, basis.shape[1], 64):
        columns = fft.rfft(basis[:, first : first + 64], size, axis=0)
        power += (fft.irfft(columns * transform.conj(), size, axis=0) ** 2).sum(axis=1)
    energy = np.concatenate([[0.0], np.cumsum(target**2)])
    past = energy[-1 - np.arange(reach + 1)]  # lag τ: the last τ targets are not used
    future = energy[-1] - energy[np.arange(1, reach + 1)]
    # slow states weigh some rows more: by chance R² is their mean leverage, here made the same
    weight = np.concatenate([[0.0], np.cumsum((basis**2).sum(axis=1))])
    counts = np.arange(len(target), len(target) - reach - 1, -1)
    early, late = weight[counts] / counts, (weight[-1] - weight[: reach + 1]) / counts
    scale = np.concatenate([early[:0:-1], late]) * len(target) / basis.shape[1]
    numerator = np.concatenate([power[-reach:], power[: reach + 1]])
    return np.asarray(numerator / np.maximum(np.concatenate([future[::-1], past]) * scale, EPS))
