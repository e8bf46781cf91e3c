"""Serve the page on this machine."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
import threading
import webbrowser
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memcurve.exploring.later import WORKSHOP
from memcurve.optional import optional

LOOPBACK = "127.0.0.1"
#: Where a free port is looked for, where none is given.
FIRST_PORT, LAST_PORT = 2718, 2817
#: Seconds a closed page may come back, before what it had is dropped.
_REMEMBERED = 60
#: Seconds that open pages are given when the server ends.
_FAREWELL = 1

Scope = MutableMapping[str, Any]
Asgi = Callable[[Scope, Any, Any], Awaitable[None]]


def serve(
    *,
    host: str = LOOPBACK,
    port: int | None = None,
    open_browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Serve the page until Ctrl-C.

    Pages that were open keep threads in this process that never end: leave it by ``os._exit``.

    Parameters
    ----------
    host : str
        The address to listen on; anything but a loopback address lets others on the network in.
    port : int, optional
        The port; by default the first free one from 2718 on.
    open_browser : bool
        Whether to open the page.
    say : callable
        Is told the address of the page.

    Raises
    ------
    OSError
        The port is taken, or the host is not one of this machine.
    ModuleNotFoundError
        marimo or anywidget are not installed.
    """
    marimo = optional("marimo", "the page", "explore")
    for package in ("anywidget", "zmq"):
        optional(package, "the page", "explore")
    uvicorn = optional("uvicorn", "the page", "explore")
    listening = listen(host, port)
    try:
        number = listening.getsockname()[1]
        address = f"http://{_in_address(host)}:{number}/"
        app = marimo.create_asgi_app(quiet=True, session_ttl=_REMEMBERED).with_app(
            path="/",
            root=str(Path(__file__).with_name("app.py")),
        )
        config = uvicorn.Config(
            same_site_only(app.build(), host),
            log_level="warning",
            timeout_graceful_shutdown=_FAREWELL,
        )
        server = uvicorn.Server(config)
        WORKSHOP.open()
        say(address)
        if open_browser:
            threading.Timer(0.5, webbrowser.open, [address]).start()
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    finally:
        WORKSHOP.close()
        listening.close()


def listen(host: str, port: int | None) -> socket.socket:
    """A socket on the port asked for, or on the first free one."""
    family = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][0]
    ports = [port] if port is not None else range(FIRST_PORT, LAST_PORT + 1)
    problem = OSError()
    for number in ports:
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((host, number))
            listening.listen(128)  # whoever comes before the server is ready waits
        except OSError as error:
            listening.close()
            problem = error
        else:
            return listening
    asked = f"port {port}" if port is not None else f"no port from {FIRST_PORT} to {LAST_PORT}"
    raise OSError(
        problem.errno,
        f"{asked} of {host} can be used ({problem.strerror or problem}); give another with --port",
    ) from problem


def same_site_only(app: Asgi, host: str) -> Asgi:
    """Refuse what other pages in the same browser ask for.

    A page of any site could otherwise connect to this server, or have its own name resolve to this
    machine. A request must name this host, and come from a page of this server if from a page.
    """
    known = {"localhost", LOOPBACK, "::1", host}

    async def guarded(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            headers = {name.decode("latin-1"): text.decode("latin-1")
                       for name, text in scope["headers"]}  # fmt: skip
            asked = headers.get("host", "")
            origin = headers.get("origin")
            named = is_loopback(host) is False or urlsplit(f"//{asked}").hostname in known
            if not named or (origin is not None and urlsplit(origin).netloc != asked):
                await _refuse(scope, send)
                return
        await app(scope, receive, send)

    return guarded


async def _refuse(scope: Scope, send: Any) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    text = b"This page is served to the machine it runs on alone."
    headers = [(b"content-type", b"text/plain")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": text})


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host
