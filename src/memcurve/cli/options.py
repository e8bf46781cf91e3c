"""Options that commands share: the network, what drives and disturbs it, the method."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from cyclopts import Parameter

from memcurve.cli.process import UsageError

if TYPE_CHECKING:
    from memcurve.network import LinearNetwork
    from memcurve.network.ranks import Ranks

Ensemble = Literal[
    "normal", "uniform", "sparse_normal", "sparse_uniform", "sp_c", "symmetric", "orthogonal",
    "permutation", "cyclic", "delay_line", "chain", "hippo_legs", "hippo_legt", "lru_ring",
]  # fmt: skip
# the methods that come with memcurve, which help and completion list without importing numpy
_Method = Literal[
    "exact", "certified", "naive", "neutral", "osm", "osm_plus", "arnoldi", "montecarlo",
]  # fmt: skip


def _whole_number(kind: Any, tokens: Any) -> int:
    """Read an integer; by itself the parser would round 1.5."""
    text: str = tokens[0].value
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"it must be a whole number, e.g. 100; got {text!r}.") from None


def _require_method(kind: Any, name: str) -> None:
    """Raise unless it is a method that comes with memcurve, or one that was added."""
    if name not in get_args(_Method):
        from memcurve.methods import METHODS

        if name not in METHODS:
            raise ValueError(f"It must be one of {', '.join(METHODS)}.")


def _require_picture(kind: Any, path: Path | None) -> None:
    """Raise before hours of work rather than after."""
    from memcurve.plot import ENDINGS

    if path is not None and path.suffix.lower() not in ENDINGS:
        raise ValueError(f"It must end in one of {', '.join(ENDINGS)}.")


def _require_saved(kind: Any, path: Path | None) -> None:
    """Raise before hours of work rather than after."""
    from memcurve.result import ENDINGS

    if path is not None and path.suffix.lower() not in ENDINGS:
        raise ValueError(f"It must end in one of {', '.join(ENDINGS)}.")


def options_by_method(**options: Any) -> dict[str, dict[str, Any]]:
    """The options under the name of each method that takes them."""
    from memcurve.methods import METHODS

    return {
        name: {o: v for o, v in options.items() if o in method.options}
        for name, method in METHODS.items()
    }


Whole = Annotated[int, Parameter(converter=_whole_number)]
Method = Annotated[_Method | str, Parameter(validator=_require_method)]
Picture = Annotated[Path | None, Parameter(validator=_require_picture)]
Saved = Annotated[Path | None, Parameter(validator=_require_saved)]
Flag = Annotated[bool, Parameter(negative="")]
#: Commands name it for their help; `exit_code` reads it, also where a line cannot be parsed.
Verbose = Annotated[Flag, Parameter(help="Show the full traceback of an error.")]
#: Of a list: several values after one name.
SEVERAL = Parameter(consume_multiple=True, negative="")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """A built-in ensemble or what is in a file; what drives it, and what disturbs its states.

    Parameters
    ----------
    ensemble
        Built-in ensemble (default normal for curve, else sparse_normal).
    size
        Number of nodes of the ensemble (default 100).
    spectral_radius
        Spectral radius of the ensemble (0.9 where it has one); A of a file is scaled to it.
    density
        Share of non-zero weights of a sparse ensemble (default 0.1).
    seed
        Seed of everything drawn at random.
    mask
        Input mask: normal, uniform, sparse_normal, sparse_uniform, ones or basis; for a file also
        the name of an array in it, another file, names of nodes (a,b,c), or a text with a name a
        line (and a weight behind it). Default: the file's, or the ensemble's own.
    inputs
        Number of inputs of the ensemble (default 1), each with a mask of its own.
    readout
        Nodes that can be read, e.g. 0,3,5-9, or names of nodes. Default: all.
    matrix
        Name of the connectivity in FILE, where it is not A or W; of the column of weights.
    edges
        Whether a text lists edges or is a matrix, where its first lines do not tell.
    input
        Input process: white, ar:0.9, ma:0.5, arma:0.8,0.1/0.5, acov:1,0.5,0.25 or series:FILE;
        for several inputs one for all, or one each.
    noise
        Noise on the states, relative to input of unit variance: a standard deviation (1e-3),
        state:1e-3 (enters the recursion), float32, float64, step:0.01, or 12bit:4 (over -4 … 4).
        Several standard deviations, or several state:…, give a curve each.
    """

    ensemble: Ensemble | None = None
    size: Whole | None = None
    spectral_radius: float | None = None
    density: float | None = None
    seed: Whole = 1
    mask: str | None = None
    inputs: Whole | None = None
    readout: str | None = None
    matrix: str | None = None
    edges: bool | None = None
    input: Annotated[list[str] | None, SEVERAL] = None
    noise: Annotated[list[str] | None, SEVERAL] = None

    def network(
        self, file: Path | None, usual_ensemble: str, ranks: Ranks | None = None
    ) -> LinearNetwork:
        """Read the file, or draw the ensemble with those options that are set.

        Its rows are divided among the ``ranks``, if there are any.
        """
        if file is not None:
            from memcurve.io import load_masked

            network = self._read(file, load_masked, communicator=ranks)
        elif self.matrix is not None or self.edges is not None:
            told = "--edges is about" if self.matrix is None else "--matrix names an array in"
            raise UsageError(f"{told} a file; give the file, or leave it out.")
        else:
            options = self._given()
            network = self._drawn(options.pop("ensemble", usual_ensemble), **options)
            network = network if ranks is None else ranks.split(network)
        return self._with_readout(network)

    def driven(self, file: Path | None, usual_ensemble: str) -> tuple[LinearNetwork, Any]:
        """The same for a network that is driven: W and Win of a file, and its leak rates or None.

        The spectral radius is then that of W.
        """
        if file is None:
            return self.network(None, usual_ensemble), None
        from memcurve.io import load_driven

        network, leak = self._read(file, load_driven)
        return self._with_readout(network), leak

    def _given(self) -> dict[str, Any]:
        """What is said of an ensemble."""
        names = ("ensemble", "size", "spectral_radius", "density", "inputs")
        given = {name: getattr(self, name) for name in names}
        return {name: value for name, value in given.items() if value is not None}

    def _read(self, file: Path, load: Callable[..., Any], **more: Any) -> Any:
        """What a function of :mod:`memcurve.io` reads from the file."""
        if str(file) in get_args(Ensemble) and not file.exists():
            raise UsageError(f"{file}: no such file; the ensemble is --ensemble {file}.")
        for name in self._given().keys() - {"spectral_radius"}:
            raise UsageError(
                f"--{name.replace('_', '-')} is for built-in ensembles; the network of {file} "
                f"is taken as it is. Leave it out, or leave out the file."
            )
        from memcurve.io import MissingMaskError

        which = {"matrix": self.matrix, "edges": self.edges, "seed": self.seed}
        try:
            return load(file, self.mask, spectral_radius=self.spectral_radius, **which, **more)
        except MissingMaskError as error:
            remedy = "Or draw one: --mask normal, or --mask ones."
            raise MissingMaskError(f"{error} {remedy}") from error

    def _with_readout(self, network: LinearNetwork) -> LinearNetwork:
        if self.readout is None:
            return network
        return network.replace(readout=nodes_read(self.readout, network.labels))

    def _drawn(
        self, ensemble: str, size: int = 100, inputs: int = 1, **options: float
    ) -> LinearNetwork:
        from memcurve import ensembles
        from memcurve.limits import require_room_for_array

        if inputs < 1:
            raise ValueError(f"--inputs must be at least 1, got {inputs}.")
        require_room_for_array((size, size), f"a network of --size {size}")
        network = ensembles.make(ensemble, size, seed=self.seed, mask=self.mask, **options)
        several = ensembles.with_inputs(network, inputs, self.mask, self.seed)
        return several if inputs == 1 else several.replace(name=f"{network.name}, {inputs} inputs")

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`memcurve.memory_curve`."""
        arguments: dict[str, Any] = {}
        if self.input is not None:
            from memcurve.inputs import parse

            processes = []
            for text in self.input:
                # what is wrong with a recording is no error of usage
                recording = text.lower().partition(":")[0] == "series"
                with contextlib.nullcontext() if recording else usage():
                    processes.append(parse(text))
            arguments["input"] = processes[0] if len(processes) == 1 else processes
        if self.noise is not None:
            from memcurve.noise import parse_noise

            with usage():
                arguments["noise"] = parse_noise(self.noise)
        return arguments


NETWORK = NetworkOptions()


@contextlib.contextmanager
def usage() -> Iterator[None]:
    """Make what is wrong with a text of the command line an error of usage."""
    try:
        yield
    except ValueError as error:
        raise UsageError(str(error)) from error


def executor_arguments(
    serial: bool, dask: str | None, mpi: bool, workers: int | None
) -> dict[str, Any]:
    """The arguments that say where the cases are computed."""
    chosen = {"--serial": serial, "--dask": dask is not None, "--mpi": mpi}
    asked = [name for name, given in chosen.items() if given]
    if len(asked) > 1:
        raise UsageError(f"{' and '.join(asked)} exclude each other; give one of them.")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers must be at least 1, got {workers}.")
    if workers is not None and (serial or mpi or dask not in (None, "local")):
        raise UsageError(f"{asked[0]} takes no --workers; leave one of them out.")
    if dask is not None:
        address = None if dask == "local" else dask
        return {"executor": "dask", "address": address, "workers": workers}
    return {"executor": asked[0][2:]} if asked else {"executor": "processes", "workers": workers}


def nodes_read(text: str, labels: tuple[str, ...] | None) -> list[int] | list[str]:
    """The nodes read, by their names where they have some: 5-9 is then from name to name."""
    if labels is None:
        return _node_list(text)
    names = [text] if text in labels else [name.strip() for name in text.split(",")]
    if not {*names} <= {*labels}:
        with contextlib.suppress(UsageError):
            return [str(node) for node in _node_list(text)]
    return names


def _node_list(text: str) -> list[int]:
    """The nodes that a text like 0,3,5-9 lists."""
    nodes: list[int] = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        try:
            nodes += range(int(first), int(last) + 1) if dash else [int(first)]
        except ValueError:
            raise UsageError(
                f"--readout must list nodes and ranges of nodes, e.g. 0,3,5-9; got {text!r}."
            ) from None
    return nodes
