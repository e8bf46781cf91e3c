"""Files that the page opens, and its exports: a picture, the data, a Python script."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path, PurePosixPath

from memcurve.core.version import __version__
from memcurve.io import NetworkFileError, ending_of, load_network, readable, stem_of
from memcurve.network import LinearNetwork
from memcurve.views.exploring.scene import OWN_MASK, PageSettings

MOST_BYTES = 50_000_000  # of a file: a dense network of 2,500 nodes, or 10⁶ edges
#: Name and contents of the file that every page opens with: what ``memcurve explore`` was given.
START_FILE: dict[str, bytes] = {}


def contents_of(file: Path) -> bytes:
    """What is in a file that the page is to open with."""
    size = readable(file).stat().st_size
    if size > MOST_BYTES:
        raise NetworkFileError(
            f"{file}: the page takes files of up to {MOST_BYTES:,} bytes, got {size:,}; "
            f"`memcurve curve` and `memcurve audit` take larger ones."
        )
    return file.read_bytes()


def network_of(
    name: str, contents: bytes, mask: str, seed: int, spectral_radius: float | None = None
) -> LinearNetwork:
    """Read what was uploaded, and scale it where asked; errors name the file as its owner does."""
    plain = PurePosixPath(name.replace("\\", "/")).name
    if not contents:
        raise NetworkFileError(f"{plain}: the file is empty.")
    with tempfile.TemporaryDirectory(prefix="memcurve-", ignore_cleanup_errors=True) as folder:
        file = Path(folder) / f"uploaded{ending_of(plain)}"
        file.write_bytes(contents)
        try:
            own = None if mask == OWN_MASK else mask
            network = load_network(file, mask=own, seed=seed, spectral_radius=spectral_radius)
        except (ValueError, OSError, ModuleNotFoundError) as error:
            message = str(error).replace(str(file), plain)
            if mask == OWN_MASK:
                with contextlib.suppress(ValueError, OSError, ModuleNotFoundError):
                    load_network(file, mask="ones")  # a mask is all that it lacks
                    message += (
                        " Or choose an input mask in the controls, and this file for the "
                        "connectivity alone."
                    )
            raise NetworkFileError(message) from error
    return network.replace(name=stem_of(plain))


def python_lines(
    settings: PageSettings,
    *,
    file: str | None = None,
    scaled: bool = False,
    moved: tuple[complex, complex] | None = None,
) -> str:
    """The script that gives the numbers of the page.

    ``scaled`` says that the network of a file is scaled to the spectral radius that is set.
    """
    options, made = settings.options(), f"memcurve.ensembles.{settings.ensemble}({settings.size}"
    if file is not None:
        made = f"memcurve.load_network({file!r}"
        own = settings.mask == OWN_MASK
        options = {} if own else {"mask": settings.mask, "seed": settings.seed}
        options |= {"spectral_radius": settings.spectral_radius} if scaled else {}
    network = f"network = {made}{''.join(f', {name}={v!r}' for name, v in options.items())})"
    imports = ""
    if moved is not None:
        imports = "from memcurve.views.exploring import move_eigenvalue\n"
        network += f"\nnetwork = move_eigenvalue(network, {moved[0]!r}, {moved[1]!r})"
    given = [f"input=memcurve.inputs.ARMA(ar=[{settings.colour!r}])"] if settings.colour else []
    profile = ", ".join(["network", *given])
    given += [f"noise={settings.noise!r}"] if settings.noise else []
    asked = f"asked = memcurve.memory_curve(network, {', '.join(given)})\nprint(asked.total)\n"
    return _SCRIPT.format(
        version=__version__,
        imports=imports,
        network=network,
        asked=asked if given else "",
        curves="curve, asked" if given else "curve",
        profile=profile,
        seed=settings.seed,
    )


_SCRIPT = """# memcurve {version}
import memcurve
{imports}
{network}

curve = memcurve.memory_curve(network)
print(curve.total, curve.error.max())
{asked}print(memcurve.noise_profile({profile}))
print(memcurve.compare(network, seed={seed}))  # what standard methods report
memcurve.plot.save(memcurve.plot.curves({curves}), "memory.png")
"""
