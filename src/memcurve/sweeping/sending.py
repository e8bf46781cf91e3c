"""How a job is sent to workers, and what it means when that fails."""

from __future__ import annotations

import pickle
from concurrent.futures import CancelledError, Future
from typing import Any

from memcurve.sweeping.encoding import one_line
from memcurve.sweeping.workers import Job, UnusableWorkerError


def pickled(job: Job) -> bytes:
    """The job as it is sent to the workers."""
    try:
        return pickle.dumps(job)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"`job` must be a function at the top level of a module, so that workers can import "
            f"it, got {job!r} ({one_line(str(error))})."
        ) from error


def error_of(future: Future[Any]) -> BaseException | None:
    """What went wrong with a task that is over; to be cancelled is one way."""
    return CancelledError() if future.cancelled() else future.exception()


def unusable(error: BaseException) -> UnusableWorkerError:
    """The error for workers that cannot run any case."""
    if isinstance(error, UnusableWorkerError):
        return error
    return UnusableWorkerError(
        f"the workers could not run the job ({one_line(f'{type(error).__name__}: {error}')}); they "
        f"need memcurve and the modules of the job, in the versions of the driver."
    )


def cannot_start(error: BaseException) -> UnusableWorkerError:
    """The error for processes that end before they have been given anything to do."""
    return UnusableWorkerError(
        f"no worker process could be started ({one_line(str(error))}); a script that starts a "
        f"sweep has to do so under `if __name__ == '__main__':`. What is finished is kept."
    )
