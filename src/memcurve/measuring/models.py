"""Models that can be run: inputs in, states out, from a start of their own.

A network, a function, a step, a torch module, a reservoirpy node, a jax scan or a command: all
become a :class:`Model`, which drives any number of replicas by series of their own. Nothing else
is asked of a model, so that a device behind a function is one too.
"""

from __future__ import annotations

import copy
import inspect
import shlex
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from memcurve.adapters.reservoirs import drawn_reservoir
from memcurve.arguments import require_number, require_size
from memcurve.errors import ModelError
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.notes import counted
from memcurve.optional import optional
from memcurve.types import Floats

#: Two runs of one model agree if they differ by no more than this, relative to the largest state.
SAME = 1e-6


class Model(ABC):
    """Something that is driven by inputs and has states, each run from its own start.

    Attributes
    ----------
    name : str
        A label for tables and plots.
    inputs : int
        Number of inputs d.
    input_range : (float, float) or None
        Inputs that the model takes; others are refused before it sees them.
    together : bool
        Whether many replicas cost little more than one.
    """

    name: str = "model"
    inputs: int = 1
    input_range: tuple[float, float] | None = None
    together: bool = False

    @abstractmethod
    def run(self, inputs: Floats) -> Floats:
        """States (R, T, N) of R replicas, each from the start, for inputs (R, T, d).

        Row t of the states is already driven by row t of the inputs. States that are not finite are
        returned as they are.
        """

    def scaled(self, scale: float) -> Model:
        """The same model, its inputs multiplied by ``scale`` on their way in."""
        return _Scaled(self, scale)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}: {counted(self.inputs, 'input')}>"


class _Scaled(Model):
    def __init__(self, model: Model, scale: float) -> None:
        self.model, self.scale = model, require_number(scale, "scale", "above 0", lambda s: s > 0)
        self.name = f"{model.name}, inputs × {scale:g}"
        self.inputs, self.together = model.inputs, model.together
        if model.input_range is not None:
            low, high = model.input_range
            self.input_range = (low / scale, high / scale)

    def run(self, inputs: Floats) -> Floats:
        return self.model.run(self.scale * inputs)


class Network(Model):
    """A :class:`memcurve.LinearNetwork` or :class:`memcurve.NonlinearNetwork`."""

    together = True

    def __init__(self, network: LinearNetwork | NonlinearNetwork) -> None:
        self.network = network
        self.name, self.inputs = network.name or repr(network), network.inputs
        self._readout: Any = slice(None)
        self._stepped: Any = network
        if isinstance(network, LinearNetwork):
            A, C = network.real_pair()
            read, shift = network.readout, network.shift
            if network.is_complex:  # real parts, then imaginary ones, as its simulations have them
                read = None if read is None else np.concatenate([read, read + network.size])
                shift = None if shift is None else np.concatenate([shift.real, shift.imag])
            self._readout = slice(None) if read is None else read
            self._stepped = NonlinearNetwork(A, C, activation="identity", shift=shift)

    def run(self, inputs: Floats) -> Floats:
        return np.asarray(self._stepped.simulate_replicas(inputs)[:, :, self._readout])


class Function(Model):
    """A function from a series of inputs to the states, or a device behind one.

    Parameters
    ----------
    run : callable
        Takes inputs (T,), or (T, d) where ``inputs`` is above one, and returns states (T, N), row t
        already driven by input t. Each call is a run of its own: what is left from the one before
        is washed out, and found where it is not.
    inputs : int
        Number of inputs d.
    input_range : (float, float), optional
        Inputs that it takes.
    timeout : float, optional
        Seconds after which a call that has not returned is given up.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve import models
    >>> line = models.Function(lambda z: np.stack([np.roll(z, k) for k in range(3)], axis=1))
    >>> line.run(np.zeros((1, 50, 1))).shape
    (1, 50, 3)
    """

    def __init__(
        self,
        run: Callable[[Floats], Any],
        *,
        inputs: int = 1,
        input_range: tuple[float, float] | None = None,
        timeout: float | None = None,
        name: str | None = None,
    ) -> None:
        self.function, self.timeout = run, timeout
        self.inputs = require_size(inputs, "inputs")
        self.input_range = _validated_range(input_range)
        self.name = name or str(getattr(run, "__name__", type(run).__name__))

    def run(self, inputs: Floats) -> Floats:
        each = inputs[:, :, 0] if self.inputs == 1 else inputs
        return np.stack([self._one(series) for series in each])

    def _one(self, series: Floats) -> Floats:
        states = _answered(lambda: self.function(series.copy()), self.timeout, self.name)
        return _two_dimensional(states, len(series), self.name)


class Step(Model):
    """A function ``step(state, input) -> state``, from a start that is given.

    Parameters
    ----------
    step : callable
        Takes a state like ``start`` and an input, a number or, where ``inputs`` is above one, an
        array (d,), and returns the next state, which it may compute in place. Where it works for
        states (R, N) and inputs (R,) or (R, d) too, which is tried, replicas are run together.
    start : (N,) array, or anything that can be copied
        The state before the first input.
    observe : callable, optional
        What is read of a state, as an array (N,); for states that are no arrays.
    inputs, input_range, name
        As for :class:`Function`.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve import models
    >>> W, w = 0.9 * np.eye(3), np.ones(3)
    >>> def step(x, z):
    ...     return np.tanh(x @ W.T + np.multiply.outer(z, w))
    >>> models.Step(step, np.zeros(3)).together
    True
    """

    def __init__(
        self,
        step: Callable[[Any, Any], Any],
        start: Any,
        *,
        observe: Callable[[Any], Any] | None = None,
        inputs: int = 1,
        input_range: tuple[float, float] | None = None,
        name: str | None = None,
    ) -> None:
        self.step, self.observe = step, observe or (lambda state: state)
        self.start = np.array(start, float) if observe is None else start
        self.inputs = require_size(inputs, "inputs")
        self.input_range = _validated_range(input_range)
        self.name = name or str(getattr(step, "__name__", type(step).__name__))
        if observe is None and np.ndim(self.start) != 1:
            raise ValueError(
                f"`start` must be an array (N,), the state before the first input, got shape "
                f"{np.shape(self.start)}; give `observe` too where a state is something else."
            )
        self.together = observe is None and self._works_together()

    def run(self, inputs: Floats) -> Floats:
        z = inputs[:, :, 0] if self.inputs == 1 else inputs
        if not self.together:
            return np.stack([self._one(series) for series in z])
        state = np.repeat(self.start[None], len(z), axis=0)
        states = np.empty((*z.shape[:2], len(self.start)))
        for t in range(z.shape[1]):
            state = np.asarray(self.step(state, z[:, t].copy()), float)
            states[:, t] = state
        return states

    def _one(self, series: Floats) -> Floats:
        state, rows = copy.deepcopy(self.start), []
        for z in series:
            state = self.step(state, z)
            rows.append(np.array(self.observe(state), float))  # a copy: it may change in place
        return _two_dimensional(np.array(rows), len(series), self.name)

    def _works_together(self) -> bool:
        """Whether two states at once give what each gives alone, for states of no symmetry."""
        rng = np.random.default_rng(0)
        states = self.start + 0.1 * rng.standard_normal((2, len(self.start)))
        z = rng.uniform(*(self.input_range or (-0.5, 0.5)), (2, self.inputs))
        z = z[:, 0] if self.inputs == 1 else z
        try:
            with np.errstate(all="ignore"):
                both = np.asarray(self.step(states.copy(), z.copy()), float)
                each = [self.step(x.copy(), one) for x, one in zip(states, z, strict=True)]
        except Exception:  # whatever a step for one state says of two
            return False
        return both.shape == states.shape and bool(np.allclose(both, each, rtol=SAME, atol=0))


class Torch(Model):
    """A torch module: ``nn.RNN``, ``nn.LSTM``, ``nn.GRU``, a cell, or a module around one.

    Parameters
    ----------
    module : torch.nn.Module
        It is run as it is, without gradients and without dropout, on the device it is on.
    states : str, optional
        Name of the part whose output is read, as in ``module.named_modules()``; by default the
        module's own output. Of a tuple, as ``nn.LSTM`` returns, its first tensor is taken; of a
        cell the hidden state, and of an LSTM's also that of the cell.
    inputs : int, optional
        Number of inputs; by default the ``input_size`` of the module or of the part.
    """

    together = True

    def __init__(
        self, module: Any, *, states: str | None = None, inputs: int | None = None
    ) -> None:
        parts = dict(module.named_modules())
        if states is not None and states not in parts:
            known = ", ".join(name for name in parts if name) or "no parts"
            raise ValueError(f"`states` must name a part of the module, {known}; got {states!r}.")
        self.module, self.part = module, parts[states or ""]
        size = inputs or getattr(module, "input_size", getattr(self.part, "input_size", None))
        if size is None:
            raise ValueError(
                "`inputs` must be given for a module that has no `input_size`: the number of "
                "inputs it takes at each step."
            )
        self.inputs, self.name = require_size(size, "inputs"), type(module).__name__
        self._is_cell = hasattr(module, "hidden_size") and type(module).__name__.endswith("Cell")

    def run(self, inputs: Floats) -> Floats:
        torch = optional("torch", "this model", "torch")
        first = next(self.module.parameters(), torch.zeros(()))
        z = torch.as_tensor(inputs, dtype=first.dtype, device=first.device)
        training, kept = self.module.training, list[Any]()
        self.module.eval()
        hook = self.part.register_forward_hook(lambda *parts: kept.append(parts[2]))
        try:
            with torch.no_grad():
                if self._is_cell:
                    states = torch.stack(self._cell(z, torch), dim=1)
                else:
                    is_first = getattr(self.module, "batch_first", True)
                    self.module(z if is_first else z.transpose(0, 1))
                    states = kept[-1][0] if isinstance(kept[-1], tuple) else kept[-1]
                    if not getattr(self.part, "batch_first", is_first):
                        states = states.transpose(0, 1)
        finally:
            hook.remove()
            self.module.train(training)
        found = states.detach().to("cpu", torch.float64).numpy()
        if found.ndim != 3 or found.shape[:2] != inputs.shape[:2]:
            raise ModelError(
                f"{self.name} must give states for every step of every series, "
                f"{inputs.shape[:2]}, got shape {found.shape}; name the part with `states`."
            )
        return np.asarray(found)

    def _cell(self, z: Any, torch: Any) -> list[Any]:
        state, rows = None, []
        for t in range(z.shape[1]):
            state = self.module(z[:, t], state)
            rows.append(torch.cat(state, dim=1) if isinstance(state, tuple) else state)
        return rows


class Reservoirpy(Model):
    """A reservoirpy node with states, or a model with one: the states of the reservoir."""

    def __init__(self, model: Any, *, inputs: int | None = None) -> None:
        self.node, self.inputs = drawn_reservoir(model, inputs)
        self.name = getattr(self.node, "name", None) or type(self.node).__name__

    def run(self, inputs: Floats) -> Floats:
        return np.stack([self._one(series) for series in inputs])

    def _one(self, series: Floats) -> Floats:
        self.node.reset()
        return _two_dimensional(self.node.run(series), len(series), self.name)


class Scan(Model):
    """A jax step ``step(carry, input) -> (carry, states)``, as ``jax.lax.scan`` takes it.

    Parameters
    ----------
    step : callable
        Of a carry and an input (d,), or a number where ``inputs`` is one; of flax modules
        ``lambda carry, z: cell.apply(parameters, carry, z)``.
    start : pytree
        The carry before the first input.
    """

    together = True

    def __init__(
        self, step: Callable[[Any, Any], Any], start: Any, *, inputs: int = 1, name: str = "scan"
    ) -> None:
        self.inputs, self.name = require_size(inputs, "inputs"), name
        jax = optional("jax", "this model", "arrays")
        self._all = jax.jit(jax.vmap(lambda z: jax.lax.scan(step, start, z)[1]))

    def run(self, inputs: Floats) -> Floats:
        z = inputs[:, :, 0] if self.inputs == 1 else inputs
        return np.asarray(self._all(z), float)


class Command(Model):
    """A command that reads inputs and writes states, one line a step.

    Parameters
    ----------
    command : str or sequence of str
        It is started anew for each series, without a shell. From its standard input it reads a line
        for each step, numbers separated by blanks, until the end; to its standard output it writes
        one for each, numbers separated by blanks or commas.
    inputs, input_range
        As for :class:`Function`.
    timeout : float
        Seconds after which a run that has not ended is given up.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        inputs: int = 1,
        input_range: tuple[float, float] | None = None,
        timeout: float = 600.0,
    ) -> None:
        if isinstance(command, str):
            # on Windows programs split their lines, in which backslashes are parts of paths
            command = command.strip() if sys.platform == "win32" else shlex.split(command)
        if not command:
            raise ValueError("`command` must name a program, got nothing.")
        self.line = command if isinstance(command, str) else list(command)
        self.name = command if isinstance(command, str) else shlex.join(command)
        self.inputs = require_size(inputs, "inputs")
        self.input_range, self.timeout = _validated_range(input_range), timeout

    def run(self, inputs: Floats) -> Floats:
        return np.stack([self._one(series) for series in inputs])

    def _one(self, series: Floats) -> Floats:
        lines = "".join(" ".join(map(repr, row.tolist())) + "\n" for row in series)
        try:
            done = subprocess.run(
                self.line,
                input=lines,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                timeout=self.timeout,
            )
        except subprocess.TimeoutExpired as error:
            raise ModelError(
                f"the command {self.name} has not ended within {self.timeout:g} s; give it a "
                f"longer `timeout`."
            ) from error
        except OSError as error:
            raise ModelError(
                f"the command {self.name} cannot be started ({error.strerror or error})."
            ) from error
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise ModelError(
                f"the command {self.name} ended with status {done.returncode}: {said[0]}"
            )
        try:
            rows = [line.replace(",", " ").split() for line in done.stdout.splitlines() if line]
            states = np.array(rows, float)
        except ValueError as error:
            raise ModelError(
                f"the command {self.name} must write numbers, as many in every line; {error}."
            ) from error
        return _two_dimensional(states, len(series), self.name)


def as_model(model: Any, *, start: Any = None, inputs: int | None = None, **options: Any) -> Model:
    """The model that an object is; a function is a :class:`Step` where it has a ``start``."""
    made: Callable[..., Model]
    if isinstance(model, Model):
        made = _as_it_is
    elif isinstance(model, LinearNetwork | NonlinearNetwork):
        made = Network
    elif _comes_from(model, "torch.nn"):
        made = Torch
    elif _comes_from(model, "reservoirpy"):
        made = Reservoirpy
    elif callable(model):
        made = Function if start is None else Step
        options |= {} if start is None else {"start": start}
        start = None
    else:
        raise TypeError(
            f"`model` must be a NonlinearNetwork or LinearNetwork, a torch module, a reservoirpy "
            f"node or model, a function, or one of memcurve.models; got {type(model).__name__}."
        )
    if inputs is not None:
        options["inputs"] = inputs
    if start is not None:
        options["start"] = start
    unknown = set(options) - set(inspect.signature(made).parameters)
    if unknown:
        raise TypeError(
            f"a model of type {type(model).__name__} takes no {', '.join(sorted(unknown))}; leave "
            f"it out."
        )
    return made(model, **options)


def _as_it_is(model: Model) -> Model:
    return model


def is_driven(model: Any) -> bool:
    """Whether an object is no linear network, nor close to one, but can be run."""
    if isinstance(model, Model):
        return True
    if isinstance(model, NonlinearNetwork):
        return model.activation != "identity"
    if _comes_from(model, "torch.nn"):
        return not {"RNN", "RNNCell"} & {parent.__name__ for parent in type(model).__mro__}
    return inspect.isfunction(model) or inspect.ismethod(model)


def _comes_from(model: Any, package: str) -> bool:
    return any(f"{c.__module__}.".startswith(f"{package}.") for c in type(model).__mro__)


def _validated_range(limits: Any) -> tuple[float, float] | None:
    if limits is None:
        return None
    low, high = (float(end) for end in limits)
    if not low < high:
        raise ValueError(f"`input_range` must be two numbers, low < high; got {limits!r}.")
    return low, high


def _two_dimensional(states: ArrayLike, steps: int, name: str) -> Floats:
    found = np.asarray(states)
    if found.dtype.kind not in "biuf" or found.ndim != 2 or len(found) != steps or not found.size:
        raise ModelError(
            f"{name} must give real states of shape ({steps}, N), one row for each input; got "
            f"{found.dtype} of shape {found.shape}."
        )
    return np.asarray(found, float)


def _answered(call: Callable[[], Any], timeout: float | None, name: str) -> Any:
    """What a call returns or raises; given up after ``timeout`` seconds, if that is given."""
    if timeout is None:
        return call()
    answer: dict[str, Any] = {}

    def work() -> None:
        try:
            answer["value"] = call()
        except BaseException as error:  # handed over to whoever waits
            answer["error"] = error

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(timeout)
    if "error" in answer:
        raise answer["error"]
    if "value" not in answer:
        raise ModelError(f"{name} has not answered within {timeout:g} s.")
    return answer["value"]
