"""``memcurve audit``."""

import sys
from functools import partial
from pathlib import Path

from memcurve.views.cli.console import print_document, print_screen
from memcurve.views.cli.options import NETWORK, REPORT, Flag, NetworkOptions, ReportOptions, Whole
from memcurve.views.cli.process import FAILED, FINE, MISMATCH, UsageError, discard_output, warn
from memcurve.views.cli.texts import documented


@documented
def audit(
    file: Path | None = None,
    *,
    claimed: str | None = None,
    k_max: Whole | None = None,
    samples: Whole | None = None,
    ridge: float | None = None,
    options: NetworkOptions = NETWORK,
    layer: str | None = None,
    channel: Whole | None = None,
    full: Flag = False,
    fail_on_mismatch: Flag = False,
    output: ReportOptions = REPORT,
) -> int:
    if fail_on_mismatch and claimed is None:
        raise UsageError("--fail-on-mismatch needs --claimed, the number that it is about.")
    output.require_other_than(file)
    from memcurve.studies.auditing import audit as run

    if layer is None:
        if channel is not None:
            raise UsageError("--channel is about a layer of a model; give --layer, too.")
        network = options.network(file, "sparse_normal")
    elif file is None:
        raise UsageError("--layer names a layer of a model; give the model's file or folder.")
    else:
        from memcurve.trained import layer_network

        options.require_none("--layer")
        network = layer_network(file, layer, channel or 0)
    more = "--full prints the whole report, --html FILE writes a page."
    show = print_document if full else partial(print_screen, more=more)
    result = run(
        network,
        claimed=claimed,
        k_max=k_max,
        samples=samples,
        ridge=ridge,
        seed=options.seed,
        progress=sys.stderr.isatty(),
        **options.arguments(),
    )
    try:
        output.show(result, lambda shown: show(shown.document()))
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # the reader has seen enough; the exit code is still set
        discard_output()
    if not fail_on_mismatch or result.claim is None or result.claim.holds:
        return FINE
    if result.claim.holds is None:
        warn("the claim is undecided: the network is too large to confirm or refute it")
        return FAILED
    return MISMATCH
