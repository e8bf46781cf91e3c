"""A file that was handed to the page, as a network."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

from memcurve.exploring.settings import OWN_MASK
from memcurve.io import NetworkFileError, load_masked
from memcurve.io.arrays import readable
from memcurve.io.networks import FORMATS
from memcurve.network import LinearNetwork

#: Kinds of files that hold networks.
ENDINGS = [*FORMATS]
#: Bytes of the largest file that is taken: a dense network of 2,500 nodes.
MOST_BYTES = 50_000_000


def contents_of(file: Path) -> bytes:
    """What is in a file that the page is to open with."""
    size = readable(file).stat().st_size
    if size > MOST_BYTES:
        raise NetworkFileError(
            f"{file}: the page takes files of up to {MOST_BYTES:,} bytes, got {size:,}; "
            f"`memcurve curve` and `memcurve audit` take larger ones."
        )
    return file.read_bytes()


def network_of(name: str, contents: bytes, mask: str, seed: int) -> LinearNetwork:
    """Read what was uploaded; errors name the file as its owner does.

    Raises
    ------
    ValueError
        It is no network; the message says why and what would help.
    """
    plain = PurePosixPath(name.replace("\\", "/")).name
    if not contents:
        raise NetworkFileError(f"{plain}: the file is empty.")
    with tempfile.TemporaryDirectory(prefix="memcurve-") as folder:
        file = Path(folder) / f"uploaded{PurePosixPath(plain).suffix}"
        file.write_bytes(contents)
        try:
            network = load_masked(file, None if mask == OWN_MASK else mask, seed=seed)
        except (ValueError, OSError, ModuleNotFoundError) as error:
            said = str(error).replace(str(file), plain)
            raise NetworkFileError(f"{said}{_hint(mask, said)}") from error
    return network.replace(name=PurePosixPath(plain).stem)


def _hint(mask: str, said: str) -> str:
    """What helps on this page, beside what helps in Python."""
    if mask == OWN_MASK and "mask" in said:
        return " Or choose an input mask in the controls, and this file for the connectivity alone."
    return ""
