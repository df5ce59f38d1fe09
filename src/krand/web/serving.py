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
    from collections.abc import Callable
    from pathlib import Path

    import uvicorn
    from starlette.types import ASGIApp

SHUTDOWN_SECONDS = 1
"""Stop quickly: no data can be lost."""


def make_server(
    make_app: Callable[[], ASGIApp], tls: tuple[Path, Path] | None = None
) -> uvicorn.Server:
    """The server of the pages; with a certificate and its key, by TLS."""
    try:
        import starlette  # noqa: F401
        import uvicorn

        from krand.collector.connection import BoundedConnection
        from krand.collector.neighbours import Neighbours
    except ImportError as error:
        raise MissingComponent(error.name or "starlette", "serve") from None
    options: dict[str, Any] = {
        **OPTIONS,
        "http": partial(BoundedConnection, Neighbours()),
        "timeout_graceful_shutdown": SHUTDOWN_SECONDS,
    }
    if tls is not None:
        options |= {"ssl_certfile": tls[0], "ssl_keyfile": tls[1]}
    return uvicorn.Server(uvicorn.Config(make_app(), **options))


def serve(server: uvicorn.Server, listener: socket.socket, show: str | None = None) -> None:
    """Serve until stopped; open `show` in a browser, which waits for the server."""
    from krand.collector.serving import log_to_stderr

    log_to_stderr(logging.WARNING)
    if show is not None:
        threading.Thread(target=webbrowser.open, args=(show,), daemon=True).start()
    server.run(sockets=[listener])
