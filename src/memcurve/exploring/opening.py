"""What every page of this server opens with."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Opening:
    """Name and contents of the file that ``memcurve explore FILE`` was given, if any."""

    name: str | None = None
    contents: bytes = b""


OPENING = Opening()
