"""Audit: the facts about a network's memory, with their verdict and their report."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from memcurve import report
from memcurve.auditing.document import document
from memcurve.auditing.facts import Facts
from memcurve.auditing.verdict import verdict
from memcurve.optional import optional
from memcurve.result import Result

#: Estimates of files that do not say so yet.
_INVERT = ("gramian_solve", "gramian_pinv", "montecarlo")
_BY_CONSTRUCTION = ("osm", "osm_plus")


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Audit(Facts, Result):
    """The outcome of :func:`memcurve.audit`: :class:`Facts`, their verdict and their report."""

    FORMAT: ClassVar[str] = "memcurve.Audit/2"
    EARLIER_FORMATS: ClassVar[tuple[str, ...]] = ("memcurve.Audit/1",)
    DERIVED: ClassVar[tuple[str, ...]] = ("verdict",)

    @cached_property
    def verdict(self) -> tuple[str, ...]:
        """The few sentences that matter."""
        return verdict(self)

    def document(self) -> report.Document:
        """The audit as sentences, tables and charts."""
        return document(self)

    def to_html(self) -> str:
        """One self-contained page, with interactive charts."""
        return report.html(self.document())

    def to_markdown(self) -> str:
        """The sentences and tables as Markdown."""
        return report.markdown(self.document())

    def to_pandas(self) -> Any:
        """A pandas DataFrame of what the usual ways report, the exact total first."""
        pd = optional("pandas", "this", "frames")
        exact = {"total": self.total, "truth": self.total, "largest_error": self.curve.error.max()}
        rows = {"exact": exact} | {
            one.key: {name: getattr(one, name) for name in exact} for one in self.estimates
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")

    def to_xarray(self) -> Any:
        """The exact curve as an xarray Dataset, with the verdict among its attributes."""
        return self.curve.to_xarray().assign_attrs(verdict=" ".join(self.verdict))

    def plot(self, ax: Any = None) -> Any:
        """Draw the exact memory curve; ``to_html()`` has all pictures."""
        return self.curve.plot(ax=ax)

    def _derived(self) -> dict[str, Any]:
        return {"verdict": list(self.verdict)}

    @classmethod
    def _upgraded(cls, content: dict[str, Any]) -> dict[str, Any]:
        for one in content.get("estimates", []):
            one.setdefault("inverts", one["key"] in _INVERT)
            one.setdefault("by_construction", one["key"] in _BY_CONSTRUCTION)
        curve = content.get("curve", {})
        for name in ("format", "inputs"):
            curve.pop(name, None)
        return content

    def _repr_html_(self) -> str:
        return report.fragment(self.document())

    def __repr__(self) -> str:
        return "\n".join([f"<Audit of {self.network}>", *(f"  {line}" for line in self.verdict)])
