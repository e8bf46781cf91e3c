"""``memcurve design``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from memcurve.views.cli.options import REPORT, ReportOptions, Whole
from memcurve.views.cli.process import UsageError

Realization = Literal["banded", "cascade", "dense"]


def design(
    file: Path | None = None,
    *,
    curve: Literal["step", "exponential", "power", "ramp"] | None = None,
    size: Whole = 50,
    realization: Realization = "banded",
    bits: Whole | None = None,
    network: Annotated[Path | None, Parameter(name="--output")] = None,
    output: ReportOptions = REPORT,
) -> None:
    """A network with a given memory curve, or the reason why there is none.

    For example:

      memcurve design --curve exponential --size 20 --output net.npz
      memcurve design --curve ramp --size 10 --bits 8 --plot curve.png
      memcurve design wanted.txt --size 5 --realization dense

    Parameters
    ----------
    file
        Wanted curve: a text file with MC_0, MC_1, …, non-increasing, with sum --size.
    curve
        Wanted curve by its name, instead of a file.
    size
        Number of states.
    realization
        Banded: five diagonals and one driven node; cascade of all-pass sections; dense: Hessenberg.
    bits
        Round the Schur parameters to this many bits; the network stays stable.
    network
        Write the network to this .npz file.
    """
    if (file is None) == (curve is None):
        raise UsageError("give either a file with the wanted curve or --curve, e.g. --curve ramp.")
    import numpy as np

    from memcurve import design as run
    from memcurve import save_network
    from memcurve.io import readable, reading

    if network is not None and network.suffix.lower() != ".npz":
        raise UsageError(f"--output writes networks as .npz; got {network}.")
    output.require_other_than(file)
    wanted: Any = curve
    if file is not None:
        with reading(readable(file)):
            wanted = np.array(file.read_text("utf-8").replace(",", " ").split(), dtype=float)
    made = run(wanted, size, realization=realization)
    made = made if bits is None else made.rounded(bits)
    if network is not None:
        save_network(made.network, network)
    output.show_document(made)
