"""The paper's figures and claims, at reduced size."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from command import failed, inside
from memcurve.studies.paper import CLAIMS, FIGURES, Settings, reproduce
from memcurve.studies.paper.claims import _TEXTS, CORRECTED, FAILS, HOLDS
from refusals import refuses

TINY = Settings(size=30, masks=4, samples=(200, 400))
#: Figures of every run; the others are drawn by the slow tests.
DRAWN = [1, 2, 6]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("paper")
    reproduce(output, settings=TINY, figures=DRAWN)
    return output


@pytest.mark.parametrize(
    "number", [n if n in DRAWN else pytest.param(n, marks=pytest.mark.slow) for n in FIGURES]
)
def test_every_figure_is_drawn(folder: Path, number: int) -> None:
    reproduce(folder, settings=TINY, figures=[number])  # nothing, where it is there
    assert (folder / f"figure{number}.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / f"figure{number}.pdf").read_bytes().startswith(b"%PDF")
    findings = json.loads((folder / f"figure{number}.json").read_text())["findings"]
    assert findings
    page = (folder / "index.html").read_text()
    assert f"Figure {number}." in page
    assert f"src='figure{number}.png'" in page
    assert "http" not in page  # it works offline


def test_goes_on_where_it_was(folder: Path) -> None:
    (folder / "figure2.json").unlink()  # as if the run had been stopped while drawing figure 2
    before = (folder / "figure1.png").stat().st_mtime_ns
    told: list[tuple[str, int, int | None]] = []
    reproduce(folder, settings=TINY, figures=DRAWN, progress=lambda *step: told.append(step))
    assert told.count(("figure 2", 0, 1)) == told.count(("figure 2", 1, 1)) == 1
    assert sum("already there" in label for label, _, _ in told) == 2
    assert (folder / "figure1.png").stat().st_mtime_ns == before
    reproduce(folder, settings=TINY, figures=[1], fresh=True)
    assert (folder / "figure1.png").stat().st_mtime_ns > before


def test_what_the_tables_hold(tmp_path: Path) -> None:
    assert [*CLAIMS] == [*_TEXTS]
    refuses(ValueError, ("`figures`", "7"), reproduce, tmp_path, figures=[7])


@pytest.mark.documentation
def test_claims(tmp_path: Path) -> None:
    told: list[tuple[str, int, int | None]] = []
    _, outcomes = reproduce(
        tmp_path, figures=[], claims=True, progress=lambda *step: told.append(step)
    )
    assert told[-1] == ("claims", len(CLAIMS), len(CLAIMS))
    assert len(outcomes) == len(CLAIMS) >= 20
    verdicts = {(o.where, o.statement): o.verdict for o in outcomes}
    for outcome in outcomes:
        print(f"{outcome.verdict:20} {outcome.where}: {outcome.statement} [{outcome.figure}]")
    assert sum(v == HOLDS for v in verdicts.values()) >= 9
    expected = {
        "Example, delay reservoir": CORRECTED,
        "Example, cyclic reservoirs": CORRECTED,
        "Proposition, Monte Carlo (i)": CORRECTED,
        "Proposition, Monte Carlo (iii)": FAILS,
        "Proposition, standardization": CORRECTED,
        "Proposition, mask neutrality": HOLDS,
        "Proposition, LESN memory capacity": HOLDS,
        "the same, (i)–(iii)": FAILS,
        "Random matrix theory": CORRECTED,
        "Lemma, Krylov–Vandermonde": HOLDS,
        "Theorem, Appendix A": CORRECTED,
        "Krylov conditioning": CORRECTED,
        "OSM+": HOLDS,
        "OSM": FAILS,
    }
    fisher = [v for (w, _), v in verdicts.items() if w == "Tiňo and Rodan, as cited"]
    assert fisher == [HOLDS, FAILS]
    for where, verdict in expected.items():
        assert {v for (w, _), v in verdicts.items() if w == where} == {verdict}, where

    reproduce(tmp_path, figures=[])
    assert "<h2>Claims</h2>" in (tmp_path / "index.html").read_text()  # they stay on the page


def test_command_with_other_settings_draws_again(
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for ending in ("png", "pdf", "json"):
        shutil.copy(folder / f"figure6.{ending}", tmp_path)
    before = (tmp_path / "figure6.png").stat().st_mtime_ns
    asked = ("paper", "--quick", "--output", tmp_path, "--figure")
    done = inside(monkeypatch, capsys, *asked, 6)
    assert done.code == 0, done.err
    assert "index.html" in done.out
    assert (tmp_path / "figure6.png").stat().st_mtime_ns > before
    assert "got 9" in failed(inside(monkeypatch, capsys, *asked, 9), 2)
