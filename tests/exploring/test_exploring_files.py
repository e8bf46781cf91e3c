"""What goes into the page of ``memcurve explore``, and what is taken home from it."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import memcurve
from memcurve.views.exploring import move_eigenvalue
from memcurve.views.exploring.figures import about_settings
from memcurve.views.exploring.files import network_of, python_lines
from memcurve.views.exploring.jobs import asked_curve
from memcurve.views.exploring.scene import OWN_MASK, PageSettings, scene_of


def test_controls_reach_the_ensemble() -> None:
    settings = PageSettings(
        ensemble="sparse_normal", size=40, spectral_radius=0.7, density=0.3, seed=5
    )
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


def test_file_names_are_escaped() -> None:
    text = about_settings(PageSettings(), "<img src=x>.npz", "it is <b>damaged</b>")
    assert "<img" not in text
    assert "<b>" not in text


@pytest.mark.parametrize(
    ("settings", "moved"),
    [
        (PageSettings(size=20), None),
        (PageSettings(size=20, noise=1e-3, colour=0.5, mask="ones"), None),
        (PageSettings(ensemble="orthogonal", size=20), (0.9, 0.5)),
        (PageSettings(size=12, mask="basis"), None),  # where the Gramian is singular
    ],
)
def test_python_lines_give_what_is_on_the_screen(
    settings: PageSettings,
    moved: tuple[complex, complex] | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    network = settings.network()
    if moved is not None:
        real = np.linalg.eigvals(network.A)
        moved = (complex(real[np.argmin(np.abs(real.imag))].real), moved[1])
        network = move_eigenvalue(network, *moved)
    seen = scene_of(network)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(python_lines(settings, moved=moved), names)
    assert np.array_equal(names["curve"].values, seen.curve.values)
    if settings.arguments():
        asked = asked_curve(network, 5, settings.arguments())
        assert np.array_equal(names["asked"].values[:5], asked.values)
    assert (tmp_path / "memory.png").stat().st_size > 10_000


@pytest.mark.parametrize("mask", [OWN_MASK, "ones"])
@pytest.mark.parametrize("scaled", [False, True])
def test_python_lines_for_a_file(
    mask: str, scaled: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    memcurve.save_network(memcurve.ensembles.normal(10, seed=1), "mine.npz")
    settings = PageSettings(spectral_radius=0.7, mask=mask)
    radius = 0.7 if scaled else None
    uploaded = network_of("C:\\data\\mine.npz", Path("mine.npz").read_bytes(), mask, 1, radius)
    assert uploaded.name == "mine"
    assert not scaled or uploaded.spectral_radius == pytest.approx(0.7, rel=1e-12)
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(python_lines(settings, file="mine.npz", scaled=scaled), names)
    assert np.array_equal(names["network"].A, uploaded.A)
    assert np.array_equal(names["network"].C, uploaded.C)
    hidden = about_settings(settings, "mine.npz", "", scaled=scaled)
    assert ("spectral radius" in hidden) != scaled


def test_a_file_is_called_by_its_name_without_the_ending_however_that_is_written() -> None:
    for name in ("mine.csv", "MINE.CSV", "folder\\mine.Csv"):
        uploaded = network_of(name, b"0.5,0.1,1\n0.2,0.3,1\n", OWN_MASK, 1)
        assert (uploaded.name or "").lower() == "mine"


def test_a_mask_leaves_the_rest_of_a_file_alone(tmp_path: Path) -> None:
    network = memcurve.ensembles.normal(8, seed=1).replace(readout=[0, 1], notes=("mind this",))
    memcurve.save_network(network, tmp_path / "some.npz")
    masked = network_of("some.npz", (tmp_path / "some.npz").read_bytes(), "ones", 1)
    assert scene_of(masked).curve.total == 2
    assert masked.notes[0] == "mind this"
    assert "own input mask" in masked.notes[1]
    assert np.array_equal(masked.C, memcurve.masks.ones(8))


@pytest.mark.parametrize(
    ("name", "contents", "said"),
    [
        ("empty.npz", b"", "empty.npz: the file is empty"),
        ("no.npz", b"nonsense", "^no.npz: cannot be read"),
        ("a.dat", b"1 2\n3 4\n", "unknown kind of file '.dat'"),
        ("noending", b"1", "unknown kind of file"),
        ("../../etc/passwd.csv", b"a,b\n", "^passwd.csv: "),
        ("square.csv", b"0.5,0\n0,0.5\n", "choose an input mask in the controls"),
    ],
)
def test_bad_uploads_are_explained(name: str, contents: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said) as error:
        network_of(name, contents, OWN_MASK, 1)
    assert "/tmp" not in str(error.value)
