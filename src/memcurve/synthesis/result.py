"""The base class of results of this ring: a network as JSON, a report, a plot.

Sentences, figures and charts of each kind are data, in ``result.toml``.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import numpy as np

from memcurve.core.notes import texts_beside
from memcurve.network import LinearNetwork
from memcurve.network.device import on_host
from memcurve.network.operator import Operator
from memcurve.rendering.report import Chart, Document, Reported, Section, Series

#: Titles, sentences, figures, columns and charts, by the kind of result.
PROSE: dict[str, Any] = texts_beside(__file__)


class _NetworkCodec:
    """How pydantic reads and writes a network: numbers with every digit, sparse ones by entry."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema as cs

        write = cs.plain_serializer_function_ser_schema(_network_to_json)
        return cs.no_info_plain_validator_function(_network_of_json, serialization=write)

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {"type": "object"}


#: What a network has besides numbers.
EXTRAS = ("readout", "name", "labels", "notes")
Network = Annotated[LinearNetwork, _NetworkCodec()]


def _network_to_json(network: LinearNetwork) -> dict[str, Any]:
    A = on_host(network.A)
    if isinstance(A, Operator):
        raise A.needs_matrix("JSON of a network")
    content: dict[str, Any] = {name: getattr(network, name) for name in ("size", *EXTRAS)}
    if network.is_sparse:
        A = A.tocoo()
        content["places"], A = A.coords, A.data
    numbers = {"A": A, "C": network.C}
    if network.is_complex:  # written as pairs
        numbers = {name: np.asarray(part, complex) for name, part in numbers.items()}
    return content | {"is_complex": network.is_complex} | numbers


def _network_of_json(content: Any) -> LinearNetwork:
    if isinstance(content, LinearNetwork):
        return content
    A, C = (np.array(content[name], dtype=float) for name in ("A", "C"))
    if content["is_complex"]:
        A, C = (part[..., 0] + 1j * part[..., 1] for part in (A, C))
    matrix: Any = A
    if "places" in content:
        from scipy.sparse import coo_array

        matrix = coo_array((A, content["places"]), shape=(content["size"],) * 2).tocsr()
    return LinearNetwork(matrix, C, **{name: content[name] for name in EXTRAS})


class SynthesisResult(Reported):
    """A result with a few figures, one chart and the sentences of its kind."""

    @property
    def _prose(self) -> dict[str, Any]:
        prose: dict[str, Any] = PROSE[type(self).__name__]
        return prose

    @property
    def verdict(self) -> tuple[str, ...]:
        """The main findings in a few sentences."""
        return tuple(text for _, text in self._filled([("", x) for x in self._prose["verdict"]]))

    def figures(self) -> list[tuple[str, str]]:
        """The main numbers by name, as text."""
        return self._filled(self._prose["figures"])

    def _filled(self, rows: Iterable[Sequence[str]]) -> list[tuple[str, str]]:
        """Texts filled with numbers; those without a value for this network are left out."""
        filled = [(name, text.format(self=self)) for name, text in rows]
        return [(name, text) for name, text in filled if "nan" not in re.findall(r"\w+", text)]

    def columns(self) -> Mapping[str, Any]:
        """The numbers by name: one row per lag, node or level."""
        (first, places), *others = self._prose["columns"]
        columns = self._numbers(others)
        count = len(next(iter(columns.values())))
        return {first: getattr(self, places) if places else np.arange(count)} | columns

    def _numbers(self, fields: Iterable[Sequence[str]]) -> dict[str, Any]:
        """Fields by name, each column of a table by a name of its own."""
        columns: dict[str, Any] = {}
        for name, field in fields:
            values = np.asarray(getattr(self, field))
            table = values.T if values.ndim == 2 else ()
            columns |= {f"{name}_{j}": part for j, part in enumerate(table)} or {name: values}
        return columns

    def chart(self) -> Chart:
        """What :meth:`plot` draws, up to where nothing is left to see."""
        prose = self._prose
        lines = self._numbers(prose["series"])
        highest = np.nanmax([np.abs(y) for y in lines.values()], axis=0)
        over, is_log = prose.get("over"), prose.get("log_y", False)
        x = np.arange(len(highest), dtype=float) if over is None else getattr(self, over)
        visible = np.flatnonzero(highest >= 1e-3 * highest.max(initial=1e-300))
        if not is_log and len(visible):
            x = x[: int(1.1 * (visible[-1] + 1)) + 1]
        series = []
        for k, (name, y) in enumerate(lines.items()):
            y = y[: len(x)]
            is_last = 0 < k == len(lines) - 1
            series.append(Series(name, x[np.isfinite(y)], y[np.isfinite(y)], dashed=is_last))
        levels = tuple((name, getattr(self, field)) for name, field in prose.get("levels", ()))
        x_label, y_label = prose["chart"]
        return Chart(
            prose["section"][0], x_label, y_label, tuple(series), levels=levels,
            log_x=prose.get("log_x", False), log_y=is_log,
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
