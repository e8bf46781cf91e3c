"""Recurrent layers by the names and shapes of their tensors: what each stores, as poles.

``kinds.toml`` lists the kinds: by which tensors they are recognised, and where the rule stands that
turns these into the poles of x_t = λx_{t−1} + b z_t. Layers whose decay is *gated* by their input
are linear only while the gate stays; they are computed at a stated gate (at rest: of input zero).
Of layers with the delta rule, S ← S(1 − βkkᵀ)·decay + βvkᵀ, the decay is what is left of a write
whose key is not met again.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from memcurve.core.notes import counted, texts_beside
from memcurve.core.types import Complexes, Floats
from memcurve.network import LinearNetwork
from memcurve.network.diagonal import diagonal_network

#: What one layer stores, by the names after its prefix.
Tensors = Mapping[str, Any]
#: Real or complex.
Numbers = NDArray[Any]


class Setting(NamedTuple):
    """Further settings: the gate requested, None at rest, and the model's configuration."""

    gate: Any = None
    config: Mapping[str, Any] = {}

    def value(self, name: str, default: Any = None) -> Any:
        """An entry of the configuration or, in multimodal models, of a part of it."""
        parts = [self.config, *(part for part in self.config.values() if isinstance(part, Mapping))]
        return next((part[name] for part in parts if part.get(name) is not None), default)


class Recurrence(NamedTuple):
    """Poles (channels, modes), or matrices where modes act on each other, and how they are driven.

    ``drive`` has a third axis where a channel has several inputs; ``output`` has the weights of
    the outputs of a channel, y = Re Σ_k c_k x_k: (channels, outputs, modes); None: all states.
    """

    A: Numbers
    drive: Numbers | None = None
    output: Numbers | None = None

    @property
    def gates(self) -> int:
        """How many values a gate of the layer has."""
        return len(self.A) * (self.A.shape[1] if self.A.ndim == 3 else 1)

    def network(self, channel: int) -> LinearNetwork:
        """One channel as a network."""
        if not 0 <= channel < len(self.A):
            raise ValueError(f"`channel` must be below {len(self.A)}, got {channel}.")
        A = self.A[channel]
        drive = np.ones(len(A)) if self.drive is None else self.drive[channel]
        return LinearNetwork(A if A.ndim == 2 else np.diag(A), drive)

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
    """A kind of layer, by ``kinds.toml``; ``together`` is done to a stack before one is taken."""

    name: str
    tensors: Sequence[Sequence[str]]
    recurrence: Callable[[Sequence[Any], Tensors, Setting], Recurrence]
    source: str
    gate: str = ""
    fits: Callable[[Sequence[tuple[int, ...]]], bool] = lambda shapes: True
    optional: Sequence[str] = ()
    axes: int = 0
    together: Callable[[Any], Any] = lambda tensor: tensor
    modes: Mapping[str, int] | None = None


def _softplus(x: Floats) -> Floats:
    return np.logaddexp(0.0, x)


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
    nu, theta = np.exp(np.stack([tensor.ravel() for tensor in stored]))
    poles = np.exp(-nu + 1j * theta)
    B, C = (_parts(tensors, name) for name in "BC")
    if B is None:
        return Recurrence(poles[None, :])
    scale = next((tensors[name] for name in ("gamma_log", "gamma_logs") if name in tensors), None)
    B = B if scale is None else np.diag(np.exp(scale.ravel())) @ B
    return _driven(diagonal_network(poles, B), C)


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
    """Real and imaginary parts of half of the modes, whose conjugates the others are."""
    steps = np.exp(stored[4]).ravel()[:, None, None]
    w = _continuous_poles(stored[0], stored[1], tensors, len(steps))
    n = w.shape[1]
    B = complex_of(stored[3]).reshape(-1, n)
    P = complex_of(stored[2]).reshape(-1, len(B), n)  # (rank, copies, modes)
    B, P = (np.concatenate([x.real, x.imag], axis=-1) for x in (B, P.transpose(1, 0, 2)))
    copies = np.arange(len(w)) % len(B)
    A, k = np.zeros((len(w), 2 * n, 2 * n)), np.arange(n)
    A[:, k, k] = A[:, n + k, n + k] = w.real
    A[:, n + k, k], A[:, k, n + k] = w.imag, -w.imag
    A = (steps / 2) * (A - 2 * (P.transpose(0, 2, 1) @ P)[copies])
    drive = steps * B[copies, :, None]
    both = np.linalg.solve(np.eye(2 * n) - A, np.concatenate([np.eye(2 * n) + A, drive], axis=2))
    return Recurrence(both[:, :, :-1], both[:, :, -1:])


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
    return Recurrence(A[None], B.reshape(1, len(A), -1))


def _mamba(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    step = _softplus(stored[1]) if at.gate is None else at.gate
    return Recurrence(np.exp(-np.exp(stored[0]) * step.reshape(-1, 1)))


def _scalar_decay(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    rate, bias = np.exp(stored[0]).ravel(), stored[1].ravel()
    if len(bias) % len(rate):
        raise ValueError(f"{len(rate)} rates cannot be shared by {counted(len(bias), 'channel')}")
    rate = np.repeat(rate, len(bias) // len(rate))
    floor = _least_log_decay(at)
    if floor is not None:
        share = expit(rate * bias) if at.gate is None else at.gate.ravel()
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
        gate = expit(np.ravel(bias))
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


def _rwkv_decay(decay: Floats, tensors: Tensors, at: Setting) -> Floats:
    return np.asarray(np.exp(-np.exp(decay)))


def _gla_decay(bias: Floats, tensors: Tensors, at: Setting) -> Floats:
    decay = expit(bias) ** (1 / at.value("gate_logit_normalizer", 16))
    return np.asarray(np.maximum(decay, np.exp(at.value("clamp_min", -np.inf))))


def _mlstm_decay(bias: Floats, tensors: Tensors, at: Setting) -> Floats:
    if "fgate.bias" in tensors:
        return np.asarray(expit(bias))
    cap = at.value("gate_soft_cap", 15.0)
    gate_bias = bias[len(bias) // 2 :] if "ifgate_preact.bias" in tensors else bias
    return np.asarray(expit(cap * np.tanh(gate_bias / cap)))


def _slstm(stored: Sequence[Any], tensors: Tensors, at: Setting) -> Recurrence:
    R, bias = stored
    heads, width = len(R), min(R.shape[1:])
    if R.shape[1] == width:  # the compiled cell: a head's gates i, f, z, o side by side
        f, o = (bias.reshape(heads, 4, width)[:, k] for k in (1, 3))
        back = R.reshape(heads, width, 4, width)[:, :, 2].transpose(0, 2, 1)
    else:
        f, o = (bias.reshape(4, heads, width)[k] for k in (1, 3))
        back = R.reshape(heads, 4, width, width)[:, 2]
    f = expit(f) if at.gate is None else at.gate.reshape(heads, width)
    identity = np.eye(width)
    A = f[:, :, None] * identity + (1 - f)[:, :, None] * back * expit(o)[:, None]
    return Recurrence(A, (1 - f)[:, :, None] * identity)


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


#: How the poles of each kind follow from its tensors, and which other tensors are read.
_RULES: dict[str, dict[str, Any]] = {
    "LRU": {"recurrence": _lru},
    "S5": {"recurrence": _s5},
    "S4": {"recurrence": _s4},
    "S4D": {"recurrence": _s4d},
    "DSS": {"recurrence": _dss},
    "Mamba": {"recurrence": _mamba, "fits": lambda shapes: len(shapes[0]) in (2, 3)},
    "scalar decay (Mamba-2, DeltaNet)": {"recurrence": _scalar_decay},
    "RG-LRU": {"recurrence": _rg_lru},
    "RWKV-6": {"recurrence": _gated(_rwkv_decay)},
    "RWKV": {"recurrence": _gated(_rwkv_decay)},
    "RWKV-7": {"recurrence": _gated(lambda w, *_: np.exp(-np.exp(-0.5) * expit(w)))},
    "DeltaNet": {
        "recurrence": _delta,
        "fits": lambda shapes: len(shapes[0]) == 2 and shapes[0][0] < shapes[1][0],
    },
    "mLSTM": {"recurrence": _gated(_mlstm_decay)},
    "sLSTM": {"recurrence": _slstm},
    "GLA": {"recurrence": _gated(_gla_decay)},
    "HGRN": {"recurrence": _gated(lambda low, *_: (1 + low) / 2), "together": _hgrn_bounds},
    "RetNet": {"recurrence": _retnet},
    "lightning attention": {"recurrence": _gated(lambda slope, *_: np.exp(-slope))},
    "fixed (A, B)": {"recurrence": _fixed, "fits": _is_square},
}
#: The kinds, the more particular first: of a prefix, the first that fits is taken.
KINDS = tuple(
    Kind(name=name, **fields, **_RULES[name]) for name, fields in texts_beside(__file__).items()
)


class StoredLayer(NamedTuple):
    """A layer: its prefix, its kind, and the names of its tensors after the prefix."""

    prefix: str
    kind: Kind
    names: tuple[str, ...]
    position: int | None = None  # among layers that are stacked along the first axis

    @property
    def name(self) -> str:
        """Name of the layer: its prefix, or else its kind."""
        name = self.prefix.rstrip("./") or self.kind.name
        return name if self.position is None else f"{name}[{self.position}]"


def recognised(shapes: Mapping[str, tuple[int, ...]]) -> Iterator[StoredLayer]:
    """Layers among tensors of these names and shapes, in the order of the names."""
    endings = [ending for kind in KINDS for ending in kind.tensors[0]]
    prefixes = {
        name.removesuffix(ending): None
        for name in shapes
        for ending in endings
        if name == ending or name.endswith((f".{ending}", f"/{ending}"))
    }
    for prefix in prefixes:
        for kind in KINDS:
            chosen = [
                next((n for n in either if f"{prefix}{n}" in shapes), "") for either in kind.tensors
            ]
            if all(chosen) and kind.fits([shapes[f"{prefix}{n}"] for n in chosen]):
                more = [n for n in kind.optional if f"{prefix}{n}" in shapes]
                shape = shapes[f"{prefix}{chosen[0]}"]
                is_stacked = len(shape) == kind.axes + 1 > 1
                for position in range(shape[0]) if is_stacked else (None,):
                    yield StoredLayer(prefix, kind, (*chosen, *more), position)
                break
