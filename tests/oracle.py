"""Poles drawn at random, and what they remember, by power series in ball arithmetic."""

import numpy as np
from flint import acb, acb_poly, arb, ctx


def drawn_poles(rng: np.random.Generator, count: int, radius: float) -> np.ndarray:
    """Poles of a real network: pairs within the radius, a third as many on the real line."""
    upper = np.sqrt(rng.random(count)) * radius * np.exp(1j * rng.uniform(0, np.pi, count))
    real = rng.uniform(-radius, radius, count // 3)
    return np.concatenate([upper, upper.conj(), real]).astype(complex)


def true_losses(poles: np.ndarray, lags: int, bits: int = 800) -> tuple[np.ndarray, np.ndarray]:
    """Memory and loss from the power series of Π(z − λ̄)/(1 − λz) in ball arithmetic."""
    with ctx.workprec(bits):
        numerator, denominator = acb_poly([1]), acb_poly([1])
        for pole in poles.tolist():
            numerator *= acb_poly([-acb(pole.conjugate()), 1])
            denominator *= acb_poly([1, -acb(pole)])
        top = [numerator[k] for k in range(len(poles) + 1)]
        bottom = [denominator[k] for k in range(len(poles) + 1)]
        b: list[acb] = []
        for k in range(lags):  # long division of power series
            value = top[k] if k < len(top) else acb(0)
            for j in range(1, min(k, len(poles)) + 1):
                value -= bottom[j] * b[k - j]
            b.append(value)
        losses, lost = [], arb(0)
        for value in b:
            lost += value.real * value.real + value.imag * value.imag
            losses.append(lost)
        memory = [float((1 - loss).mid()) for loss in losses]
        return np.array(memory), np.array([float(loss.mid()) for loss in losses])
