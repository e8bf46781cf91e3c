"""A network as a small HTML table, as notebooks show it."""

from __future__ import annotations

from html import escape
from typing import Any

#: Nodes up to which the spectral radius is computed for a table; it takes a fraction of a second.
RADIUS_UP_TO = 500


def network_table(network: Any) -> str:
    """The main figures of a linear or nonlinear network, then its notes, everything escaped."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th><td>{escape(text)}</td></tr>"
        for name, text in _rows(network)
    )
    notes = "".join(f"<li>{escape(note)}</li>" for note in getattr(network, "notes", ()))
    return f"<table>{cells}</table>" + (f"<ul>{notes}</ul>" if notes else "")


def _rows(network: Any) -> list[tuple[str, str]]:
    kind = type(network).__name__
    readout = getattr(network, "readout", None)
    stored = "sparse" if network.is_sparse else "dense"
    rows = [
        (kind, network.name or ""),
        ("nodes", f"{network.size:,}"),
        ("inputs", f"{network.inputs:,}"),
        ("readout", "all nodes" if readout is None else f"{len(readout):,} nodes"),
        ("storage", f"{stored}, {network.A.dtype}"),
        ("non-zeros", f"{100 * _density(network.A):.3g} %"),
    ]
    if hasattr(network, "activation"):
        named = isinstance(network.activation, str)
        rows.insert(3, ("activation", network.activation if named else "own"))
    elif "spectral_radius" in vars(network) or network.size <= RADIUS_UP_TO:
        rows.append(("spectral radius", f"{network.spectral_radius:.6g}"))
    return rows


def _density(A: Any) -> float:
    """Share of the entries of A that are not zero."""
    filled = A.count_nonzero() if hasattr(A, "count_nonzero") else (A != 0).sum()
    return float(filled / (A.shape[0] * A.shape[1]))
