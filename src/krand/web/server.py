"""The server: uvicorn on h11, with the limits of all that krand serves."""

from __future__ import annotations

import socket
from importlib import import_module
from typing import TYPE_CHECKING, Any

from krand.errors import InvalidInput, MissingComponent

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

FILES = 16_384
BACKLOG = 2_048
OPTIONS: dict[str, Any] = {
    "loop": "asyncio",
    "ws": "none",
    "limit_concurrency": None,
    "timeout_keep_alive": 5,
    "h11_max_incomplete_event_size": 16_384,
    "backlog": BACKLOG,
    "timeout_graceful_shutdown": 30,
    "access_log": False,
    "log_config": None,
    "log_level": "critical",  # a line for each malformed request would let anybody fill the disk
    "server_header": False,
    "date_header": False,
    "proxy_headers": False,  # for whom a proxy forwards a request is not read
}
"""A limit of connections would let a thousand slow ones keep everybody else out; that of the
system's files stays."""


def check_installed(*names: str) -> None:
    """Name a package of the extra `serve` that is missing, before anything is made with it."""
    for name in ("starlette", "uvicorn", *names):
        try:
            import_module(name)
        except ImportError as error:
            raise MissingComponent(error.name or name, "serve") from None


def listen(host: str, port: int) -> socket.socket:
    """The socket to serve on. Port 0 takes any free port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.getaddrinfo(host, None, family)
    except (socket.gaierror, UnicodeError):
        raise InvalidInput("host", "must be an address of this machine", host) from None
    try:
        listener = socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OverflowError:
        raise InvalidInput("port", "must be from 0 to 65,535", port) from None
    except OSError as error:
        rule, why = "must be free to listen on", (error.strerror or str(error)).lower()
        raise InvalidInput("port", rule, f"{host}:{port}", why) from None
    # Connections inherit it. Without it the second part of an answer waits for an acknowledgement,
    # and asyncio sets it only where a socket names its protocol.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def url_of(listener: socket.socket) -> str:
    """Where a socket is reached on this machine."""
    host, port, *_ = listener.getsockname()
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def make_server(app: ASGIApp, **more: Any) -> uvicorn.Server:
    """The server of an application, with the limits that all of them have."""
    check_installed()
    import h11
    import uvicorn
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Connection(H11Protocol):
        """uvicorn's own. Whoever sends on before they are answered is cut off.

        uvicorn reads on for every request that it answers, so what is sent ahead would fill the
        memory.
        """

        def data_received(self, data: bytes) -> None:
            if self.conn.their_state is h11.DONE:
                self.transport.abort()
            else:
                super().data_received(data)

    return uvicorn.Server(uvicorn.Config(app, **{**OPTIONS, "http": Connection, **more}))


def allow_many_files() -> None:
    """Each connection is a file to the system, which often allows only 1,024 unless asked."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
