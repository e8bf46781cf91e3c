"""The documentation: its pages as they are written, and the site that is built from them."""

import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from html.parser import HTMLParser
from importlib.util import find_spec
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from mdit_py_plugins.colon_fence import colon_fence_plugin

from command import ended
from repository import ROOT

DOCS = ROOT / "docs"
#: What is built as a page, by its path within docs.
PAGES = sorted(
    str(path.relative_to(DOCS))
    for ending in ("*.md", "*.ipynb")
    for path in DOCS.rglob(ending)
    if not {"_build", ".ipynb_checkpoints"} & set(path.relative_to(DOCS).parts)
)
#: Those that are text.
WRITTEN = [page for page in PAGES if page.endswith(".md")]
NEEDED = (
    "sphinx", "myst_nb", "pydata_sphinx_theme", "sphinx_copybutton", "sphinx_design", "ipykernel",
)  # fmt: skip
#: Directives whose content is prose, in which further blocks may stand.
_PROSE = re.compile(r"\{(admonition|card|dropdown|grid[\w-]*|note|seealso|tab-\w+|tip|warning)\}")


@dataclass(frozen=True)
class Block:
    """A fenced block: ``kind`` is what stands behind the fence, e.g. ``sh`` or ``{code-cell}``."""

    kind: str
    text: str
    line: int


def blocks(text: str, above: int = 0) -> Iterator[Block]:
    """The fenced blocks of a MyST page that hold no prose."""
    for token in MarkdownIt().use(colon_fence_plugin).parse(text):
        if token.type in ("fence", "colon_fence"):
            kind, line = token.info.strip(), above + 1 + (token.map or [0])[0]
            if _PROSE.match(kind):
                yield from blocks(token.content, line)
            else:
                yield Block(kind, token.content, line)


class Page(HTMLParser):
    """A built page: what can be linked to, what it links to, what it loads."""

    #: Elements that load something as the page is opened.
    _LOADING = ("audio", "embed", "iframe", "img", "input", "script", "source", "track", "video")

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.text = path.read_text(encoding="utf-8")
        self.feed(self.text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and "href" in given:
            self.loads.append(given["href"])
        elif tag in self._LOADING and "src" in given:
            self.loads.append(given["src"])


@dataclass(frozen=True)
class Site:
    """The built site, and how building it went."""

    folder: Path
    code: int
    output: str
    seconds: float

    @cached_property
    def pages(self) -> dict[Path, Page]:
        assert (self.folder / "index.html").is_file(), self.output[-5000:]
        found = sorted(self.folder.rglob("*.html"))
        return {path: Page(path) for path in found if "_static" not in path.parts}


def build(folder: Path) -> Site:
    """Build the whole site as the documented command does; go on after errors, to list them all."""
    for name in NEEDED:
        if find_spec(name) is None:
            pytest.skip(f"the documentation needs {name}, which is not installed")
    command = [
        sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-j", "auto",
        "-D", "nb_execution_raise_on_error=0", "-d", str(folder / "doctrees"),
        str(DOCS), str(folder / "html"),
    ]  # fmt: skip
    begun = time.monotonic()
    done = ended(command, env=os.environ | {"NO_COLOR": "1"}, timeout=None)
    seconds = time.monotonic() - begun
    return Site(folder / "html", done.code, done.out + done.err, seconds)
