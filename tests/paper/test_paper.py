"""The paper's figures and claims, at reduced size."""

import pytest

from command import failed, succeeded
from memcurve.studies.paper import CLAIMS, FIGURES, Settings, reproduce
from memcurve.studies.paper.claims import _TEXTS, CORRECTED, FAILS, HOLDS
from refusals import refuses

TINY = Settings(size=30, masks=4, samples=(200, 400))
#: Figures of every run; the others are drawn by the slow tests.
DRAWN = [1, 2, 6]


@pytest.mark.parametrize(
    "number", [n if n in DRAWN else pytest.param(n, marks=pytest.mark.slow) for n in FIGURES]
)
def test_every_figure_is_drawn(tmp_path, number: int) -> None:
    told: list[tuple[str, int, int | None]] = []
    page, _ = reproduce(
        tmp_path, settings=TINY, figures=[number], progress=lambda *s: told.append(s)
    )
    assert (told[0], told[-1]) == ((f"figure {number}", 0, 1), (f"figure {number}", 1, 1))
    assert (tmp_path / f"figure{number}.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / f"figure{number}.pdf").read_bytes().startswith(b"%PDF")
    text = page.read_text()
    assert f"Figure {number}." in text
    assert f"src='figure{number}.png'" in text
    assert "<li>" in text


def test_what_the_tables_hold(tmp_path) -> None:
    assert [*CLAIMS] == [*_TEXTS]
    refuses(ValueError, ("`figures`", "7"), reproduce, tmp_path, figures=[7])


@pytest.mark.documentation
def test_claims(tmp_path) -> None:
    told: list[tuple[str, int, int | None]] = []
    page, outcomes = reproduce(
        tmp_path, figures=[], claims=True, progress=lambda *step: told.append(step)
    )
    assert told[-1] == ("claims", len(CLAIMS), len(CLAIMS))
    assert len(outcomes) == len(CLAIMS) >= 20
    verdicts = {(o.where, o.statement): o.verdict for o in outcomes}
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
    assert "Claims</h2>" in page.read_text()


def test_command(tmp_path, command) -> None:
    asked = ("paper", "--quick", "--output", tmp_path, "--figure")
    done = succeeded(command(*asked, 6))
    assert "index.html" in done.out
    assert (tmp_path / "figure6.png").exists()
    assert "got 9" in failed(command(*asked, 9), 2)
