"""The command ``memcurve``. Imports what it needs when it needs it, so that help is instant."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import App, Parameter

from memcurve.terminal import (
    print_comparison,
    print_comparison_as_json,
    print_curve,
    print_outcomes,
)

if TYPE_CHECKING:
    from memcurve.curve import MemoryCurve
    from memcurve.network import LinearNetwork

Ensemble = Literal[
    "normal", "uniform", "sparse_normal", "sparse_uniform", "sp_c", "symmetric", "orthogonal",
    "permutation", "cyclic", "delay_line", "chain", "hippo_legs", "hippo_legt", "lru_ring",
]  # fmt: skip
Method = Literal[
    "exact", "certified", "naive", "neutral", "osm", "osm_plus", "arnoldi", "montecarlo",
]  # fmt: skip


def _whole_number(kind: Any, tokens: Any) -> int:
    """Read an integer; by itself the parser would round 1.5."""
    return int(tokens[0].value)


Whole = Annotated[int, Parameter(converter=_whole_number)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """Where the network comes from: a built-in ensemble, or names in a file.

    Parameters
    ----------
    ensemble
        Built-in ensemble (default sparse_normal for compare, else normal).
    size
        Number of nodes of the ensemble (default 100).
    spectral_radius
        Spectral radius of the ensemble (0.9 where it has one).
    density
        Share of non-zero weights of a sparse ensemble (default 0.1).
    seed
        Seed of everything drawn at random.
    mask
        Input mask: normal, uniform, sparse_normal, sparse_uniform, ones or basis; for a file also
        the name of an array in it or another file. Default: the file's, or the ensemble's own.
    matrix
        Name of the connectivity in FILE, where it is not A or W.
    """

    ensemble: Ensemble | None = None
    size: Whole | None = None
    spectral_radius: float | None = None
    density: float | None = None
    seed: Whole = 1
    mask: str | None = None
    matrix: str | None = None

    def network(self, file: Path | None, usual_ensemble: str) -> LinearNetwork:
        """Read the file, or draw the ensemble with those options that are set."""
        given = {n: getattr(self, n) for n in ("ensemble", "size", "spectral_radius", "density")}
        options = {name: value for name, value in given.items() if value is not None}
        if file is not None:
            for name in options:
                raise ValueError(
                    f"--{name.replace('_', '-')} is for built-in ensembles; the network of {file} "
                    f"is taken as it is. Leave it out, or leave out the file."
                )
            return _file_network(file, self.matrix, self.mask, self.seed)
        if self.matrix is not None:
            raise ValueError("--matrix names an array in a file; give the file, or leave it out.")
        from memcurve import ensembles

        ensemble, size = options.pop("ensemble", usual_ensemble), options.pop("size", 100)
        return ensembles.make(ensemble, size, seed=self.seed, mask=self.mask, **options)


NETWORK = NetworkOptions()

app = App(
    name="memcurve",
    help="How much a recurrent network remembers, computed right.",
    help_format="plaintext",
    version=lambda: _version(),
)


@app.command
def curve(
    file: Path | None = None,
    *,
    options: NetworkOptions = NETWORK,
    method: Method = "exact",
    lags: Whole | None = None,
    plot: Path | None = None,
    save: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    verbose: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Memory curve of a network from a file or of a built-in ensemble.

    For example:

      memcurve curve --plot memory.png
      memcurve curve --ensemble orthogonal --size 200 --spectral-radius 0.95
      memcurve curve network.mat --lags 50
      memcurve curve weights.npy --mask ones --method certified
      memcurve curve layer.safetensors --matrix rnn.A --mask rnn.B --json

    Parameters
    ----------
    file
        Network to read: .npz, .mat or .safetensors holding A and C (or W and Win); .npy, .csv or
        .mtx holding A (with --mask) or [A | C]. Without a file, a built-in ensemble is used.
    options
        Where the network comes from.
    method
        exact: rounding accuracy in milliseconds; certified: proven bounds; the others are the
        paper's, without an error bound.
    lags
        Number of lags, from 0 on. Default: enough to hold all but 1e-12 of the memory.
    plot
        Draw the curve to this file (.png, .pdf, .svg).
    save
        Write the whole result to this .json file.
    json
        Print the result as JSON instead of a table.
    verbose
        Show the full traceback of an error.
    """
    import warnings

    from memcurve import RankWarning, memory_curve

    _require_other_files(file, plot, save)
    network = options.network(file, "normal")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankWarning)  # it is among the notes
        result = memory_curve(network, lags, method=method, seed=options.seed)
    if save is not None:
        result.save(save)
    if plot is not None:
        _draw(result, plot)
    if json:
        print(result.to_json())
    else:
        print_curve(result)
    for kind, path in (("picture", plot), ("result", save)):
        if path is not None:
            print(f"{kind} written to {path}", file=sys.stderr)
    return 0


@app.command
def compare(
    file: Path | None = None,
    *,
    methods: Annotated[list[Method] | None, Parameter(consume_multiple=True)] = None,
    options: NetworkOptions = NETWORK,
    lags: Whole | None = None,
    masks: Whole = 100,
    samples: Whole = 10_000,
    plot: Path | None = None,
    json: Annotated[bool, Parameter(negative="")] = False,
    verbose: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """Several methods on one network, measured against the exact curve.

    For example:

      memcurve compare --plot compare.png
      memcurve compare --ensemble orthogonal --methods naive osm
      memcurve compare network.mat --masks 1000

    Parameters
    ----------
    file
        Network to read, as for `memcurve curve`; without one, a built-in ensemble is used.
    methods
        Methods to compare with the exact one. Default: naive neutral osm osm_plus montecarlo.
    options
        Where the network comes from.
    lags
        Number of lags compared, from 0 on. Default: twice the number of states.
    masks
        Number of random masks of osm_plus.
    samples
        Number of samples of montecarlo.
    plot
        Draw all curves to this file (.png, .pdf, .svg).
    json
        Print the rows as JSON instead of a table.
    verbose
        Show the full traceback of an error.
    """
    from memcurve.comparison import DEFAULT_METHODS
    from memcurve.comparison import compare as run

    _require_other_files(file, plot)
    network = options.network(file, "sparse_normal")
    by_method = {"osm_plus": {"masks": masks}, "montecarlo": {"samples": samples}}
    comparison = run(
        network, methods or DEFAULT_METHODS, lags=lags, seed=options.seed, options=by_method
    )
    if plot is not None:
        from memcurve import plot as pictures

        labels = [f"{row.method}: total {row.total:.4g}" for row in comparison.rows if row.curve]
        pictures.save(pictures.curves(*comparison.curves, labels=labels), plot)
    if json:
        print_comparison_as_json(comparison)
    else:
        print_comparison(comparison)
    if plot is not None:
        print(f"picture written to {plot}", file=sys.stderr)
    return 0


@app.command
def paper(
    *,
    output: Path = Path("paper-figures"),
    figure: Annotated[list[Whole] | None, Parameter(consume_multiple=True)] = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    claims: Annotated[bool, Parameter(negative="")] = False,
    fresh: Annotated[bool, Parameter(negative="")] = False,
    seed: Whole = 1,
    verbose: Annotated[bool, Parameter(negative="")] = False,
) -> int:
    """The figures and claims of "Memory of recurrent networks: Do we compute it right?".

    For example:

      memcurve paper --quick --claims --output paper-figures
      memcurve paper --figure 4
      memcurve paper

    Parameters
    ----------
    output
        Folder for the figures (PNG and PDF) and the page index.html that shows them.
    figure
        Only these figures, 1 to 6; all by default.
    quick
        40 masks in place of 1000 and fewer sample sizes: about half a minute.
    claims
        Check the paper's claims too, and add their table to the page.
    fresh
        Draw again what is there already. Without it an interrupted run goes on where it was.
    seed
        Seed of everything drawn at random.
    verbose
        Show the full traceback of an error.
    """
    from memcurve.paper import Settings, reproduce

    progress = sys.stderr.isatty()
    settings = Settings.quick(seed=seed) if quick else Settings(seed=seed, progress=progress)
    page, outcomes = reproduce(
        output, figures=figure, settings=settings, claims=claims, fresh=fresh, say=_say
    )
    if outcomes:
        print_outcomes(outcomes)
    print(f"page: {page}")
    return 0


def main() -> None:
    """Entry point: user errors end in one line on stderr and exit code 1, not in a traceback."""
    from memcurve.errors import UncertainResultError

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Greek letters
    try:
        app()
        sys.stdout.flush()
    except BrokenPipeError:  # the reader, e.g. `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except MemoryError as error:
        sys.exit(
            f"memcurve: error: out of memory ({error or 'no details'}); ask for fewer nodes "
            f"or lags."
        )
    except (ValueError, TypeError, OSError, ImportError, UncertainResultError) as error:
        if "--verbose" in sys.argv:
            raise
        sys.exit(f"memcurve: error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def _version() -> str:
    from memcurve import __version__

    return __version__


def _require_other_files(file: Path | None, *outputs: Path | None) -> None:
    for output in outputs:
        if file is not None and output is not None and output.resolve() == file.resolve():
            raise ValueError(f"{output} is the network itself; write to another file.")


def _file_network(file: Path, matrix: str | None, mask: str | None, seed: int) -> LinearNetwork:
    from memcurve import LinearNetwork, load_network, masks
    from memcurve.files import load_matrix

    if mask not in masks.MASKS:
        return load_network(file, matrix=matrix, mask=mask)
    A = load_matrix(file, matrix=matrix)
    return LinearNetwork(A, masks.make(mask, A.shape[0], seed=seed), name=file.stem)


def _draw(result: MemoryCurve, path: Path) -> None:
    from memcurve import plot

    plot.save(plot.curves(result), path)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
