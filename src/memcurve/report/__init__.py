"""Reports: one document as a web page, as Markdown, or within a notebook."""

from __future__ import annotations

from memcurve.report.document import Chart, Document, Section, Series, Table
from memcurve.report.notebook import fragment
from memcurve.report.page import html
from memcurve.report.prose import markdown

__all__ = ["Chart", "Document", "Section", "Series", "Table", "fragment", "html", "markdown"]
