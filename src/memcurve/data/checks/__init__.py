"""Checks of a recording before any memory number is computed from it.

A recording is states X (T×N) and the input z (T) that drove them, row t of X already driven by
z_t. Wrong pairing, clipping, a transient or input that repeats show in the numbers only as more or
less memory; here they are named, with the remedy. Nothing is changed.

Recordings longer than :data:`LONG` rows (or 20N) are read whole for what one pass finds (numbers
that are not finite, constant, equal and clipped columns, everything about z); the rest is checked
on as many rows: half of them the first ones, half from the middle on.
"""

from memcurve.data.checks.findings import Finding, Findings
from memcurve.data.checks.recording import LONG, check_recording

__all__ = ["LONG", "Finding", "Findings", "check_recording"]
