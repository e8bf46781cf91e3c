"""The documentation builds without a warning, all its code runs, and it needs nothing outside."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import memcurve
from documentation import DOCS, PAGES, ROOT, Site, blocks

#: Blocks that are shown and not run; all others are directives, or shell, which is run here.
SHOWN = {"text", "toml", "json", "yaml"}
#: Hosts that pages may link to. Whether they answer is asked by sphinx-build -b linkcheck.
HOSTS = {
    "arxiv.org", "docs.astral.sh", "doi.org", "github.com", "json-schema.org", "keepachangelog.com",
    "semver.org",
}  # fmt: skip
#: Twice two and a half minutes, and as much again for machines that have other work.
LONGEST_BUILD = 600
PUBLIC_MODULES = (
    "adapters", "auditing", "batch", "ensembles", "exploring", "files", "inputs", "sweeping",
)  # fmt: skip
WRITTEN = [page for page in PAGES if page.endswith(".md")]
SHELL = [
    page
    for page in WRITTEN
    if any(block.kind == "sh" for block in blocks((DOCS / page).read_text("utf-8")))
]


# --- pages as they are written


@pytest.mark.parametrize("page", WRITTEN)
def test_all_code_runs(page: str) -> None:
    """Python is executed as the page is built, shell by the next test; all else is no code."""
    text = (DOCS / page).read_text("utf-8")
    found = list(blocks(text))
    for block in found:
        where = f"{page}:{block.line}: a block {block.kind or 'without a language'!r}"
        if not block.kind.startswith("{"):
            assert block.kind in SHOWN | {"sh"}, f"{where}; Python goes into a code-cell"
        assert not re.match(r"\{(code|code-block|sourcecode)\}", block.kind), where
        assert ".. code" not in block.text or block.kind != "{eval-rst}", where
    if any(block.kind.startswith("{code-cell}") for block in found):
        begin = text.split("---\n")[1]
        assert "file_format: mystnb" in begin, f"{page}: without it, no cell is executed"
        assert "kernelspec" in begin, page


@pytest.mark.parametrize("page", [page for page in PAGES if page.endswith(".ipynb")])
def test_no_outputs_are_kept(page: str) -> None:
    cells = json.loads((DOCS / page).read_text("utf-8"))["cells"]
    assert not any(cell.get("outputs") for cell in cells)


@pytest.mark.parametrize("page", SHELL)
def test_shell_blocks_run(page: str, tmp_path: Path) -> None:
    """One after the other, in one shell and in a folder that is empty at first."""
    texts = [b.text for b in blocks((DOCS / page).read_text("utf-8")) if b.kind == "sh"]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(texts)],
        cwd=tmp_path, env=os.environ | {"PATH": path, "COLUMNS": "100"},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"


def test_blocks_are_found() -> None:
    """The reader of pages itself: prose within directives is looked at, code is not."""
    text = (
        "```python\n1\n```\n\n::::{grid} 1 2\n:::{grid-item-card} A\n```sh\nls\n```\n:::\n::::\n"
        "````{code-cell}\n:tags: [x]\n```\n````\n\n> ```\n> quoted\n> ```\n"
    )
    found = [(block.kind, block.line) for block in blocks(text)]
    assert found == [("python", 1), ("sh", 7), ("{code-cell}", 12), ("", 17)]
    with pytest.raises(AssertionError, match="line 1 does not end"):
        list(blocks("```sh\nls\n"))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md"])
def test_links_between_files_of_the_repository(name: str) -> None:
    file = ROOT / name
    for link in re.findall(r"\]\(([^)\s]+)\)", file.read_text("utf-8")):
        if not link.startswith("https://"):
            assert (file.parent / link.partition("#")[0]).exists(), link


# --- the architecture


def layers() -> list[list[str]]:
    """The layers that import-linter checks, from the top down."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contract = project["tool"]["importlinter"]["contracts"][0]
    return [layer.split(" | ") for layer in contract["layers"]]


def test_architecture_has_every_layer() -> None:
    text = (DOCS / "contributing" / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \|", text, re.MULTILINE)
    assert [re.findall(r"`(\w+)`", row) for row in rows] == layers()


def test_architecture_picture_names_modules() -> None:
    drawing = (DOCS / "_static" / "data_flow.svg").read_text("utf-8")
    named = [
        name
        for words in re.findall(r'<text class="module"[^>]*>([^<]*)<', drawing)
        for name in words.split(" · ")
    ]
    assert len(named) > 15
    assert set(named) <= {name for layer in layers() for name in layer}


# --- the built site


def test_site_builds(site: Site) -> None:
    """Warnings are errors: a page whose cell fails, a link that leads nowhere, bad markup."""
    print(f"the documentation was built in {site.seconds:.0f} s")
    assert site.code == 0, site.output[-20_000:]
    assert site.seconds < LONGEST_BUILD


def test_every_page_is_built(site: Site) -> None:
    for page in PAGES:
        assert (site.folder / page).with_suffix(".html") in site.pages


def test_internal_links(site: Site) -> None:
    """Every file that is linked to or loaded is there, and so is every anchor."""
    broken = []
    for path, page in site.pages.items():
        for link in {*page.links, *page.loads}:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            address, anchor = urldefrag(link)
            address = address.partition("?")[0]
            target = (path.parent / unquote(address)).resolve() if address else path
            if not target.is_file():
                broken.append(f"{path.relative_to(site.folder)}: {link}: no such file")
            elif anchor and unquote(anchor) not in anchors_of(site, target):
                broken.append(f"{path.relative_to(site.folder)}: {link}: no such anchor")
    assert not broken, "\n".join(sorted(broken))


def anchors_of(site: Site, path: Path) -> set[str]:
    """What can be linked to in a file: the anchors of a page, and the top, which browsers know."""
    return {"top"} | (site.pages[path].anchors if path in site.pages else set())


def test_external_links(site: Site) -> None:
    wrong = []
    for path, page in site.pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if (parts.scheme or parts.netloc) and not (
                parts.scheme == "https" and parts.hostname in HOSTS and " " not in link
            ):
                wrong.append(f"{path.relative_to(site.folder)}: {link}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_nothing_is_loaded_from_elsewhere(site: Site) -> None:
    for path, page in site.pages.items():
        outside = [one for one in page.loads if re.match(r"(https?:)?//", one)]
        assert not outside, (path, outside)
        styles = re.findall(r"<style[^>]*>(.*?)</style>", page.text, re.DOTALL)
        assert not any(from_outside(style) for style in styles), path
    for style in site.folder.rglob("*.css"):
        assert not from_outside(style.read_text("utf-8")), style


def from_outside(style: str) -> list[str]:
    """What a style sheet loads from other hosts."""
    return re.findall(r"(?:@import\s+|url\(\s*)[\"']?(?:https?:)?//[^)\"']*", style)


def test_outputs_are_pictures_and_words(site: Site) -> None:
    """No page shows the name of an object where a picture was meant, or an error."""
    for path, page in site.pages.items():
        for mishap in ("&lt;Figure size", "&lt;Axes: ", "Traceback (most recent call last)"):
            assert mishap not in page.text, (path, mishap)


def test_reference_has_every_public_name(site: Site) -> None:
    reference = [page for path, page in site.pages.items() if path.parent.name == "reference"]
    anchors = set().union(*(page.anchors for page in reference))
    for name in memcurve.__all__:
        if name != "__version__":
            assert {f"memcurve.{name}", f"module-memcurve.{name}"} & anchors, name
    for module in PUBLIC_MODULES:
        for name in importlib.import_module(f"memcurve.{module}").__all__:
            assert {f"memcurve.{module}.{name}", f"memcurve.{name}"} & anchors, (module, name)


def test_reference_has_every_method(site: Site) -> None:
    from memcurve.methods import METHODS

    anchors = site.pages[site.folder / "reference" / "methods.html"].anchors
    for name, function in METHODS.items():
        assert f"{function.__module__}.{function.__name__}" in anchors, name


def test_search_knows_the_pages(site: Site) -> None:
    """The index that the search of the site reads, without a server."""
    index = (site.folder / "searchindex.js").read_text("utf-8")
    assert index.startswith("Search.setIndex({")
    for page in ("theory/tail_energy", "reference/memory", "tutorials/first_audit"):
        assert f'"{page}"' in index
