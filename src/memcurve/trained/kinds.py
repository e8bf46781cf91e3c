"""Recurrent layers by the names and shapes of their tensors: what each stores, as poles.

A kind is declared once: how it is recognised, the formula that turns its tensors into the poles of
x_t = λx_{t−1} + b z_t, and where the formula stands: the paper, and the code that runs it, against
which the rule was checked. Layers whose decay is *gated* by their input are linear only while the
gate stays; they are computed at a stated gate (at rest: of input zero). Of layers with the delta
rule, S ← S(1 − βkkᵀ)·decay + βvkᵀ, the decay is what is left of a write whose key is not met again.
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


class Setting(NamedTuple):
    """What else decides: the gate asked for, None at rest, and the model's configuration."""

    gate: Any = None
    config: Mapping[str, Any] = {}

    def value(self, name: str, default: Any = None) -> Any:
        """Of this name in the configuration or a part of it, as multimodal models have them."""
        parts = [self.config, *(each for each in self.config.values() if isinstance(each, Mapping))]
        return next((part[name] for part in parts if part.get(name) is not None), default)


class Recurrence(NamedTuple):
    """Poles (channels, modes) and how each is driven; or networks, where modes are not alone.

    ``drive`` has a third axis where a channel has several inputs; ``output`` has the weights of
    what a channel gives on, y = Re Σ_k c_k x_k: (channels, outputs, modes); None: all states.
    """

    poles: Numbers | None = None
    drive: Numbers | None = None
    networks: tuple[LinearNetwork, ...] = ()
    output: Numbers | None = None

    @property
    def gates(self) -> int:
        """How many values a gate of the layer has."""
        return sum(each.size for each in self.networks) if self.poles is None else len(self.poles)

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
    stacked; ``together`` is done to all of them before. ``modes`` tells the axes along which
    tensors list the modes, where these are alone: such layers can be pruned.
    """

    name: str
    names: tuple[tuple[str, ...], ...]
    recurrence: Callable[[Sequence[Any], Tensors, Setting], Recurrence]
    source: str
    gate: str = ""
    fits: Callable[[Sequence[tuple[int, ...]]], bool] = lambda shapes: True
    optional: tuple[str, ...] = ()
    axes: int = 0
    together: Callable[[Any], Any] = lambda tensor: tensor
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


def _lru(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
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


def _s5(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    re, im, B, log_step = stored
    poles, step = (re + 1j * im).ravel(), np.exp(log_step.ravel())
    C = 2 * complex_of(tensors["C"]) if "C" in tensors else None  # the conjugate half is implied
    return _driven(diagonal_network(poles, complex_of(B), step=step), C)


def _continuous_poles(real: Any, imaginary: Any, tensors: Tensors, channels: int) -> Complexes:
    """−exp(A_real) ± i·A_imag, repeated where several channels share them."""
    sign = -1 if "A_real" in tensors else 1  # since the version of 2023
    poles = np.atleast_2d(-np.exp(real) + sign * 1j * imaginary)
    return np.tile(poles, (channels // len(poles), 1))


def _s4d(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
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


def _s4(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
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


def _dss(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
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


def _fixed(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    A, B = stored
    return Recurrence(networks=(LinearNetwork(A, B.reshape(len(A), -1)),))


def _mamba(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    step = _softplus(stored[1]) if at.gate is None else at.gate
    return Recurrence(np.exp(-np.exp(stored[0]) * step.reshape(-1, 1)))


def _scalar_decay(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    rate, bias = np.exp(stored[0]).ravel(), stored[1].ravel()
    rate = np.repeat(rate, len(bias) // len(rate))
    floor = _least_log_decay(at)
    if floor is not None:
        share = _sigmoid(rate * bias) if at.gate is None else at.gate.ravel()
        return Recurrence(np.exp(floor * share)[:, None])
    least, most = _step_limits(at)
    step = np.clip(_softplus(bias), least, most) if at.gate is None else at.gate.ravel()
    return Recurrence(np.exp(-rate * step)[:, None])


def _least_log_decay(at: Setting) -> float | None:
    """Where Kimi's delta attention bounds its decay from below; None: softplus, as elsewhere."""
    if not at.value("kda_safe_gate", at.value("safe_gate", True)):
        return None
    names = ("kda_lower_bound", "linear_lower_bound", "gate_lower_bound", "lower_bound")
    return next((float(x) for x in map(at.value, names) if x is not None), None)


def _step_limits(at: Setting) -> tuple[float, float]:
    if at.value("model_type") in ("zamba2", "nemotron_h"):
        return at.value("time_step_min", 0.0), np.inf
    least, most = at.value("time_step_limit", at.value("dt_limit", (0.0, np.inf)))
    return float(least), float(most)


def _rg_lru(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    strength, gate = _softplus(stored[0].ravel()), at.gate
    if gate is None:
        bias = next((tensors[n] for n in ("recurrent_gate_bias", "a_gate.b") if n in tensors), 0.0)
        gate = _sigmoid(np.ravel(bias))
    return Recurrence(np.exp(-8.0 * gate * strength)[:, None])


def _retnet(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    decay, angle = stored
    return Recurrence(np.exp(decay[:, None] + 1j * angle[::2]))  # listed twice, for sine and cosine


def _gated(decay: Callable[[Floats, Tensors, Setting], Floats]) -> Any:
    """A decay that is a function of one tensor; a given gate is the decay itself."""

    def recurrence(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
        values = decay(stored[0], tensors, at) if at.gate is None else at.gate
        return Recurrence(np.asarray(values).reshape(-1, 1))

    return recurrence


def _gla_decay(bias: Floats, tensors: Tensors, at: Setting) -> Floats:
    return np.asarray(_sigmoid(bias) ** (1 / at.value("gate_logit_normalizer", 16)))


def _mlstm_decay(bias: Floats, tensors: Tensors, at: Setting) -> Floats:
    if "fgate.bias" in tensors:
        return _sigmoid(bias)
    cap = at.value("gate_soft_cap", 15.0)
    own = bias[len(bias) // 2 :] if "ifgate_preact.bias" in tensors else bias
    return _sigmoid(cap * np.tanh(own / cap))


def _slstm(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    R, bias = stored
    heads, width = len(R), min(R.shape[1:])
    if R.shape[1] == width:  # the compiled cell: a head's gates i, f, z, o side by side
        f, o = (bias.reshape(heads, 4, width)[:, k] for k in (1, 3))
        back = R.reshape(heads, width, 4, width)[:, :, 2].transpose(0, 2, 1)
    else:
        f, o = (bias.reshape(4, heads, width)[k] for k in (1, 3))
        back = R.reshape(heads, 4, width, width)[:, 2]
    f = _sigmoid(f) if at.gate is None else at.gate.reshape(heads, width)
    rows = zip(f, back * _sigmoid(o)[:, None], strict=True)
    return Recurrence(
        networks=tuple(
            LinearNetwork(np.diag(keep) + (1 - keep)[:, None] * W, np.diag(1 - keep))
            for keep, W in rows
        )
    )


def _delta(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    beta = np.full(len(stored[0]), 0.5) if at.gate is None else at.gate.ravel()
    most = 2.0 if at.value("allow_neg_eigval") else 1.0
    return Recurrence(1 - most * beta[:, None])


def _hgrn_bounds(bounds: Floats) -> Floats:
    """Lower bounds of all layers: zero for the first, and less than one."""
    shares = np.exp(bounds - np.logaddexp.reduce(bounds, axis=0))
    return np.asarray(np.cumsum(shares, axis=0) - shares[:1])


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
    Kind("Mamba", (("A_log",), ("dt_proj.bias", "dt_proj_bias")), _mamba,
         "λ = exp(−Δ exp(A_log)): Gu and Dao 2023, arXiv 2312.00752; transformers, modeling_mamba",
         gate="Δ = softplus(bias)", fits=lambda shapes: len(shapes[0]) in (2, 3), axes=2),
    Kind("scalar decay per head (Mamba-2, gated DeltaNet)", (("A_log",), ("dt_bias",)),
         _scalar_decay,
         "a = exp(−Δ exp(A_log)): Dao and Gu, arXiv 2405.21060; transformers, modeling_mamba2; "
         "gated DeltaNet (arXiv 2412.06464), modeling_qwen3_next, and Kimi's delta attention, "
         "fla/layers/kda.py, bounded where its configuration says so: the decay, not what the "
         "delta rule erases",
         gate="Δ = softplus(bias), or σ(exp(A_log) bias) where it is bounded", axes=1),
    Kind("RG-LRU", (("recurrent_param", "a_param"),), _rg_lru,
         "a = exp(−8 r softplus(Λ)): De et al. 2024, arXiv 2402.19427; "
         "google-deepmind/recurrentgemma, torch/layers.py; transformers, modeling_recurrent_gemma",
         gate="r = σ(bias)", optional=("recurrent_gate_bias", "a_gate.b")),
    Kind("RWKV-6", (("time_decay", "w_proj.linear.lora.2.bias"),
                    ("time_decay_w1", "w_proj.linear.lora.0.weight")),
         _gated(lambda w, *_: np.exp(-np.exp(w))),
         "w = exp(−exp(decay)): Peng et al. 2024, arXiv 2404.05892; flash-linear-attention, "
         "fla/layers/rwkv6.py", gate="w without its low-rank part"),
    Kind("RWKV", (("time_decay",),), _gated(lambda w, *_: np.exp(-np.exp(w))),
         "w = exp(−exp(decay)), whatever the input: Peng et al. 2023, arXiv 2305.13048; "
         "transformers, modeling_rwkv"),
    Kind("RWKV-7", (("w0", "w_lora.lora.2.bias"),),
         _gated(lambda w, *_: np.exp(-np.exp(-0.5) * _sigmoid(w))),
         "w = exp(−e^(−½) σ(w₀)): Peng et al. 2025, arXiv 2503.14456; fla/layers/rwkv7.py; its "
         "decay alone, not what the delta rule erases", gate="w without its low-rank part"),
    Kind("DeltaNet", (("b_proj.weight",), ("k_proj.weight",)), _delta,
         "1 − β, for keys that stay: Yang et al. 2024, arXiv 2406.06484; fla/layers/delta_net.py",
         gate="β = σ(0)", fits=lambda shapes: len(shapes[0]) == 2 and shapes[0][0] < shapes[1][0]),
    Kind("mLSTM", (("fgate_preact.bias", "ifgate_preact.bias", "fgate.bias"),),
         _gated(_mlstm_decay),
         "f = σ(bias): Beck et al. 2024, arXiv 2405.04517; NX-AI/xlstm, blocks/mlstm/cell.py; of "
         "15 tanh(bias/15) in transformers, modeling_xlstm", gate="f at input zero"),
    Kind("sLSTM", (("_recurrent_kernel_",), ("_bias_",)), _slstm,
         "c ← fc + (1 − f)(z + R_z oc), what is read at small inputs with i at rest: Beck et al. "
         "2024, arXiv 2405.04517; NX-AI/xlstm, blocks/slstm/cell.py and src/vanilla/slstm.py",
         gate="f = σ(bias)"),
    Kind("GLA", (("gk_proj.1.bias",),), _gated(_gla_decay),
         "α = σ(bias)^(1/16), unless the configuration has another root: Yang et al. 2024, arXiv "
         "2312.06635; fla/layers/gla.py", gate="α at input zero"),
    Kind("HGRN", (("lower_bounds",),), _gated(lambda bound, *_: (1 + bound) / 2),
         "f = γ + (1 − γ)σ(0), γ a cumulative softmax over layers: Qin et al. 2023, arXiv "
         "2311.04823; fla/models/hgrn", gate="f at input zero", axes=1, together=_hgrn_bounds),
    Kind("RetNet", (("decay",), ("angle",)), _retnet,
         "γ_h e^(iθ_j) for keys that stay, which turn by θ_j per step: Sun et al. 2023, arXiv "
         "2307.08621; microsoft/torchscale, architecture/retnet.py, "
         "component/multiscale_retention.py; fla/layers/multiscale_retention.py", axes=1),
    Kind("lightning attention", (("slope_rate",),), _gated(lambda slope, *_: np.exp(-slope)),
         "exp(−slope) per head: MiniMax 2025, arXiv 2501.08313; transformers, modeling_minimax"),
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
