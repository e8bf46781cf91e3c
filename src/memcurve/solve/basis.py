"""Orthonormal bases of tall vectors, wherever these lie."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memcurve.core.limits import require_room_for_columns
from memcurve.core.types import EPS, Floats
from memcurve.network.tall import HOST, HostBackend, Tall

#: A vector lies in the space where its orthogonal component is below this share of it. Doubled:
#: directions of a few more roundings are left out.
EXHAUSTED = 100 * EPS


def require_room_at(backend: HostBackend, size: int, columns: float, what: str) -> None:
    """Raise a TooLargeError where so many columns do not fit."""
    require_room_for_columns(
        backend.local_rows(size), columns, what, backend.room, sharing=backend.processes
    )


class Basis:
    """Orthonormal columns in blocks, extended by Gram–Schmidt.

    ``dropped`` is the largest norm of an orthogonal component that was taken for rounding. A vector
    is orthogonalized again unless it keeps a share ``orthogonal`` of its norm ("twice is enough").
    """

    def __init__(
        self, size: int, capacity: int, backend: HostBackend = HOST, *, orthogonal: float = 0.7
    ) -> None:
        self.size, self.capacity, self.backend = size, min(capacity, size), backend
        self._orthogonal = orthogonal
        self.count, self.dropped = 0, 0.0
        self._width = min(self.capacity, max(64, 1_000_000 // size))
        self._blocks: list[Tall] = []

    def add(self, v: Tall) -> Floats:
        """Coordinates of v; its component orthogonal to the space extends it."""
        coordinates, dot = np.zeros(self.capacity), self.backend.dot
        length = rest = float(np.sqrt(dot(v, v)))
        for _ in range(2):
            before, part = rest, self.dot(v)
            v = self.without(v, part)
            coordinates[: self.count] += part
            rest = float(np.sqrt(dot(v, v)))
            if rest > self._orthogonal * before:  # little was subtracted, so little was rounded
                break
        if self.count < self.capacity and rest > EXHAUSTED * length:
            self.keep((v / rest)[:, None])
            coordinates[self.count - 1] = rest
        else:
            self.dropped = max(self.dropped, rest)
        return coordinates

    def extended(self, W: Tall) -> tuple[Tall, Floats, Floats]:
        """P, S and T of W = QS + PT, T triangular with a positive diagonal."""
        S = np.zeros((self.count, W.shape[1]))
        for _ in range(2):
            part = self.dot(W)
            W = self.without(W, part)
            S += part
            if self.backend.lengths(W).min() > self._orthogonal:
                break
        P, T = self.backend.qr(W)
        signs = np.where(np.diag(T) < 0, -1.0, 1.0)
        return P * self.backend.small(signs), S, signs[:, None] * T

    def keep(self, P: Tall) -> None:
        """Add columns that are orthonormal already."""
        while P.shape[1]:
            if self.count == len(self._blocks) * self._width:
                self.require_room(self.count + self._width)
                self._blocks.append(self.backend.empty(self.size, self._width))
            first = self.count % self._width
            now = min(P.shape[1], self._width - first)
            self._blocks[-1] = self.backend.write(self._blocks[-1], first, P[:, :now])
            self.count += now
            P = P[:, now:]

    def require_room(self, count: float) -> None:
        """Raise a TooLargeError where so many columns do not fit into memory."""
        more = count - len(self._blocks) * self._width
        require_room_at(self.backend, self.size, more, "more directions of its states")

    def dot(self, v: Tall) -> Floats:
        """Qᵀv."""
        parts = [self.backend.dot(block, v) for _, block in self._filled()]
        return np.concatenate([np.zeros((0, *v.shape[1:])), *parts])[: self.count]

    def without(self, v: Tall, S: Floats) -> Tall:
        """V − QS; v may be overwritten where it has columns."""
        for first, block in self._filled():
            part = S[first : first + block.shape[1]]
            if len(part) < block.shape[1]:
                part = np.concatenate([part, np.zeros((block.shape[1] - len(part), *S.shape[1:]))])
            v = self.backend.minus(v, block, part)
        return v

    def combined(self, S: Floats) -> Tall:
        """QS, of as many columns of Q as S has rows."""
        weights = np.zeros((self.count, S.shape[1]))
        weights[: len(S)] = -S
        zeros = np.zeros((self.size, S.shape[1]), order="F")
        return self.without(self.backend.put(zeros), weights)

    def columns(self, which: NDArray[Any], rows: NDArray[np.intp] | None = None) -> Tall:
        """Some columns of Q, all rows of them or some."""
        backend = self.backend
        if rows is not None:
            return backend.joined(
                [backend.rows(self.column(k), rows)[:, None] for k in which.tolist()]
            )
        chosen = backend.empty(self.size, len(which))
        for j, k in enumerate(which.tolist()):
            chosen = backend.write(chosen, j, self.column(k)[:, None])
        return chosen

    def column(self, k: int) -> Tall:
        """One column of Q."""
        return self._blocks[k // self._width][:, k % self._width]

    def _filled(self) -> Iterator[tuple[int, Tall]]:
        """Blocks with their first columns, as far as filled; whole where shapes are compiled."""
        for j, block in enumerate(self._blocks):
            first = j * self._width
            filled = self._width if self.backend.compiles else self.count - first
            yield first, block[:, : min(self._width, filled)]
