"""What a check returns: one of three verdicts, and the figure that decides."""

from __future__ import annotations

HOLDS = "holds"
CORRECTED = "holds as corrected"
FAILS = "fails as printed"

Verdict = tuple[str, str]


def decide(holds: bool, figure: str, *, corrected: bool = False) -> Verdict:
    """``holds`` is about the printed claim, or about the corrected one if ``corrected``."""
    if not holds:
        return FAILS, figure
    return (CORRECTED if corrected else HOLDS), figure
