"""The server: uvicorn, with the limits of all of krand's; also inside another program."""

from __future__ import annotations

import json
import logging
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.errors import InvalidInput, MissingComponent, Unavailable

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

    from krand.survey.plan import Plan

FILES = 16_384
BACKLOG = 2_048
LOOPBACK = "127.0.0.1"
LOOK_SECONDS = 0.01
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
"""Of every server of krand. A limit of connections would let a thousand slow ones keep everybody
else out; that of the system's files stays."""


class JsonLines(logging.Formatter):
    """One JSON object a line: level and event. No time, no traceback, nothing of a request."""

    def format(self, record: logging.LogRecord) -> str:
        return json.dumps({"level": record.levelname.lower(), "event": record.getMessage()})


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
    import uvicorn

    from krand.collector.http import Connection

    return uvicorn.Server(uvicorn.Config(app, **{**OPTIONS, "http": Connection, **more}))


def serve(server: uvicorn.Server, listener: socket.socket, *, quiet: bool = False) -> None:
    """Serve until stopped. What has arrived by then is stored and acknowledged."""
    log_to_stderr(logging.WARNING if quiet else logging.INFO)
    _allow_many_files()
    server.run(sockets=[listener])


def _allow_many_files() -> None:
    """Each connection is a file to the system, which often allows only 1,024 unless asked."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def log_to_stderr(level: int) -> None:
    """Log lines of this level and above."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=level, force=True)


@contextmanager
def run_collector(
    plan: Plan,
    spool: str | Path,
    *,
    round_number: int = 1,
    host: str = LOOPBACK,
    port: int = 0,
) -> Iterator[str]:
    """Take submissions over HTTP, in a thread, until the block ends; the value is the address.

    `spool` is the folder that `krand release` reads afterwards, with the keys of its rounds; port 0
    is any free one. The form and invitations are for the command `krand serve`.

    >>> import krand
    >>> from krand.testing import FakeChain, small_plan
    >>> chain = FakeChain(small_plan())
    >>> known = {"expected_hash": chain.plan.hash, "signatures": chain.signatures}
    >>> with krand.run_collector(chain.plan, "spool") as url:
    ...     client = krand.Client(chain.plan, krand.Ledger("ledger"), url=url, **known)
    ...     sent = client.submit({"pet": "dog", "smokes": False})
    """
    check_installed()
    from krand.collector.intake import Intake, Serving
    from krand.collector.spool import Spool

    with closing(listen(host, port)) as listener:
        intake = Intake(Spool(Path(spool), plan, round_number))
        server = make_server(Serving(intake).application)
        sockets = {"sockets": [listener]}
        thread = threading.Thread(target=server.run, kwargs=sockets, name="collector", daemon=True)
        thread.start()
        try:
            while not server.started:
                thread.join(LOOK_SECONDS)
                if not thread.is_alive():
                    raise Unavailable("the collector did not start")
            yield f"http://{host}:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()
