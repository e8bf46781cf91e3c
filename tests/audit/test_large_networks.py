"""Audits of networks that are too large for their curve without noise."""

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.sparse.linalg import aslinearoperator

from memcurve import Audit, LinearNetwork, StateNoise, audit, memory_curve, rank, structural_rank
from memcurve.core.errors import UnstableNetworkError
from memcurve.inputs import ARMA
from memcurve.studies.auditing import losses, run
from refusals import refuses

SIZE = 400


@pytest.fixture(autouse=True)
def _no_time(monkeypatch) -> None:
    """Every sparse network is too large."""
    monkeypatch.setattr(run, "MOST_SECONDS", 0.0)


def network(gain: float = 0.8) -> LinearNetwork:
    """Three edges a node on average: some nodes are never reached, others cannot be driven."""
    rng = np.random.default_rng(1)
    A = random_array((SIZE, SIZE), density=3 / SIZE, rng=rng, data_sampler=rng.standard_normal)
    C = np.zeros(SIZE)
    C[:3] = 1
    return LinearNetwork(csr_array(A * (gain / np.sqrt(3))), C)


def test_what_can_be_answered_is() -> None:
    subject = network()
    found = audit(subject, noise=1e-3)
    assert found.curve is None
    assert found.eigenvalues is None
    wiring = structural_rank(subject)
    assert (found.rank, found.rank_budget.possible) == (rank(subject), wiring.rank)
    assert found.rank_budget.losses[0].nodes == tuple(wiring.unreached)
    assert sum(loss.count for loss in found.rank_budget.losses) == SIZE - rank(subject)
    known = memory_curve(subject, noise=1e-3)
    [row] = [row for row in found.usable.rows if row.given]
    assert row is found.headline
    assert abs(row.total - known.total) <= row.error + known.total_error
    assert row.horizon == known.horizon()
    assert [row.name for row in found.usable.rows[:3]] == ["float32", "16 bit", "12 bit"]
    assert np.all(np.diff(found.usable.totals) <= 0)


def test_it_says_what_was_left_out() -> None:
    found = audit(network(), noise=StateNoise(0.1))
    assert "usable memory, state noise" in found.left_out
    assert "eigenvalues" in next(iter(found.left_out))
    for text in (found.to_markdown(), found.to_html(), repr(found)):
        assert "not computed" in text.lower()
        assert "nan" not in text.split("<script")[0]
    again = Audit.from_json(found.to_json())
    assert again.verdict == found.verdict
    assert dict(again.left_out) == dict(found.left_out)
    refuses(ValueError, "usable.rows", found.plot)


def test_products_are_enough() -> None:
    subject = network()
    found = audit(LinearNetwork(aslinearoperator(subject.A), subject.C), noise=1e-3)
    assert found.rank is None
    assert np.isnan(found.total)
    assert any(what.startswith("rank") for what in found.left_out)
    known = memory_curve(subject, noise=1e-3)
    assert abs(found.headline.total - known.total) <= 1e-9


@pytest.fixture(scope="module")
def truth() -> tuple[float, float]:
    curve = memory_curve(network())
    return curve.total, float(curve[0])


@pytest.mark.parametrize("is_ranked", [True, False])
@pytest.mark.parametrize("off", [-300.0, -10.0, -0.4, 0.0, 1.0, 200.0])
def test_a_claim_is_never_judged_wrongly(
    off: float, is_ranked: bool, truth: tuple[float, float], monkeypatch
) -> None:
    monkeypatch.setattr(losses, "MOST_SECONDS", losses.MOST_SECONDS if is_ranked else -1.0)
    total, first = truth
    claim = audit(network(), claimed=round(total + off, 1)).claim
    assert claim.least <= total <= claim.most
    is_right = min(abs(off), abs(off + first)) <= claim.tolerance + 0.05
    assert claim.holds in (is_right, None)
    if is_ranked:
        assert claim.holds == is_right
    elif off in (-300.0, 200.0):  # less than can be used, more than there are nodes
        assert claim.holds is False


def test_a_claim_up_to_a_lag() -> None:
    """Lags that are whole, in single precision, are whole without noise."""
    for claimed, holds, kind in (
        ("10.000", True, "cut_off"),  # lags 0 … 9
        ("11.000", True, "cut_off"),  # or 0 … 10
        ("11.100", False, None),
        ("9.500", False, None),
    ):
        claim = audit(network(), claimed=claimed, k_max=10).claim
        assert claim.holds is holds
        assert kind is None or claim.explanations[0].kind == kind
    claim = audit(network(), claimed="12.000").claim
    assert (claim.holds, claim.explanations[0].kind) == (False, "cut_off")


def test_where_a_wrong_claim_comes_from() -> None:
    found = audit(network(), claimed=SIZE)
    assert (found.claim.holds, found.claim.explanation.kind) == (False, "osm")
    row = found.usable.at("12 bit")
    usable = audit(network(), claimed=f"{row.total:.4f}")
    assert usable.claim.explanations[0].kind == "number_format"
    for one in (found, usable):
        assert one.document().word == "The claim does not hold"
        assert Audit.from_json(one.to_json()).verdict == one.verdict


def test_an_undecided_claim_says_so(monkeypatch) -> None:
    monkeypatch.setattr(losses, "MOST_SECONDS", -1.0)
    found = audit(network(), claimed=200)
    claim = found.claim
    assert claim.holds is None
    assert found.document().word == "The claim is undecided"
    assert found.document().good is None
    assert all(f"{bound:.4g}" in found.verdict[0] for bound in (claim.least, claim.most))
    assert "undecided" in found.to_html()
    coloured = audit(network(), claimed=2 * SIZE, input=ARMA(ar=[0.9]))
    assert coloured.claim.holds is None  # the number of nodes is no bound


def test_what_cannot_be_answered_is_refused() -> None:
    refuses(UnstableNetworkError, "unstable", audit, network(gain=1.5))
