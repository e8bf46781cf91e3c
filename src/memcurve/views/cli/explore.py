"""``memcurve explore``."""

import sys
from pathlib import Path

from memcurve.views.cli.options import Verbose, Whole
from memcurve.views.cli.process import UsageError
from memcurve.views.cli.texts import documented


@documented
def explore(
    file: Path | None = None,
    *,
    port: Whole | None = None,
    host: str = "127.0.0.1",
    browser: bool = True,
    token: bool = True,
    static: Path | None = None,
    verbose: Verbose = False,
) -> None:
    if static is not None:
        if file is not None:
            raise UsageError("--static has networks of its own; open FILE without it.")
        from memcurve.views.exploring.page import static_page

        static.write_text(static_page(), encoding="utf-8")
        print(f"{static}  (open it in a browser)")
        return
    if port is not None and not 1 <= port <= 65535:
        raise UsageError(f"--port must be from 1 to 65535, got {port}.")
    if not host:
        raise UsageError("--host must be an address of this machine, such as 127.0.0.1, got ''.")
    from memcurve.views.exploring.files import contents_of
    from memcurve.views.exploring.server import is_loopback, serve

    def announce(address: str) -> None:
        print(f"{address}  (Ctrl-C ends it)", flush=True)
        if not is_loopback(host):
            who = f"whoever can reach {host}{' and has this address' if token else ''}"
            print(f"memcurve: warning: {who} can use this page", file=sys.stderr)

    opened = None if file is None else (file.name, contents_of(file))
    serve(host=host, port=port, open_browser=browser, on_ready=announce, token=token, file=opened)
