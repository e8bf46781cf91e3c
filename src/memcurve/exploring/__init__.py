"""A page in the browser where networks can be played with: ``memcurve explore``.

``settings`` (where the controls stand) → network → ``scene`` (what is computed at once) and
``later`` (what arrives when it is there) → ``figures`` → ``live`` and ``app``, the page itself,
which marimo runs; ``serving`` serves it. The others work without marimo.
"""

from __future__ import annotations

from memcurve.exploring.moving import move_eigenvalue

__all__ = ["move_eigenvalue"]
