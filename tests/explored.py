"""``memcurve explore`` running, and its page in a browser: what it shows, and what one does."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import memcurve

#: Seconds to wait for anything on a machine that has other things to do.
PATIENCE = 60
#: Charts carry six digits of each value.
SIX_DIGITS = 1e-5

MEMORY = "[data-cell-name=memory]"
SUMMARY = "[data-cell-name=summary]"
CONTROLS = "[data-cell-name=controls]"
SPECTRUM = "[data-cell-name=spectrum]"
STORY = "[data-cell-name=story_text]"
#: Finds what the memory chart is drawn from, and its rows, series by series.
DRAWN = """
() => {
  const drawn = document.querySelector("[data-cell-name=memory] marimo-mime-renderer");
  return drawn ? JSON.parse(JSON.parse(drawn.dataset.data)) : {data: {values: []}};
}
"""
ROWS = f"""
() => {{
  const rows = ({DRAWN})().data.values;
  return rows.length ? [0, 1].map(s => rows.filter(r => r.s === s).map(r => [r.x, r.y])) : [];
}}
"""


class Server:
    """The command, running, and the address it printed."""

    def __init__(self, *arguments: str) -> None:
        start = time.perf_counter()
        command = [sys.executable, "-m", "memcurve", "explore", "--no-browser", *arguments]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().split(" ")[0].strip()
        if not self.address:
            raise AssertionError(self.process.communicate(timeout=PATIENCE)[1])
        self.seconds = time.perf_counter() - start

    def stop(self) -> str:
        """End it as Ctrl-C does, and return what it complained about."""
        self.process.send_signal(2)
        _, errors = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode in (0, 130)
        return errors


@contextmanager
def serving(*arguments: str) -> Iterator[Server]:
    """A server, ended whatever happens; it must not have complained."""
    server = Server(*arguments)
    try:
        yield server
    finally:
        complaints = server.stop()
    assert complaints == "", complaints


class Page:
    """A tab, what it complained about and what it asked others for."""

    def __init__(
        self,
        running: Any,
        address: str,
        width: int = 1280,
        height: int = 800,
        *,
        dark: bool = False,
    ) -> None:
        """Open it in a window of its own; or beside another, where ``running`` is a page."""
        self.is_first = not isinstance(running, Page)
        self.context = (
            running.new_context(
                viewport={"width": width, "height": height},
                color_scheme="dark" if dark else "light",
                accept_downloads=True,
            )
            if self.is_first
            else running.context
        )
        self.tab = self.context.new_page()
        self.errors: list[str] = []
        self.elsewhere: list[str] = []
        self.tab.on("console", self._note)
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.tab.on("request", lambda request: self._count(request.url, address))
        self.tab.set_default_timeout(1000 * PATIENCE)
        #: Whether somebody has changed anything since it was opened.
        self.touched = False
        self.tab.goto(address)

    def _note(self, message: Any) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _count(self, url: str, address: str) -> None:
        origin = address.split("?")[0]
        if not url.startswith((origin, origin.replace("http", "ws"), "data:", "blob:")):
            self.elsewhere.append(url)

    def goto(self, address: str) -> None:
        """Open another address, or the same anew."""
        self.tab.goto(address)
        self.touched = False

    def find(self, selector: str) -> Any:
        return self.tab.locator(selector)

    def cell(self, name: str, selector: str = "") -> Any:
        return self.find(f"[data-cell-name={name}] {selector}".strip())

    def curves(self) -> list[np.ndarray]:
        """Lags and values of each curve; charts leave points out of long ones."""
        return [np.array(values, dtype=float) for values in self.tab.evaluate(ROWS)]

    def drawn(self) -> dict[str, Any]:
        """The specification of the memory chart."""
        return dict(self.tab.evaluate(DRAWN))

    def text(self, selector: str) -> str:
        shown = self.find(selector)
        return str(shown.first.inner_text()) if shown.count() else ""

    def shows(self, curve: memcurve.MemoryCurve, series: int = 0) -> bool:
        """Whether the chart has this curve, and so have the lags beyond it nothing to show."""
        drawn = self.curves()
        if len(drawn) <= series or len(drawn[series]) <= 10 or drawn[series][-1, 0] >= len(curve):
            return False
        lags, values = drawn[series].T
        return bool(np.abs(values - curve.values[lags.astype(int)]).max() < SIX_DIGITS)

    def until(self, holds: Callable[[], bool], what: str, seconds: float = PATIENCE) -> None:
        """Wait for a condition."""
        start = time.perf_counter()
        while not holds():
            if time.perf_counter() - start > seconds:
                raise AssertionError(f"not within {seconds} s: {what}; {self.text('#App')[:2000]}")
            self.tab.wait_for_timeout(20)

    def until_shown(self, curve: memcurve.MemoryCurve, what: str, series: int = 0) -> None:
        self.until(lambda: self.shows(curve, series), what)

    def until_complete(self) -> None:
        """Wait until nothing is on its way any more."""
        self.until(lambda: self.find(".spinner").count() == 0, "everything")

    def set_size(self, size: int) -> None:
        self.touched = True
        box = self.find(f"{CONTROLS} input[type=text]").first
        box.fill(str(size))
        box.press("Enter")

    def slider(self, name: str) -> Any:
        names = ["nodes", "radius", "density", "colour", "noise"]
        return self.find(f"{CONTROLS} [role=slider]").nth(names.index(name))

    def move(self, name: str, steps: int) -> None:
        """Move a slider by keys, in steps and in tens of them, each of which is seen to arrive."""
        self.touched = True
        slider = self.slider(name)
        one, ten = ("ArrowRight", "PageUp") if steps > 0 else ("ArrowLeft", "PageDown")
        for key in [ten] * (abs(steps) // 10) + [one] * (abs(steps) % 10):
            before = slider.get_attribute("aria-valuenow")
            slider.press(key)
            self.until(lambda: slider.get_attribute("aria-valuenow") != before, key)  # noqa: B023

    def upload(self, name: str, contents: bytes) -> None:
        self.touched = True
        file = {"name": name, "mimeType": "application/octet-stream", "buffer": contents}
        self.find(f"{CONTROLS} input[type=file]").set_input_files(file)

    def close(self) -> None:
        """Close it; whatever it complained about is an error."""
        (self.context if self.is_first else self.tab).close()
        assert not self.errors, self.errors
        assert not self.elsewhere
