"""The audit as a whole: the numbers it tells, where memory is lost, its JSON; its protocols."""

import json

import jsonschema
import numpy as np
import pytest

import memcurve
from memcurve import Audit, LinearNetwork, UnstableNetworkError, audit, ensembles, inputs
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.studies.auditing.losses import Loss
from refusals import refuses

SMALL = ensembles.normal(20, spectral_radius=0.9, seed=1)
CASES = {
    "plain": (SMALL, {"claimed": 19}),
    "paper": (None, {}),
    "deficient": (ensembles.cyclic(12, mask="ones"), {"claimed": 12}),
    "complex": (ensembles.lru_ring(6, seed=1), {"noise": 1e-3}),
    "readout": (SMALL.replace(readout=[1, 2, 3]), {"claimed": "2.5"}),
    "several": (SMALL.replace(C=np.eye(20)[:, :3]), {}),
    "coloured": (SMALL, {"input": inputs.ARMA(ar=[0.8]), "noise": memcurve.StateNoise(1e-3)}),
    "nothing": (LinearNetwork([[0.5, 0.0], [0.0, 0.2]], [0.0, 0.0]), {"claimed": 2}),
    "one node": (LinearNetwork([[0.5]], [1.0]), {"claimed": "0.75"}),
    "nilpotent": (ensembles.delay_line(4), {"claimed": 3}),
    "sparse": (ensembles.sparse_normal(30, density=0.05, seed=4, sparse=True), {}),
}


@pytest.fixture(scope="module", params=CASES)
def result(request) -> Audit:
    network, known = CASES[request.param]
    return audit(network, **known)  # type: ignore[arg-type]


def test_the_truth_is_that_of_memory_curve(result: Audit) -> None:
    assert result.curve.method == "exact"
    assert np.isfinite(result.curve.error).all()
    assert result.total == result.curve.total
    assert f"{result.total:.4g}" in " ".join(result.verdict)
    if result.usable.measured is not None:  # on the first screen, beside the total
        row, shown = result.usable.measured, [text for _, text in result.document().figures[:5]]
        assert f"{row.total:.4g} ± {row.error:.1g}" in shown
    for level, lag in result.horizons.items():
        if lag is not None:
            assert result.curve[lag] < float(level)
            assert lag == 0 or result.curve[lag - 1] >= float(level)


def test_the_verdict_is_short(result: Audit) -> None:
    assert 1 <= len(result.verdict) <= 4
    for sentence in result.verdict:
        assert sentence[0].isupper()
        assert sentence.endswith(".")
        assert "nan" not in sentence


def test_losses_add_up(result: Audit) -> None:
    rank_budget = result.rank_budget
    assert rank_budget.rank == result.rank
    assert rank_budget.read - sum(loss.count for loss in rank_budget.losses) == rank_budget.rank


def test_estimates_are_measured_against_the_truth(result: Audit) -> None:
    plain = result if result.input == "white" else None
    for one in result.estimates:
        assert one.total == pytest.approx(one.values.sum())
        assert one.seconds > 0
        if plain is not None and one.last_lag < len(plain.curve):
            truth = plain.curve.values[one.first_lag : one.last_lag + 1]
            assert one.truth == pytest.approx(truth.sum())


def test_json_follows_its_schema_and_reads_back(result: Audit, tmp_path) -> None:
    text = result.to_json()
    jsonschema.Draft202012Validator(Audit.json_schema()).validate(json.loads(text))
    result.save(tmp_path / "audit.json")
    again = Audit.load(tmp_path / "audit.json")
    assert again.to_json() == text
    assert again.verdict == result.verdict
    assert again.to_markdown() == result.to_markdown()


def only(network: LinearNetwork) -> list[Loss]:
    return list(audit(network, estimates=False).rank_budget.losses)


#: Two nodes without input, node 2 twice node 1, and two paths to node 3 that cancel.
APART = np.diag([0.5, 0.4, 0.3, 0.2])
ALIKE = np.array([[0.5, 0.1, 0.1], [0.3, 0.2, 0.2], [0.6, 0.4, 0.4]])
CANCELLED = np.zeros((4, 4))
CANCELLED[[1, 2, 3, 3], [0, 0, 1, 2]] = 0.5, 0.5, 1.0, -1.0


@pytest.mark.parametrize(
    ("A", "mask", "expected"),
    [
        (APART, [1.0, 0.0, 2.0, 0.0], ("unreached", 2, (1, 3))),
        (ALIKE, [1.0, 1.0, 2.0], ("proportional", 1, (1, 2))),
        (CANCELLED, [1.0, 0, 0, 0], ("cancelled", 1, (3,))),
    ],
)
def test_nodes_without_memory_of_their_own(A: np.ndarray, mask: list, expected: tuple) -> None:
    losses = only(LinearNetwork(A, mask))
    assert expected in [(loss.kind, loss.count, loss.nodes) for loss in losses]
    assert all(str(node) in loss.text for loss in losses for node in loss.nodes)


def test_repeated_eigenvalues() -> None:
    rng = np.random.default_rng(1)
    Q = np.linalg.qr(rng.standard_normal((5, 5)))[0]
    A = np.diag([0.5, 0.5, 0.5, 0.2, 0.1])  # one input drives one of three
    losses = only(LinearNetwork(A, np.arange(1.0, 6.0)))
    assert [loss.kind for loss in losses] == ["proportional"]
    B = np.kron(np.eye(2), Q[:2, :2] * 0.5)
    losses = only(LinearNetwork(B, [1.0, 2.0, 3.0, -1.0]))
    assert sum(loss.count for loss in losses) == 2
    assert {loss.kind for loss in losses} == {"repeated"}


def test_symmetric_modes() -> None:
    """A ring driven alike at mirrored nodes: odd modes are orthogonal to the mask."""
    ring = np.roll(np.eye(7), 1, axis=0)
    A = 0.4 * (ring + ring.T)
    mask = np.zeros(7)
    mask[[2, 5]] = 1.0
    losses = only(LinearNetwork(A + np.diag([0.1, 0, 0, 0, 0, 0, 0]), mask))
    assert sum(loss.count for loss in losses) == 3
    assert any(loss.kind == "proportional" for loss in losses)
    hidden = np.array([[0.5, 0.1], [0.1, 0.5]])  # modes (1, 1) and (1, -1)
    rotated = np.kron(np.diag([1.0, 0.3]), hidden) + 0.0
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((4, 4)))[0]
    values, vectors = np.linalg.eigh(Q @ rotated @ Q.T)
    C = vectors[:, 1:].sum(axis=1)  # up to rounding, one mode is not excited
    assert values[0] < values[1]
    result = audit(LinearNetwork(Q @ rotated @ Q.T, C))
    assert result.rank_budget.rank_robust <= 3 or (result.rank_budget.margin or 1) < 1e-12


def test_unstable_networks_are_refused() -> None:
    refuses(UnstableNetworkError, "unstable", audit, LinearNetwork([[1.5]], [1.0]))


def test_usable_memory_is_that_of_memory_curve() -> None:
    result = audit(SMALL, noise=1e-4)
    [given] = [row for row in result.usable.rows if row.given]
    direct = memcurve.memory_curve(SMALL, noise=1e-4)
    assert given.total == pytest.approx(direct.total, abs=1e-9)
    assert given.horizon == direct.horizon()
    assert np.all(np.diff(result.usable.totals) <= 1e-9)  # falls with noise
    totals = [row.total for row in result.usable.rows]
    assert totals[:4] == sorted(totals[:4], reverse=True)


@pytest.mark.parametrize("readout", [[9], [2, 6]])
def test_horizons_of_curves_that_rise_again(readout: list[int]) -> None:
    result = audit(ensembles.delay_line(10).replace(readout=readout))
    assert result.horizons == {"0.5": max(readout) + 1, "0.1": max(readout) + 1}
    assert f"lag {max(readout) + 1}" in result.verdict[0]
    assert result.rank_budget.rank_robust is None


def test_condition_numbers() -> None:
    """HiPPO squeezes its Krylov vectors, but later inputs fill the directions left."""
    result = audit(ensembles.hippo_legs(32))
    assert result.condition < 1e6
    solved = next(one for one in result.estimates if one.key == "gramian_solve")
    assert solved.largest_error < 1e-6
    hopeless = audit(ensembles.normal(60, seed=1))
    assert hopeless.condition == 1e15
    assert "1e+15" in " ".join(hopeless.verdict)


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9])
def test_nearly_unstable_networks(gap: float) -> None:
    Q = np.linalg.qr(np.random.default_rng(1).standard_normal((5, 5)))[0]
    result = audit(LinearNetwork((1 - gap) * Q, np.ones(5)))
    assert result.total == 5
    left_out = [note for note in result.notes if note.startswith("Monte Carlo")]
    assert bool(left_out) == (gap < 1e-5)


def test_an_unexcited_unstable_node() -> None:
    result = audit(LinearNetwork(np.diag([0.5, 20.0]), [1.0, 0.0]))
    assert result.total == 1
    assert result.eigenvalues.radius == 0.5
    assert len([note for note in result.notes if "20" in note]) == 1


def test_the_picture_beside_the_verdict() -> None:
    network = ensembles.normal(30, spectral_radius=0.9, seed=1)
    for claimed, colour in ((30, "good"), (17.3, "bad")):
        result = audit(network, claimed=claimed, noise=1e-3)
        known = {row.name: row.total for row in result.usable.rows}
        given = memcurve.memory_curve(network, noise=1e-3).total
        bars = result.document().bars
        expected = [result.total, claimed, known["float64"], given]
        assert [bar.value for bar in bars] == pytest.approx(expected)
        assert [bar.text for bar in bars][:2] == ["30", f"{claimed}"]
        assert bars[1].colour == colour
    silent = audit(LinearNetwork(np.eye(2) / 2, np.zeros(2))).document()
    assert [bar.value for bar in silent.bars] == [0]


def test_what_a_file_holds_besides_is_in_the_verdict(tmp_path) -> None:
    """A leak under another name makes it another network: six screens later is too late."""
    rng = np.random.default_rng(1)
    W, Win = 0.1 * rng.normal(size=(20, 20)), rng.normal(size=(20, 2))
    np.savez(tmp_path / "esn.npz", W=W, Win=Win, a=0.3)
    found = audit(memcurve.load_network(tmp_path / "esn.npz"), claimed="13.37")
    assert "not used: a" in found.verdict[1]
    assert "bias column" in found.verdict[1]
    assert found.document().word == "The claim does not hold for the network as it was read"
    np.savez(tmp_path / "plain.npz", W=W, Win=Win[:, 0])
    found = audit(memcurve.load_network(tmp_path / "plain.npz"), claimed="13.37")
    assert not any("as it was read" in sentence for sentence in found.verdict)
    assert found.document().word == "The claim does not hold"


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("half", [True, False], ids=["half of the states", "all states"])
def test_scales_without_a_word_of_lapack(scale: float, half: bool, capfd) -> None:
    """States of 1e±200 and 1 side by side, or all of them: the same memory, and a report."""
    units = np.where(np.arange(20) < 10, scale**0.5, 1.0) if half else np.full(20, scale)
    network = LinearNetwork(SMALL.A * units[:, None] / units, SMALL.C * units)
    result = audit(network, claimed=20)
    assert result.claim.holds
    assert "<html" in result.to_html()
    assert "now" not in audit(network, noise=1e-80, estimates=False).gains
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("noise", [0.1, 1e-3, 1e-9])
def test_gains_are_memory_that_is_there(noise: float) -> None:
    """Also where the Gramian rounds off what the noise leaves."""
    network = ensembles.sparse_normal(40, density=0.2, spectral_radius=0.9, seed=2)
    gains = audit(network, noise=noise, estimates=False).gains
    exact = memcurve.memory_curve(network, 1, noise=noise)
    assert abs(gains["now"] - exact.total) <= exact.total_error + 1e-4
    readout = memcurve.best_readout(network, noise, 10)
    assert gains["now"] >= gains["readout"] - 1e-4
    assert abs(gains["readout"] - readout.value) <= 0.01 * readout.value
    assert abs(gains["white"] - memcurve.whitened(network, noise).after[0]) <= 1e-6
    assert gains.get("mask", gains["now"]) >= gains["now"]
    if noise == 0.1:
        choice = memcurve.best_mask(network, noise)
        assert gains["now"] + 1 < gains["mask"] <= choice.bound


#: The same sums in another order.
SAME_SUMS = 1e-6


@pytest.mark.parametrize("seed", range(3))
def test_reservoirpy_itself(seed: int) -> None:
    from reservoirpy.nodes import Reservoir, Ridge
    from reservoirpy.observables import memory_capacity

    network = ensembles.normal(30, spectral_radius=0.9, seed=1)
    reservoir = Reservoir(
        W=network.A, Win=network.C[:, None], bias=np.zeros(30), activation="identity", lr=1.0
    )
    theirs = memory_capacity(reservoir >> Ridge(ridge=1e-4), k_max=60, as_list=True, seed=seed)
    ours = PROTOCOLS["reservoirpy"](30).measure(network, np.random.default_rng(seed))
    np.testing.assert_allclose(ours, theirs, atol=SAME_SUMS)


def test_conn2res_settings() -> None:
    """Ridge(alpha=0.5) without intercept, 70 % for training, |r|: written out with numpy alone."""
    network = ensembles.orthogonal(8, seed=1)
    protocol = PROTOCOLS["conn2res"](8)
    z = np.random.default_rng(3).uniform(-1, 1, protocol.samples)
    x = network.simulate(z)[16:]
    y = np.column_stack([z[16 - k : len(z) - k] for k in range(1, 17)])
    train = round(0.7 * len(x))
    W = np.linalg.solve(x[:train].T @ x[:train] + 0.5 * np.eye(8), x[:train].T @ y[:train])
    r = [abs(np.corrcoef(a, b)[0, 1]) for a, b in zip((x[train:] @ W).T, y[train:].T, strict=True)]
    ours = protocol.measure(network, np.random.default_rng(3))
    np.testing.assert_allclose(ours, r, atol=SAME_SUMS)


def test_braph_settings() -> None:
    """``GlobalMemoryCapacity``: 5 % are discarded, no constant term, r over the rows fitted to."""
    network = ensembles.orthogonal(6, spectral_radius=0.9, seed=1)
    protocol = PROTOCOLS["braph_35"](6)
    z = 0.5 + 0.5 * np.random.default_rng(3).uniform(-1, 1, 20_000)
    x = network.simulate(z[35:])[999:]
    y = np.column_stack([z[1034 - k : 20_000 - k] for k in range(1, 36)])
    W = np.linalg.lstsq(x, y, rcond=None)[0]
    r = [np.corrcoef(a, b)[0, 1] for a, b in zip((x @ W).T, y.T, strict=True)]
    np.testing.assert_allclose(protocol.measure(network, np.random.default_rng(3)), r, atol=1e-6)


def test_a_node_that_never_moves() -> None:
    network = ensembles.delay_line(4)
    dead = network.replace(C=np.zeros(4))
    scores = PROTOCOLS["conn2res"](4).measure(dead, np.random.default_rng(1))
    assert (scores == 0).all()
