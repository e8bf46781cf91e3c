"""Audit: what is true of a network's memory, what the usual ways say, and what a number means."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from memcurve import report
from memcurve.auditing.claims import Claim, Explanation
from memcurve.auditing.estimates import Estimate
from memcurve.auditing.losses import Account, Loss
from memcurve.auditing.structure import Eigenvalues, RoundedWeights, Squeezing
from memcurve.auditing.usable import Usable, UsableMemory
from memcurve.curve import MemoryCurve, installed_versions
from memcurve.writing import Saved, plain

FORMAT = "memcurve.Audit/1"


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Saved):
    """The outcome of :func:`memcurve.audit`.

    Attributes
    ----------
    network : str
        The network's name, or its size.
    size, states, inputs : int
        Numbers of nodes, of real states, and of inputs.
    curve : MemoryCurve
        The exact memory curve, every value with its error.
    horizons : dict
        First lag that memory is below ½, and below 0.1, at; None where it never is.
    account : Account
        States, rank, margin, and why memory is lost where it is.
    estimates : tuple of Estimate
        What the usual ways would have reported, for white input.
    usable : UsableMemory
        Memory that is left in number formats and under noise.
    eigenvalues, squeezing, rounded
        The spectrum, Krylov squeezing (None for several inputs), and what rounding the weights to
        single precision does.
    claim : Claim or None
        The claimed number, judged.
    notes : tuple of str
        Everything one should know before quoting the numbers.
    seed : int
        Of the simulations.
    versions : dict
        Versions of Python and the packages the numbers depend on.
    """

    network: str
    size: int
    states: int
    inputs: int
    input: str
    curve: MemoryCurve
    horizons: Mapping[str, int | None]
    account: Account
    estimates: tuple[Estimate, ...]
    usable: UsableMemory
    eigenvalues: Eigenvalues
    squeezing: Squeezing | None
    rounded: RoundedWeights
    claim: Claim | None
    notes: tuple[str, ...]
    seed: int
    versions: Mapping[str, str] = field(default_factory=lambda: dict(installed_versions()))

    @property
    def total(self) -> float:
        """Total memory over all lags."""
        return self.curve.total

    @property
    def rank(self) -> int | None:
        """Rank of the Krylov matrix of the stored numbers."""
        return self.curve.rank

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """The few sentences that matter."""
        from memcurve.auditing.verdict import verdict

        return verdict(self)

    def document(self) -> report.Document:
        """The audit as sentences, tables and charts."""
        from memcurve.auditing.document import document

        return document(self)

    def to_html(self) -> str:
        """One self-contained page, with interactive charts."""
        return report.html(self.document())

    def to_markdown(self) -> str:
        """The sentences and tables as Markdown."""
        return report.markdown(self.document())

    def _repr_html_(self) -> str:
        return report.fragment(self.document())

    def __repr__(self) -> str:
        return "\n".join([f"<Audit of {self.network}>", *(f"  {line}" for line in self.verdict)])

    def to_json(self) -> str:
        """The whole audit as JSON, as :func:`memcurve.auditing.schema` describes it."""
        content: dict[str, Any] = {"format": FORMAT, "verdict": list(self.verdict)}
        for item in dataclasses.fields(self):
            content[item.name] = _as_json(getattr(self, item.name))
        return json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Audit:
        """Read back what :meth:`to_json` wrote."""
        try:
            content = json.loads(text)
            if content.pop("format") != FORMAT:
                raise ValueError(f"the `format` entry is not {FORMAT!r}")
            content.pop("verdict")
            return cls(**{name: _READERS.get(name, _same)(v) for name, v in content.items()})
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"`text` must be the JSON of an audit written by Audit.save: {error}."
            ) from error


def _as_json(value: Any) -> Any:
    if isinstance(value, MemoryCurve):
        return json.loads(value.to_json())
    if isinstance(value, np.ndarray) and value.dtype.kind == "c":
        return [[plain(z.real), plain(z.imag)] for z in value.tolist()]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, tuple | list):
        return [_as_json(one) for one in value]
    return plain(value)


def _same(value: Any) -> Any:
    return value


def _read(kind: type, **parts: Any) -> Any:
    """Read one of the dataclasses: some entries by their own readers, the others as they are."""

    def reader(content: Any) -> Any:
        if content is None:
            return None
        return kind(**{name: parts.get(name, _same)(value) for name, value in content.items()})

    return reader


def _all(reader: Any) -> Any:
    return lambda values: tuple(reader(value) for value in values)


def _floats(values: Any) -> Any:
    return np.array(values, dtype=float)


def _complexes(values: Any) -> Any:
    return None if values is None else np.array([complex(*map(float, pair)) for pair in values])


def _curve(content: Any) -> MemoryCurve:
    return MemoryCurve.from_json(json.dumps(content))


_explanation = _read(Explanation, value=float, tolerance=float, likelihood=float)
_READERS: dict[str, Any] = {
    "curve": _curve,
    "account": _read(Account, losses=_all(_read(Loss, nodes=tuple))),
    "estimates": _all(
        _read(Estimate, values=_floats, total=float, truth=float, spread=float, largest_error=float)
    ),
    "usable": _read(
        UsableMemory,
        rows=_all(_read(Usable, level=float, total=float, error=float)),
        levels=_floats,
        totals=_floats,
    ),
    "eigenvalues": _read(Eigenvalues, all=_complexes, counting=_complexes),
    "squeezing": _read(Squeezing, components=_floats, condition=float),
    "rounded": _read(RoundedWeights, moved=float),
    "claim": _read(Claim, explanations=_all(_explanation)),
    "notes": tuple,
}
