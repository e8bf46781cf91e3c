"""Networks: linear ones, whose memory is computed, and nonlinear ones, which are simulated."""

from __future__ import annotations

from memcurve.network.linear import LinearNetwork

__all__ = ["LinearNetwork"]
