"""The server behind the page of ``memcurve explore``, which is careful."""

import http.client
import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from memcurve.views.exploring import server as module
from memcurve.views.exploring.server import Server, _unlisted, is_loopback, listen
from refusals import refuses

TOKEN = "5ec7e7" * 5


@contextmanager
def running(host: str = "127.0.0.1", token: str = TOKEN) -> Iterator[Server]:
    with Server(listen("127.0.0.1", None), host, token, b"the page") as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with running() as made:
        yield made


def asked(
    server: Server, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, bytes, dict[str, str]]:
    """Status, content and headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
    given = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET" if body is None else "POST", path, body, given)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content, dict(response.getheaders())


@pytest.mark.parametrize(
    ("host", "named", "origin", "fine"),
    [
        ("127.0.0.1", "127.0.0.1:2718", None, True),
        ("127.0.0.1", "localhost:2718", "http://localhost:2718", True),
        ("127.0.0.1", "localhost:2718", "http://evil.example", False),
        ("127.0.0.1", "localhost:2718", "null", False),
        ("127.0.0.1", "evil.example:2718", "http://evil.example:2718", False),
        ("127.0.0.1", "", None, False),
        ("127.0.0.1", "[", None, False),
        ("127.0.0.1", "127.0.0.1:2718", "http://[", False),
        ("::1", "[::1]:2718", None, True),
        ("0.0.0.0", "192.168.1.7:2718", "http://192.168.1.7:2718", True),
        ("0.0.0.0", "evil.example:2718", "http://evil.example:2718", False),
    ],
)
def test_other_sites_are_refused(host: str, named: str, origin: str | None, fine: bool) -> None:
    """Neither by their own name for this machine, nor from their own pages."""
    headers = {"Host": named} | ({} if origin is None else {"Origin": origin})
    with running(host) as made:
        for body in (None, b"{}"):
            status, content, _ = asked(made, f"/{TOKEN}/", body, **headers)
            assert (status != 403) == fine
            assert fine or b"own machine" in content


@pytest.mark.parametrize("body", [None, b"{}"])
@pytest.mark.parametrize(
    ("path", "fine"),
    [
        (f"/{TOKEN}/", True), (f"/{TOKEN}", True), (f"/{TOKEN}/?a=b", True),
        ("/", False), ("/scene", False), (f"/{TOKEN}x/", False), (f"/a/../{TOKEN}/", False),
        (f"/{'0' * 32}/", False), ("/%CF%84/", False), ("//[/", False),
    ],
)  # fmt: skip
def test_without_the_token_nothing_is_served(
    server: Server, path: str, fine: bool, body: bytes | None
) -> None:
    """Another user of the machine knows the port, not the token."""
    status, content, _ = asked(server, path, body)
    assert (status != 403) == fine
    assert fine or b"the address that `memcurve explore` printed" in content


def test_there_is_a_page_and_nothing_beside_it(server: Server) -> None:
    status, content, headers = asked(server, f"/{TOKEN}/")
    assert (status, content) == (200, b"the page")
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert not [name for name in headers if name.lower().startswith("access-control")]
    for path in ("../../etc/passwd", "page.css", "%2e%2e/%2e%2e/etc/passwd", "scene"):
        assert asked(server, f"/{TOKEN}/{path}")[0] == 404


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400), (b"{", 400), (b"\xff", 400), (b"[" * 90_000, 400), (b"[1]", 400),
        (b'{"page": "a", "turn": "x", "settings": {}}', 400), (b'{"page": "a", "turn": 1}', 400),
        (b'{"page": "a", "turn": 1e400}', 400),
        (b'{"page": "a", "turn": 1, "settings": 3}', 400),
        (b'{"page": "a", "turn": 1, "settings": {"size": 1e400}}', 400),
        (b" " * 100_001, 413), (b'{"page": "a", "turn": 1, "settings": {"size": 5}}', 200),
    ],
)  # fmt: skip
def test_what_is_no_question_is_refused(server: Server, body: bytes, status: int, capfd) -> None:
    found, content, _ = asked(server, f"/{TOKEN}/scene", body)
    assert found == status, content
    assert b"Traceback" not in content
    assert capfd.readouterr() == ("", "")


def test_lengths_of_requests(server: Server, monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_BYTES", 10)
    assert asked(server, f"/{TOKEN}/file/a.csv", b"0.25,1\n")[0] == 200
    status, content, _ = asked(server, f"/{TOKEN}/file/a.csv", b"0.25,1\n" * 2)
    assert (status, b"files of up to 10 bytes" in content) == (413, True)
    for length in ("-1", "1e3", "x", "9" * 20):
        connection = http.client.HTTPConnection("127.0.0.1", server.server_address[1], timeout=60)
        connection.putrequest("POST", f"/{TOKEN}/scene")
        connection.putheader("Content-Length", length)
        connection.endheaders()
        assert connection.getresponse().status in (411, 413)
        connection.close()


def test_files_are_opened_by_their_keys(server: Server) -> None:
    _, content, _ = asked(server, f"/{TOKEN}/file/..%2F..%2Fmy%20net.csv", b"0.25,1\n")
    opened: dict[str, Any] = json.loads(content)
    question = {"page": "a", "turn": 1, "settings": {"file": opened["file"]}}
    _, content, _ = asked(server, f"/{TOKEN}/scene", json.dumps(question).encode())
    seen = json.loads(content)
    assert (seen["name"], seen["total"]) == ("my net", "1")


def test_the_newest_question_wins(server: Server) -> None:
    first = server.wanted("a page", 1)
    assert first()
    second = server.wanted("a page", 2)
    server.wanted("another page", 9)
    assert (first(), second()) == (False, True)
    assert not server.wanted("a page", 1)()  # it arrived late
    for k in range(2 * module.MOST_PAGES):
        server.wanted(str(k), 1)
    assert len(server._latest) <= module.MOST_PAGES + 1


def test_the_token_is_not_in_the_command_of_the_browser(tmp_path, monkeypatch) -> None:
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
    refuses(ValueError, "cannot be used", listen, "no.such.machine.invalid", None)
    assert is_loopback("localhost")
    assert is_loopback("::1")
    assert not is_loopback("0.0.0.0")
    assert not is_loopback("example.org")
