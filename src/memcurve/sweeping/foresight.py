"""What can be known before the first case: whether files can be written, and pictures drawn."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memcurve.sweeping.drawing import require_readable
from memcurve.sweeping.exports import require_libraries
from memcurve.sweeping.finished import FinishedRows
from memcurve.sweeping.pictures import chosen_picture
from memcurve.sweeping.results import Sweep
from memcurve.sweeping.store import Row
from memcurve.sweeping.studies import Study


def require_outputs(study: Study, files: Mapping[str, Path | None]) -> None:
    """Raise where what comes after hours of work would fail then.

    ``files`` are those of the options ``--export`` and ``--plot``.
    """
    for option, path in files.items():
        if path is not None:
            _require_writable(option, path)
    export = files.get("--export")
    if export is not None:
        require_libraries(export)
    if files.get("--plot") is not None:
        require_drawable(study)


def require_drawable(study: Study) -> None:
    """Raise where the picture of a study could not be drawn."""
    # finished without values: enough to see how many lines and colours there would be
    curve: dict[str, Any] | None = (
        {"lags": [], "values": []} if study.specification.curves else None
    )
    rows = {
        case.key: Row(case.key, case.to_dict(), "done", None, curve, None, 0.0)
        for case in study.outline()
    }
    sweep = Sweep(tuple(rows.values()), study, {})
    try:
        require_readable(FinishedRows(sweep), chosen_picture(sweep))
    except ValueError as error:
        raise ValueError(f"{study.file}: {error}") from None


def _require_writable(option: str, path: Path) -> None:
    folder = path.resolve().parent
    if not folder.is_dir():
        raise FileNotFoundError(
            f"{option}: {path}: there is no folder {folder}; make it, or name another file."
        )
    if path.is_dir():
        raise IsADirectoryError(f"{option}: {path}: is a folder; name a file.")
    if not os.access(folder, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise PermissionError(f"{option}: {path}: may not be written to; name another file.")
