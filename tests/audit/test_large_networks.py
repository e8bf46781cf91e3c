"""Audits of networks that are too large for their curve without noise."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.sparse.linalg import aslinearoperator

from memcurve import Audit, LinearNetwork, StateNoise, audit, memory_curve, rank, structural_rank
from memcurve.auditing import run
from memcurve.errors import UnstableNetworkError
from memcurve.limits import TooLargeError

SIZE = 400


@pytest.fixture(autouse=True)
def _no_time(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert (found.rank, found.account.possible) == (rank(subject), wiring.rank)
    assert found.account.losses[0].nodes == tuple(wiring.unreached)
    assert sum(loss.count for loss in found.account.losses) == SIZE - rank(subject)
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
        assert "left out" in text.lower()
        assert "nan" not in text.split("<script")[0]
    again = Audit.from_json(found.to_json())
    assert again.verdict == found.verdict
    assert dict(again.left_out) == dict(found.left_out)
    with pytest.raises(ValueError, match=r"left out.*usable\.rows"):
        found.plot()


def test_the_same_numbers_as_of_a_small_network(monkeypatch: pytest.MonkeyPatch) -> None:
    large = audit(network(), estimates=False)
    monkeypatch.undo()
    small = audit(network(), estimates=False)
    assert small.curve is not None
    assert large.total == small.total
    for row in large.usable.rows:
        other = small.usable.at(row.name)
        assert other is not None
        assert abs(row.total - other.total) <= row.error + other.error


def test_products_are_enough() -> None:
    subject = network()
    found = audit(LinearNetwork(aslinearoperator(subject.A), subject.C), noise=1e-3)
    assert found.rank is None
    assert np.isnan(found.total)
    assert "rank, and nodes that are never reached" in found.left_out
    known = memory_curve(subject, noise=1e-3)
    assert found.headline is not None
    assert abs(found.headline.total - known.total) <= 1e-9


def test_what_cannot_be_answered_is_refused() -> None:
    with pytest.raises(TooLargeError, match="eigenvalues"):
        audit(network(), claimed=100)
    with pytest.raises(UnstableNetworkError, match=r"factor of 1\.\d+ a step"):
        audit(network(gain=1.5))
