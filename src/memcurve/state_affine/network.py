"""StateAffineNetwork: x_t = p(z_t) x_{t−1} + q(z_t), validated once and never changed."""

from __future__ import annotations

import dataclasses
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.core.arguments import exact_array, require_choice
from memcurve.core.errors import UnstableNetworkError
from memcurve.core.notes import Note, notes_of
from memcurve.core.result import replacing
from memcurve.core.types import Floats
from memcurve.network.linear import Connected, validated_readout
from memcurve.state_affine.faults import fault
from memcurve.state_affine.laws import Law, discrete, law_of

#: What the stored numbers mean; of joined networks, the last of these.
ROUNDINGS = ("relative", "formula", "absolute")
#: The functions that a formula may use, of balls.
_BALLS = SimpleNamespace(exp=lambda z: z.exp(), log=lambda z: z.log(), sqrt=lambda z: z.sqrt())


@dataclass(frozen=True)
class Formula:
    """A function of the input that can be computed at any precision.

    ``formula(z, m)`` takes exp, log and sqrt from ``m``: numpy for arrays, or those of balls.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve.state_affine import Formula
    >>> Formula(lambda z, m: m.exp(-z))(np.zeros(2))
    array([1., 1.])
    """

    formula: Callable[[Any, Any], Any]

    def __call__(self, z: Any) -> Any:
        return self.formula(np.asarray(z, dtype=float), np)

    def precise(self, z: Any) -> Any:
        """The same of one ball."""
        return self.formula(z, _BALLS)


@dataclass(frozen=True)
class Power:
    """z^power."""

    power: int

    def __call__(self, z: Any) -> Any:
        return z**self.power

    precise = __call__


#: √(1 − z²), of the encoding of inputs in pure states.
HALF_CIRCLE = Formula(lambda z, m: m.sqrt((1 - z) * (1 + z)))
#: Formulas that files can hold, by name.
_NAMED = {"half_circle": HALF_CIRCLE}


@dataclass(frozen=True, eq=False, repr=False, init=False)
class StateAffineNetwork(Connected):
    """A network ``x_t = Σ_i P_i f_i(z_t) x_{t−1} + Σ_i q_i f_i(z_t)``, f_i(z) = z^i by default.

    Inputs z_t are independent with one law. Bilinear networks, quantum reservoirs and gated layers
    are of this kind, and linear networks with polynomial features of their states.

    Parameters
    ----------
    p : sequence of (N, N) arrays
        P_0, P_1, …, real.
    q : sequence of (N,) arrays
        q_0, q_1, …; where ``p`` and ``q`` differ in length, the missing ones are zero.
    input : str, Law or frozen distribution of scipy.stats
        ``"uniform"`` on [−1, 1], ``"normal"``, ``"rademacher"``, or one of
        :mod:`memcurve.state_affine.laws`.
    functions : sequence of functions, optional
        f_0 = 1, f_1, …, in place of powers: callables of arrays, entry by entry.
    readout : sequence of int, boolean mask or (M, N) matrix, optional
        The states that can be read, or combinations of them.
    outputs : pair of sequences, optional
        O_i (M, N) and o_i (M,): what is read is Σ_i f_i(z_t)(O_i x_{t−1} + o_i) instead of states.
    rounding : str
        ``"relative"``: entries are what they are meant to be up to their last digit;
        ``"absolute"``: only up to the last digit of the largest, as where they were computed;
        ``"formula"``: functions differ by many orders, so that balls are needed from the start.
    name, notes
        As for :class:`memcurve.LinearNetwork`.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> network = memcurve.StateAffineNetwork(p=[[[0.5]], [[0.3]]], q=[[0.0], [1.0]])
    >>> network
    StateAffineNetwork(size=1, degree 1, uniform on [-1, 1])
    >>> network.simulate([1.0, -1.0]).ravel()
    array([ 1. , -0.8])
    """

    p: Floats
    q: Floats
    input: Law
    functions: tuple[Any, ...]
    readout: Floats | None
    outputs: tuple[Floats, Floats] | None
    rounding: str
    name: str | None
    notes: tuple[Note, ...]
    inputs = 1
    is_sparse = False

    def __init__(
        self,
        p: ArrayLike | Sequence[ArrayLike],
        q: ArrayLike | Sequence[ArrayLike],
        input: Any = "uniform",
        *,
        functions: Sequence[Callable[..., Any]] | None = None,
        readout: ArrayLike | None = None,
        outputs: tuple[Any, Any] | None = None,
        rounding: str = "relative",
        name: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        P = _real(p, "p")
        if P.ndim != 3 or P.shape[1] != P.shape[2] or P.shape[1] == 0:
            raise ValueError(fault("p", shape=P.shape))
        size = P.shape[1]
        Q = _real(q, "q", size)
        terms = max(len(P), len(Q)) if functions is None else len(functions)
        if max(len(P), len(Q)) > terms:
            raise ValueError(fault("too_few_functions", terms=max(len(P), len(Q)), got=terms))
        require_choice(rounding, "rounding", ROUNDINGS)
        if readout is not None and outputs is not None:
            raise ValueError("`readout` is of states and `outputs` takes its place; give one.")
        if outputs is not None:
            out = _real(outputs[0], "outputs")
            if out.ndim != 3 or out.shape[2] != size:
                raise ValueError(fault("outputs", size=size, shape=out.shape))
            direct = _real(outputs[1], "outputs", out.shape[1])
            outputs = _padded(out, terms), _padded(direct, terms)
        law = law_of(input)
        chosen = tuple(map(Power, range(terms))) if functions is None else tuple(functions)
        _require_functions(chosen, law)
        fields = {
            "p": _padded(P, terms), "q": _padded(Q, terms), "input": law, "functions": chosen,
            "readout": None if readout is None else _reading(readout, size),
            "outputs": outputs, "rounding": rounding, "name": name,
            "notes": notes_of(notes, "network"),
        }  # fmt: skip
        for field, value in fields.items():
            for array in value if isinstance(value, tuple) else (value,):
                if isinstance(array, np.ndarray):
                    array.flags.writeable = False
            object.__setattr__(self, field, value)

    @property
    def size(self) -> int:
        """Number of states N."""
        return int(self.p.shape[1])

    @property
    def read_states(self) -> int:
        """Number of states, or of outputs, that are read."""
        if self.outputs is not None:
            return int(self.outputs[1].shape[1])
        return self.size if self.readout is None else len(self.readout)

    @property
    def is_polynomial(self) -> bool:
        """Whether p and q are polynomials."""
        return all(isinstance(f, Power) and f.power == i for i, f in enumerate(self.functions))

    @property
    def is_precise(self) -> bool:
        """Whether p and q can be computed in any number of digits."""
        return self.input.is_precise and all(hasattr(f, "precise") for f in self.functions)

    def values(self, z: Any) -> Floats:
        """The functions (s, …) at inputs z."""
        return np.stack([np.broadcast_to(f(z), np.shape(z)) for f in self.functions])

    def combinations(self) -> list[list[Fraction]]:
        """Rows of exact weights of P_i: those of E p, then of letters that span the others."""
        law, count = self.input, len(self.functions)
        if law.is_discrete:
            values = [[Fraction(float(f(z))) for f in self.functions] for z in law.nodes]
            pairs = list(zip(law.probabilities, values, strict=True))
            mean = [sum((w * row[i] for w, row in pairs), Fraction(0)) for i in range(count)]
            return [mean, *([a - b for a, b in zip(v, values[0], strict=True)] for v in values[1:])]
        mean = [Fraction(float(law.weights @ f(law.nodes))) for f in self.functions]
        if self.is_polynomial:
            mean = [law.moment(i) for i in range(count)]
        return [mean, *([Fraction(int(i == k)) for i in range(count)] for k in range(1, count))]

    def simulate(self, inputs: ArrayLike, washout: int = 0) -> Floats:
        """Drive the network from rest by ``inputs`` (T,): the states, or what is read, (T, M).

        Row t is already driven by ``inputs[t]``; the first ``washout`` rows are left out.
        """
        return np.asarray(self._states(self._series(inputs, washout)[None], washout)[0])

    def _states(self, z: Floats, washout: int) -> Floats:
        count, steps = z.shape[:2]
        factors = self.values(z[..., 0])
        states = np.empty((count, steps - washout, self.read_states))
        x = np.zeros((count, self.size))
        with np.errstate(over="ignore", invalid="ignore"):  # an overflow is refused below
            for t in range(steps):
                before, f = x, factors[:, :, t]
                x = step(self.p, self.q, f, before)
                if t >= washout:
                    read = x if self.readout is None else x @ self.readout.T
                    outputs = self.outputs  # which depend on the input of the same step
                    states[:, t - washout] = read if outputs is None else step(*outputs, f, before)
        if not np.isfinite(states).all():
            raise UnstableNetworkError(
                f"the states of this network overflow within {steps} steps; scale `p` down."
            )
        return states

    def replace(self, **changes: Any) -> StateAffineNetwork:
        """The same network with some of its parts exchanged, e.g. ``replace(input="normal")``."""
        parts = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        if self.is_polynomial:
            parts["functions"] = None
        if "readout" in changes:
            parts["outputs"] = None
        if "outputs" in changes:
            parts["readout"] = None
        return StateAffineNetwork(**(parts | changes))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to an ``.npz`` file, which :meth:`load` reads back exactly."""
        file = Path(path)
        if file.suffix.lower() != ".npz":
            raise ValueError(f"{file}: networks are written as .npz; give a path that ends so.")
        names = {id(f): name for name, f in _NAMED.items()}
        kinds = [str(f.power) if isinstance(f, Power) else names.get(id(f)) for f in self.functions]
        if None in kinds or not self.input.is_precise:
            raise ValueError(fault("unsaved"))
        arrays: dict[str, Any] = {"p": self.p, "q": self.q, "functions": np.array(kinds)}
        arrays["law"] = np.array([self.input.name, self.rounding])
        if self.input.is_discrete:
            arrays |= {"values": self.input.nodes, "probabilities": self.input.weights}
        if self.outputs is not None:
            arrays |= {"out": self.outputs[0], "direct": self.outputs[1]}
        if self.readout is not None:
            arrays["readout"] = self.readout
        arrays |= {"notes": np.array(self.notes)} if self.notes else {}
        with replacing(file) as stream:
            np.savez(stream, **arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> StateAffineNetwork:
        """Read a network written by :meth:`save`; its name is that of the file."""
        if not cls.is_stored(path):
            raise ValueError(fault("not_saved", path=os.fspath(path)))
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        name, rounding = arrays["law"].tolist()
        law: Any = "uniform" if name.startswith("uniform") else "normal"
        if "values" in arrays:
            law = discrete(arrays["values"], arrays["probabilities"], name=name)
        kinds = arrays["functions"].tolist()
        return cls(
            arrays["p"], arrays["q"], law,
            functions=[Power(int(k)) if k.isdigit() else _NAMED[k] for k in kinds],
            outputs=(arrays["out"], arrays["direct"]) if "out" in arrays else None,
            readout=arrays.get("readout"),
            rounding=rounding, name=Path(path).stem,
            notes=arrays["notes"].tolist() if "notes" in arrays else (),
        )  # fmt: skip

    @staticmethod
    def is_stored(path: str | os.PathLike[str]) -> bool:
        """Whether a file is one that :meth:`save` wrote."""
        if not zipfile.is_zipfile(path):
            return False
        with zipfile.ZipFile(path) as stored:
            return {"p.npy", "q.npy", "functions.npy", "law.npy"} <= set(stored.namelist())

    def _kind(self) -> str:
        count = len(self.functions) - 1
        return f"degree {count}" if self.is_polynomial else f"{count} functions"

    def __repr__(self) -> str:
        parts = [repr(self.name)] * bool(self.name)
        parts += [f"size={self.size}", self._kind(), self.input.name]
        reads_all = self.outputs is None and self.readout is None
        parts += [] if reads_all else [f"{self.read_states} outputs"]
        return f"StateAffineNetwork({', '.join(parts)})"


def no_mean() -> UnstableNetworkError:
    """The error for I − E p that is singular, in floats or modulo primes."""
    return UnstableNetworkError(
        "the network has no mean: E p has the eigenvalue 1, so that ρ(Φ) ≥ 1. Scale `p` down."
    )


def step(P: Floats, Q: Floats, factors: Floats, x: Floats) -> Floats:
    """Σ_i f_i (P_i x + q_i) of (R, N) states and (s, R) values of the functions."""
    pairs = zip(factors, P, strict=True)
    return np.asarray(sum((f[:, None] * (x @ one.T) for f, one in pairs), factors.T @ Q))


def _real(parts: Any, argument: str, size: int | None = None) -> Floats:
    """A stack of real arrays, of vectors of a size where one is given."""
    array = exact_array(parts, argument)
    if np.iscomplexobj(array):
        raise ValueError(fault("complex", argument=argument))
    if size is not None and (array.ndim != 2 or array.shape[1] != size):
        raise ValueError(fault("vectors", argument=argument, size=size, shape=array.shape))
    return array


def _padded(array: Floats, count: int) -> Floats:
    """Zeros for the terms that are missing."""
    return np.concatenate([array, np.zeros((count - len(array), *array.shape[1:]))])


def _reading(readout: Any, size: int) -> Floats:
    """The matrix D of what is read, D x."""
    if np.ndim(readout) != 2:
        return np.asarray(np.eye(size)[validated_readout(readout, size, None)])
    D = _real(readout, "readout")
    if D.shape[1] != size or not len(D):
        raise ValueError(fault("readout", size=size, shape=D.shape))
    return D


def _require_functions(functions: tuple[Any, ...], law: Law) -> None:
    for i, f in enumerate(functions):
        if not callable(f):
            raise TypeError(f"`functions` must be callables, got {f!r} at index {i}.")
        with np.errstate(all="ignore"):
            values = np.broadcast_to(np.asarray(f(law.nodes), dtype=float), law.nodes.shape)
        if not np.isfinite(values).all():
            facts = {"law": law.name, "low": law.nodes.min(), "high": law.nodes.max()}
            raise ValueError(fault("infinite_function", function=f, index=i, **facts))
        if i == 0 and not (values == 1).all():
            raise ValueError("`functions` must begin with the constant 1, e.g. lambda z: 0*z + 1.")
        moment = f"moment E|z|^{2 * f.power}" if isinstance(f, Power) else f"mean square of {f!r}"
        law.require_finite(values**2, moment)
