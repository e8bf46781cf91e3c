"""NonlinearNetwork: leak and activation, simulated in many replicas; leaky linear reservoirs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.arguments import exact_array, require_number, table_entry
from memcurve.core.errors import UnstableNetworkError
from memcurve.core.types import EPS, Floats
from memcurve.network.linear import Connected, LinearNetwork, validated_mask, validated_matrix

Activation = Callable[[Any], Any]

ACTIVATIONS: dict[str, Activation] = {
    "tanh": np.tanh,
    "identity": lambda field: field,
    "relu": lambda field: np.maximum(field, 0),
}
_SLOPES: dict[str, Activation] = {
    "tanh": lambda field: 1 - np.tanh(field) ** 2,
    "identity": np.ones_like,
    "relu": lambda field: np.where(field == 0, np.nan, field > 0),
}
#: Step of the five-point derivative, which balances its error h⁴ against rounding eps/h.
DERIVATIVE_STEP = float(EPS**0.2)
#: Slopes on the two sides of a point that differ by more, relative to one, make a kink.
KINK = 1e-7

#: Numbers of the drive that are computed ahead of the steps (4 MiB).
DRIVE_NUMBERS = 1 << 19
#: The fixed point is found once a step moves no state by more than this, relative to the largest.
SETTLED = 1e-13
#: Steps after which a network that has not settled is taken to have no stable fixed point.
MOST_STEPS = 100_000


@dataclass(frozen=True, eq=False, repr=False)
class NonlinearNetwork(Connected):
    """A network ``x_t = (1 − leak) x_{t−1} + leak·f(A x_{t−1} + input_scale·C z_t + shift)``.

    Parameters
    ----------
    A, C, name
        As for :class:`memcurve.LinearNetwork`; A and C are real.
    activation : str or callable
        f: ``"tanh"``, ``"identity"``, ``"relu"``, or a function that maps an array to one of the
        same shape, entry by entry.
    leak : float or (N,) array
        Above 0 and at most 1, for all nodes or each; 1 replaces the state at every step.
    input_scale : float
        Above 0; how strongly the input drives the network, and so how nonlinear it is.
    shift : (N,) array, optional
        Constant added before f.

    Notes
    -----
    For small inputs the states are those of :meth:`linearised`, up to O(input_scale²) relative to
    them where f is odd, as tanh is, and O(input_scale) otherwise.

    Examples
    --------
    >>> import memcurve
    >>> from memcurve import NonlinearNetwork
    >>> linear = memcurve.ensembles.normal(50, spectral_radius=0.9, seed=1)
    >>> network = NonlinearNetwork(linear.A, linear.C, input_scale=0.5)
    >>> network
    NonlinearNetwork(size=50, inputs=1, tanh, input_scale=0.5)
    >>> network.simulate([0.1, -0.2, 0.3]).shape
    (3, 50)
    """

    A: Any
    C: Any
    _: dataclasses.KW_ONLY
    activation: str | Activation = "tanh"
    leak: Any = 1.0
    input_scale: float = 1.0
    shift: Any = None
    name: str | None = None

    def __post_init__(self) -> None:
        parts = LinearNetwork(self.A, self.C, shift=self.shift, name=self.name)
        if parts.is_complex:
            raise ValueError(
                "`A`, `C` and `shift` of a nonlinear network must be real, got complex numbers; "
                "split them into real and imaginary parts, as LinearNetwork.real_pair does."
            )
        scale = require_number(self.input_scale, "input_scale", "above 0", lambda s: s > 0)
        leak = _leak_rates(self.leak, parts.size, "leak", 0.0)
        exact = {"A": parts.A, "C": parts.C, "shift": parts.shift, "input_scale": scale}
        for field, value in (exact | {"leak": leak}).items():
            object.__setattr__(self, field, value)
        _require_activation(self.function, self.size)

    @property
    def function(self) -> Activation:
        """The activation f itself."""
        if callable(self.activation):
            return self.activation
        return table_entry(ACTIVATIONS, self.activation, "activation")

    def _states(self, z: Floats, washout: int) -> Floats:
        count, steps = z.shape[:2]
        mask = self.input_scale * self.C.reshape(self.size, -1)
        series = np.ascontiguousarray(z.transpose(1, 0, 2))
        ahead = max(1, DRIVE_NUMBERS // (count * self.size))
        states = np.empty((count, steps - washout, self.size))
        x = np.zeros((count, self.size))
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused below
            for first in range(0, steps, ahead):
                drive = series[first : first + ahead] @ mask.T
                if self.shift is not None:
                    drive += self.shift
                for t, push in enumerate(drive, first):
                    x = self._next(x, push)
                    if t >= washout:
                        states[:, t - washout] = x
        if not (np.isfinite(x).all() and np.isfinite(states).all()):
            raise UnstableNetworkError(
                f"the states of this network overflow within {steps} steps; scale "
                f"`A` down, or take a bounded `activation` such as tanh."
            )
        return states

    def _next(self, x: Floats, push: Floats) -> Floats:
        """One step of the (R, N) states."""
        field = (self.A @ x.T).T if self.is_sparse else x @ self.A.T
        field += push
        new = np.asarray(self.function(field), dtype=np.float64)
        return np.asarray((1 - self.leak) * x + self.leak * new) if self._leaks else new

    @property
    def _leaks(self) -> bool:
        return not isinstance(self.leak, float) or self.leak != 1

    def fixed_point(self) -> Floats:
        """The fixed point without input, found by iteration from rest."""
        x, moved = np.zeros((1, self.size)), np.inf
        push = np.zeros(self.size) if self.shift is None else self.shift
        with np.errstate(over="ignore", invalid="ignore"):
            for _ in range(MOST_STEPS):
                before, x = x, self._next(x, push)
                moved = float(np.abs(x - before).max())
                if not moved > SETTLED * np.abs(x).max():  # also where it is NaN
                    break
        if not (np.isfinite(x).all() and moved <= SETTLED * np.abs(x).max()):
            raise UnstableNetworkError(
                f"without input this network does not settle within {MOST_STEPS} steps, so there "
                f"is no point to linearise at; scale `A` or `shift` down."
            )
        return np.asarray(x[0])

    def linearised(self) -> LinearNetwork:
        """The linear approximation for small inputs, about the fixed point.

        At the fixed point x* = f(Ax* + shift) that the network settles at without input, which is
        0 if f(shift) = 0, the slopes D = diag f′(Ax* + shift) give

            A_lin = (1 − leak)·I + leak·D·A,    C_lin = leak·input_scale·D·C,

        and a shift that keeps the states at x*; the result's ``notes`` say so, unless f is the
        identity. The slopes of a callable are five-point differences, right to about 12 digits for
        smooth f that acts entry by entry. Raises if the network does not settle, or where f has
        a kink, as relu at 0.
        """
        rest = self.fixed_point()
        slopes = _slopes(self.activation, self.A @ rest + (0 if self.shift is None else self.shift))
        if not np.isfinite(slopes).all():
            raise ValueError(
                "`activation` has no derivative where some nodes rest, as relu at 0; give a "
                "`shift` that moves them off it."
            )
        decay = np.broadcast_to(1 - self.leak, self.size)
        A = _leaking(self.A, decay, self.leak * slopes)
        C = (self.leak * self.input_scale * (slopes * self.C.T)).T
        shift = rest - A @ rest if rest.any() else None
        name = self.activation if isinstance(self.activation, str) else "the activation"
        note = f"linearised about zero input: {name} replaced by its slope where the nodes rest"
        notes = () if self.activation == "identity" else (note,)
        return LinearNetwork(A, C, shift=shift, name=self.name, notes=notes)

    def __repr__(self) -> str:
        parts = [repr(self.name)] * bool(self.name)
        parts += [f"size={self.size}", f"inputs={self.inputs}"]
        parts.append(self.activation if isinstance(self.activation, str) else "own activation")
        leak = f"{self.leak:g}" if isinstance(self.leak, float) else "one per node"
        parts += [f"leak={leak}"] * self._leaks
        parts += [f"input_scale={self.input_scale:g}"] * (self.input_scale != 1)
        parts += ["sparse"] * self.is_sparse
        return f"NonlinearNetwork({', '.join(parts)})"


def _leak_rates(leak: Any, size: int, argument: str, above: float = -1.0) -> Any:
    """One rate as a number, or one per node: from 0 to 1, and ``above`` another bound."""
    rates = exact_array(leak, argument)
    rates = rates.reshape(()) if rates.size == 1 else rates
    allowed = rates.dtype.kind == "f" and ((rates >= 0) & (rates <= 1) & (rates > above)).all()
    if not allowed or rates.shape not in ((), (size,)):
        rule = "from 0 to 1" if above < 0 else "above 0 and at most 1"
        raise ValueError(
            f"`{argument}` must be one number {rule}, or {size} of them, one per node; got "
            f"{leak!r:.80}. It is the share of the new state: 1/τ for a time constant of τ steps."
        )
    rates.flags.writeable = False
    return rates if rates.ndim else float(rates)


def _require_activation(function: Activation, size: int) -> None:
    """Raise unless ``function`` maps an array of states to real numbers of the same shape."""
    zeros = np.zeros((2, size))
    with np.errstate(all="ignore"):  # the values show what matters
        try:
            values = np.asarray(function(zeros.copy()))
        except Exception as error:
            raise ValueError(
                f"`activation` must map an array to one of the same shape; it raised "
                f"{type(error).__name__}: {error}."
            ) from error
    real = values.dtype.kind in "biuf"
    if values.shape != zeros.shape or not real or not np.isfinite(values).all():
        raise ValueError(
            f"`activation` must map an array to finite real numbers of the same shape, got "
            f"{values!r} from zeros of shape {zeros.shape}."
        )


def _slopes(activation: str | Activation, field: Floats) -> Floats:
    """f′ at every entry of ``field``, NaN at a kink; of a callable by five-point differences."""
    if isinstance(activation, str):
        return np.asarray(_SLOPES[activation](field), dtype=np.float64)
    h = DERIVATIVE_STEP * np.maximum(1, np.abs(field))
    points = np.stack([field - 2 * h, field - h, field, field + h, field + 2 * h])
    values = np.asarray(activation(points), dtype=np.float64)
    slopes = np.array([1, -8, 0, 8, -1]) @ values / (12 * h)
    # slopes on both sides differ by f″·h where f is smooth, so by half at half the step; at a kink
    # they differ as much at any step
    far = np.array([1, 0, -2, 0, 1]) @ values / (2 * h)
    near = np.array([0, 1, -2, 1, 0]) @ values / h
    return np.where(np.abs(far - 2 * near) > KINK * np.maximum(1, np.abs(slopes)), np.nan, slopes)


def leaky_pair(W: Any, Win: Any, lr: Any) -> tuple[Any, NDArray[Any]]:
    """A = (1 − lr)·I + lr·W and C = lr·Win, of a linear reservoir with leak rates ``lr``."""
    matrix = validated_matrix(W, "W")
    size = matrix.shape[0]
    mask = validated_mask(Win, size, "Win", "W")
    rates = _leak_rates(lr, size, "lr")
    if np.all(rates == 1):
        return matrix, mask
    by_node = np.broadcast_to(rates, size)
    return _leaking(matrix, 1 - by_node, by_node), (by_node * mask.T).T


def _leaking(A: Any, decay: Floats, gain: Floats) -> Any:
    """diag(decay) + diag(gain)·A."""
    if isinstance(A, np.ndarray):
        return np.diag(decay) + gain[:, None] * A
    from scipy.sparse import diags_array

    return diags_array(decay) + diags_array(gain) @ A
