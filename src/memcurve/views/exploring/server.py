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
FIRST_PORT, LAST_PORT = 2718, 2817  # where a free port is looked for, where none is given
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
    options: Any = {"prefix": "memcurve-", "suffix": ".html"}
    with contextlib.ExitStack() as stack:
        try:
            file = stack.enter_context(tempfile.NamedTemporaryFile(dir=Path.home(), **options))
        except (OSError, RuntimeError):  # there is no home, or it cannot be written to
            file = stack.enter_context(tempfile.NamedTemporaryFile(**options))
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
    try:
        family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    except OSError as error:
        raise ValueError(
            f"`host` must be an address or a name of this machine, got {host!r} "
            f"({error.strerror or error}); leave it out for {LOOPBACK}."
        ) from error
    problem = ""
    for number in range(FIRST_PORT, LAST_PORT + 1) if port is None else [port]:
        listening = socket.socket(family, socket.SOCK_STREAM)
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(128)  # whoever comes before the server is ready waits
            return listening
        except OSError as error:
            listening.close()
            problem = str(error.strerror or error)
    which, can = f"port {port}", "cannot"
    if port is None:
        which, can = f"none of the ports {FIRST_PORT} … {LAST_PORT}", "can"
    raise ValueError(
        f"{which} of {host} {can} be used ({problem}); give another with --port, or --host."
    )


def guarded(app: Asgi, host: str, token: str = "") -> Asgi:
    """Refuse pages of other sites, and other users of this machine, who do not know the token.

    A request must name this machine, by its address or a name that is its own, come from a page of
    this server if from a page, and its path must begin with the token.
    """

    async def guard(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] not in ("http", "websocket"):
            await app(scope, receive, send)
            return
        headers = {name: text.decode("latin-1") for name, text in scope["headers"]}
        asked, origin = headers.get(b"host", ""), headers.get(b"origin")
        first = scope["path"].split("/")[1:2] or [""]
        if not _names_this_machine(asked, host) or not _same_site(origin, asked):
            await _refuse(scope, send, b"This page is served to the machine it runs on alone.")
        elif token and not secrets.compare_digest(first[0].encode(), token.encode()):
            text = b"Open the address that `memcurve explore` has printed: it ends in a token."
            await _refuse(scope, send, text)
        else:
            await app(scope, receive, send)

    return guard


def _names_this_machine(asked: str, host: str) -> bool:
    try:
        name = urlsplit(f"//{asked}").hostname or ""
    except ValueError:
        return False
    if is_loopback(host):
        return is_loopback(name) or name == host
    return name in {host.lower(), *_own_names()} or _address(name) is not None


@functools.cache
def _own_names() -> tuple[str, ...]:
    """Names of this machine, asked for once: some systems take seconds to tell them."""
    return "localhost", socket.gethostname().lower(), socket.getfqdn().lower()


def _same_site(origin: str | None, asked: str) -> bool:
    with contextlib.suppress(ValueError):
        return origin is None or urlsplit(origin).netloc == asked
    return False


async def _refuse(scope: Scope, send: Any, text: bytes) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})


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
