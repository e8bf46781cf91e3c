"""``memcurve design``."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from memcurve.views.cli.options import REPORT, ReportOptions, Whole
from memcurve.views.cli.process import UsageError
from memcurve.views.cli.texts import documented

Realization = Literal["banded", "cascade", "dense"]


@documented
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
