"""``memcurve improve``."""

from pathlib import Path

from memcurve.views.cli.options import NETWORK, REPORT, NetworkOptions, ReportOptions, Whole
from memcurve.views.cli.process import UsageError
from memcurve.views.cli.texts import documented


@documented
def improve(
    file: Path | None = None,
    *,
    options: NetworkOptions = NETWORK,
    read: Whole = 10,
    tolerance: float = 1e-3,
    pruned: Path | None = None,
    output: ReportOptions = REPORT,
) -> None:
    from memcurve import improvement
    from memcurve.core.arguments import require_size

    require_size(read, "read")
    noise = options.arguments().get("noise", 1e-3)
    if not isinstance(noise, float) or options.input is not None:
        raise UsageError("--noise must be one standard deviation, e.g. --noise 1e-3; no --input.")
    output.require_other_than(file)
    network = options.network(file, "normal")
    result = improvement(network, noise, count=read, tolerance=tolerance)
    if pruned is not None and result.small is not None:
        result.small.save_network(pruned, like=file)
    output.show_document(result)
