"""What results of this ring share: a network as JSON, a report, a picture.

What each kind says and draws is data, in ``result.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from memcurve.network import LinearNetwork
from memcurve.network.device import on_host
from memcurve.network.operator import Operator
from memcurve.rendering.report import Chart, Document, Reported, Section, Series

#: Titles, sentences, figures, columns and charts, by the kind of result.
PROSE: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


class _NetworkCodec:
    """How pydantic reads and writes a network: numbers with every digit, sparse ones by entry."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema as cs

        write = cs.plain_serializer_function_ser_schema(_network_to_json)
        return cs.no_info_plain_validator_function(_network_of_json, serialization=write)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "object"}


Network = Annotated[LinearNetwork, _NetworkCodec()]


def _network_to_json(network: LinearNetwork) -> dict[str, Any]:
    content: dict[str, Any] = {"size": network.size, "name": network.name}
    content["notes"] = [str(note) for note in network.notes]
    content["labels"] = network.labels
    content["readout"] = network.readout
    A, C = on_host(network.A), network.C
    if isinstance(A, Operator):
        raise A.needs_matrix("JSON of a network")
    if network.is_sparse:
        A = A.tocoo()
        content["rows"], content["columns"] = A.coords
        A = A.data
    for name, part in (("A", A), ("C", C)):
        content[name] = np.real(part)
        if np.iscomplexobj(part):
            content[f"imaginary_{name}"] = np.imag(part)
    return content


def _network_of_json(content: Any) -> LinearNetwork:
    if isinstance(content, LinearNetwork):
        return content
    parts: dict[str, Any] = {}
    for name in ("A", "C"):
        part = np.array(content[name], dtype=float)
        imaginary = content.get(f"imaginary_{name}")
        parts[name] = part if imaginary is None else part + 1j * np.array(imaginary, dtype=float)
    if "rows" in content:
        from scipy.sparse import coo_array

        places, size = (content["rows"], content["columns"]), content["size"]
        parts["A"] = coo_array((parts["A"], places), shape=(size, size)).tocsr()
    others = {name: content[name] for name in ("readout", "name", "labels", "notes")}
    return LinearNetwork(**parts, **others)


def _is_known(text: str) -> bool:
    """Whether all numbers of a text are known: what has no value for a network is left out."""
    return "nan" not in re.findall(r"\w+", text)


class SynthesisResult(Reported):
    """A result that is told by a few figures, one chart and the sentences of its kind."""

    @property
    def _prose(self) -> dict[str, Any]:
        prose: dict[str, Any] = PROSE[type(self).__name__]
        return prose

    @property
    def verdict(self) -> tuple[str, ...]:
        """The main findings in a few sentences."""
        sentences = [sentence.format(self=self) for sentence in self._prose["verdict"]]
        return tuple(sentence for sentence in sentences if _is_known(sentence))

    def figures(self) -> list[tuple[str, str]]:
        """The main numbers by name, as text."""
        rows = [(name, text.format(self=self)) for name, text in self._prose["figures"]]
        return [(name, text) for name, text in rows if _is_known(text)]

    def columns(self) -> Mapping[str, Any]:
        """The numbers by name: one row per lag, node or level."""
        (first, places), *others = self._prose["columns"]
        columns = self._numbers(others)
        count = len(next(iter(columns.values())))
        return {first: getattr(self, places) if places else np.arange(count)} | columns

    def _numbers(self, fields: list[list[str]]) -> dict[str, Any]:
        """Fields by name, each column of a table by a name of its own."""
        found: dict[str, Any] = {}
        for name, field in fields:
            values = np.asarray(getattr(self, field))
            table = values.T if values.ndim == 2 else ()
            found |= {f"{name}_{j}": column for j, column in enumerate(table)} or {name: values}
        return found

    def chart(self) -> Chart:
        """What :meth:`plot` draws, up to where nothing is left to see."""
        prose = self._prose
        lines = self._numbers(prose["series"])
        start, is_log = prose.get("start", 0), prose.get("log_y", False)
        x = np.arange(start, start + len(next(iter(lines.values()))), dtype=float)
        if "over" in prose:
            x = np.asarray(getattr(self, prose["over"]))
        highest = np.nanmax([np.abs(y) for y in lines.values()], axis=0)
        seen = np.flatnonzero(highest >= 1e-3 * highest.max(initial=1e-300))
        end = len(x) if is_log or len(seen) == 0 else int(1.1 * (seen[-1] + 1)) + 1
        x, order = x[:end], np.argsort(x[:end], kind="stable")
        series = []
        for k, (name, y) in enumerate(lines.items()):
            shown = order[np.isfinite(y[order])]
            series.append(Series(name, x[shown], y[shown], dashed=0 < k == len(lines) - 1))
        levels = tuple((name, getattr(self, field)) for name, field in prose.get("levels", ()))
        x_label, y_label = prose["chart"]
        return Chart(
            prose["section"][0], x_label, y_label, tuple(series), log_x=prose.get("log_x", False),
            log_y=is_log, levels=levels,
        )  # fmt: skip

    def document(self) -> Document:
        """The report, independent of its rendering."""
        prose = self._prose
        return Document(
            title=prose["title"], subtitle=prose["subtitle"].format(self=self),
            verdict=self.verdict, good=None, figures=self.figures(), notes=self.notes,
            sections=self._sections(),
        )  # fmt: skip

    def _sections(self) -> list[Section]:
        title, text = self._prose["section"]
        return [Section(title, text, chart=self.chart())]

    def plot(self, ax: Any = None) -> Any:
        """Draw the chart of the report."""
        from memcurve.rendering import plot

        return plot.chart(self.chart(), ax=ax)

    def _attributes(self) -> Mapping[str, Any]:
        return dict(self.figures())

    def __repr__(self) -> str:
        body = ", ".join(f"{name}: {text}" for name, text in self.figures())
        notes = "".join(f"\n  note: {note}" for note in self.notes)
        return f"<{type(self).__name__} {body}>{notes}"
