"""``memcurve capacities``."""

from pathlib import Path
from typing import Any

from memcurve.views.cli.options import REPORT, ReportOptions, Whole, from_python
from memcurve.views.cli.process import require_at_most_one
from memcurve.views.cli.texts import documented


@documented
def capacities(
    model: str,
    *,
    degree: Whole | None = None,
    lags: Whole | None = None,
    noise: float | None = None,
    shots: Whole | None = None,
    output: ReportOptions = REPORT,
) -> None:
    from memcurve import capacities as all_of
    from memcurve import quantum

    require_at_most_one(noise=noise is not None, shots=shots is not None)
    output.require_other_than(None if ".py:" in model else Path(model))
    network = from_python(model) if ".py:" in model else _read(Path(model))
    level = noise if shots is None else quantum.ShotNoise(shots)
    output.show_document(all_of(network, level, degree=degree, lags=lags))


def _read(file: Path) -> Any:
    """A state-affine network, or else a linear one."""
    from memcurve import StateAffineNetwork, load_network
    from memcurve.io import readable

    is_state_affine = StateAffineNetwork.is_stored(readable(file))
    return StateAffineNetwork.load(file) if is_state_affine else load_network(file)
