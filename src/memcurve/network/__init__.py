"""Networks: linear ones, whose memory is computed, and nonlinear ones, which are simulated."""

from __future__ import annotations

from memcurve.network.linear import LinearNetwork, require_network

__all__ = ["LinearNetwork", "require_network"]
