"""Files that are either written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a draft that takes the place of ``path``, in one step, once it is complete.

    A link is followed; whatever is there and is no file (a folder, a device) is left alone.
    """
    name = os.fspath(path)
    file = Path(path).resolve()
    if file.exists() and not file.is_file():
        raise ValueError(f"`path` must be a file, got {name!r}, which is none; name another.")
    draft = file.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(file)
    except OSError as error:
        raise type(error)(
            f"{name}: cannot be written ({error.strerror}); check that its folder exists, may be "
            f"written to and has room."
        ) from error
    finally:
        draft.unlink(missing_ok=True)
