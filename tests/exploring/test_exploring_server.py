"""What stands behind the page: the process that computes, and the server, which is careful."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memcurve.views.exploring.jobs import Worker
from memcurve.views.exploring.server import _unlisted, guarded, is_loopback, listen


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    made = Worker()
    made.open()
    yield made
    made.close()


def always() -> bool:
    return True


def test_results_arrive_as_they_are_ready(worker: Worker) -> None:
    jobs = {"one": (abs, (-1,)), "bad": (int, ("x",)), "two": (abs, (-2,))}
    arrived = dict(worker.results(jobs, always))
    assert arrived["one"] == 1
    assert arrived["two"] == 2
    assert isinstance(arrived["bad"], ValueError)


def test_what_nobody_wants_is_not_begun(worker: Worker) -> None:
    assert list(Worker().results({"closed": (abs, (-1,))}, always)) == []
    assert list(worker.results({"never": (abs, (-1,))}, lambda: False)) == []
    looks = iter([True] + [False] * 100)
    jobs = {str(k): (time.sleep, (0.3,)) for k in range(30)}
    start = time.perf_counter()
    assert list(worker.results(jobs, lambda: next(looks))) == []
    assert dict(worker.results({"next": (abs, (-3,))}, always)) == {"next": 3}
    assert time.perf_counter() - start < 5  # of the nine seconds only what had begun


def test_a_dead_process_is_replaced(worker: Worker) -> None:
    jobs = {"dies": (os._exit, (1,)), "innocent": (abs, (-5,))}
    arrived = dict(worker.results(jobs, always))
    assert isinstance(arrived["dies"], Exception)
    assert arrived["innocent"] == 5
    assert dict(worker.results({"next": (abs, (-4,))}, always)) == {"next": 4}


@pytest.mark.parametrize(
    ("host", "asked", "origin", "fine"),
    [
        ("127.0.0.1", "127.0.0.1:2718", None, True),
        ("127.0.0.1", "localhost:2718", "http://localhost:2718", True),
        ("127.0.0.1", "localhost:2718", "http://evil.example", False),
        ("127.0.0.1", "evil.example:2718", "http://evil.example:2718", False),
        ("127.0.0.1", "[", None, False),
        ("127.0.0.1", "127.0.0.1:2718", "http://[", False),
        ("::1", "[::1]:2718", None, True),
        ("0.0.0.0", "192.168.1.7:2718", "http://192.168.1.7:2718", True),
        ("0.0.0.0", "evil.example:2718", "http://evil.example:2718", False),
    ],
)
@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_other_sites_are_refused(
    kind: str, host: str, asked: str, origin: str | None, fine: bool
) -> None:
    """Neither by their own name for this machine, nor from their own pages."""
    headers = [(b"host", asked.encode())]
    headers += [] if origin is None else [(b"origin", origin.encode())]
    assert is_served({"type": kind, "path": "/", "headers": headers}, host) == fine


def is_served(scope: dict[str, Any], host: str, token: str = "") -> bool:
    """Whether a request gets through to the app; else it is refused."""
    served, sent = [], []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        served.append(scope)

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(guarded(app, host, token)(scope, None, send))
    assert bool(served) != bool(sent)
    refusal = sent[0].get("code") or sent[0]["status"] if sent else None
    assert refusal == (None if served else {"http": 403, "websocket": 1008}[scope["type"]])
    return bool(served)


@pytest.mark.parametrize("kind", ["http", "websocket"])
@pytest.mark.parametrize(
    ("path", "fine"),
    [
        ("/5ec7e7", True),
        ("/5ec7e7/ws", True),
        ("", False),
        ("/ws", False),
        ("/5ec7e7x/ws", False),
        ("//5ec7e7/ws", False),
        ("/assets/../5ec7e7/", False),
        ("/τ/", False),
    ],
)
def test_without_the_token_nothing_is_served(kind: str, path: str, fine: bool) -> None:
    """Neither pages nor files nor websockets: another user of the machine could ask for them."""
    scope = {"type": kind, "path": path, "headers": [(b"host", b"127.0.0.1:2718")]}
    assert is_served(scope, "127.0.0.1", "5ec7e7") == fine
    assert is_served(scope, "127.0.0.1")  # with --no-token


def test_the_token_is_not_in_the_command_of_the_browser(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which all users see: it opens a file that leads to the address, and that is private."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with _unlisted("http://127.0.0.1:2718/5ec7e7/") as shown:
        assert "5ec7e7" not in shown
        (file,) = tmp_path.iterdir()
        assert shown == file.as_uri()
        assert "url=http://127.0.0.1:2718/5ec7e7/" in file.read_text()
        assert os.name == "nt" or file.stat().st_mode & 0o077 == 0
    assert not file.exists()


def test_addresses_to_listen_on() -> None:
    first, second = listen("127.0.0.1", None), listen("127.0.0.1", None)
    with first, second:
        ports = [one.getsockname()[1] for one in (first, second)]
        assert ports[0] != ports[1]
        with pytest.raises(ValueError, match=rf"port {ports[0]} of 127\.0\.0\.1 cannot be used"):
            listen("127.0.0.1", ports[0])
    with pytest.raises(ValueError, match="cannot be used"):
        listen("no.such.machine.invalid", None)
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("example.org")
