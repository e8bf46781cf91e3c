"""Which cases to send out next: several at once where they are short, one after a crash."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from memcurve.sweeping.encoding import Encoded

Case = tuple[str, str]

#: Seconds of work in a task: enough to make the way there and back cheap, little to lose.
TASK_SECONDS = 0.2
_MOST_AT_ONCE = 256
#: After so many crashes with a case on its way, the case is tried alone.
_CRASHES_ALLOWED = 3


@dataclass
class Task:
    """Cases on their way through one call of a worker."""

    cases: list[Case]
    alone: bool = False


class Flight:
    """The cases of a study that are waiting or on their way.

    When a worker process dies, nobody knows which of the cases on their way did it. All of them are
    suspects: they go again one by one, before anything new. A case that was on its way at three
    crashes is tried alone; if that crashes as well, the case is the reason.
    """

    def __init__(self, fresh: Iterator[Case]) -> None:
        self.tasks: dict[Future[Any], Task] = {}
        self._fresh = fresh
        self._left_over: deque[Case] = deque()
        self._suspects: deque[Case] = deque()
        self._alone: deque[Case] = deque()
        self._crashes: dict[str, int] = {}
        self._at_once = 1
        self._case_seconds: float | None = None

    def next_task(self, workers: int, window: int) -> Task | None:
        """The task to send out now, or None if there is none or if enough are on their way."""
        flying = len(self.tasks)
        if self._suspects:
            return Task([self._suspects.popleft()]) if flying < min(workers, window) else None
        if self._crashes and flying:  # suspects on their way: let nothing else come under suspicion
            return None
        if self._alone:
            return Task([self._alone.popleft()], alone=True)
        if flying >= window:
            return None
        cases: list[Case] = []
        while len(cases) < self._at_once and (case := self._waiting()) is not None:
            cases.append(case)
        return Task(cases) if cases else None

    def landed(self, task: Task, finished: list[Encoded]) -> None:
        """Take note of what a task brought back, and keep for later what it left undone."""
        self._left_over.extend(task.cases[len(finished) :])
        for outcome in finished:
            self._crashes.pop(outcome.key, None)
        if not finished:
            return
        seconds = sum(outcome.seconds for outcome in finished) / len(finished)
        known = seconds if self._case_seconds is None else self._case_seconds
        self._case_seconds = max(1e-9, 0.8 * known + 0.2 * seconds)
        fitting = round(TASK_SECONDS / max(self._case_seconds, seconds))
        self._at_once = max(1, min(fitting, 2 * self._at_once, _MOST_AT_ONCE))

    def not_sent(self, task: Task) -> None:
        """Take back a task that no worker has seen."""
        if task.alone:
            self._alone.extendleft(task.cases)
        elif task.cases[0][0] in self._crashes:
            self._suspects.extendleft(task.cases)
        else:
            self._left_over.extend(task.cases)

    def crashed(self, task: Task, crashes: int = 1) -> list[Case]:
        """Take note of a worker's death; returns the cases that are to blame for it."""
        if task.alone:
            self._crashes.pop(task.cases[0][0], None)
            return task.cases
        for case in task.cases:
            count = self._crashes.get(case[0], 0) + (crashes if len(task.cases) == 1 else 1)
            self._crashes[case[0]] = count
            (self._alone if count >= _CRASHES_ALLOWED else self._suspects).append(case)
        return []

    def _waiting(self) -> Case | None:
        return self._left_over.popleft() if self._left_over else next(self._fresh, None)
