"""Recurrent layers by the names and shapes of their tensors: what each stores, as poles.

A kind is declared once: how it is recognised, the formula that turns its tensors into the poles of
x_t = λx_{t−1} + b z_t, and where the formula stands. Layers whose decay is *gated* by their input
are linear only while the gate stays; they are computed at a stated gate (at rest: of input zero).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from memcurve.core.types import Complexes, Floats
from memcurve.network import LinearNetwork
from memcurve.network.diagonal import diagonal_network, lru_mask, lru_poles

#: What one layer stores, by the names after its prefix.
Tensors = Mapping[str, Any]


class Recurrence(NamedTuple):
    """Poles (channels, modes) and how each is driven; or networks, where modes are not alone."""

    poles: Floats | Complexes | None = None
    drive: Floats | Complexes | None = None
    networks: tuple[LinearNetwork, ...] = ()


@dataclass(frozen=True)
class Kind:
    """A kind of layer.

    ``names`` are the tensors that it must have, each by one of several names; ``gate`` says what
    its decay depends on, nothing for a layer that is linear as it is. ``fits`` looks at shapes.
    """

    name: str
    names: tuple[tuple[str, ...], ...]
    recurrence: Callable[[Sequence[Any], Tensors, Any], Recurrence]
    source: str
    gate: str = ""
    fits: Callable[[Sequence[tuple[int, ...]]], bool] = lambda shapes: True
    optional: tuple[str, ...] = ()


def _softplus(x: Floats) -> Floats:
    return np.logaddexp(0.0, x)


def _sigmoid(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


def _complex(x: Any) -> Complexes:
    """Numbers that are complex, or pairs of real and imaginary parts along the last axis."""
    x = np.asarray(x)
    if x.shape[-1:] == (2,) and not np.iscomplexobj(x):
        x = x[..., 0] + 1j * x[..., 1]
    return np.asarray(x, dtype=complex)


def _held(poles: Complexes, step: Floats) -> Complexes:
    """Poles of the zero-order hold; conjugates are the same states, read by real and imaginary."""
    discrete = np.exp(poles * step)
    return np.asarray(discrete.real + 1j * np.abs(discrete.imag), dtype=complex)


def _lru(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    nu, theta = (np.asarray(each, dtype=float).ravel() for each in found[:2])
    poles = lru_poles(nu, theta)
    if "B_re" in tensors and "B_im" in tensors:
        B = np.asarray(tensors["B_re"]) + 1j * np.asarray(tensors["B_im"])
    elif "B" in tensors:
        B = _complex(tensors["B"])
    else:
        return Recurrence(poles[None, :])
    scale = next((tensors[name] for name in ("gamma_log", "gamma_logs") if name in tensors), None)
    mask = lru_mask(B, None if scale is None else np.asarray(scale, float).ravel())
    return Recurrence(networks=(diagonal_network(poles, mask),))


def _s5(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    re, im, B, log_step = (np.asarray(each) for each in found)
    poles = np.asarray(re, float).ravel() + 1j * np.asarray(im, float).ravel()
    step = np.exp(np.asarray(log_step, float).ravel())
    return Recurrence(networks=(diagonal_network(poles, _complex(B), step=step),))


def _s4d(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    log_real, imag, log_dt = (np.asarray(each, float) for each in found)
    poles = -np.exp(log_real) + 1j * imag
    step = np.exp(log_dt).reshape(-1, 1)
    return Recurrence(_held(np.atleast_2d(poles), step))


def _s4(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    log_real, imag, P, B, log_dt = found
    w = -np.exp(np.asarray(log_real, float)) + 1j * np.asarray(imag, float)
    P, B = _complex(P).reshape(-1, w.shape[-1]), _complex(B).reshape(-1, w.shape[-1])
    w, networks = np.atleast_2d(w), []
    for k, h in enumerate(np.exp(np.asarray(log_dt, float)).ravel()):
        one = k % len(w)
        p = np.concatenate([P[one], P[one].conj()])
        A = np.diag(np.concatenate([w[one], w[one].conj()])) - np.outer(p, p.conj())
        b = np.concatenate([B[one], B[one].conj()])
        left = np.eye(len(A)) - h / 2 * A
        A, b = np.linalg.solve(left, np.eye(len(A)) + h / 2 * A), np.linalg.solve(left, h * b)
        n = len(w[one])
        # in real and imaginary parts of the first half, whose conjugate the second half is
        U = np.block([[np.eye(n), np.eye(n)], [-1j * np.eye(n), 1j * np.eye(n)]]) / 2
        real, drive = U @ A @ np.linalg.inv(U), U @ b
        networks.append(LinearNetwork(real.real, drive.real))
    return Recurrence(networks=tuple(networks))


def _dss(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    stored, log_dt = np.asarray(found[0], float), np.asarray(found[1], float)
    poles = -np.exp(stored[..., 0]) + 1j * stored[..., 1]
    return Recurrence(_held(np.atleast_2d(poles), np.exp(log_dt).reshape(-1, 1)))


def _fixed(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    A, B = (np.asarray(each, float) for each in found)
    return Recurrence(networks=(LinearNetwork(A, B.reshape(len(A), -1)),))


def _mamba(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    A = -np.exp(np.asarray(found[0], float))
    step = _softplus(np.asarray(found[1], float)) if gate is None else np.asarray(gate, float)
    return Recurrence(np.exp(A * step.reshape(-1, 1)))


def _scalar_decay(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    A = -np.exp(np.asarray(found[0], float))
    step = _softplus(np.asarray(found[1], float)) if gate is None else np.asarray(gate, float)
    return Recurrence(np.exp(A * step)[:, None])


def _rg_lru(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    strength = _softplus(np.asarray(found[0], float).ravel())
    if gate is None:
        bias = next((tensors[n] for n in ("recurrent_gate_bias", "a_gate.b") if n in tensors), 0.0)
        gate = _sigmoid(np.asarray(bias, float).ravel())
    return Recurrence(np.exp(-8.0 * np.asarray(gate, float) * strength)[:, None])


def _rwkv(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    logits = np.asarray(found[0] if gate is None else gate, float).ravel()
    return Recurrence(np.exp(-np.exp(logits))[:, None])


def _rwkv7(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    logits = np.asarray(found[0] if gate is None else gate, float).ravel()
    return Recurrence(np.exp(-np.exp(-0.5) * _sigmoid(logits))[:, None])


def _xlstm(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    bias = np.asarray(found[0], float).ravel()
    forget = _sigmoid(15 * np.tanh(bias / 15)) if gate is None else np.asarray(gate, float)
    return Recurrence(forget[:, None])


def _gla(found: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    forget = _sigmoid(np.asarray(found[0], float).ravel()) ** (1 / 16)
    return Recurrence((forget if gate is None else np.asarray(gate, float))[:, None])


def _is_matrix_first(shapes: Sequence[tuple[int, ...]]) -> bool:
    return len(shapes[0]) == 2


def _is_vector_first(shapes: Sequence[tuple[int, ...]]) -> bool:
    return len(shapes[0]) == 1


def _is_square(shapes: Sequence[tuple[int, ...]]) -> bool:
    (first, second), rest = (*shapes[0], 0)[:2] if len(shapes[0]) == 2 else (0, 1), shapes[1]
    return first == second > 1 and len(rest) in (1, 2) and rest[0] == first


#: The kinds, the more particular first: of a prefix, the first that fits is taken.
KINDS = (
    Kind("LRU", (("nu_log",), ("theta_log",)), _lru,
         "Orvieto et al. 2023, eq. 8: λ = exp(−exp(ν) + i exp(θ))",
         optional=("B_re", "B_im", "B", "gamma_log", "gamma_logs")),
    Kind("S5", (("Lambda_re",), ("Lambda_im",), ("B",), ("log_step",)), _s5,
         "Smith et al. 2023, eq. 6: zero-order hold"),
    Kind("S4", (("log_w_real", "log_A_real", "inv_A_real"), ("w_imag", "A_imag"), ("P",), ("B",),
                ("log_dt", "inv_dt")), _s4,
         "Gu et al. 2022, sec. 3: diagonal plus low rank, bilinear rule"),
    Kind("S4D", (("log_A_real", "inv_A_real"), ("A_imag",), ("log_dt", "inv_dt")), _s4d,
         "Gu et al. 2022 (S4D), listing 1: zero-order hold"),
    Kind("DSS", (("Lambda",), ("log_dt",)), _dss, "Gupta et al. 2022, prop. 1",
         fits=lambda shapes: shapes[0][-1:] == (2,)),
    Kind("Mamba", (("A_log",), ("dt_proj.bias",)), _mamba,
         "Gu and Dao 2023, alg. 2: λ = exp(−Δ exp(A_log))", gate="Δ = softplus(bias)",
         fits=_is_matrix_first),
    Kind("scalar decay per head (Mamba-2, gated DeltaNet)", (("A_log",), ("dt_bias",)),
         _scalar_decay, "Dao and Gu 2024, sec. 2: a = exp(−Δ exp(A_log))",
         gate="Δ = softplus(bias)", fits=_is_vector_first),
    Kind("RG-LRU", (("recurrent_param", "a_param"),), _rg_lru,
         "De et al. 2024, eq. 3: a = exp(−8 r softplus(Λ))", gate="r = σ(bias)",
         optional=("recurrent_gate_bias", "a_gate.b")),
    Kind("RWKV", (("time_decay",),), _rwkv,
         "Peng et al. 2023, eq. 14, and 2024: w = exp(−exp(decay))",
         gate="the decay without its low-rank part (RWKV-6)"),
    Kind("RWKV-7", (("w0",),), _rwkv7, "Peng et al. 2025: w = exp(−e^(−½) σ(w₀))",
         gate="the decay without its low-rank part"),
    Kind("mLSTM", (("fgate_preact.bias",),), _xlstm,
         "Beck et al. 2024 and 2025: f = σ(15 tanh(bias/15))", gate="f at input zero"),
    Kind("GLA", (("gk_proj.1.bias",),), _gla, "Yang et al. 2024: α = σ(bias)^(1/16)",
         gate="α at input zero"),
    Kind("fixed (A, B)", (("A",), ("B",)), _fixed,
         "Voelker et al. 2019 (LMU), Gu et al. 2020 (HiPPO): A and B as they are stored",
         fits=_is_square),
)  # fmt: skip


class Found(NamedTuple):
    """A layer: its prefix, its kind, and the names of its tensors after the prefix."""

    prefix: str
    kind: Kind
    names: tuple[str, ...]


def recognised(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[Found]:
    """Layers among tensors of these names and shapes, in the order of the names."""
    taken = set()
    prefixes: dict[str, dict[str, None]] = {}
    endings = [ending for kind in KINDS for ending in kind.names[0]]
    for name in shapes:
        for ending in endings:
            if name == ending or name.endswith(f".{ending}"):
                prefixes.setdefault(name[: len(name) - len(ending)], {})
    for prefix in prefixes:
        for kind in KINDS:
            chosen = [
                next((n for n in either if f"{prefix}{n}" in shapes), "") for either in kind.names
            ]
            if all(chosen) and kind.fits([shapes[f"{prefix}{n}"] for n in chosen]):
                more = [n for n in kind.optional if f"{prefix}{n}" in shapes]
                if prefix not in taken:
                    taken.add(prefix)
                    yield Found(prefix, kind, (*chosen, *more))


def fixed_decays(config: Mapping[str, Any]) -> Recurrence | None:
    """Decays that the configuration implies: RetNet's, γ = 1 − 2^(−5 − h) (Sun et al. 2023)."""
    if config.get("model_type") != "retnet":
        return None
    heads = config.get("decoder_retention_heads") or config.get("num_heads")
    if not isinstance(heads, int) or heads < 1:
        return None
    return Recurrence(np.asarray(1 - np.exp2(-5.0 - np.arange(heads)), dtype=float)[:, None])
