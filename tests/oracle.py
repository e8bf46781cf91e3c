"""Ground truth by another formula: MC_τ = Cᵀ(Aᵀ)^τ G⁻¹ A^τ C with the Gramian G in high precision.

G = Σ_j A^j C Cᵀ (Aᵀ)^j is summed by doubling in ball arithmetic, with what is left out bounded. It
shares no step with the package, which never forms G.
"""

from __future__ import annotations

import numpy as np
from flint import acb, acb_poly, arb, arb_mat, ctx


def gramian_memory(A: np.ndarray, C: np.ndarray, lags: int, bits: int = 1000) -> np.ndarray:
    """Memory curve of a controllable pair; raises if the balls are wider than 1e-25."""
    with ctx.workprec(bits):
        power = arb_mat(np.asarray(A, float).tolist())
        columns = [arb_mat(np.asarray(C, float).reshape(-1, 1).tolist())]
        for _ in range(lags - 1):
            columns.append(power * columns[-1])
        G = columns[0] * columns[0].transpose()
        for _ in range(64):
            G = G + power * G * power.transpose()
            power = power * power
            rest = sum((x * x for x in power.entries()), arb(0))
            if rest < arb(2) ** (-2 * bits):
                break
        # ‖Σ_{j ≥ m}‖ ≤ ‖A^m‖² ‖G‖
        tail = (rest * sum((x * x for x in G.entries()), arb(0)).sqrt()).abs_upper()
        G = arb_mat([[x + arb(0, tail) for x in row] for row in G.tolist()])
        solved = G.solve(_side_by_side(columns))
        memory = []
        for lag, column in enumerate(columns):
            value = sum((x * solved[i, lag] for i, x in enumerate(column.entries())), arb(0))
            assert float(value.rad()) < 1e-25, f"more bits needed: {value} at lag {lag}"
            memory.append(float(value.mid()))
    return np.array(memory)


def _side_by_side(columns: list[arb_mat]) -> arb_mat:
    return arb_mat([list(row) for row in zip(*(c.entries() for c in columns), strict=True)])


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
