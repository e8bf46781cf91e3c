"""Models that can be simulated: inputs in, states out, each run from the initial state.

All become a :class:`Model`, which drives any number of replicas; a physical device behind a
function is one too.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import os
import shlex
import subprocess
import sys
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from memcurve.core.arguments import require_number, require_size
from memcurve.core.errors import ModelError
from memcurve.core.notes import counted
from memcurve.core.optional import optional
from memcurve.core.types import Floats
from memcurve.data.prose import fault
from memcurve.io.adapters import comes_from
from memcurve.io.adapters.reservoirs import drawn_reservoir
from memcurve.network import LinearNetwork
from memcurve.network.nonlinear import NonlinearNetwork
from memcurve.state_affine import StateAffineNetwork

#: Bytes that a command writes for a series at most. Doubled: twice the memory to read them.
MOST_WRITTEN = 10**9


class Model(ABC):
    """A driven system with states; every run starts from its own initial state.

    Examples
    --------
    >>> import numpy as np
    >>> from memcurve import models
    >>> class Integrator(models.Model):
    ...     def run(self, inputs):
    ...         return np.cumsum(inputs, axis=1)
    >>> Integrator().run(np.ones((2, 3, 1)))[0].ravel().tolist()
    [1.0, 2.0, 3.0]
    """

    #: A label for tables and plots.
    name: str = "model"
    #: Number of inputs d.
    inputs: int = 1
    #: Inputs that the model accepts; others are refused before it is run.
    input_range: tuple[float, float] | None = None
    #: Whether many replicas cost little more than one.
    together: bool = False

    @abstractmethod
    def run(self, inputs: Floats) -> Floats:
        """States (R, T, N) of R replicas for inputs (R, T, d), row t driven by row t."""

    def scaled(self, scale: float) -> Model:
        """The same model with its inputs multiplied by ``scale``."""
        return _Scaled(self, scale)

    def _take(self, inputs: int, input_range: tuple[float, float] | None) -> None:
        self.inputs, self.input_range = require_size(inputs, "inputs"), input_range
        if input_range is not None and not input_range[0] < input_range[1]:
            raise ValueError(f"`input_range` must be two numbers, low < high; got {input_range!r}.")

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


class _OneByOne(Model):
    """A model that runs one series (T, d) at a time."""

    def run(self, inputs: Floats) -> Floats:
        return np.stack([self._checked(series) for series in inputs])

    @abstractmethod
    def _one(self, series: Floats) -> Any:
        """States (T, N) for inputs (T, d), or (T,) of a single one."""

    def _checked(self, series: Floats) -> Floats:
        states = np.asarray(self._one(series[:, 0] if self.inputs == 1 else series))
        if states.dtype.kind not in "biuf" or states.ndim != 2 or len(states) != len(series):
            facts = {"steps": len(series), "dtype": states.dtype, "shape": states.shape}
            raise ModelError(fault("model_states", name=self.name, **facts))
        return np.asarray(states, float)


class Network(Model):
    """A :class:`memcurve.LinearNetwork`, ``NonlinearNetwork`` or ``StateAffineNetwork``.

    Examples
    --------
    >>> import numpy as np
    >>> import memcurve
    >>> memcurve.models.Network(memcurve.ensembles.cyclic(3)).run(np.ones((1, 2, 1))).shape
    (1, 2, 3)
    """

    together = True

    def __init__(self, network: LinearNetwork | NonlinearNetwork | StateAffineNetwork) -> None:
        self.network = network
        self.name, self.inputs = network.name or repr(network), network.inputs

    def run(self, inputs: Floats) -> Floats:
        return np.asarray(self.network.simulate_replicas(inputs))


class Function(_OneByOne):
    """A function from an input series to the states, or a physical device behind one.

    Parameters
    ----------
    run : callable
        Takes inputs (T,), or (T, d) if ``inputs`` is above one, and returns states (T, N), row t
        already driven by input t. A state left from the previous call is washed out, and reported.
    inputs, input_range
        Number of inputs d, and those that it accepts, (lowest, highest).

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
        name: str | None = None,
    ) -> None:
        self.function = run
        self._take(inputs, input_range)
        self.name = name or str(getattr(run, "__name__", type(run).__name__))

    def _one(self, series: Floats) -> Any:
        return self.function(series.copy())


class Step(_OneByOne):
    """A function ``step(state, input) -> state``, from a given initial state.

    Parameters
    ----------
    step : callable
        Takes a state like ``start`` and an input, a number or, if ``inputs`` is above one, an array
        (d,), and returns the next state. If it also works for states (R, N) and inputs (R,) or
        (R, d), which is tried, replicas are run together.
    start : (N,) array, or anything that can be copied
        The state before the first input.
    observe : callable, optional
        Maps a state to an array (N,); for states that are not arrays.
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
        self._take(inputs, input_range)
        self.name = name or str(getattr(step, "__name__", type(step).__name__))
        if observe is None and np.ndim(self.start) != 1:
            raise ValueError(fault("start", shape=np.shape(self.start)))
        self.together = observe is None and self._works_together()

    def run(self, inputs: Floats) -> Floats:
        if not self.together:
            return super().run(inputs)
        z = inputs[:, :, 0] if self.inputs == 1 else inputs
        state = np.repeat(self.start[None], len(z), axis=0)
        states = np.empty((*z.shape[:2], len(self.start)))
        for t in range(z.shape[1]):
            state = np.asarray(self.step(state, z[:, t].copy()), float)
            states[:, t] = state
        return states

    def _one(self, series: Floats) -> Any:
        state, rows = copy.deepcopy(self.start), []
        for z in series:
            state = self.step(state, z)
            rows.append(np.array(self.observe(state), float))  # a copy: it may change in place
        return np.array(rows)

    def _works_together(self) -> bool:
        """Whether a step for two states at once agrees with a step for each, at random states."""
        rng = np.random.default_rng(0)
        states = self.start + 0.1 * rng.standard_normal((2, len(self.start)))
        z = rng.uniform(*(self.input_range or (-0.5, 0.5)), (2, self.inputs))
        z = z[:, 0] if self.inputs == 1 else z
        try:
            with np.errstate(all="ignore"):
                both = np.asarray(self.step(states.copy(), z.copy()), float)
                single = [self.step(x.copy(), one) for x, one in zip(states, z, strict=True)]
        except Exception:  # whatever a step for one state says of two
            return False
        return both.shape == states.shape and bool(np.allclose(both, single, rtol=1e-6, atol=0))


class Torch(Model):
    """A torch module: ``nn.RNN``, ``nn.LSTM``, ``nn.GRU``, a cell, or a module around one.

    Parameters
    ----------
    module : torch.nn.Module
        It is run without gradients and without dropout, on its own device.
    states : str, optional
        Name of the submodule whose output is read, as in ``module.named_modules()``; by default the
        module. Of a tuple the first tensor is used; of an LSTM cell both states.
    inputs : int, optional
        Number of inputs; by default the ``input_size`` of the module or submodule.
    """

    together = True

    def __init__(
        self, module: Any, *, states: str | None = None, inputs: int | None = None
    ) -> None:
        parts = dict(module.named_modules())
        if states is not None and states not in parts:
            listed = ", ".join(name for name in parts if name) or "no parts"
            raise ValueError(f"`states` must name a part of the module, {listed}; got {states!r}.")
        self.module, self.part = module, parts[states or ""]
        size = inputs or getattr(module, "input_size", getattr(self.part, "input_size", None))
        if size is None:
            raise ValueError(fault("no_input_size"))
        self.inputs, self.name = require_size(size, "inputs"), type(module).__name__
        self._is_cell = hasattr(module, "hidden_size") and type(module).__name__.endswith("Cell")

    def run(self, inputs: Floats) -> Floats:
        torch = optional("torch", "this model", "torch")
        first = next(self.module.parameters(), torch.zeros(()))
        z = torch.as_tensor(inputs, dtype=first.dtype, device=first.device)
        training, outputs = self.module.training, list[Any]()
        self.module.eval()
        hook = self.part.register_forward_hook(lambda *parts: outputs.append(parts[2]))
        try:
            with torch.no_grad():
                if self._is_cell:
                    states = torch.stack(self._cell(z, torch), dim=1)
                else:
                    is_first = getattr(self.module, "batch_first", True)
                    self.module(z if is_first else z.transpose(0, 1))
                    states = outputs[-1][0] if isinstance(outputs[-1], tuple) else outputs[-1]
                    if not getattr(self.part, "batch_first", is_first):
                        states = states.transpose(0, 1)
        finally:
            hook.remove()
            self.module.train(training)
        return np.asarray(states.detach().to("cpu", torch.float64).numpy())

    def _cell(self, z: Any, torch: Any) -> list[Any]:
        state, rows = None, []
        for t in range(z.shape[1]):
            state = self.module(z[:, t], state)
            rows.append(torch.cat(state, dim=1) if isinstance(state, tuple) else state)
        return rows


class Reservoirpy(_OneByOne):
    """A reservoirpy node with states, or a model with one: the states of the reservoir."""

    def __init__(self, model: Any, *, inputs: int | None = None) -> None:
        self.node, self.inputs = drawn_reservoir(model, inputs)
        self.name = getattr(self.node, "name", None) or type(self.node).__name__

    def _one(self, series: Floats) -> Any:
        self.node.reset()
        return self.node.run(series.reshape(len(series), -1))


class Command(_OneByOne):
    """A command that reads inputs and writes states, one line per step.

    Parameters
    ----------
    command : str or sequence of str
        Started anew for each series, without a shell. It reads one line per step from standard
        input, numbers separated by blanks, and writes one line per step to standard output,
        numbers separated by blanks or commas.
    inputs, input_range
        As for :class:`Function`.
    timeout : float
        Seconds after which it is ended.

    Examples
    --------
    >>> import sys
    >>> import numpy as np
    >>> from memcurve import models
    >>> program = "import sys; [print(line.strip(), 0) for line in sys.stdin]"
    >>> models.Command([sys.executable, "-c", program]).run(np.zeros((1, 5, 1))).shape
    (1, 5, 2)
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        inputs: int = 1,
        input_range: tuple[float, float] | None = None,
        timeout: float = 600.0,
    ) -> None:
        if isinstance(command, str):  # backslashes are parts of paths on Windows
            command = shlex.split(command, posix=sys.platform != "win32")
        if not command:
            raise ValueError("`command` must name a program, got nothing.")
        self.line, self.name = list(command), shlex.join(command)
        self.timeout = timeout
        self._take(inputs, input_range)

    def _one(self, series: Floats) -> Any:
        table = series.reshape(len(series), -1).tolist()
        lines = "".join(" ".join(map(repr, row)) + "\n" for row in table)
        try:
            status, written, complaints = self._run(lines.encode())
            if status:
                last = complaints.strip().splitlines()[-1:] or ["it said nothing"]
                raise ModelError(f"the command {self.name} ended with status {status}: {last[0]}")
            rows = [line.replace(",", " ").split() for line in written.splitlines() if line]
            return np.array(rows, float)
        except OSError as error:
            problem = f"cannot be started ({error.strerror or error})."
            raise ModelError(f"the command {self.name} {problem}") from error
        except ValueError as error:
            problem = f"must write numbers, as many in every line; {error}."
            raise ModelError(f"the command {self.name} {problem}") from error

    def _run(self, lines: bytes) -> tuple[int, str, str]:
        """Exit status of the command, and what it wrote: to files, since it may never stop."""
        with contextlib.ExitStack() as stack:
            stdin, *written = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
            stdin.write(lines)
            stdin.seek(0)
            process = subprocess.Popen(self.line, stdin=stdin, stdout=written[0], stderr=written[1])
            stack.callback(process.wait)
            stack.callback(process.kill)
            end = time.monotonic() + self.timeout
            while (status := process.poll()) is None:
                if max(os.fstat(file.fileno()).st_size for file in written) > MOST_WRITTEN:
                    raise ValueError(f"it wrote over {MOST_WRITTEN:,} bytes")
                if time.monotonic() >= end:
                    problem = (
                        f"has not ended within {self.timeout:g} s; give it a longer `timeout`."
                    )
                    raise ModelError(f"the command {self.name} {problem}")
                time.sleep(0.005)
            for file in written:
                file.seek(0)
            output, errors = (file.read().decode("utf-8", "replace") for file in written)
            return status, output, errors


def as_model(model: Any, *, start: Any = None, inputs: int | None = None) -> Model:
    """The model for an object; a function with a ``start`` is a :class:`Step`."""
    made: Callable[..., Model]
    if isinstance(model, Model):
        made = _itself
    elif isinstance(model, LinearNetwork | NonlinearNetwork | StateAffineNetwork):
        made = Network
    elif comes_from(model, "torch.nn"):
        made = Torch
    elif comes_from(model, "reservoirpy"):
        made = Reservoirpy
    elif callable(model):
        made = Function if start is None else Step
    else:
        raise TypeError(fault("model", got=type(model).__name__))
    arguments = {"start": start, "inputs": inputs}
    options = {name: value for name, value in arguments.items() if value is not None}
    if unknown := sorted(set(options) - set(inspect.signature(made).parameters)):
        name = type(model).__name__
        raise TypeError(f"a model of type {name} takes no {', '.join(unknown)}; leave it out.")
    return made(model, **options)


def _itself(model: Model) -> Model:
    return model


def is_driven(model: Any) -> bool:
    """Whether an object can be simulated but is not a linear network, or converted to one."""
    if isinstance(model, Model | StateAffineNetwork):
        return True
    if isinstance(model, NonlinearNetwork):
        return model.activation != "identity"
    if comes_from(model, "torch.nn"):
        return not {"RNN", "RNNCell"} & {parent.__name__ for parent in type(model).__mro__}
    return inspect.isfunction(model) or inspect.ismethod(model)
