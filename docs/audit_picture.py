"""The picture of the audit's page in the README: ``uv run python docs/audit_picture.py``."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))

import memcurve  # noqa: E402
from browser import browser, open_page  # noqa: E402

WIDTH = 1000
HEIGHT = 760


def main() -> None:
    """Audit the paper's network, open the page, and keep what is seen first."""
    page = Path(tempfile.mkdtemp()) / "audit.html"
    page.write_text(memcurve.audit(claimed=48.7).to_html(), encoding="utf-8")
    picture = ROOT / "docs" / "images" / "audit.png"
    with browser() as running, open_page(running, page, WIDTH, HEIGHT) as opened:
        # the list of contents and the table of the claim stand between verdict and chart
        opened.page.add_style_tag(content="nav, section:nth-of-type(2) { display: none }")
        opened.page.screenshot(path=picture, full_page=True, clip=_upper_part(opened.page))
    print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size / 1024:.0f} kB")


def _upper_part(page: object) -> dict[str, float]:
    """From the top to the end of the first chart."""
    box = page.locator("figure[data-chart='0']").bounding_box()  # type: ignore[attr-defined]
    return {"x": 0, "y": 0, "width": WIDTH, "height": box["y"] + box["height"] + 24}


if __name__ == "__main__":
    main()
