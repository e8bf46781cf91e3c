"""What the page of ``memcurve explore`` computes and says, without the page."""

import contextlib
import io
import json
import os
import re
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve.network import LinearNetwork
from memcurve.studies.auditing.estimates import PROTOCOLS
from memcurve.views.exploring import answers, move_eigenvalue
from memcurve.views.exploring.answers import Stale, Worker, as_json, python_lines, shown_methods
from memcurve.views.exploring.files import OWN_MASK, UPLOADS
from memcurve.views.exploring.page import served_page
from memcurve.views.exploring.scene import MOST_NODES, PageSettings, Scene, scene_of
from memcurve.views.exploring.stories import STRENGTHS, products, settings_of, story_text
from refusals import refuses


@pytest.fixture(scope="module")
def scene() -> Scene:
    return PageSettings().scene()


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    made.start()
    yield made
    made.stop()


def uploaded(name: str, contents: bytes) -> PageSettings:
    return PageSettings(file=UPLOADS.add(name, contents))


# --- settings


def test_controls_reach_the_ensemble() -> None:
    settings = PageSettings(size=40, spectral_radius=0.7, density=0.3, seed=5)
    ours = settings.network()
    same = memcurve.ensembles.sparse_normal(40, spectral_radius=0.7, density=0.3, seed=5)
    assert np.array_equal(ours.A, same.A)
    assert np.array_equal(ours.C, same.C)
    masked = PageSettings(ensemble="cyclic", size=9, mask="uniform", seed=2).network()
    assert np.array_equal(
        masked.C, memcurve.ensembles.cyclic(9, mask="uniform", seed=2, spectral_radius=0.9).C
    )
    assert PageSettings(ensemble="hippo_legs").ignored() == ["spectral_radius", "density", "seed"]
    assert PageSettings(ensemble="cyclic").ignored() == ["density", "seed"]
    assert PageSettings(ensemble="cyclic", mask="uniform").ignored() == ["density"]
    assert PageSettings(ensemble="chain", spectral_radius=0.3).network().spectral_radius == 0.3
    assert PageSettings(ensemble="lru_ring", spectral_radius=0.8).network().spectral_radius <= 0.8


@pytest.mark.parametrize("name", sorted(memcurve.ensembles.ENSEMBLES))
@pytest.mark.parametrize(("mask", "size"), [(OWN_MASK, 12), ("ones", 1), ("normal", 2)])
def test_every_ensemble_can_be_shown(name: str, mask: str, size: int) -> None:
    settings = PageSettings(ensemble=name, size=size, mask=mask, density=1.0, seed=3)
    seen = answers.scene(settings)
    assert seen["exact"] == settings.scene().curve.rank
    assert set(seen["ignored"]) <= {"spectral_radius", "density", "seed"}
    assert seen["exact"] <= seen["states"]
    assert json.loads(as_json(seen))["total"] == seen["total"]


@pytest.mark.parametrize(
    "given",
    [
        {"size": 0}, {"size": MOST_NODES + 1}, {"size": "9"}, {"size": 10**12}, {"size": None},
        {"ensemble": "__class__"}, {"ensemble": 3}, {"mask": "none"}, {"more": 1}, {"moves": 5},
        {"moves": [[1, 2, 3]]}, {"moves": [[0, 0, 0, 0]] * 21}, ["size"], None,
    ],
)  # fmt: skip
def test_settings_that_make_no_sense(given: Any) -> None:
    refuses((ValueError, TypeError), (), PageSettings.of, given)


def test_settings_out_of_range_are_explained() -> None:
    for change in ({"spectral_radius": 1.5}, {"density": -1.0}, {"seed": -1}, {"density": "x"}):
        seen = answers.scene(PageSettings.of(change))
        assert f"`{next(iter(change))}`" in seen["trouble"] or "unstable" in seen["trouble"]


# --- eigenvalues


def test_moved_eigenvalue_is_all_that_moves(scene: Scene) -> None:
    before = np.linalg.eigvals(scene.network.A)
    k = int(np.argmax(before.imag))
    moved = move_eigenvalue(scene.network, before[k], 0.2 + 0.8j)
    after = np.linalg.eigvals(moved.A)
    kept = np.delete(before, [k, int(np.argmin(np.abs(before - before[k].conj())))])
    for value in [*kept, 0.2 + 0.8j, 0.2 - 0.8j]:
        assert np.abs(after - value).min() < 1e-9  # eigenvalues of condition number 1e6
    assert not np.array_equal(scene_of(moved).curve.values[:100], scene.curve.values[:100])
    assert scene_of(moved).curve.total == 100


@pytest.mark.parametrize(
    ("A", "C", "move", "facts"),
    [
        ([[0.9, 0.0], [0.0, 0.5]], [1, 1], (0.5, 0.5j), ("`to`", "0.5")),
        ([[0.5, 1.0], [0.0, 0.5]], [1, 1], (0.5, 0.1), "simple"),
        ([[0.5, 0.4], [-0.4, 0.5]], [1, 0], (0.5 + 0.4j, 0.3), "`to`"),
    ],
)
def test_moves_that_cannot_be(A: Any, C: Any, move: tuple[complex, complex], facts: Any) -> None:
    refuses(ValueError, facts, move_eigenvalue, LinearNetwork(A, C), *move)


def test_an_eigenvalue_is_not_moved_onto_another() -> None:
    key = UPLOADS.add("two.csv", b"0.9,0,1\n0,0.5,1\n")
    seen = answers.scene(PageSettings(file=key, moves=((0.5, 0.9),)))
    assert "1 eigenvalues would be controllable instead of 2" in seen["trouble"]


@pytest.mark.parametrize(
    "settings",
    [
        PageSettings(ensemble="permutation", mask="ones", size=30),
        PageSettings(ensemble="cyclic", mask="ones", size=100),
        PageSettings(size=30, seed=3),
        PageSettings(ensemble="lru_ring", size=5),
    ],
)
def test_only_eigenvalues_that_all_count_are_moved(settings: PageSettings) -> None:
    """Rounding would excite those that the input leaves out."""
    assert not answers.scene(settings)["movable"]


@pytest.mark.parametrize(
    ("network", "total", "states"),
    [
        ((np.diag([0.9, 0.5, 0.2]), np.eye(3, 2)), 2, 3),
        ((np.diag([0.9j, 0.5 + 0.1j]), np.ones(2)), 4, 4),
        ((np.diag([0.9, 0.5, 0.2]), np.ones(3), [0, 1]), 2, 2),
        ((np.diag([0.9, 0.5]), np.array([1.0, 0.0]), [1]), 0, 1),
        ((np.diag([0.9, 0.5]), np.zeros(2)), 0, 2),
    ],
)
def test_networks_without_a_filter_or_a_drive(
    network: tuple[Any, ...], total: int, states: int, tmp_path
) -> None:
    """Several inputs, complex states, a readout, and inputs that reach nothing."""
    A, C, *readout = network
    made = LinearNetwork(A, C, readout=readout[0] if readout else None)
    memcurve.save_network(made, tmp_path / "made.npz")
    seen = answers.scene(uploaded("made.npz", (tmp_path / "made.npz").read_bytes()))
    assert (round(seen["exact"]), seen["states"], seen["all_read"]) == (total, states, not readout)
    assert not seen["lattice"]  # the curve depends on more than eigenvalues


# --- answers


def test_asked_curves_and_totals(scene: Scene) -> None:
    coloured = memcurve.inputs.ARMA(ar=[0.5])
    settings = PageSettings(noise=1e-3, colour=0.5)
    truth = memcurve.memory_curve(scene.network, scene.end + 1, input=coloured, noise=1e-3)
    seen = answers.asked(scene.network, settings, scene.end + 1)
    assert np.array_equal(seen["values"], truth.values)
    theory = memcurve.memory_curve(scene.network, 1, input=coloured).total
    assert (seen["theory"], seen["usable"]) == (f"{theory:.4g}", f"{truth.total:.4g}")
    assert "noise" in answers.asked(scene.network, PageSettings(noise=-1.0), 5)["problem"]


def test_a_slow_network_says_what_is_drawn() -> None:
    slow = uploaded("slow.csv", b"0.9999999999,0,1\n0,0.5,1\n")
    seen = answers.scene(slow)
    assert (seen["exact"], sum(seen["values"]) < 1.01) == (2, True)
    with pytest.raises(ValueError, match="too long"):
        answers.standard(slow.network(), "simulation of 2,000 steps", 10, 1)


def test_standard_methods_are_those_of_the_library(scene: Scene) -> None:
    lags = answers.compared_lags(scene)
    row = answers.standard(scene.network, "Gramian, pseudo-inverse", lags, 1)
    curve = memcurve.memory_curve(scene.network, lags, method="naive", inverse="pinv")
    assert row["row"][0] == f"{curve.values.sum():.4g}"
    assert row["exact"][0] == "100"
    assert np.array_equal(row["values"], np.clip(curve.values, -0.25, 1.5))
    assert answers.scene(PageSettings())["methods"] == list(shown_methods())


def test_usable_memory(scene: Scene) -> None:
    seen = answers.usable(scene.network, PageSettings(noise=1e-3, colour=0.95))
    coloured = memcurve.inputs.ARMA(ar=[0.95])
    without = memcurve.memory_curve(scene.network, input=coloured).total
    assert seen["chart"]["levels"] == ((f"without noise: {without:.4g}", without),)
    total = memcurve.memory_curve(scene.network, input=coloured, noise=1e-3).total
    assert f"given: {total:.4g}" in [name for name, _ in seen["chart"]["marks"]]
    undriven = LinearNetwork([[0.5]], [0.0])
    assert "chart" not in answers.usable(undriven, PageSettings())


def test_unstable_files_can_be_scaled() -> None:
    assert "switch on “scale it to ρ”" in answers.scene(uploaded("big.csv", b"1.5,1\n"))["trouble"]


def test_stories_tell_what_was_computed(scene: Scene) -> None:
    said = story_text("why reservoirpy says 30")["said"]
    found = re.search(r"reports (\S+): ", said)
    assert found, said
    assert abs(float(found[1]) - 30) < 3  # as its name says
    floor = PROTOCOLS["reservoirpy"](100).noise_floor
    under = memcurve.memory_curve(scene.network, 1, noise=floor).total
    assert f"under which the usable memory is {under:.4g}. " in said
    ring = settings_of("a cyclic network")
    held = 1 - ring.spectral_radius ** (2 * ring.size)
    said = story_text("a cyclic network")["said"]
    assert f"MC_τ is {held:.3f}" in said
    assert f"{held * (1 - held):.3f}. The total is 100" in said
    said = story_text("driven evenly: memory 1")["said"]
    assert "99 of 100 eigenvalues are uncontrollable, and the total memory is 1." in said
    assert "the same cycle has 100" in said


def test_memory_turns_into_nonlinearity() -> None:
    """As the input multiplies the states, less is linear; the total stays."""
    seen = settings_of("memory turns into nonlinearity").scene()
    answer = products(seen.network, seen.end + 1)
    assert set(answer["totals"]) == {20.0}
    assert (np.diff(answer["degrees"][0]) < 0).all()
    assert np.abs(np.sum(answer["degrees"], axis=0) - 20).max() < 1e-9
    assert np.array_equal(answer["curves"][0], seen.curve.values[: seen.end + 1])
    assert len(answer["curves"]) == len(STRENGTHS)


# --- Python lines


@pytest.mark.parametrize(
    "given",
    [
        {"size": 20},
        {"size": 20, "noise": 1e-3, "colour": 0.5, "mask": "ones"},
        {"ensemble": "orthogonal", "size": 20, "moves": (0.5, 0.4 + 0.3j)},  # a real one, a pair
        {"size": 12, "mask": "basis"},  # where the Gramian is singular
        {"file": "mine.npz"},
        {"file": "mine.npz", "mask": "ones", "scaled": True, "spectral_radius": 0.7},
    ],
)
def test_python_lines_give_what_is_on_the_screen(
    given: dict[str, Any], tmp_path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memcurve.save_network(memcurve.ensembles.normal(10, seed=1), "mine.npz")
    if "file" in given:
        given = given | {"file": UPLOADS.add("C:\\data\\mine.npz", Path("mine.npz").read_bytes())}
    elif "moves" in given:
        plain_network = memcurve.ensembles.orthogonal(20, spectral_radius=0.9, seed=1)
        values = np.linalg.eigvals(plain_network.A)
        places = complex(values[np.argmin(np.abs(values.imag))].real), values[values.imag.argmax()]
        moves = tuple((complex(a), complex(b)) for a, b in zip(places, given["moves"], strict=True))
        given = given | {"moves": moves}
    settings = PageSettings(**given)
    seen = settings.scene()
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(python_lines(settings), names)
    assert np.array_equal(names["curve"].values, seen.curve.values)
    if settings.arguments():
        asked = answers.asked(seen.network, settings, 5)
        assert np.array_equal(names["asked"].values[:5], asked["values"])
    if settings.file is not None:
        assert seen.network.name == "mine"
        assert ("spectral_radius" in settings.ignored()) != settings.scaled
    assert (tmp_path / "memory.png").stat().st_size > 10_000


# --- files


def packed(size: int) -> bytes:
    """An archive that unpacks to much more than it has: a matrix, by its head."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, shape in {"A": (size, size), "C": (size,)}.items():
            with archive.open(f"{name}.npy", "w") as member:
                head = {"descr": "<f8", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, head)
    return stream.getvalue()


MATRIX_MARKET = b"%%MatrixMarket matrix coordinate real general\n"


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("empty.npz", b"", "empty.npz: the file is empty"),
        ("no.npz", b"nonsense", "no.npz: cannot be read"),
        ("a.png", b"\x89PNG", "unknown kind of file '.png'"),
        ("a.py", b"import this", "unknown kind of file '.py'"),
        ("noending", b"1", "unknown kind of file"),
        ("../../etc/passwd.csv", b"a,b\n", "passwd.csv: "),
        ("square.csv", b"0.5,0\n0,0.5\n", "choose an input mask in the controls"),
        ("huge.mtx", MATRIX_MARKET + b"9000000000 9000000000 1\n1 1 1\n", "huge.mtx is too large"),
        ("bomb.npz", packed(12_000), "but 1.0 GB are available"),
    ],
)
def test_bad_uploads_are_explained(name: str, contents: bytes, said: str) -> None:
    trouble = answers.scene(uploaded(name, contents))["trouble"]
    assert said in trouble
    assert "/tmp" not in trouble
    assert "../" not in trouble


def test_old_files_are_forgotten_with_a_word() -> None:
    first = uploaded("one.csv", b"0.25,1\n")
    for k in range(8):
        UPLOADS.add(f"{k}.csv", b"0.5,1\n")
    assert "open it again" in answers.scene(first)["trouble"]


def test_file_names_cannot_end_the_script_of_the_page() -> None:
    page = served_page("abc", "</script><script>alert(1)</script>.npz")
    assert "<script>alert" not in page
    assert "\\u003c/script>" in page


# --- the process that computes


def test_the_worker_answers_and_fails(worker: Worker) -> None:
    assert worker.call(abs, -1).result() == 1
    refuses(ValueError, "invalid literal", worker.call(int, "x").result)
    refuses(ChildProcessError, (), worker.call(os._exit, 1).result)
    assert worker.call(abs, -4).result() == 4  # by another process


def test_what_nobody_wants_any_more_is_not_begun(worker: Worker) -> None:
    newest, outcomes = [0], dict[int, Any]()

    def ask(turn: int) -> None:
        try:
            outcomes[turn] = worker.result(lambda: newest[0] <= turn, time.sleep, 0.3)
        except Stale:
            outcomes[turn] = "stale"

    threads = [threading.Thread(target=ask, args=(turn,)) for turn in range(30)]
    for newest[0], thread in enumerate(threads):
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes[29] is None  # what sleep returns
    assert list(outcomes.values()).count("stale") >= 25


def test_questions_and_their_failures(worker: Worker) -> None:
    def ask(question: str, **given: Any) -> dict[str, Any]:
        return answers.answer(question, given, worker, lambda: True)

    small = {"size": 10}
    assert ask("scene", settings=small)["states"] == 10
    assert ask("asked", settings=small | {"noise": 0.1})["total"]
    assert ask("usable", settings=small)["chart"]["series"]
    assert ask("standard", settings=small, method="OSM")["row"]
    assert ask("data", settings=small)["csv"].startswith("lag,")
    assert "unstable" in ask("usable", settings=small | {"spectral_radius": 2.0})["trouble"]
    assert "trouble" in ask("standard", settings=small, method="no such method")
    for question, given in (("nothing", {"settings": small}), ("asked", {}), ("story", {})):
        refuses(KeyError, (), ask, question, **given)


def test_a_moved_slider_costs_a_few_eigenvalue_calls() -> None:
    """At N = 200 the bare eigenvalues take about 12 ms, and 300 ms are allowed in all."""
    A = PageSettings(size=200).network().A

    def seconds(work: Callable[[], Any]) -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    def update(radius: float) -> None:
        as_json(answers.scene(PageSettings(size=200, spectral_radius=radius)))

    rounds = [
        (seconds(lambda: update(0.9 - 0.01 * k)), seconds(lambda: np.linalg.eigvals(A)))  # noqa: B023
        for k in range(5)
    ]
    assert min(ours for ours, _ in rounds) < 25 * min(theirs for _, theirs in rounds)


def test_answers_are_json_whatever_the_numbers() -> None:
    sent = as_json({"values": np.array([1.0, np.nan, -np.inf]), "lag": np.int64(3), "none": None})
    assert json.loads(sent) == {"values": [1.0, None, None], "lag": 3, "none": None}
