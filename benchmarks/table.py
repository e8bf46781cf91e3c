"""The results as Markdown; JSON has them in full."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

Row = dict[str, Any]
Results = dict[str, Any]


def markdown(results: Results) -> str:
    """All tables of a run, one after another."""
    parts = ["# Benchmarks", _setting(results)]
    sections: list[tuple[str, str, Callable[[Sequence[Row]], str]]] = [
        ("eigenvalues", "The exact method against bare eigenvalues", _eigenvalues),
        ("claim", "OSM+ against the exact method, by threads", _claim),
        ("methods", "Accuracy and time side by side, one thread", _methods),
        ("questions", "Questions against bare eigenvalues", _questions),
        ("structured", "Large sparse networks, one thread", _structured),
        ("memory", "Peak memory", _memory),
        ("measured", "Models that are run: the total after so much time", _measured),
        ("brain", "A synthetic brain: one draw of each null model, and usable memory", _brain),
    ]
    for key, title, render in sections:
        if results.get(key):
            parts += [f"## {title}", render(results[key])]
    if "scale" in results:
        parts += ["## Usable memory of large sparse networks, one thread", _scale(results["scale"])]
    return "\n\n".join(parts) + "\n"


def _setting(results: Results) -> str:
    machine = results["machine"]
    blas = ", ".join(
        f"{pool['internal_api']} {pool['version']} ({pool['num_threads']} threads)"
        for pool in machine["blas"]
    )
    versions = ", ".join(f"{name} {number}" for name, number in results["versions"].items())
    memory = machine["memory_bytes"]
    room = f", {memory / 1e9:.0f} GB of memory" if memory else ""
    loads = [value for value in results["load"] if value is not None]
    busy = (
        " The machine was busy: what is on several threads does not mean much."
        if max(loads, default=0) > machine["cores"] + 0.5
        else ""
    )
    return (
        f"{machine['processor']}, {machine['cores']} cores{room}, {machine['system']}; BLAS: "
        f"{blas}.\n\n{versions}.\n\nTimes are the best of several in one run, taken in turn (of "
        f"the processor on one thread, of the wall clock on several); only their ratios mean "
        f"anything elsewhere. Load average before and after: "
        f"{', '.join(map(str, loads)) or 'unknown'}.{busy} Command: `{results['command']}`."
    )


def _eigenvalues(rows: Sequence[Row]) -> str:
    head = ("network", "N", "threads", "reference", "its time", "exact")
    return _table(
        head,
        (
            (
                row["ensemble"],
                f"{row['states']:,}",
                str(row["threads"]),
                row["reference"],
                _seconds(row["reference_seconds"]),
                _ratio(row["ratio"]),
            )
            for row in rows
        ),
    )


def _claim(rows: Sequence[Row]) -> str:
    head = (
        "method", "threads", "time", "against exact",
        "largest error", "error against that of exact",
    )  # fmt: skip
    return _table(
        head,
        (
            (
                row["method"],
                str(row["threads"]),
                _seconds(row.get("seconds")),
                _ratio(row.get("ratio_to_exact")),
                _error(row.get("error")) if row["status"] == "measured" else row["status"],
                f"{row['error_ratio_to_exact']:.1e} ×" if row["error_ratio_to_exact"] else "—",
            )
            for row in rows
        ),
    )


def _methods(rows: Sequence[Row]) -> str:
    parts = []
    for network in dict.fromkeys(row["network"] for row in rows):
        those = [row for row in rows if row["network"] == network]
        parts += [f"### {network}", _one_network(those)]
    settings = dict.fromkeys((row["method"], row["about"]) for row in rows)
    parts.append("\n".join(f"* **{name}**: {about}." for name, about in settings))
    return "\n\n".join(parts)


def _one_network(rows: Sequence[Row]) -> str:
    head = ("method", "time", "against exact", "largest error", "lags", "total", "true total")
    cells = []
    for row in rows:
        if row["status"] != "measured":
            cells.append((row["method"], row["status"], *["—"] * 5))
            continue
        bound = f" (bound {row['bound']:.1e})" if "bound" in row else ""
        cells.append(
            (
                row["method"],
                _seconds(row["seconds"]),
                _ratio(row["ratio_to_exact"]),
                _error(row["error"]) + bound,
                f"{row['first_lag']} … {row['last_lag']}",
                f"{row['total']:.2f}",
                f"{row['true_total']:.2f}",
            )
        )
    return _table(head, cells)


def _questions(rows: Sequence[Row]) -> str:
    networks = list(dict.fromkeys(row["network"] for row in rows))
    ratios = {(row["question"], row["network"]): row["ratio"] for row in rows}
    return _table(
        ("question", *networks),
        (
            (question, *(_ratio(ratios.get((question, network))) for network in networks))
            for question in dict.fromkeys(row["question"] for row in rows)
        ),
    )


def _structured(rows: Sequence[Row]) -> str:
    head = ("network, lags 0 … 999", "time", "ratio", "reference", "total")
    return _table(
        head,
        (
            (
                row["network"],
                _seconds(row.get("seconds")) if not row["note"] else row["note"],
                _ratio(row.get("ratio")),
                row["reference"],
                f"{row['total']:g}" if "total" in row else "—",
            )
            for row in rows
        ),
    )


def _memory(rows: Sequence[Row]) -> str:
    head = ("N", "time", "error", "whole process", "growth over the call", "estimated", "in time")
    cells = []
    for row in rows:
        if row["note"]:
            cells.append((f"{row['states']:,}", row["note"], *["—"] * 5))
            continue
        cells.append(
            (
                f"{row['states']:,}",
                _seconds(row["seconds"]),
                _error(row["error"]),
                f"{row['process_arrays']:.1f} arrays",
                f"{row['arrays']:.1f} arrays",
                f"{row['estimated_arrays']:.1f} arrays",
                _seconds(row["estimated_seconds"]),
            )
        )
    return _table(head, cells)


def _brain(rows: Sequence[Row]) -> str:
    head = ("what", "nodes", "edges", "processor", "wall clock", "memory", "whole process", "")
    return _table(
        head,
        (
            (
                row["part"],
                f"{row['states']:,}",
                f"{row['edges']:,}",
                *(
                    (
                        _seconds(row["seconds"]),
                        _seconds(row["wall_seconds"]),
                        f"{row['bytes'] / 1e9:.2g} GB",
                        f"{row['process_bytes'] / 1e9:.2g} GB",
                    )
                    if "seconds" in row
                    else ("—",) * 4
                ),
                f"usable {row['total']:.4g}" if "total" in row else row.get("note", ""),
            )
            for row in rows
        ),
    )


def _scale(found: Row) -> str:
    head = (
        "N", "edges", "lags", "time", "bare products", "QR (columns)", "ratio",
        "memory (process)", "dense", "pyMOR", "total",
    )  # fmt: skip
    rows = [
        (
            f"{row['states']:,}",
            f"{row['edges']:,}",
            str(row["lags"]),
            _seconds(row["seconds"]),
            _seconds(row["products_seconds"]),
            f"{_seconds(row['qr_seconds'])} ({row['rank']})",
            _ratio(row["ratio"]),
            f"{row['bytes'] / 1e6:,.0f} MB ({row['process_bytes'] / 1e6:,.0f})",
            _seconds(row.get("dense_seconds")),
            row.get("pymor_note") or _seconds(row.get("pymor_seconds")),
            f"{row['total']:.6f}",
        )
        for row in found["nodes"] + found["edges"][1:]
    ]
    growth = "\n".join(f"* {what}: exponent {p:.2f}" for what, p in found["growth"].items())
    return f"{_table(head, rows)}\n\n{growth}"


def _measured(rows: Sequence[Row]) -> str:
    head = ("model", "library", "time", "steps", "runs", "bias", "RMSE")
    return _table(
        head,
        (
            (
                row["model"],
                row["contender"],
                f"{row['spent']:.1f} of {row['seconds']:g} s",
                f"{row['steps']:,}" if row["steps"] else "its own",
                str(row["runs"]),
                f"{row['bias']:+.3f}",
                f"{row['rmse']:.3f}",
            )
            if row["status"] == "measured"
            else (row["model"], row["contender"], row["status"], *["—"] * 4)
            for row in sorted(
                rows, key=lambda row: (row["model"], row["contender"], row.get("seconds", 0))
            )
        ),
    )


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _seconds(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{1000 * value:.3g} ms" if value < 1 else f"{value:.3g} s"


def _ratio(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{value:,.0f} ×" if value >= 100 else f"{value:.3g} ×"


def _error(value: float | None) -> str:
    return "—" if value is None else f"{value:.1e}"
