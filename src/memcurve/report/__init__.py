"""Reports: one document as a web page, as Markdown, or within a notebook."""

from __future__ import annotations

from memcurve.report.document import Bar, Chart, Document, Section, Series, Table
from memcurve.report.gfm import markdown
from memcurve.report.reported import Reported
from memcurve.report.web import fragment, html

__all__ = [
    "Bar", "Chart", "Document", "Reported", "Section", "Series", "Table", "fragment", "html",
    "markdown",
]  # fmt: skip
