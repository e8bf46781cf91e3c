"""``memcurve connectome``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from memcurve.core.notes import counted
from memcurve.views.cli import options as opt
from memcurve.views.cli.console import print_table
from memcurve.views.cli.process import UsageError, stoppable
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.io import NodeTable
    from memcurve.network import LinearNetwork
    from memcurve.studies.connectome import NullComparison


@documented
def connectome(
    file: Path,
    *,
    inputs: str | None = None,
    part: opt.FileOptions = opt.FILE,
    null: str | None = None,
    draws: opt.Whole = 200,
    noise: Annotated[list[float] | None, opt.SEVERAL] = None,
    blocks: str | None = None,
    positions: str | None = None,
    spectral_radius: float | None = None,
    rank: bool = True,
    store: Path | None = None,
    executor: opt.ExecutorOptions = opt.EXECUTOR,
    output: opt.ReportOptions = opt.REPORT,
) -> None:
    where = executor.arguments()
    from memcurve.io import load_nodes
    from memcurve.studies.connectome import USUAL_NOISE, compare_with_nulls

    usual = "rewire,shuffle" if blocks is None else "blocks,shuffle"
    nulls = [name.strip() for name in (usual if null is None else null).split(",")]
    path = store or Path(f"{file.name.split('.')[0]}.nulls.sqlite")
    output.require_other_than(file, path)
    is_graph = any(ending in file.suffixes for ending in (".graphml", ".gml", ".gexf"))
    if is_graph and part.nodes is None:
        part = replace(part, nodes=file)
    table = None if part.nodes is None else load_nodes(part.nodes)
    network = _network(file, inputs, part, table)
    labels = network.names(range(network.size))
    options: dict[str, dict[str, Any]] = {}
    for name, option, columns in (
        ("blocks", "--blocks", blocks),
        ("spatial", "--positions", positions),
    ):
        if (columns is None) == (name in nulls):
            raise UsageError(f"--null {name} and {option}, columns of --nodes, need each other.")
        if columns is None:
            continue
        if table is None:
            raise UsageError(f"{option} needs columns: give the table of nodes by --nodes.")
        if name == "blocks":
            classes = table.entries(columns, labels)
            options[name] = {"blocks": classes}
            if lacking := classes.count(""):
                note = f"{counted(lacking, 'node')} without {columns} are one block"
                network = network.replace(notes=(*network.notes, note))
        else:
            axes = [column.strip() for column in columns.split(",")]
            options[name] = {"positions": table.numbers(axes, labels).tolist()}
    with stoppable(path):
        result = compare_with_nulls(
            network,
            [(name, options.get(name, {})) for name in nulls],
            draws=draws,
            seed=part.seed,
            spectral_radius=spectral_radius,
            rank=rank,
            store=path,
            retry_failed=executor.retry_failed,
            progress=True,
            noise=noise or USUAL_NOISE,
            **where,
        )
    output.show(result, _print)


def _print(result: NullComparison) -> None:
    scale = "scaled to match" if result.spectral_radius else "at their own scale"
    subject = f"{result.network}: {result.size:,} nodes, {result.edges:,} edges; spectral "
    subject += f"radius {result.spectral_radius:.6g}, surrogates {scale}"
    right = range(2, len(result.HEADER))
    rest: Any = {"more": result.sentence, "notes": result.notes}
    print_table(("network", subject), result.HEADER, result.table(), right=right, **rest)


def _network(
    file: Path, inputs: str | None, part: opt.FileOptions, table: NodeTable | None
) -> LinearNetwork:
    """The network with the mask that is asked for, or with its own, or a normal one."""
    from memcurve.io import MissingMaskError, load_network

    arguments = part.selection() | ({} if table is None else {"nodes": table})
    if inputs is not None and table is None and "=" in inputs and not Path(inputs).is_file():
        raise UsageError("--inputs needs columns: give the table of nodes by --nodes.")
    try:
        network = load_network(file, mask=inputs, **arguments)
        notes = list[str](network.notes)
    except MissingMaskError:
        network = load_network(file, mask="normal", **arguments)
        note = f"all nodes are driven, with normal weights (seed {part.seed})"
        notes = [*network.notes, note]
    A = network.A
    if inputs is not None:
        notes.append(f"driven: {counted(int((network.C != 0).sum()), 'node')}")
    if part.transpose:
        A = A.T
        notes.append("transposed: rows of the matrix are sources, columns targets")
    elif network.labels is None and file.suffix.lower() not in (".npz", ".mat"):
        notes.append(
            "columns of the matrix are taken as sources, rows as targets; else --transpose"
        )
    return part.with_readout(network.replace(A=A, notes=notes))
