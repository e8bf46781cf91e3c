"""The documentation builds without a warning, all its code runs, and it needs nothing outside."""

import importlib
import json
import re
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest

import memcurve
from documentation import PAGES, Site

#: Hosts that pages may link to. Whether they answer is asked by sphinx-build -b linkcheck.
HOSTS = {
    "arxiv.org", "docs.astral.sh", "doi.org", "github.com", "json-schema.org", "keepachangelog.com",
    "openreview.net", "scientific-python.org", "semver.org", "www.ai.rug.nl",
}  # fmt: skip
#: Twice two and a half minutes, and as much again for machines that have other work.
LONGEST_BUILD = 600
#: Packages and modules all of whose public names are in the reference. The façade of ``io`` is
#: for other rings: what users need of it is in ``memcurve.__all__``.
PUBLIC_MODULES = (
    "io.adapters", "studies.auditing", "memory.batch", "network.ensembles", "views.exploring",
    "inputs", "studies.literature", "data.measuring", "memory.methods", "studies.sweeping",
)  # fmt: skip

pytestmark = pytest.mark.documentation


def test_site_builds(site) -> None:
    """Warnings are errors: a page whose cell fails, a link that leads nowhere, bad markup."""
    print(f"the documentation was built in {site.seconds:.0f} s")
    assert site.code == 0, site.output[-20_000:]
    assert site.seconds < LONGEST_BUILD
    for page in PAGES:
        assert (site.folder / page).with_suffix(".html") in site.pages


def test_internal_links(site) -> None:
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


def test_external_links(site) -> None:
    wrong = []
    for path, page in site.pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if (parts.scheme or parts.netloc) and not (
                parts.scheme == "https" and parts.hostname in HOSTS and " " not in link
            ):
                wrong.append(f"{path.relative_to(site.folder)}: {link}")
    assert not wrong, "\n".join(sorted(set(wrong)))


def test_nothing_is_loaded_from_elsewhere(site) -> None:
    for path, page in site.pages.items():
        outside = [one for one in page.loads if re.match(r"(https?:)?//", one)]
        assert not outside, (path, outside)
        styles = re.findall(r"<style[^>]*>(.*?)</style>", page.text, re.DOTALL)
        assert not any(from_outside(style) for style in styles), path
    for style in site.folder.rglob("*.css"):
        assert not from_outside(style.read_text("utf-8")), style


def from_outside(style: str) -> list[str]:
    return re.findall(r"(?:@import\s+|url\(\s*)[\"']?(?:https?:)?//[^)\"']*", style)


def test_outputs_are_pictures_and_words(site) -> None:
    """No page shows the name of an object where a picture was meant, or an error."""
    for path, page in site.pages.items():
        for mishap in ("&lt;Figure size", "&lt;Axes: ", "Traceback (most recent call last)"):
            assert mishap not in page.text, (path, mishap)


def test_reference_has_every_public_name(site) -> None:
    reference = [page for path, page in site.pages.items() if path.parent.name == "reference"]
    anchors = set().union(*(page.anchors for page in reference))
    for name in memcurve.__all__:
        if name != "__version__":
            assert {f"memcurve.{name}", f"module-memcurve.{name}"} & anchors, name
    for module in PUBLIC_MODULES:
        for name in importlib.import_module(f"memcurve.{module}").__all__:
            whole, short = (
                f"memcurve.{module}.{name}",
                f"memcurve.{module.rpartition('.')[2]}.{name}",
            )
            assert {whole, f"module-{whole}", short, f"memcurve.{name}"} & anchors, whole


def test_reference_has_every_method(site) -> None:
    from memcurve.memory.methods import METHODS

    anchors = site.pages[site.folder / "reference" / "methods.html"].anchors
    for name, method in METHODS.items():
        assert f"{method.run.__module__}.{method.run.__name__}" in anchors, name


def test_gallery(site) -> None:
    """Cards lead to pages, with a picture that is on the page itself and says what it shows."""
    gallery = site.folder / "gallery" / "index.html"
    cards = re.findall(r'<p class="gallery-card">(.*?)</p>', site.pages[gallery].text, re.DOTALL)
    led_to = set()
    for card in cards:
        given = dict(re.findall(r'(href|src|alt)="([^"]*)"', card))
        assert len(given["alt"]) > 40, f"what the picture shows: {card}"
        page = (gallery.parent / given["href"].partition("#")[0]).resolve()
        led_to.add(page)
        shown = {(page.parent / one).resolve() for one in site.pages[page].loads}
        assert (gallery.parent / given["src"]).resolve() in shown, card
    assert len(cards) >= 8
    own = {page for page in site.pages if page.parent.name == "gallery"}
    assert own - led_to == {gallery}, "a page that no card leads to"


def test_first_audit(site) -> None:
    executed = site.folder.parent / "jupyter_execute" / "tutorials" / "first_audit.ipynb"
    cells = json.loads(executed.read_text("utf-8"))["cells"]
    shown = [data for cell in cells for one in cell.get("outputs", ()) if (data := one.get("data"))]
    assert sum("text/html" in data for data in shown) >= 2  # curve, comparison
    assert sum("text/markdown" in data for data in shown) >= 1  # audit
    assert sum("image/png" in data for data in shown) == 2
    texts = "".join("".join(data.get("text/plain", "")) for data in shown)
    assert "is right" in texts
    assert texts.rstrip().endswith("100.0")
