"""``memcurve audit``."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from memcurve.views.cli.console import print_document, print_screen
from memcurve.views.cli.options import NETWORK, REPORT, Flag, NetworkOptions, ReportOptions, Whole
from memcurve.views.cli.process import FAILED, FINE, MISMATCH, UsageError, discard_output, warn


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
    """Total and usable memory of a network, and what a number claimed for it means.

    For example:

      memcurve audit --html audit.html
      memcurve audit reservoir.mat --claimed 5.8+-0.4 --leak 0.3 --full
      memcurve audit reservoir.mat --claimed 31.2 --samples 2000 --ridge 1e-4
      memcurve audit layer.safetensors --matrix rnn.A --mask rnn.B --json
      memcurve audit --ensemble orthogonal --size 50 --noise 1e-3 --markdown a.md
      memcurve audit network.npz --claimed 100 --fail-on-mismatch

    Parameters
    ----------
    file
        Network to read, as for `memcurve curve`; without one, a built-in ensemble is used, by
        default the paper's sparse normal network of 100 nodes.
    claimed
        A total memory reported for it, with the digits as reported, or mean and standard deviation
        over networks like it, "61.3 ± 0.4" (also +-). The audit finds conventions and artefacts
        that give this number.
    k_max
        The largest lag that the claimed number sums over, if known.
    samples
        The length of the simulation it comes from, if known.
    ridge
        The ridge of the readout it comes from, as added to the states' scatter matrix, if known.
    layer
        Audit this recurrent layer of a trained model, by the name that `memcurve layers` prints.
    channel
        Which channel of the layer, from 0 on.
    full
        Print the whole report instead of one screen.
    fail_on_mismatch
        Exit with code 3 if the claimed number is not the network's memory, with 1 if that cannot
        be decided because the network is too large.
    """
    if fail_on_mismatch and claimed is None:
        raise UsageError("--fail-on-mismatch needs --claimed, the number that it is about.")
    if options.noise is not None and len(options.noise) > 1:
        raise UsageError(f"--noise must be a single level for an audit, got {options.noise}.")
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
    except (BrokenPipeError, SystemExit):  # the reader has seen enough; the exit code tells
        discard_output()
    if not fail_on_mismatch or result.claim is None or result.claim.holds:
        return FINE
    if result.claim.holds is None:
        warn("the claim is undecided: the network is too large to confirm or refute it")
        return FAILED
    return MISMATCH
