"""At most one process writes to a store: a lock that the system releases when its holder ends."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
from pathlib import Path
from typing import IO

#: On Windows a locked byte cannot be read, so that one far behind the text is locked.
_LOCKED_BYTE = 1 << 30


class WriterLock:
    """The right to write to ``path``, held until :meth:`release` or the end of the process.

    It is a lock of the system on ``<path>.lock``, not the presence of that file: a process that was
    killed holds nothing, and the file may stay.
    """

    def __init__(self, path: Path) -> None:
        file = path.with_name(path.name + ".lock")
        try:
            self._stream: IO[str] = file.open("a+", encoding="utf-8")
        except OSError as error:
            raise OSError(
                f"{path}: cannot be written ({error.strerror}); check that its folder exists, may "
                f"be written to and has room, or give another --store."
            ) from error
        try:
            _lock(self._stream.fileno())
        except OSError as error:
            holder = _holder(file)
            self._stream.close()
            if error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK):
                raise OSError(
                    f"{path}: cannot be locked ({error.strerror}), so that nothing would keep two "
                    f"sweeps apart; put the store on a local disk."
                ) from error
            raise OSError(
                f"another sweep ({holder}) is writing to {path}; wait for it or give another "
                f"--store."
            ) from None
        try:
            self._stream.truncate(0)
            self._stream.write(f"{os.getpid()} {socket.gethostname()}\n")
            self._stream.flush()
        except OSError as error:
            self.release()
            raise OSError(
                f"{path}: cannot be written ({error.strerror}); make room on its disk or give "
                f"another --store."
            ) from error

    def release(self) -> None:
        """Let others write; closing the file is what unlocks it."""
        with contextlib.suppress(OSError):  # what cannot be written is only the holder's name
            self._stream.close()


def _holder(file: Path) -> str:
    try:
        process, host = file.read_text(encoding="utf-8").split()
    except (OSError, ValueError):  # it has the lock, but has not yet written who it is
        return "another process"
    return f"process {process} on {host}"


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)

else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
