"""A page in the browser where networks can be played with: ``memcurve explore``.

``scene`` (where the controls stand, and what is computed at once) and ``jobs`` (what arrives when
it is there) → ``figures``, ``stories`` and ``files`` → ``large`` (networks without a scene) →
``widgets`` and ``app``, the page itself, which marimo runs; ``server`` serves it. All but
``widgets`` and ``app`` work without marimo.
"""

from __future__ import annotations

from memcurve.exploring.scene import move_eigenvalue
from memcurve.exploring.worm import worm_brain

__all__ = ["move_eigenvalue", "worm_brain"]
