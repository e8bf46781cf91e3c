"""A page in a real browser, and what it complained about or asked for."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_OWN = ("file:", "data:", "blob:", "about:")


@dataclass
class Opened:
    """A page, the errors and warnings it wrote to the console, and its requests to elsewhere."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


def executable() -> str:
    """Where the browser is; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.skip(f"no browser found: none of {', '.join(_NAMES)} is installed")
    return found


@contextmanager
def browser() -> Iterator[Any]:
    """A running browser, for many pages; the test is skipped where there is none."""
    api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    arguments = [
        "--no-sandbox", "--headless", "--disable-background-networking", "--disable-gpu",
    ]  # fmt: skip
    with api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable(), args=arguments)
        try:
            yield running
        finally:
            running.close()


@contextmanager
def open_page(
    running: Any, path: Path | str, width: int = 1280, height: int = 900, *, dark: bool = False
) -> Iterator[Opened]:
    """Open a file, or an address, as its reader would, and wait for the charts of a file.

    It complains about nothing, and asks nobody else.
    """
    address = path.as_uri() if isinstance(path, Path) else path
    context = running.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if dark else "light",
        accept_downloads=True,
    )
    try:
        opened = Opened(context.new_page())
        opened.page.on("console", lambda message: _note(opened, message))
        opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
        opened.page.on("request", lambda request: _count(opened, request.url, address))
        opened.page.set_default_timeout(60_000)  # for what hangs; a busy machine may be slow
        opened.page.goto(address)
        if isinstance(path, Path):
            opened.page.wait_for_function(
                "[...document.querySelectorAll('figure[data-chart]')].every(f => f.dataset.drawn)"
            )
        yield opened
        assert (opened.errors, opened.requests) == ([], [])
    finally:
        context.close()


def _note(opened: Opened, message: Any) -> None:
    if message.type in ("error", "warning"):
        opened.errors.append(message.text)


def _count(opened: Opened, url: str, address: str) -> None:
    if not url.startswith((*_OWN, address)):
        opened.requests.append(url)
