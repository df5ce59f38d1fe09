"""The address of the pages, the host names they accept, their token, and serving them."""

from __future__ import annotations

import hmac
import ipaddress
import logging
import os
import re
import secrets
import socket
import stat
import threading
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from krand.collector.serving import log_to_stderr, make_server
from krand.errors import InvalidInput
from krand.files import OWNER_ONLY, unreadable, unwritable

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

TOKEN = re.compile(r"[A-Za-z0-9_-]{32,256}")
FIELD = "token-file"
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SHUTDOWN_SECONDS = 1
"""Stop quickly: no data can be lost."""


@dataclass(frozen=True, slots=True)
class Address:
    """The address that the pages are bound to, and their token."""

    host: str
    port: int
    token: str | None = None
    tls: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        address = _ip(self.host)
        return self.host == "localhost" if address is None else address.is_loopback

    @property
    def home(self) -> str:
        """Where the pages are, for people."""
        bound = _ip(self.host)
        host = socket.gethostname() if bound is not None and bound.is_unspecified else self.host
        name = f"[{host}]" if ":" in host else host
        return f"{'https' if self.tls else 'http'}://{name}:{self.port}/"

    def entrance(self) -> str:
        """The address with the token; where others can reach it, it is typed instead."""
        return self.home + (f"?token={self.token}" if self.is_loopback else "")

    @property
    def cookie(self) -> str:
        """Cookies ignore ports, so two servers on one machine need different names."""
        return f"krand-token-{self.port}"

    def is_ours(self, host_header: str) -> bool:
        """Whether a Host header names this server; this prevents DNS rebinding.

        Any port is accepted, because tunnels change it. If the server listens on all addresses, any
        address is accepted: only names can be made to point here.
        """
        name = _name(host_header)
        if name in (self.host.lower(), socket.gethostname().lower()):
            return True
        if self.is_loopback:
            return name in LOCAL_NAMES
        return name == "localhost" or _ip(name) is not None


def is_same(given: str, token: str) -> bool:
    """Compared in constant time, so that the token cannot be guessed letter by letter."""
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())


def kept_token(path: Path | None) -> str:
    """A new token, or the one in the file, which is created if it does not exist."""
    if path is None:
        return secrets.token_urlsafe(32)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    except FileExistsError:
        return _read_token(path)
    except OSError as error:
        raise unwritable(FIELD, path, error) from None
    token = secrets.token_urlsafe(32)
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(f"{token}\n")
    return token


def _read_token(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            mode = os.fstat(stream.fileno()).st_mode
            token = stream.read(1024).decode(errors="replace").strip()
    except OSError as error:
        raise unreadable(FIELD, path, error) from None
    if os.name == "posix" and stat.S_IMODE(mode) & 0o077:
        hint = f"chmod 600 {path}"
        raise InvalidInput(FIELD, "must be readable by its owner only", str(path), hint)
    if not TOKEN.fullmatch(token):
        hint = "delete it, and a new one is created"
        rule = "must hold a token of at least 32 letters, digits, - or _"
        raise InvalidInput(FIELD, rule, str(path), hint)
    return token


def _name(host_header: str) -> str:
    """The host without its port, in lower case."""
    text = host_header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def _ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None


def page_server(app: ASGIApp, tls: tuple[Path, Path] | None = None) -> uvicorn.Server:
    """The server of the pages; with a certificate and its key, by TLS."""
    certificate, key = tls or (None, None)
    return make_server(
        app,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


def serve(server: uvicorn.Server, listener: socket.socket, show: str | None = None) -> None:
    """Serve until stopped; open `show` in a browser, which waits for the server."""
    log_to_stderr(logging.WARNING)
    if show is not None:
        threading.Thread(target=webbrowser.open, args=(show,), daemon=True).start()
    server.run(sockets=[listener])
