"""``memcurve layers``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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

    Reads a Hugging Face folder, a .safetensors or .npz file or a PyTorch checkpoint; no code in it
    is run. Layers are recognised by the names of their tensors: LRU, S4, S4D, S5, DSS, LMU, RetNet,
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
    from memcurve.trained.memory import as_table

    about, heads, rows = as_table(result)
    right = range(2, len(heads))
    print_table((result.model, about), heads, rows, right=right, notes=result.notes)
