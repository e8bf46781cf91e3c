"""What results of this ring share: a network as JSON, a report, a picture."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from memcurve.core.optional import optional
from memcurve.core.types import Floats
from memcurve.network import LinearNetwork
from memcurve.network.device import on_host
from memcurve.network.operator import Operator
from memcurve.rendering.report import Chart, Document, Reported, Section, Series
from memcurve.synthesis.prose import PROSE

#: The axis of lags.
LAG = "lag τ (time steps)"


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


class SynthesisResult(Reported):
    """A result that is told by a few figures, one chart and the sentences of its kind."""

    @property
    def verdict(self) -> tuple[str, ...]:
        """The main findings in a few sentences."""
        sentences = PROSE[type(self).__name__]["verdict"]
        return tuple(sentence.format(self=self) for sentence in sentences)

    @abstractmethod
    def figures(self) -> list[tuple[str, str]]:
        """The main numbers by name, as text."""

    @abstractmethod
    def chart(self) -> Chart:
        """What :meth:`plot` draws."""

    def document(self) -> Document:
        """The report, independent of its rendering."""
        prose = PROSE[type(self).__name__]
        section = Section(prose["section"][0], prose["section"][1], chart=self.chart())
        return Document(
            title=prose["title"][0].format(self=self), subtitle=prose["title"][1].format(self=self),
            verdict=self.verdict, good=None, figures=self.figures(), sections=[section],
            notes=self.notes,
        )  # fmt: skip

    def to_xarray(self) -> Any:
        """An xarray Dataset of the :meth:`columns` over the first of them, the figures attached."""
        xr = optional("xarray", "this", "frames")
        (index, places), *others = self.columns().items()
        data = {name: (index, np.asarray(values)) for name, values in others}
        return xr.Dataset(data, coords={index: np.asarray(places)}, attrs=dict(self.figures()))

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


def curve_chart(title: str, curves: Mapping[str, Floats], dashed: str = "") -> Chart:
    """Memory curves over the lags up to where nothing is left to see."""
    highest = np.max([np.abs(values) for values in curves.values()], axis=0)
    seen = np.flatnonzero(highest >= 1e-3 * highest.max(initial=1e-300))
    end = min(len(highest), int(1.1 * (seen[-1] + 1)) + 1) if len(seen) else len(highest)
    lags = np.arange(end, dtype=float)
    series = [Series(n, lags, v[:end], dashed=n == dashed) for n, v in curves.items()]
    return Chart(title, LAG, "memory MC_τ", tuple(series))
