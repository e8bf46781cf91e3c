"""``memcurve connectome``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from memcurve.core.notes import counted
from memcurve.views.cli.console import Printer, styled
from memcurve.views.cli.options import (
    EXECUTOR,
    FILE,
    REPORT,
    SEVERAL,
    ExecutorOptions,
    FileOptions,
    Flag,
    ReportOptions,
    Seed,
    Whole,
    nodes_read,
)
from memcurve.views.cli.process import UsageError, stoppable

if TYPE_CHECKING:
    from memcurve.io import NodeTable
    from memcurve.network import LinearNetwork
    from memcurve.studies.connectome import NullComparison

InputWeights = Literal["ones", "normal"]


def connectome(
    file: Path,
    *,
    inputs: str | None = None,
    input_weights: InputWeights = "ones",
    readout: str | None = None,
    part: FileOptions = FILE,
    transpose: Flag = False,
    null: str = "rewire,shuffle",
    draws: Whole = 200,
    noise: Annotated[list[float] | None, SEVERAL] = None,
    blocks: str | None = None,
    positions: str | None = None,
    spectral_radius: float | None = None,
    keep_scale: Flag = False,
    rank: bool = True,
    seed: Seed = 1,
    store: Path | None = None,
    executor: ExecutorOptions = EXECUTOR,
    output: ReportOptions = REPORT,
) -> None:
    """Memory of a network against null models: how much is explained by the wiring.

    Each surrogate is saved as soon as it is computed: a run that was stopped goes on with the same
    command, and one with more --draws computes only the new ones.

    For example:

      memcurve connectome edges.csv.gz --inputs sensory.txt
      memcurve connectome edges.csv --nodes cells.csv --inputs class=sens
      memcurve connectome brain.feather --nodes cells.csv --min-weight 5 --signs nt
      memcurve connectome weights.npy --transpose --null signs --draws 1000
      memcurve connectome edges.csv --nodes cells.csv --null blocks --blocks class
      memcurve connectome edges.csv --noise 1e-2 1e-4 --html nulls.html

    Parameters
    ----------
    file
        Network to read, as for `memcurve curve`: a list of edges, a graph, a matrix.
    inputs
        Nodes that the input drives: names (a,b,c), a text file with one node name per line,
        optionally followed by a weight, or a class of --nodes (class1=sens). Default: the file's
        mask, or else all nodes with normally distributed weights.
    input_weights
        Weights of the nodes that --inputs names: ones, or normal, drawn with the seed.
    readout
        Nodes that are read: names, numbers (0,3,5-9), a text file with one node name per line, or a
        class of --nodes. Default: all.
    transpose
        Rows of the matrix are sources, columns targets: A is its transpose.
    null
        Null models: rewire (keeps every degree), shuffle (weights over the edges), signs,
        erdos_renyi, blocks (rewire that keeps the edges between --blocks), spatial (rewire that
        keeps the lengths of edges by --positions).
    draws
        Surrogates of each; adjusted p-values have a resolution of 1 / (draws + 1).
    noise
        Standard deviations of observation noise, for input of unit variance. Default: 1e-3 and
        1e-6.
    blocks
        Column of --nodes that holds the block of each node.
    positions
        Columns of --nodes that hold the position of each node, x,y,z.
    spectral_radius
        Scale the network to this. Default: as it is, or 0.9 where it is unstable.
    keep_scale
        Keep the surrogates' own scale. By default each has the network's spectral radius.
    rank
        Compare the total memory, which is slow for more than about ten thousand nodes.
    store
        File that stores the surrogates. Default: FILE's name with .nulls.sqlite, in this folder.
    """
    where = executor.arguments()
    from memcurve.studies.nulls import NULLS

    asked = [name.strip() for name in null.split(",")]
    for name in asked:
        if name not in NULLS:
            raise UsageError(f"--null must list some of {', '.join(NULLS)}; got {name!r}.")
    stem = file.name.split(".")[0]
    place = store or Path(f"{stem}.nulls.sqlite")
    output.require_other_than(file, place)
    from memcurve.io import load_nodes
    from memcurve.studies.connectome import USUAL_NOISE, compare_with_nulls

    is_graph = any(ending in file.suffixes for ending in (".graphml", ".gml", ".gexf"))
    table = load_nodes(part.nodes or file) if part.nodes or is_graph else None
    if table is not None and part.where is not None:
        table = table.selected(part.where)
    how = part.which() | {"seed": seed, "nodes": table or part.nodes}
    how["where"] = None if table else part.where
    network = _turned(_driven(file, inputs, input_weights, table, how), file, transpose)
    if readout is not None:
        network = network.replace(readout=_nodes_read(readout, network, table))
    labels = network.names(range(network.size))
    options: dict[str, dict[str, Any]] = {}
    if blocks is not None:
        options["blocks"] = {"blocks": _columns(table, "--blocks").entries(blocks, labels)}
    if positions is not None:
        columns = [column.strip() for column in positions.split(",")]
        places = _columns(table, "--positions").numbers(columns, labels)
        options["spatial"] = {"positions": places.tolist()}
    for name, option in (("blocks", "--blocks"), ("spatial", "--positions")):
        if name in asked and name not in options:
            raise UsageError(f"--null {name} needs {option}, columns of --nodes.")
        if name in options and name not in asked:
            raise UsageError(f"{option} is for --null {name}; add that, or leave it out.")
    with stoppable(place):
        result = compare_with_nulls(
            network,
            [(name, options.get(name, {})) for name in asked],
            draws=draws,
            seed=seed,
            spectral_radius=spectral_radius,
            rescale=not keep_scale,
            rank=rank,
            store=place,
            retry_failed=executor.retry_failed,
            progress=True,
            noise=noise or USUAL_NOISE,
            **where,
        )
    output.show(result, _print)


def _print(result: NullComparison) -> None:
    printer = Printer()
    scale = "scaled to match" if result.rescaled else "at their own scale"
    about = f"  {result.network}: {result.size:,} nodes, {result.edges:,} edges; spectral "
    about += f"radius {result.spectral_radius:.6g}, surrogates {scale}"
    printer.line(("network", "bold"), about)
    printer.table(result.HEADER, result.table(), right=range(2, len(result.HEADER)))
    printer.wrapped(styled(result.sentence))
    printer.notes(result.notes)


def _columns(table: NodeTable | None, option: str) -> NodeTable:
    """The table of nodes, which an option needs."""
    if table is None:
        raise UsageError(f"{option} needs columns: give the table of nodes by --nodes.")
    return table


def _is_class(text: str) -> bool:
    return "=" in text and not Path(text).is_file()


def _driven(
    file: Path, inputs: str | None, weights: str, table: NodeTable | None, how: dict[str, Any]
) -> LinearNetwork:
    """The network with the mask that is asked for, or with its own, or a normal one."""
    from memcurve.io import MissingMaskError, load_network
    from memcurve.network import masks

    if inputs is None:
        if weights != "ones":
            raise UsageError("--input-weights are those of --inputs; name these, too.")
        try:
            return load_network(file, **how)
        except MissingMaskError:
            network = load_network(file, mask="normal", **how)
            note = f"all nodes are driven, with normal weights (seed {how['seed']})"
            return network.replace(notes=[*network.notes, note])
    if _is_class(inputs):
        _columns(table, "--inputs")
    network = load_network(file, mask=inputs, **how)
    mask = network.C.copy()
    if weights == "normal":
        mask[mask != 0] = masks.normal(int((mask != 0).sum()), seed=how["seed"], norm=None)
    notes = [*network.notes, f"driven: {counted(int((mask != 0).sum()), 'node')}"]
    return network.replace(C=mask, notes=notes)


def _nodes_read(text: str, network: LinearNetwork, table: NodeTable | None) -> Any:
    """The nodes that are read: of a class, of a file, or as a text lists them."""
    labels = network.names(range(network.size))
    if _is_class(text):
        return _columns(table, "--readout").places(text, labels)
    if text in labels or not Path(text).is_file():
        return nodes_read(text, network.labels)
    from memcurve.io import listed_nodes, node_place

    places = {label: place for place, label in enumerate(labels)}
    found = [node_place(name, places) for name in listed_nodes(Path(text), places)]
    if not any(place is not None for place in found):
        raise UsageError(f"--readout: {text} names no node of the network.")
    return [place for place in found if place is not None]


def _turned(network: LinearNetwork, file: Path, transpose: bool) -> LinearNetwork:
    """The network by its targets and sources, with a note where it could be the other way."""
    if not transpose and (network.labels is not None or file.suffix.lower() in (".npz", ".mat")):
        return network
    if transpose:
        note = "transposed: rows of the matrix are sources, columns targets"
        return network.replace(A=network.A.T, notes=[*network.notes, note])
    note = "columns of the matrix are taken as sources, rows as targets; else use --transpose"
    return network.replace(notes=[*network.notes, note])
