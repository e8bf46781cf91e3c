"""Recurrent layers by the names and shapes of their tensors: what each stores, as poles.

A kind is declared once: how it is recognised, the formula that turns its tensors into the poles of
x_t = λx_{t−1} + b z_t, and where the formula stands: the paper, and the code that runs it, against
which the rule was checked. Layers whose decay is *gated* by their input are linear only while the
gate stays; they are computed at a stated gate (at rest: of input zero).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memcurve.core.types import Complexes, Floats
from memcurve.network import LinearNetwork
from memcurve.network.diagonal import diagonal_network, lru_mask, lru_poles

#: What one layer stores, by the names after its prefix.
Tensors = Mapping[str, Any]
#: Real or complex.
Numbers = NDArray[Any]


class Recurrence(NamedTuple):
    """Poles (channels, modes) and how each is driven; or networks, where modes are not alone.

    ``drive`` has a third axis where a channel has several inputs; ``output`` has the weights of
    what a channel gives on, y = Re Σ_k c_k x_k: (channels, outputs, modes); None: all states.
    """

    poles: Numbers | None = None
    drive: Numbers | None = None
    networks: tuple[LinearNetwork, ...] = ()
    output: Numbers | None = None

    def network(self, channel: int) -> LinearNetwork:
        """One channel as a network."""
        count = len(self.networks) if self.poles is None else len(self.poles)
        if not 0 <= channel < count:
            raise ValueError(f"`channel` must be below {count}, got {channel}.")
        if self.poles is None:
            return self.networks[channel]
        drive = np.ones(self.poles.shape[1]) if self.drive is None else self.drive[channel]
        return LinearNetwork(np.diag(self.poles[channel]), drive)

    def output_weights(self, channel: int = 0) -> Floats | None:
        """Weights of the outputs of a channel (states, outputs), for its real states."""
        if self.output is None:
            return None
        weights = self.output[channel]
        if not np.iscomplexobj(weights):
            return np.asarray(weights.T)
        return np.concatenate([weights.real.T, -weights.imag.T])


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of layer.

    ``names`` are the tensors that it must have, each by one of several names; ``gate`` says what
    its decay depends on, nothing for a layer that is linear as it is. ``fits`` looks at shapes.
    ``axes`` is how many the first tensor has: one more, and the first counts layers that are
    stacked. ``modes`` tells the axes along which tensors list the modes, where these are alone:
    such layers can be pruned.
    """

    name: str
    names: tuple[tuple[str, ...], ...]
    recurrence: Callable[[Sequence[Any], Tensors, Any], Recurrence]
    source: str
    gate: str = ""
    fits: Callable[[Sequence[tuple[int, ...]]], bool] = lambda shapes: True
    optional: tuple[str, ...] = ()
    axes: int = 0
    modes: Mapping[str, int] | None = None


def _softplus(x: Floats) -> Floats:
    return np.logaddexp(0.0, x)


def _sigmoid(x: Floats) -> Floats:
    from scipy.special import expit

    return np.asarray(expit(x))


def complex_of(x: Any) -> Complexes:
    """Numbers that are complex, or pairs of real and imaginary parts along the last axis."""
    x = np.asarray(x)
    if x.shape[-1:] == (2,) and not np.iscomplexobj(x):
        x = x[..., 0] + 1j * x[..., 1]
    return np.asarray(x, dtype=complex)


def _held(poles: Numbers, scaled: Numbers, B: Any = 1.0, C: Numbers | None = None) -> Recurrence:
    """The zero-order hold of ``poles``, ``scaled`` by the step: λ̄ = exp(hλ), b̄ = (λ̄ − 1)/λ·B."""
    drive = np.expm1(scaled) / np.where(poles == 0, 1, poles) * B  # such a mode does not decay
    return Recurrence(np.exp(scaled), drive, output=C)


def _lru(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    poles = lru_poles(*(each.ravel() for each in stored))
    B, C = (_parts(tensors, name) for name in "BC")
    if B is None:
        return Recurrence(poles[None, :])
    scale = next((tensors[name] for name in ("gamma_log", "gamma_logs") if name in tensors), None)
    mask = lru_mask(B, None if scale is None else scale.ravel())
    return _driven(diagonal_network(poles, mask), C)


def _driven(network: LinearNetwork, C: Numbers | None) -> Recurrence:
    """One channel of several inputs."""
    poles = np.asarray(network.A.diagonal(), complex)[None]
    mask = network.C.reshape(1, network.size, -1).astype(complex)
    return Recurrence(poles, mask, output=None if C is None else C[None])


def _parts(tensors: Tensors, name: str) -> Complexes | None:
    """A complex tensor, which may be stored as two."""
    if f"{name}_re" in tensors and f"{name}_im" in tensors:
        return np.asarray(tensors[f"{name}_re"] + 1j * tensors[f"{name}_im"])
    return complex_of(tensors[name]) if name in tensors else None


def _s5(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    re, im, B, log_step = stored
    poles, step = (re + 1j * im).ravel(), np.exp(log_step.ravel())
    C = 2 * complex_of(tensors["C"]) if "C" in tensors else None  # the conjugate half is implied
    return _driven(diagonal_network(poles, complex_of(B), step=step), C)


def _continuous_poles(real: Any, imaginary: Any, tensors: Tensors, channels: int) -> Complexes:
    """−exp(A_real) ± i·A_imag, repeated where several channels share them."""
    sign = -1 if "A_real" in tensors else 1  # since the version of 2023
    poles = np.atleast_2d(-np.exp(real) + sign * 1j * imaginary)
    return np.tile(poles, (channels // len(poles), 1))


def _s4d(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    step = np.exp(stored[2])
    step = step.reshape(len(step), -1) if step.ndim else step.reshape(1, 1)
    poles = _continuous_poles(stored[0], stored[1], tensors, len(step))
    B: Any = 1.0
    if "B" in tensors:
        B = complex_of(tensors["B"]).reshape(-1, poles.shape[1])
        B = np.tile(B, (len(poles) // len(B), 1))
    C = None
    if "C" in tensors:
        C = 2 * complex_of(tensors["C"]).reshape(-1, *poles.shape).transpose(1, 0, 2)
    return _held(poles, poles * step, B, C)


def _s4(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    steps = np.exp(stored[4]).ravel()
    w = _continuous_poles(stored[0], stored[1], tensors, len(steps))
    n, networks = w.shape[1], []
    B = complex_of(stored[3]).reshape(-1, n)
    P = complex_of(stored[2]).reshape(-1, len(B), n)  # (rank, copies, modes)
    # real and imaginary parts of the first half, whose conjugate the second half is
    U = np.block([[np.eye(n), np.eye(n)], [-1j * np.eye(n), 1j * np.eye(n)]]) / 2
    for k, h in enumerate(steps):
        b, p = B[k % len(B)], P[:, k % len(B)]
        b, p = np.concatenate([b, b.conj()]), np.concatenate([p, p.conj()], axis=1)
        A = np.diag(np.concatenate([w[k], w[k].conj()])) - p.T @ p.conj()
        left = np.eye(2 * n) - h / 2 * A
        A, b = np.linalg.solve(left, np.eye(2 * n) + h / 2 * A), np.linalg.solve(left, h * b)
        networks.append(LinearNetwork((U @ A @ np.linalg.inv(U)).real, (U @ b).real))
    return Recurrence(networks=tuple(networks))


def _dss(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    if "Lambda" in tensors:
        poles = complex_of(tensors["Lambda"])
    else:
        imaginary = tensors.get("Lambda_im", np.exp(tensors.get("Lambda_log_im", 0.0)))
        poles = -np.exp(stored[0]) + 1j * imaginary
    step = np.exp(stored[1])
    step = step.reshape(len(step), -1)[:, [0, -1]]  # of real parts, and of imaginary ones
    scaled = poles.real * step[:, :1] + 1j * poles.imag * step[:, 1:]
    C = None
    if "W" in tensors:
        C = complex_of(tensors["W"]).reshape(-1, *scaled.shape).transpose(1, 0, 2)
    return _held(poles, scaled, C=C)


def _fixed(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    A, B = stored
    return Recurrence(networks=(LinearNetwork(A, B.reshape(len(A), -1)),))


def _step(bias: Any, gate: Any) -> Floats:
    return _softplus(bias) if gate is None else np.asarray(gate)


def _mamba(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    return Recurrence(np.exp(-np.exp(stored[0]) * _step(stored[1], gate).reshape(-1, 1)))


def _scalar_decay(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    rate, step = np.exp(stored[0]).ravel(), _step(stored[1], gate).ravel()
    return Recurrence(np.exp(-np.repeat(rate, len(step) // len(rate)) * step)[:, None])


def _rg_lru(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    strength = _softplus(stored[0].ravel())
    if gate is None:
        bias = next((tensors[n] for n in ("recurrent_gate_bias", "a_gate.b") if n in tensors), 0.0)
        gate = _sigmoid(np.ravel(bias))
    return Recurrence(np.exp(-8.0 * gate * strength)[:, None])


def _retnet(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
    decay, angle = stored
    return Recurrence(np.exp(decay[:, None] + 1j * angle[::2]))  # listed twice, for sine and cosine


def _gated(decay: Callable[[Floats], Floats], of_gate: bool = False) -> Any:
    """A decay that is a function of one tensor; a given gate is that tensor, or the decay."""

    def recurrence(stored: Sequence[Any], tensors: Tensors, gate: Any) -> Recurrence:
        if gate is not None and not of_gate:
            return Recurrence(gate.reshape(-1, 1))
        given = stored[0] if gate is None else gate
        return Recurrence(np.asarray(decay(given)).reshape(-1, 1))

    return recurrence


def _hgrn_rest(bounds: Floats) -> Floats:
    """Decays of all layers at input zero: halfway between the lower bound of each and one."""
    shares = np.exp(bounds - np.logaddexp.reduce(bounds, axis=0))
    return np.asarray((1 + np.cumsum(shares, axis=0) - shares[:1]) / 2)


def _is_square(shapes: Sequence[tuple[int, ...]]) -> bool:
    (first, second), rest = (*shapes[0], 0)[:2] if len(shapes[0]) == 2 else (0, 1), shapes[1]
    return first == second > 1 and len(rest) in (1, 2) and rest[0] == first


#: The kinds, the more particular first: of a prefix, the first that fits is taken.
KINDS = (
    Kind("LRU", (("nu_log",), ("theta_log",)), _lru,
         "λ = exp(−exp(ν) + i exp(θ)), B scaled by exp(γ): Orvieto et al. 2023, arXiv 2303.06349; "
         "minimal-LRU, lru/model.py",
         optional=("B_re", "B_im", "B", "C_re", "C_im", "C", "gamma_log", "gamma_logs"), axes=1,
         modes={"nu_log": 0, "theta_log": 0, "gamma_log": 0, "gamma_logs": 0, "B_re": 0, "B_im": 0,
                "B": 0, "C_re": 1, "C_im": 1, "C": 1}),
    Kind("S5", (("Lambda_re",), ("Lambda_im",), ("B",), ("log_step",)), _s5,
         "zero-order hold, its default: Smith et al. 2023, arXiv 2208.04933; lindermanlab/S5, "
         "s5/ssm.py",
         optional=("C",), axes=1,
         modes={"Lambda_re": 0, "Lambda_im": 0, "B": 0, "log_step": 0, "C": 1}),
    Kind("S4", (("inv_w_real", "log_w_real", "A_real"), ("w_imag", "A_imag"), ("P",), ("B",),
                ("log_dt", "inv_dt")), _s4,
         "diagonal plus low rank, bilinear rule, exponentials as by default: Gu et al. 2022, arXiv "
         "2111.00396; state-spaces/s4, models/s4/s4.py (SSMKernelDPLR)"),
    Kind("S4D", (("log_A_real", "inv_A_real", "A_real"), ("A_imag",), ("log_dt", "inv_dt")), _s4d,
         "zero-order hold: Gu et al. 2022, arXiv 2206.11893; state-spaces/s4, models/s4/s4d.py",
         optional=("B", "C"),
         modes={"log_A_real": -1, "inv_A_real": -1, "A_real": -1, "A_imag": -1, "B": -2, "C": -2}),
    Kind("DSS", (("Lambda_log_neg_re", "Lambda"), ("log_dt",)), _dss,
         "zero-order hold: Gupta et al. 2022, arXiv 2203.14343; ag1988/dss, standalone/dss.py",
         optional=("Lambda_im", "Lambda_log_im", "W")),
    Kind("Mamba", (("A_log",), ("dt_proj.bias",)), _mamba,
         "λ = exp(−Δ exp(A_log)): Gu and Dao 2023, arXiv 2312.00752; transformers, modeling_mamba",
         gate="Δ = softplus(bias)", fits=lambda shapes: len(shapes[0]) in (2, 3), axes=2),
    Kind("scalar decay per head (Mamba-2, gated DeltaNet)", (("A_log",), ("dt_bias",)),
         _scalar_decay,
         "a = exp(−Δ exp(A_log)): Dao and Gu, arXiv 2405.21060; transformers, modeling_mamba2; "
         "of the delta rule (arXiv 2412.06464, KDA) the decay, not what it erases",
         gate="Δ = softplus(bias)", axes=1),
    Kind("RG-LRU", (("recurrent_param", "a_param"),), _rg_lru,
         "a = exp(−8 r softplus(Λ)): De et al. 2024, arXiv 2402.19427; "
         "google-deepmind/recurrentgemma, torch/layers.py; transformers, modeling_recurrent_gemma",
         gate="r = σ(bias)", optional=("recurrent_gate_bias", "a_gate.b")),
    Kind("RWKV-6", (("time_decay", "w_proj.linear.lora.2.bias"),
                    ("time_decay_w1", "w_proj.linear.lora.0.weight")),
         _gated(lambda w: np.exp(-np.exp(w)), of_gate=True),
         "w = exp(−exp(decay)): Peng et al. 2024, arXiv 2404.05892; flash-linear-attention, "
         "fla/layers/rwkv6.py", gate="the decay without its low-rank part"),
    Kind("RWKV", (("time_decay",),), _gated(lambda w: np.exp(-np.exp(w)), of_gate=True),
         "w = exp(−exp(decay)), whatever the input: Peng et al. 2023, arXiv 2305.13048; "
         "transformers, modeling_rwkv"),
    Kind("RWKV-7", (("w0", "w_lora.lora.2.bias"),),
         _gated(lambda w: np.exp(-np.exp(-0.5) * _sigmoid(w)), of_gate=True),
         "w = exp(−e^(−½) σ(w₀)): Peng et al. 2025, arXiv 2503.14456; fla/layers/rwkv7.py; its "
         "decay alone, not what the delta rule erases", gate="the decay without its low-rank part"),
    Kind("mLSTM", (("fgate_preact.bias",),), _gated(lambda b: _sigmoid(15 * np.tanh(b / 15))),
         "f = σ(15 tanh(bias/15)): Beck et al. 2024, arXiv 2405.04517; modeling_xlstm",
         gate="f at input zero"),
    Kind("GLA", (("gk_proj.1.bias",),), _gated(lambda b: _sigmoid(b) ** (1 / 16)),
         "α = σ(bias)^(1/16): Yang et al. 2024, arXiv 2312.06635; fla/layers/gla.py",
         gate="α at input zero"),
    Kind("HGRN", (("lower_bounds",),), _gated(_hgrn_rest),
         "f = γ + (1 − γ)σ(0), γ a cumulative softmax over layers: Qin et al. 2023, arXiv "
         "2311.04823; fla/models/hgrn", gate="f at input zero, all layers"),
    Kind("RetNet", (("decay",), ("angle",)), _retnet,
         "γ_h e^(iθ_j) for keys that stay, which turn by θ_j per step: Sun et al. 2023, arXiv "
         "2307.08621; microsoft/torchscale, architecture/retnet.py, "
         "component/multiscale_retention.py; fla/layers/multiscale_retention.py", axes=1),
    Kind("fixed (A, B)", (("A",), ("B",)), _fixed,
         "A and B as they are stored: Voelker et al. 2019 (LMU), Gu et al. 2020, arXiv 2008.07669 "
         "(HiPPO)", fits=_is_square),
)  # fmt: skip


class StoredLayer(NamedTuple):
    """A layer: its prefix, its kind, and the names of its tensors after the prefix."""

    prefix: str
    kind: Kind
    names: tuple[str, ...]
    place: int | None = None  # among layers that are stacked along the first axis

    @property
    def name(self) -> str:
        """What the layer is called: its prefix, or else its kind."""
        name = self.prefix.rstrip(".") or self.kind.name
        return name if self.place is None else f"{name}[{self.place}]"


def recognised(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[StoredLayer]:
    """Layers among tensors of these names and shapes, in the order of the names."""
    endings = [ending for kind in KINDS for ending in kind.names[0]]
    prefixes = {
        name.removesuffix(ending): None
        for name in shapes
        for ending in endings
        if name == ending or name.endswith(f".{ending}")
    }
    for prefix in prefixes:
        for kind in KINDS:
            chosen = [
                next((n for n in either if f"{prefix}{n}" in shapes), "") for either in kind.names
            ]
            if all(chosen) and kind.fits([shapes[f"{prefix}{n}"] for n in chosen]):
                more = [n for n in kind.optional if f"{prefix}{n}" in shapes]
                shape = shapes[f"{prefix}{chosen[0]}"]
                is_stacked = len(shape) == kind.axes + 1 > 1
                for place in range(shape[0]) if is_stacked else (None,):
                    yield StoredLayer(prefix, kind, (*chosen, *more), place)
                break
