"""Runs the pages with uvicorn, without logging requests."""

from __future__ import annotations

import logging
import socket
import threading
import webbrowser
from functools import partial
from typing import TYPE_CHECKING, Any

from krand.collector.serving import OPTIONS
from krand.errors import MissingComponent

if TYPE_CHECKING:
    import uvicorn

    from krand.web.access import Address
    from krand.web.watching import Watched

SHUTDOWN_SECONDS = 1
"""Stop quickly: no data can be lost."""


def make_server(
    address: Address, watch: Watched | None, site: tuple[Any, ...] = ()
) -> uvicorn.Server:
    """The server of the pages; for those of a site, `site` is what they need besides."""
    try:
        import starlette  # noqa: F401
        import uvicorn

        from krand.collector.connection import BoundedConnection
        from krand.collector.neighbours import Neighbours
    except ImportError as error:
        raise MissingComponent(error.name or "starlette", "serve") from None
    from krand.web.app import make_app, make_site_app

    app = make_site_app(address, *site) if site else make_app(address, watch)
    options = {
        **OPTIONS,
        "http": partial(BoundedConnection, Neighbours()),
        "timeout_graceful_shutdown": SHUTDOWN_SECONDS,
    }
    return uvicorn.Server(uvicorn.Config(app, **options))


def serve(server: uvicorn.Server, listener: socket.socket, show: str | None = None) -> None:
    """Serve until stopped; open `show` in a browser, which waits for the server."""
    from krand.collector.serving import log_to_stderr

    log_to_stderr(logging.WARNING)
    if show is not None:
        threading.Thread(target=webbrowser.open, args=(show,), daemon=True).start()
    server.run(sockets=[listener])
