"""The picture of the page in the README: ``uv run python docs/explore_picture.py``."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from browser import browser  # noqa: E402
from explored import Page, Server  # noqa: E402

WIDTH, HEIGHT = 1280, 1480


def main() -> None:
    """Open the page, wait until everything has arrived, and keep what is seen first."""
    picture = ROOT / "docs" / "images" / "explore.png"
    server = Server()
    with browser() as running:
        page = Page(running, server.address, WIDTH, HEIGHT)
        page.until(lambda: page.find("[data-cell-name=usual] tbody tr").count() == 6, "the page")
        page.until_complete()
        page.tab.wait_for_timeout(1000)
        page.tab.screenshot(path=picture)
        page.close()
    server.stop()
    print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1024:.0f} kB")


if __name__ == "__main__":
    main()
