"""Serve the page on this machine, and answer its questions."""

import contextlib
import ipaddress
import json
import os
import secrets
import signal
import socket
import sys
import tempfile
import threading
import webbrowser
from collections.abc import Callable, Iterator
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from memcurve.views.exploring.answers import Stale, Worker, answer, as_json
from memcurve.views.exploring.files import MOST_BYTES, UPLOADS
from memcurve.views.exploring.page import served_page

LOOPBACK = "127.0.0.1"
# where a free port is looked for, where none is given
FIRST_PORT = 2718
LAST_PORT = 2817
TOKEN_BYTES = 16  # 128 bits cannot be guessed
MOST_ASKED = 100_000  # bytes of a question
PATIENCE = 60  # seconds for the next byte of a request
MOST_PAGES = 1000  # whose latest question is remembered

#: With every answer: the page runs its own scripts, asks this server alone, and stands in no frame.
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; connect-src 'self'; img-src data: blob:; base-uri 'none'; form-action "
    "'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class Server(ThreadingHTTPServer):
    """The server of a page; ``token`` is the first part of every path, unless it is empty."""

    daemon_threads = True

    def __init__(self, listening: socket.socket, host: str, token: str, page: bytes) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.token, self.page = listening, token, page
        self.own_names = {host.lower(), "localhost", socket.gethostname().lower()}
        self.worker = Worker()
        self._latest: dict[str, int] = {}

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore pages that were closed in the middle of an answer."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)

    def is_ours(self, host: str, origin: str | None) -> bool:
        """Whether a request names this machine, and comes from no page of another site."""
        with contextlib.suppress(ValueError):
            name = urlsplit(f"//{host}").hostname or ""
            same_site = origin is None or urlsplit(origin).netloc == host
            return same_site and (name in self.own_names or _address(name) is not None)
        return False

    def wanted(self, page: str, turn: int) -> Callable[[], bool]:
        """Whether a page has asked nothing since: its newest question wins."""
        if len(self._latest) > MOST_PAGES:
            self._latest.clear()
        self._latest[page] = max(turn, self._latest.get(page, turn))
        return lambda: self._latest.get(page, turn) <= turn


class _Handler(BaseHTTPRequestHandler):
    """One request: the page, a file that was opened, or a question in JSON."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = PATIENCE
    error_message_format = "%(explain)s"
    error_content_type = "text/plain; charset=utf-8"

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: the command has printed the address."""

    def version_string(self) -> str:
        return "memcurve"

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def do_GET(self) -> None:
        path = self._path()
        if path == "":
            self._send(self.server.page, "text/html; charset=utf-8")
        elif path is not None:
            self.send_error(
                HTTPStatus.NOT_FOUND, explain="There is one page, and no file beside it."
            )

    def do_POST(self) -> None:
        path = self._path()
        if path is None or (body := self._body(path)) is None:
            return
        try:
            if path.startswith("file/"):
                name = unquote(path.removeprefix("file/"))
                self._answer({"file": UPLOADS.add(name, body), "name": name})
                return
            given = json.loads(body)
            wanted = self.server.wanted(str(given["page"]), int(given["turn"]))
            self._answer(answer(path, given, self.server.worker, wanted))
        except Stale:
            self._answer({"stale": True})
        except (KeyError, ValueError, TypeError, OverflowError, RecursionError) as error:
            self.send_error(
                HTTPStatus.BAD_REQUEST, explain=f"This is no question of the page: {error!r}"
            )

    def _path(self) -> str | None:
        """The path requested, without the token; None if it was refused."""
        parts = self.path.partition("?")[0].removeprefix("/")
        token = self.server.token
        first, _, rest = parts.partition("/") if token else (token, "", parts)
        if not self.server.is_ours(self.headers.get("Host", ""), self.headers.get("Origin")):
            self.send_error(
                HTTPStatus.FORBIDDEN, explain="This page is served to its own machine alone."
            )
        elif not secrets.compare_digest(first.encode(), token.encode()):
            self.send_error(
                HTTPStatus.FORBIDDEN,
                explain="Open the address that `memcurve explore` printed: it ends in a token.",
            )
        else:
            return rest
        return None

    def _body(self, path: str) -> bytes | None:
        """The body of the request; None if it was refused."""
        most = MOST_BYTES if path.startswith("file/") else MOST_ASKED
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            self.send_error(
                HTTPStatus.LENGTH_REQUIRED, explain="A request must say how long it is."
            )
        elif len(length) > 12 or int(length) > most:
            self.send_error(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                explain=f"The page takes files of up to {MOST_BYTES:,} bytes; `memcurve curve` and "
                "`memcurve audit` take larger ones.",
            )
        elif len(body := self.rfile.read(int(length))) == int(length):
            return body
        return None

    def _answer(self, content: dict[str, Any]) -> None:
        self._send(as_json(content), "application/json")

    def _send(self, content: bytes, kind: str) -> None:
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def serve(
    *,
    host: str,
    port: int | None,
    open_browser: bool,
    on_ready: Callable[[str], None],
    token: bool = True,
    file: tuple[str, bytes] | None = None,
) -> None:
    """Serve until Ctrl-C or SIGTERM; ``on_ready`` gets the address, with its token."""
    key = None if file is None else UPLOADS.add(*file)
    page = served_page(key, "" if key is None else UPLOADS.name(key)).encode()
    secret = secrets.token_hex(TOKEN_BYTES) if token else ""
    with Server(listen(host, port), host, secret, page) as server:
        address = f"http://{_to_open(host)}:{server.server_address[1]}/"
        address += f"{secret}/" if token else ""
        with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as until_it_ends:
            signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
            until_it_ends.callback(server.worker.stop)
            server.worker.start()
            on_ready(address)
            if open_browser:
                to_open = until_it_ends.enter_context(_unlisted(address)) if token else address
                threading.Timer(0.5, webbrowser.open, [to_open]).start()
            server.serve_forever(poll_interval=0.1)


@contextlib.contextmanager
def _unlisted(address: str) -> Iterator[str]:
    """A file in the home folder that leads to the address, which command lines would show."""
    line = f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
    home = Path.home() if os.access(Path.home(), os.W_OK) else None
    with tempfile.NamedTemporaryFile(dir=home, prefix="memcurve-", suffix=".html") as file:
        file.write(line.encode())
        file.flush()
        yield Path(file.name).as_uri()


def listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port asked for, or on the first free one."""
    problem: OSError | None = None
    for number in range(FIRST_PORT, LAST_PORT + 1) if port is None else [port]:
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            return socket.create_server((host, number), family=family)
        except OSError as error:
            problem = error
            if isinstance(error, socket.gaierror):  # the host is no name of this machine
                break
    ports = f"ports {FIRST_PORT} … {LAST_PORT}" if port is None else f"port {port}"
    raise ValueError(
        f"{ports} of {host} cannot be used ({problem}); give another with --port, or --host."
    )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    return host == "localhost" or ((address := _address(host)) is not None and address.is_loopback)


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    with contextlib.suppress(ValueError):
        return ipaddress.ip_address(name)
    return None


def _to_open(host: str) -> str:
    """The host as it stands in an address that this machine can open."""
    if (address := _address(host)) is not None and address.is_unspecified:
        return LOOPBACK
    return f"[{host}]" if ":" in host else host
