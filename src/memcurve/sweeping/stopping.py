"""Ctrl-C and SIGTERM while a sweep runs: noted at once, acted upon where it is safe."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import Any, Self

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
#: Seconds within which another signal means the same as the one before.
_IMPATIENCE = 2.0


class StopSignals:
    """Signals that ask the sweep to stop, from entering to leaving the context.

    They do not raise where they happen to arrive, which could be in the middle of anything: they
    set :attr:`received`, which the sweep looks at several times a second. Another one changes
    nothing, not even shortly after leaving, while the caller says what happened. Only within
    :meth:`interruptible` do they raise KeyboardInterrupt.
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._interruptible = False
        self._left = False
        self._last = 0.0
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> Self:
        # elsewhere Python allows no handlers, and it is the main thread that is interrupted
        if threading.current_thread() is threading.main_thread():
            for number in _SIGNALS:
                if (
                    signal.getsignal(number) is not signal.SIG_IGN
                ):  # as in the background of a shell
                    self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: object) -> None:
        if self.received is None:
            self._give_back()
        self._left = True  # else the first signal that comes later gives the handlers back

    @contextlib.contextmanager
    def interruptible(self) -> Iterator[None]:
        """Within it, a signal raises KeyboardInterrupt at once."""
        self._interruptible = True
        try:
            if self.received:
                raise KeyboardInterrupt
            yield
        finally:
            self._interruptible = False

    def _give_back(self) -> None:
        for number, handler in self._before.items():
            # None: it was set by other than Python and cannot be given back
            signal.signal(number, signal.SIG_DFL if handler is None else handler)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self._left:
            if time.monotonic() - self._last > _IMPATIENCE:
                self._give_back()
                signal.raise_signal(number)
            return
        self._last = time.monotonic()
        self.received = signal.Signals(number)
        if self._interruptible:
            self._interruptible = False  # a second one must not raise in the midst of the clean-up
            raise KeyboardInterrupt
