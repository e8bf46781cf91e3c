"""``memcurve layers``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memcurve.core.notes import counted
from memcurve.views.cli.console import print_table
from memcurve.views.cli.options import REPORT, SEVERAL, Flag, ReportOptions

if TYPE_CHECKING:
    from memcurve.trained import ModelMemory


def layers(
    model: Path,
    *,
    noise: str | None = None,
    select: Annotated[list[str] | None, SEVERAL] = None,
    hankel: Flag = False,
    output: ReportOptions = REPORT,
) -> None:
    """Memory of every recurrent layer of a trained model, from its weights.

    Reads a Hugging Face folder, a .safetensors file or a PyTorch checkpoint; no code in it is run.
    Layers are recognised by the names of their tensors: LRU, S4, S4D, S5, DSS, LMU, RetNet,
    lightning attention, Mamba, Mamba-2, RG-LRU, RWKV, HGRN, xLSTM, GLA, DeltaNet. Those gated by
    their input are computed at the gate of input zero.

    For example:

      memcurve layers mamba-130m
      memcurve layers model.safetensors --noise 1e-3 --plot layers.png
      memcurve layers model.safetensors --select layers.0 --save layers.csv

    Parameters
    ----------
    model
        Folder or file of the model.
    noise
        Standard deviation of the noise relative to each state, or a number format such as
        bfloat16. Default: the format that the weights are stored in.
    select
        Only layers whose names contain one of these.
    hankel
        Compute Hankel singular values of every channel, too; they are in the saved result.
    """
    from memcurve.trained import layers as run

    level: str | float | None = noise
    with contextlib.suppress(ValueError, TypeError):
        level = float(noise or "")
    output.show(run(model, noise=level, select=select, hankel=hankel), _print)


def _print(result: ModelMemory) -> None:
    columns = result.columns()
    noise = ", ".join(f"{s:.2g}" for s in sorted(set(columns["noise"])))
    count = counted(len(result.layers), "recurrent layer")
    about = f"{count}; noise {noise} of each state; medians over the channels"
    shown = {
        "layer": "layer", "kind": "kind", "channels": "channels", "states": "states",
        "usable": "usable", "half": "half within", "nine_tenths": "9/10 within",
        "mean_age": "mean age", "time_constant": "time const.",
    }  # fmt: skip
    rows = [
        [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
        for row in zip(*(columns[name] for name in shown), strict=True)
    ]
    heads, right = list(shown.values()), range(2, len(shown))
    print_table((result.model, about), heads, rows, right=right, notes=result.notes)
