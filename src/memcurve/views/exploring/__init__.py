"""An interactive page in the browser: ``memcurve explore``.

``scene`` (settings of the controls, and what is computed at once) and ``jobs`` (what a worker
process computes) → ``figures``, ``stories`` and ``files`` → ``widgets`` and ``app``, the page
itself, which marimo runs; ``server`` serves it, ``static_page`` is one that needs no server.
"""

from __future__ import annotations

from memcurve.views.exploring.scene import move_eigenvalue

__all__ = ["move_eigenvalue"]
