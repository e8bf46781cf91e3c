"""Files that were opened on the page."""

import contextlib
import hashlib
import tempfile
from pathlib import Path, PurePosixPath
from typing import Any

from memcurve.core.limits import memory_granted
from memcurve.io import NetworkFileError, ending_of, load_network, readable, stem_of
from memcurve.network import LinearNetwork

OWN_MASK = "its own"  # that an ensemble brings along, or that stands in a file
MOST_BYTES = 50_000_000  # of a file: a dense network of 2,500 nodes, or 10⁶ edges
MOST_MEMORY = 20 * MOST_BYTES  # that a file may take when it is unpacked
MOST_FILES = 8  # that are kept; of more, the oldest is forgotten
ERRORS = (ValueError, OSError, ModuleNotFoundError, MemoryError)


def contents_of(file: Path) -> bytes:
    """What is in a file that the page is to open with."""
    size = readable(file).stat().st_size
    if size > MOST_BYTES:
        raise NetworkFileError(
            f"{file}: the page takes files of up to {MOST_BYTES:,} bytes, got {size:,}; "
            f"`memcurve curve` and `memcurve audit` take larger ones."
        )
    return file.read_bytes()


class Uploads:
    """Names and contents of files, by keys that only the owner of a file can know."""

    def __init__(self) -> None:
        self._files: dict[str, tuple[str, bytes]] = {}

    def add(self, name: str, contents: bytes) -> str:
        """Keep a file; its key."""
        plain = PurePosixPath(name.replace("\\", "/")).name or "file"
        key = hashlib.sha256(plain.encode("utf-8", "replace") + b"\0" + contents).hexdigest()
        self._files.pop(key, None)
        self._files[key] = plain, contents
        while len(self._files) > MOST_FILES:
            self._files.pop(next(iter(self._files)))
        return key

    def name(self, key: str) -> str:
        """The name of a file."""
        if key not in self._files:
            raise NetworkFileError("This file is not open any more; open it again.")
        return self._files[key][0]

    def network(self, key: str, *, mask: str | None = None, **options: Any) -> LinearNetwork:
        """Read a file; errors name it as its owner does."""
        plain = self.name(key)
        contents = self._files[key][1]
        if not contents:
            raise NetworkFileError(f"{plain}: the file is empty.")
        with (
            tempfile.TemporaryDirectory(prefix="memcurve-", ignore_cleanup_errors=True) as folder,
            memory_granted(MOST_MEMORY),
        ):
            file = Path(folder) / f"uploaded{ending_of(plain)}"
            file.write_bytes(contents)
            try:
                network = load_network(file, mask=mask, **options)
            except ERRORS as error:
                message = str(error).replace(str(file), plain)
                if mask is None:
                    with contextlib.suppress(*ERRORS):
                        load_network(file, mask="ones")  # a mask is all that it lacks
                        message += (
                            " Or choose an input mask in the controls, and this file for the "
                            "connectivity alone."
                        )
                raise NetworkFileError(message) from error
        return network.replace(name=stem_of(plain))


#: The files of this server.
UPLOADS = Uploads()
