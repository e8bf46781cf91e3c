"""What every page of this server opens with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Opening:
    """The file that ``memcurve explore FILE`` was given, if any."""

    file: Path | None = None


OPENING = Opening()
