"""The directive ``{gallery}``: cards that lead to pages, each with a picture of that page.

A line is a card: ``page | title | sentence``, where ``page#section`` takes the first picture of
that section. The picture is the page's own, made as the page was run, so that none is out of date.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util import docname_join, logging
from sphinx.util.docutils import SphinxDirective

logger = logging.getLogger(__name__)


class Card(nodes.Element):
    """A place for a card, until all pages have been run."""


class Gallery(SphinxDirective):
    """The lines of the directive, as cards."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """A grid of cards, to be filled once all pages are there."""
        grid = nodes.container(classes=["gallery"])
        for line in filter(None, map(str.strip, self.content)):
            address, title, sentence = (part.strip() for part in line.split("|"))
            page, _, section = address.partition("#")
            page = docname_join(self.env.docname, page)
            self.env.note_dependency(str(self.env.doc2path(page)))
            card = Card(page=page, section=section, title=title, sentence=sentence)
            self.set_source_info(card)
            grid += card
        return [grid]


def fill(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Put a link with picture, title and sentence where a card has its place."""
    for card in list(doctree.findall(Card)):
        page, section = card["page"], card["section"]
        address = f"{page}#{section}" if section else page
        if page not in app.env.found_docs:
            logger.warning("the gallery has no page %r to lead to", page, location=card)
            card.parent.remove(card)
            continue
        whole = app.env.get_doctree(page)
        parts = [part for part in whole.findall(nodes.section) if section in part["ids"]]
        image = next(iter((parts or [whole])[0].findall(nodes.image)), None)
        link = app.builder.get_relative_uri(docname, page) + (f"#{section}" if section else "")
        reference = nodes.reference(internal=True, refuri=link)
        if (section and not parts) or image is None or not image.get("alt"):
            logger.warning(
                "%s has no picture with alt text for the gallery", address, location=card
            )
        else:
            sizes = ("width", "height", "scale", "align")
            kept = {key: value for key, value in image.attributes.items() if key not in sizes}
            reference += nodes.image(**kept)
        reference += nodes.strong(text=card["title"])
        reference += nodes.inline(text=card["sentence"])
        card.replace_self(nodes.paragraph("", "", reference, classes=["gallery-card"]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("gallery", Gallery)
    app.connect("doctree-resolved", fill)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
