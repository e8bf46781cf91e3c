"""A progress bar on stderr."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def watched(items: Iterable[T], label: str, total: int, *, show: bool = True) -> Iterable[T]:
    """Go through ``items``, with a bar of ``total`` steps if ``show``."""
    if not show:
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, label, total=total, console=Console(stderr=True))
