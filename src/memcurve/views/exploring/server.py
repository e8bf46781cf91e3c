"""Serve the page on this machine."""

from __future__ import annotations

import ast
import contextlib
import functools
import ipaddress
import logging
import os
import secrets
import signal
import socket
import tempfile
import threading
import webbrowser
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memcurve.core.optional import optional
from memcurve.views.exploring.jobs import WORKER

LOOPBACK = "127.0.0.1"
# where a free port is looked for, where none is given
FIRST_PORT = 2718
LAST_PORT = 2817
TOKEN_BYTES = 16  # 128 bits cannot be guessed

Scope = MutableMapping[str, Any]
Asgi = Callable[[Scope, Any, Any], Awaitable[None]]


def serve(
    *,
    host: str,
    port: int | None,
    open_browser: bool,
    on_ready: Callable[[str], None],
    token: bool = True,
) -> None:
    """Serve the page until Ctrl-C or SIGTERM; for the main thread of a process.

    ``on_ready`` is told its address, of which a token is part that others cannot guess. Pages that
    were open leave threads that never end: leave the process by ``os._exit``.
    """
    packages = ("marimo", "uvicorn", "anywidget", "zmq")
    marimo, uvicorn, *_ = (optional(package, "the page", "explore") for package in packages)
    listening = listen(host, port)
    try:
        secret = secrets.token_hex(TOKEN_BYTES) if token else ""
        address = f"http://{_to_open(host)}:{listening.getsockname()[1]}/"
        address += f"{secret}/" if token else ""
        page = str(Path(__file__).with_name("app.py"))
        builder = marimo.create_asgi_app(quiet=True, session_ttl=60)
        app = guarded(builder.with_app(path=f"/{secret}", root=page).build(), host, secret)
        # pages are given one second when the server ends; that one was closed while something was
        # under way to it is no one's concern, but an error of uvicorn's and a warning of asyncio's
        server = uvicorn.Server(
            uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        )
        logging.getLogger("asyncio").setLevel(logging.ERROR)
        _parse_one_at_a_time()
        WORKER.open()
        on_ready(address)
        with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as until_it_ends:
            if open_browser:
                to_open = until_it_ends.enter_context(_unlisted(address)) if token else address
                threading.Timer(0.5, webbrowser.open, [to_open]).start()
            # a request to end comes again after the server has ended, and must not kill us then
            signal.signal(signal.SIGTERM, signal.default_int_handler)
            server.run(sockets=[listening])
    finally:
        WORKER.close()
        listening.close()


@contextlib.contextmanager
def _unlisted(address: str) -> Iterator[str]:
    """A file that leads to the address: other users see the command that starts the browser.

    It is in the home folder, since some browsers are kept from all others.
    """
    line = f'<!doctype html><meta http-equiv="refresh" content="0; url={address}">'
    home = Path.home() if os.access(Path.home(), os.W_OK) else None
    with tempfile.NamedTemporaryFile(dir=home, prefix="memcurve-", suffix=".html") as file:
        file.write(line.encode())
        file.flush()
        yield Path(file.name).as_uri()


def _parse_one_at_a_time() -> None:
    """Let no two sessions parse the page at once: CPython up to 3.12 fails now and then.

    It counts the depth of all syntax trees in one place ("recursion depth mismatch").
    """
    parse, lock = ast.parse, threading.RLock()

    @functools.wraps(parse)
    def parse_alone(*given: Any, **options: Any) -> Any:
        with lock:
            return parse(*given, **options)

    ast.parse = parse_alone


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
    which = f"ports {FIRST_PORT} … {LAST_PORT}" if port is None else f"port {port}"
    raise ValueError(
        f"{which} of {host} cannot be used ({problem}); give another with --port, or --host."
    )


def guarded(app: Asgi, host: str, token: str = "") -> Asgi:
    """Refuse pages of other sites, and other users of this machine, who do not know the token.

    A request must name this machine, by an address or a name that is its own, come from a page of
    this server if from a page, and its path must begin with the token.
    """
    own_names = {host.lower(), "localhost", socket.gethostname().lower()}

    def is_ours(asked: str, origin: str | None) -> bool:
        with contextlib.suppress(ValueError):
            name = urlsplit(f"//{asked}").hostname or ""
            same_site = origin is None or urlsplit(origin).netloc == asked
            return same_site and (name in own_names or _address(name) is not None)
        return False

    async def guard(scope: Scope, receive: Any, send: Any) -> None:
        refused = b""
        if scope["type"] in ("http", "websocket"):
            headers = {name: text.decode("latin-1") for name, text in scope["headers"]}
            first = (scope["path"].split("/")[1:2] or [""])[0]
            if not is_ours(headers.get(b"host", ""), headers.get(b"origin")):
                refused = b"This page is served to the machine it runs on alone."
            elif token and not secrets.compare_digest(first.encode(), token.encode()):
                refused = b"Open the address that `memcurve explore` printed: it ends in a token."
        if not refused:
            await app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            kind = [(b"content-type", b"text/plain")]
            await send({"type": "http.response.start", "status": 403, "headers": kind})
            await send({"type": "http.response.body", "body": refused})

    return guard


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
