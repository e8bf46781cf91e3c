"""Train the eigenvalues of a linear recurrent unit (LRU) to hold a flat memory.

    python examples/train_lru_memory.py                        seconds on a CPU; needs torch
    python examples/train_lru_memory.py --plot flat.png        with a picture
    python examples/train_lru_memory.py --steps 50 --seed 3    shorter, from another start

The states of an LRU are x_t = diag(λ) x_{t−1} + C z_t with N complex eigenvalues λ, read through
real and imaginary parts: 2N states. Their memory over all lags is 2N whatever the eigenvalues are
(as long as they differ and the input drives them all), so training cannot add memory, only move it
in time. Drawn at random, they begin to forget early, and then remember faintly for very long. The
loss is the mean squared distance to the step curve, MC_τ = 1 up to a lag, and its gradient comes
through memcurve's memory curve: the eigenvalues spread out evenly along a ring.
"""

from __future__ import annotations

import argparse
import math
import time
from typing import NamedTuple

import numpy as np
import torch

from memcurve.memory.batch import curves_of_poles

MODES = 32
#: Lags that should be remembered in full: of 2N = 64 there could be.
HELD_LAGS = 60
SHOWN_LAGS = 100
#: Moduli stay above this: modes that decay at once would be a delay line, which no LRU can be.
LEAST_MODULUS = 0.9
RATE = 0.03
DEFAULT_STEPS = 300


class Training(NamedTuple):
    """What came out: losses step by step, and curves and eigenvalues before and after."""

    losses: list[float]
    start: np.ndarray
    end: np.ndarray
    start_poles: np.ndarray
    end_poles: np.ndarray


class Ring(torch.nn.Module):
    """Eigenvalues r·exp(iθ), LEAST_MODULUS < r < 1, of which the upper half plane is drawn."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        drawn = np.random.default_rng(seed)
        # as LRUs are started: uniform in the ring by area, any phase
        squares = drawn.uniform(LEAST_MODULUS**2 + 0.01, 0.99**2, MODES)
        share = (np.sqrt(squares) - LEAST_MODULUS) / (1 - LEAST_MODULUS)
        phases = drawn.uniform(0, math.pi, MODES)
        self.depth = torch.nn.Parameter(torch.tensor(np.log(share / (1 - share))))
        self.phase = torch.nn.Parameter(torch.tensor(phases))

    def forward(self) -> torch.Tensor:
        modulus = LEAST_MODULUS + (1 - LEAST_MODULUS) * torch.sigmoid(self.depth)
        return torch.polar(modulus, self.phase)


def memory(poles: torch.Tensor, lags: int) -> torch.Tensor:
    """MC_τ of the 2N states, differentiable with respect to the N eigenvalues."""
    values: torch.Tensor = curves_of_poles(poles, lags, add_conjugates=True).values
    return values


def train(steps: int, seed: int, *, every: int = 0) -> Training:
    """Adam on the squared distance to the step curve; prints every so many steps, if any."""
    ring = Ring(seed)
    optimizer = torch.optim.Adam(ring.parameters(), lr=RATE)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, max(1, steps))
    with torch.no_grad():
        start_poles = ring()
        start = memory(start_poles, SHOWN_LAGS)
    losses = []
    for step in range(steps + 1):
        curve = memory(ring(), HELD_LAGS)
        loss = ((1 - curve) ** 2).mean()
        losses.append(float(loss.detach()))
        if every and (step % every == 0 or step == steps):
            weakest = float(curve.detach().min())
            print(f"step {step:5d}   loss {losses[-1]:.2e}   smallest MC_τ {weakest:.4f}")
        if step < steps:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            slower.step()
    with torch.no_grad():
        end_poles = ring()
        end = memory(end_poles, SHOWN_LAGS)
    return Training(losses, start.numpy(), end.numpy(), start_poles.numpy(), end_poles.numpy())


def table(found: Training, every: int = 5) -> str:
    """Both curves side by side, every few lags."""
    rows = [f"{'lag':>5} {'start':>8} {'trained':>8}"]
    for lag in range(0, SHOWN_LAGS, every):
        bar = "█" * round(20 * float(found.end[lag]))
        rows.append(f"{lag:5d} {found.start[lag]:8.4f} {found.end[lag]:8.4f}  {bar}")
    return "\n".join(rows)


def picture(found: Training, path: str) -> None:
    """Memory before and after, and the eigenvalues that have it."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    lags = np.arange(SHOWN_LAGS)
    step = (lags < HELD_LAGS).astype(float)
    left.plot(lags[:HELD_LAGS], step[:HELD_LAGS], color="0.6", ls="--", label="wanted")
    left.plot(lags, found.start, color="tab:orange", label="start")
    left.plot(lags, found.end, color="tab:blue", label="trained")
    left.set(xlabel="lag τ", ylabel="MC_τ", ylim=(-0.02, 1.05))
    left.legend(frameon=False)
    angle = np.linspace(0, 2 * np.pi, 400)
    right.plot(np.cos(angle), np.sin(angle), color="0.8", lw=1)
    for poles, colour, name in (
        (found.start_poles, "tab:orange", "start"),
        (found.end_poles, "tab:blue", "trained"),
    ):
        both = np.concatenate([poles, poles.conj()])
        right.plot(both.real, both.imag, ".", color=colour, label=name)
    right.set(aspect="equal", title="eigenvalues")
    right.legend(frameon=False, loc="center")
    figure.savefig(path, dpi=150)
    plt.close(figure)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--steps", type=int, default=DEFAULT_STEPS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--plot", metavar="PATH", help="save a picture")
    arguments = parser.parse_args()
    begin = time.perf_counter()
    if arguments.steps < 1:
        parser.error(f"--steps must be at least 1, got {arguments.steps}")
    found = train(arguments.steps, arguments.seed, every=max(1, arguments.steps // 10))
    print(f"{time.perf_counter() - begin:.1f} s\n")
    print(table(found))
    held = slice(0, HELD_LAGS)
    print(
        f"\nmemory of lags 0 … {HELD_LAGS - 1}: {found.start[held].sum():.2f} at the start, "
        f"{found.end[held].sum():.2f} trained, of {HELD_LAGS}; over all lags {2 * MODES} always"
    )
    if arguments.plot:
        picture(found, arguments.plot)
        print(f"saved {arguments.plot}")


if __name__ == "__main__":
    main()
