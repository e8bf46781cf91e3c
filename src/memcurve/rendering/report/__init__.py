"""Reports: one document as a web page, or as Markdown, which notebooks show."""

from abc import abstractmethod

from memcurve.core.result import Result
from memcurve.rendering.report.document import Bar, Chart, Document, Section, Series, Table
from memcurve.rendering.report.gfm import markdown
from memcurve.rendering.report.web import html

__all__ = [
    "Bar", "Chart", "Document", "Reported", "Section", "Series", "Table", "html", "markdown",
]  # fmt: skip


class Reported(Result):
    """A result whose facts make a document."""

    @abstractmethod
    def document(self) -> Document:
        """The report, independent of its rendering."""

    def to_html(self) -> str:
        """One self-contained page, with interactive charts."""
        return html(self.document())

    def to_markdown(self) -> str:
        """The sentences and tables as Markdown."""
        return markdown(self.document())

    def _repr_markdown_(self) -> str:
        return self.to_markdown()
