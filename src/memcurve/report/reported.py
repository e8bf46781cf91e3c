"""Results that have a report: the same document as a page, as Markdown and in a notebook."""

from __future__ import annotations

from abc import abstractmethod

from memcurve.report.document import Document
from memcurve.report.gfm import markdown
from memcurve.report.web import fragment, html
from memcurve.result import Result


class Reported(Result):
    """A result whose facts make a document."""

    @abstractmethod
    def document(self) -> Document:
        """The report, whatever it is to be rendered as."""

    def to_html(self) -> str:
        """One self-contained page, with interactive charts."""
        return html(self.document())

    def to_markdown(self) -> str:
        """The sentences and tables as Markdown."""
        return markdown(self.document())

    def _repr_html_(self) -> str:
        return fragment(self.document())
