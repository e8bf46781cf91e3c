"""Options that commands share: the network, its input and noise, the method, outputs, workers."""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from cyclopts import Parameter

from memcurve.views.cli.console import print_document, say_written
from memcurve.views.cli.process import (
    UsageError,
    option_name,
    require_at_most_one,
    require_other_files,
)
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.network import LinearNetwork
    from memcurve.network.ranks import Ranks

Ensemble = Literal[
    "normal", "uniform", "sparse_normal", "sparse_uniform", "sp_c", "symmetric", "orthogonal",
    "permutation", "cyclic", "delay_line", "chain", "hippo_legs", "hippo_legt", "lru_ring",
]  # fmt: skip
# methods, too, which help and completion list without importing numpy
Method = Literal[
    "exact", "certified", "naive", "neutral", "osm", "osm_plus", "arnoldi", "montecarlo",
]  # fmt: skip


def _whole_number(kind: Any, tokens: Any) -> int:
    """Read an integer; by itself the parser would round 1.5."""
    text: str = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"it must be a whole number, e.g. 100; got {text!r}.") from None


def _file(module: str, help: str) -> Parameter:
    """An output, whose ending is checked before hours of work rather than after."""

    def require_ending(kind: Any, path: Path | None) -> None:
        endings = importlib.import_module(module).ENDINGS
        if path is not None and path.suffix.lower() not in endings:
            raise ValueError(f"It must end in one of {', '.join(endings)}.")

    return Parameter(validator=require_ending, help=help)


Whole = Annotated[int, Parameter(converter=_whole_number)]
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Picture = Annotated[
    Path | None,
    _file("memcurve.rendering.plot", "Draw the result to this file (.png, .pdf, .svg)."),
]
Saved = Annotated[
    Path | None,
    _file(
        "memcurve.core.result",
        "Write the result to this file: all of it (.json), or its table (.csv, .tex).",
    ),
]
Json = Annotated[Flag, Parameter(help="Print the result as JSON instead of tables.")]
Seed = Annotated[Whole, Parameter(help="Seed of everything drawn at random.")]
#: Commands list it for their help; `exit_code` reads it, also if a line cannot be parsed.
Verbose = Annotated[Flag, Parameter(help="Show the full traceback of an error.")]
#: Of a list: several values after one name.
SEVERAL = Parameter(consume_multiple=(1, None), negative="")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class OutputOptions:
    """Where a result goes: files, and standard output."""

    plot: Picture = None
    save: Saved = None
    json: Json = False
    verbose: Verbose = False
    REPORTS: ClassVar[dict[str, str]] = {}  # methods of a result that write reports, by option

    def require_other_than(self, file: Path | None, *others: Path, what: str = "network") -> None:
        """Raise where an output is the input, or two outputs are one file."""
        reports = (getattr(self, name) for name in self.REPORTS)
        require_other_files(file, *others, self.plot, self.save, *reports, what=what)

    def show(
        self,
        result: Any,
        printed: Callable[[Any], object],
        *,
        draw: Callable[[], Any] | None = None,
    ) -> None:
        """Write a result, its picture and its reports; print it, as JSON where asked for."""
        from memcurve.core.result import replacing

        if self.save is not None:
            result.save(self.save)
        if self.plot is not None:
            from memcurve.rendering import plot as pictures

            pictures.save((draw or result.plot)(), self.plot)
        written = {"picture": self.plot}
        for name, render in self.REPORTS.items():
            path = written["page" if name == "html" else "report"] = getattr(self, name)
            if path is not None:
                with replacing(path) as stream:
                    stream.write(getattr(result, render)().encode())
        if not self.json:
            printed(result)
        else:
            print(result.to_json())
        say_written(**written, result=self.save)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@documented
class ReportOptions(OutputOptions):
    html: Path | None = None
    markdown: Path | None = None
    REPORTS: ClassVar[dict[str, str]] = {"html": "to_html", "markdown": "to_markdown"}

    def show_document(self, result: Any) -> None:
        """The same for a result that is printed as its report."""
        self.show(result, lambda shown: print_document(shown.document()))


OUTPUT = OutputOptions()
REPORT = ReportOptions()


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@documented
class FileOptions:
    matrix: str | None = None
    edges: bool | None = None
    nodes: Path | None = None
    where: str | None = None
    min_weight: float | None = None
    signs: str | None = None
    inhibitory: str | None = None
    readout: str | None = None
    transpose: Flag = False
    seed: Seed = 1

    def selection(self) -> dict[str, Any]:
        """The arguments of :func:`memcurve.load_network` that select parts of a file."""
        names = ("matrix", "edges", "nodes", "where", "min_weight", "signs", "inhibitory", "seed")
        arguments = {name: getattr(self, name) for name in names}
        return arguments | {"readout": self.readout if self._is_class() else None}

    def _is_class(self) -> bool:
        text = self.readout or ""
        return self.nodes is not None and bool({*text} & {*"=<>"}) and not Path(text).is_file()

    def with_readout(self, network: LinearNetwork) -> LinearNetwork:
        """The network with the nodes that are read, unless they were read with it."""
        if self.readout is None or self._is_class():
            return network
        return network.replace(readout=_listed_nodes(self.readout, network))


FILE = FileOptions()


def _listed_nodes(text: str, network: LinearNetwork) -> list[int] | list[str]:
    """Nodes by name, in a file of names, or by number; with labels, 5-9 is from name to name."""
    labels = network.names(range(network.size))
    if network.labels is not None and text in labels:
        return [text]
    if Path(text).is_file():
        from memcurve.io import listed_nodes, node_place

        indices = {label: index for index, label in enumerate(labels)}
        listed = [node_place(name, indices) for name in listed_nodes(Path(text), indices)]
        if {*listed} <= {None}:
            raise UsageError(f"--readout: {text} names no node of the network.")
        return [index for index in listed if index is not None]
    names = [name.strip() for name in text.split(",")]
    if network.labels is not None and {*names} <= {*labels}:
        return names
    nodes: list[int] = []
    try:
        for first, dash, last in (name.partition("-") for name in names):
            # a range of more nodes than the network has is refused by the first that is none of it
            end = min(int(last), int(first) + network.size) if dash else int(first)
            nodes += range(int(first), end + 1)
    except ValueError:
        if network.labels is not None:
            return names
        raise UsageError(
            f"--readout must list nodes and ranges of nodes, e.g. 0,3,5-9; got {text!r}."
        ) from None
    return nodes if network.labels is None else [str(node) for node in nodes]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@documented
class NetworkOptions(FileOptions):
    ensemble: Ensemble | None = None
    size: Whole | None = None
    spectral_radius: float | None = None
    density: float | None = None
    mask: str | None = None
    inputs: Whole | None = None
    leak: float | None = None
    input_column: Annotated[list[Whole] | None, SEVERAL] = None
    bias_column: Whole | None = None
    input: Annotated[list[str] | None, SEVERAL] = None
    noise: Annotated[list[str] | None, SEVERAL] = None

    def network(
        self, file: Path | None, usual_ensemble: str, ranks: Ranks | None = None
    ) -> LinearNetwork:
        """Read the file, or draw the ensemble; rows are distributed over ``ranks``, if any."""
        from memcurve.io import load_network, with_leak

        changes = (self.leak, self.input_column, self.bias_column, self.transpose or None)
        if file is None or any(change is not None for change in changes):
            network = with_leak(*self.driven(file, usual_ensemble))
            return network if ranks is None else ranks.split(network)
        return self.with_readout(self._read(file, load_network, communicator=ranks))

    def driven(self, file: Path | None, usual_ensemble: str) -> tuple[LinearNetwork, Any]:
        """The same for W, with the spectral radius, and Win, and the leak rates or None."""
        from memcurve.core.arguments import require_number
        from memcurve.io import load_driven

        if self.leak is not None:
            require_number(self.leak, "leak", "above 0 and at most 1", lambda rate: 0 < rate <= 1)
        if file is None:
            for name in self._given(*_OF_FILES):
                raise UsageError(f"{option_name(name)} is about a file; give the file, too.")
            options = self._given(*_OF_ENSEMBLES, "spectral_radius")
            network = self._drawn(options.pop("ensemble", usual_ensemble), **options)
            return self.with_readout(network), self.leak
        network, leak = self._read(file, load_driven)
        if leak is not None and self.leak is not None:
            raise UsageError(f"--leak {self.leak:g}: {file} has a leak rate; leave --leak out.")
        network = self._with_columns(network.replace(A=network.A.T) if self.transpose else network)
        return self.with_readout(network), self.leak if leak is None else leak

    def _given(self, *names: str) -> dict[str, Any]:
        """Those of the options that are given."""
        values = {name: getattr(self, name) for name in names}
        return {name: v for name, v in values.items() if v is not None and v is not False}

    def require_none(self, other: str, *needed: str) -> None:
        """Raise if options of the network are given beside another option that determines it."""
        names = {field.name for field in fields(self)} - {"seed", "input", "noise", *needed}
        for name in self._given(*sorted(names)):
            raise UsageError(f"{option_name(name)} does not go with {other}; leave out one.")

    def _read(self, file: Path, load: Callable[..., Any], **more: Any) -> Any:
        """Read the file by a function of :mod:`memcurve.io`."""
        if str(file) in get_args(Ensemble) and not file.exists():
            raise UsageError(f"{file}: no such file; the ensemble is --ensemble {file}.")
        for name in self._given(*_OF_ENSEMBLES):
            raise UsageError(
                f"{option_name(name)} is for built-in ensembles; leave it out, or the file {file}."
            )
        from memcurve.io import MissingMaskError

        more |= {"mask": self.mask, "spectral_radius": self.spectral_radius}
        try:
            return load(file, **self.selection(), **more)
        except MissingMaskError as error:
            remedy = "Or draw one: --mask normal, or --mask ones."
            raise MissingMaskError(f"{error} {remedy}") from error

    def _with_columns(self, network: LinearNetwork) -> LinearNetwork:
        """The network with the columns of its mask that are inputs, and the one that is a bias."""
        if self.input_column is None and self.bias_column is None:
            return network
        mask, bias = network.C.reshape(network.size, -1), self.bias_column
        every = range(mask.shape[1])
        inputs = self.input_column or [column for column in every if column != bias]
        biases = [] if bias is None else [bias]
        for option, columns in (("--input-column", inputs), ("--bias-column", biases)):
            for column in columns:
                if column not in every:
                    raise UsageError(f"{option} must be from 0 to {every[-1]} here, got {column}.")
        if not inputs or bias in inputs:
            raise UsageError("--bias-column must leave a column of the mask for the input.")
        shift = network.shift
        if biases:
            shift = mask[:, bias] if shift is None else shift + mask[:, bias]
        C = mask[:, inputs[0]] if len(inputs) == 1 else mask[:, inputs]
        notes = [note for note in network.notes if "--bias-column" not in note]
        return network.replace(C=C, shift=shift, notes=notes)

    def _drawn(
        self, ensemble: str, size: int = 100, inputs: int = 1, **options: float
    ) -> LinearNetwork:
        from memcurve.core.arguments import require_size
        from memcurve.core.limits import require_room_for_array
        from memcurve.network import ensembles

        require_size(inputs, "inputs")
        require_room_for_array((size, size), f"a network of --size {size}")
        network = ensembles.make(ensemble, size, seed=self.seed, mask=self.mask, **options)
        several = ensembles.with_inputs(network, inputs, self.mask, self.seed)
        return several if inputs == 1 else several.replace(name=f"{network.name}, {inputs} inputs")

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`memcurve.memory_curve`."""
        from memcurve.inputs import parse
        from memcurve.inputs.noise import parse_noise

        arguments: dict[str, Any] = {}
        if self.input is not None:
            processes = []
            for text in self.input:
                # what is wrong with a recording is no error of usage
                recording = text.lower().startswith("series:")
                with contextlib.nullcontext() if recording else usage():
                    processes.append(parse(text))
            arguments["input"] = processes[0] if len(processes) == 1 else processes
        if self.noise is not None:
            with usage():
                arguments["noise"] = parse_noise(self.noise)
        return arguments


NETWORK = NetworkOptions()
#: Options that are about a file, and about a built-in ensemble.
_OF_FILES = (
    "matrix", "edges", "nodes", "where", "min_weight", "signs", "inhibitory", "transpose",
    "input_column", "bias_column",
)  # fmt: skip
_OF_ENSEMBLES = ("ensemble", "size", "density", "inputs")


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """Turn errors about a text of the command line into usage errors."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
@documented
class ExecutorOptions:
    workers: Whole | None = None
    serial: Flag = False
    dask: str | None = None
    retry_failed: Flag = False

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`memcurve.sweep` that say where the cases are computed."""
        is_local = self.workers is not None
        require_at_most_one(serial=self.serial, dask=self.dask, workers=is_local)
        if self.workers is not None and self.workers < 1:
            raise UsageError(f"--workers must be at least 1, got {self.workers}.")
        if self.dask is not None:
            return {"executor": "dask", "address": self.dask}
        if self.serial:
            return {"executor": "serial"}
        return {"executor": "processes", "workers": self.workers}


EXECUTOR = ExecutorOptions()


def from_python(text: str) -> Any:
    """The object of FILE.py:NAME; the file is run."""
    import runpy

    file, _, name = text.rpartition(":")
    if not Path(file).is_file():
        raise UsageError(f"{file}: there is no such file; FILE.py:NAME names an object of one.")
    sys.path.insert(0, str(Path(file).resolve().parent))
    try:
        made = runpy.run_path(file)
    finally:
        sys.path.pop(0)
    if name not in made:
        names = [key for key in made if not key.startswith("_")]
        raise UsageError(f"{file} has no {name}; it has {', '.join(names[:20]) or 'no names'}.")
    return made[name]
