"""``memcurve layers``."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from memcurve.views.cli.console import print_table
from memcurve.views.cli.options import REPORT, SEVERAL, Flag, ReportOptions
from memcurve.views.cli.texts import documented

if TYPE_CHECKING:
    from memcurve.trained import ModelMemory


@documented
def layers(
    model: Path,
    *,
    noise: str | None = None,
    select: Annotated[list[str] | None, SEVERAL] = None,
    hankel: Flag = False,
    output: ReportOptions = REPORT,
) -> None:
    from memcurve.trained import layers as run

    level: str | float | None = noise
    with contextlib.suppress(ValueError, TypeError):
        level = float(noise or "")
    output.show(run(model, noise=level, select=select, hankel=hankel), _print)


def _print(result: ModelMemory) -> None:
    from memcurve.trained.memory import as_table

    subtitle, heads, rows = as_table(result)
    right = range(2, len(heads))
    print_table((result.model, subtitle), heads, rows, right=right, notes=result.notes)
