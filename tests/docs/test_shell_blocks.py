"""The commands that pages show do what they say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from documentation import DOCS, WRITTEN, blocks

pytestmark = pytest.mark.documentation

SHELL = {
    page: texts
    for page in WRITTEN
    if (texts := [b.text for b in blocks((DOCS / page).read_text("utf-8")) if b.kind == "sh"])
}


@pytest.mark.parametrize("page", SHELL)
def test_shell_blocks_run(page: str, tmp_path: Path) -> None:
    """One after the other, in one shell and in a folder that is empty at first."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", "\n".join(SHELL[page])],
        cwd=tmp_path, env=os.environ | {"PATH": path, "COLUMNS": "100"},
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
