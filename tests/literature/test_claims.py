"""Published claims: every verdict follows from numbers, and changes with them."""

from functools import partial
from pathlib import Path

import pytest

import memcurve
from command import failed
from memcurve.studies.literature import CLAIMS, JudgedClaim
from refusals import refuses
from repository import ROOT

#: What each study comes to, and numbers that would make it something else.
OTHERWISE: dict[str, tuple[str, dict[str, float], str]] = {
    "jaeger-2001": ("right", {"largest": 50.5}, "an artefact"),
    "white-2004": ("right", {"orthogonal_exponent": 0.5}, "an artefact"),
    "ganguli-2008": ("right", {"farthest_from_one": 0.1}, "an artefact"),
    "rodan-2011": ("right", {"largest_difference": 0.1}, "an artefact"),
    "farkas-2016": ("right in another sense", {"random_exact": 74.0}, "right"),
    "aceituno-2017": ("right in another sense", {"least_total": 20.0}, "right"),
    "gallicchio-2020": (
        "right in another sense", {"exact_100": 40.0, "exact_dimension_100": 2.0}, "right",
    ),
    "gonon-2020": ("right", {"largest_difference": 0.5}, "an artefact"),
    "verzelli-2021": (
        "right in another sense", {"random_rank": 76, "symmetric_rank": 40}, "right",
    ),
    "hulser-2022": ("right in another sense", {"largest_ratio": 1.0}, "right"),
    "conn2res-score": (
        "an artefact", {"least_excess": 0, "largest_excess": 0, "largest_loss": 0}, "right",
    ),
    "ballarin-2025": ("right in another sense", {"usable_normal": 25.0}, "right"),
    "mijalkov-2025": ("right in another sense", {"order": -1.0}, "an artefact"),
    "hadaeghi-2025": ("right in another sense", {"total_100": 40.0}, "right"),
    "takasu-2025": ("right in another sense", {"exact_slope": 0.6}, "right"),
    "guan-2025": ("right in another sense", {"starts": 0.0}, "right"),
    "francois-2025": ("right", {"largest_ratio": 1.1}, "an artefact"),
    "reservoirpy-docs": ("an artefact", {"total": 18.5}, "right"),
    "rcjl-benchmarks": ("an artefact", {"random": 98.0, "ipc_nonlinear": 0.0}, "right"),
    "whale-2026": ("right in another sense", {"highest_rank": 2700.0}, "right"),
    "schuette-2025": ("right in another sense", {"total_4": 11.0}, "right"),
    "nokkala-2026": ("right", {"linear_largest": 2.1}, "an artefact"),
    "cindrak-2026": ("right", {"linear_0": 3.0}, "an artefact"),
    "jordan-2026": ("right in another sense", {"reach_8": 20.0}, "an artefact"),
}  # fmt: skip


#: What studies found that take long, or need packages that do not go together with the tests'.
JUDGED = ROOT / "docs" / "judged"


@pytest.fixture(scope="module", params=CLAIMS)
def found(request) -> JudgedClaim:
    if (JUDGED / f"{request.param}.json").is_file():
        return JudgedClaim.load(JUDGED / f"{request.param}.json")
    for package in CLAIMS[request.param].needs:
        pytest.importorskip(package)
    return memcurve.judge_claim(request.param, progress=False)


def test_every_claim_is_cited() -> None:
    assert {*OTHERWISE} == {*CLAIMS}
    for claim in CLAIMS.values():
        assert claim.link.startswith("https://")
        assert str(claim.year) in claim.citation


def test_the_verdict_follows_from_the_numbers(found: JudgedClaim) -> None:
    word, changes, otherwise = OTHERWISE[found.name]
    assert found.word == word, found.verdict
    claim = CLAIMS[found.name]
    again = claim.judged(found.points, found.numbers, found.seed)
    assert (again.word, again.verdict, again.compared) == (word, found.verdict, found.compared)
    assert found.verdict in repr(found)
    assert set(changes) <= set(found.numbers)
    changed = claim.judged(found.points, {**found.numbers, **changes}, found.seed)
    assert changed.word == otherwise
    assert changed.verdict != found.verdict
    assert len({point.label for point in found.points}) == len(found.points) > 0
    if found.word == "an artefact":
        assert any(abs(p.then - p.true) > 2 * p.error + 0.01 for p in found.points)


def test_what_was_once_judged_unfairly(found: JudgedClaim) -> None:
    """White et al. deny growth in proportion of generic networks; Gallicchio claims two things."""
    judge, numbers = CLAIMS[found.name].judge, found.numbers
    if found.name == "white-2004":
        assert [point.label.split(",")[0] for point in found.points] == ["orthogonal"] * 4
        assert numbers["normal_exponent"] < numbers["orthogonal_exponent"] - 0.1
    elif found.name == "gallicchio-2020":
        short = {"driven_1": numbers["driven_100"]}
        flat = {"driven_dimension_1": numbers["driven_dimension_100"]}
        assert "totals" in judge(numbers).sentences
        assert judge({**numbers, **flat}).sentences[-1] == "memory"
        assert judge({**numbers, **short}).sentences[-1] == "dimension"
        assert judge({**numbers, **short, "driven_dimension_1": 0.0}).word == "an artefact"
    elif found.name == "mijalkov-2025":
        assert found.compared == ("BRAPH protocol, recomputed", "measured")
        assert len(found.points) >= 12


@pytest.mark.slow
@pytest.mark.parametrize("file", sorted(JUDGED.glob("*.json")), ids=lambda file: file.stem)
def test_what_is_kept_is_found_again(file: Path) -> None:
    for package in CLAIMS[file.stem].needs:
        pytest.importorskip(package, reason=f"{package} is not installed (pip install {package})")
    kept, again = JudgedClaim.load(file), memcurve.judge_claim(file.stem, progress=False)
    assert again.word == kept.word
    assert again.numbers == pytest.approx(kept.numbers, rel=1e-2)
    assert again.statement == kept.statement
    assert again.measured == kept.measured


@pytest.mark.slow
def test_a_seed_of_ones_own_changes_no_verdict() -> None:
    for name in ("jaeger-2001", "white-2004", "farkas-2016", "aceituno-2017"):
        assert memcurve.judge_claim(name, seed=5, progress=False).word == OTHERWISE[name][0]


def test_unknown_names() -> None:
    refuses(ValueError, "`name` must be one of jaeger-2001", memcurve.judge_claim, "einstein-1905")


def test_the_command(tmp_path, command) -> None:
    run = partial(command, "claims")
    assert all(name in run().out for name in CLAIMS)
    picture, saved = tmp_path / "claim.png", tmp_path / "claim.json"
    done = run("rodan-2011", "--plot", picture, "--save", saved)
    assert "right: N" in done.out
    assert picture.stat().st_size > 1000
    assert JudgedClaim.load(saved).word == "right"
    assert "give its name" in failed(run("--plot", picture), 2)
    assert "einstein-1905" in failed(run("einstein-1905"), 2)
