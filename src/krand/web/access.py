"""The address of the pages, for this machine alone, their token, and serving them."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from collections.abc import Callable
from contextlib import closing, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING

from krand.web.server import listen, make_server

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from krand.terminal.places import Place

LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
SHUTDOWN_SECONDS = 1
"""Stop quickly: no data can be lost."""


@dataclass(frozen=True, slots=True)
class Address:
    """The loopback address that the pages are bound to, and their token."""

    host: str
    port: int
    token: str

    @property
    def entrance(self) -> str:
        """The address with the token."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """Cookies ignore ports, so two servers on one machine need different names."""
        return f"krand-token-{self.port}"


def is_ours(host_header: str) -> bool:
    """Whether a Host header names this machine; this prevents DNS rebinding.

    Any port is accepted, because tunnels change it.
    """
    text = host_header.strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0] in LOCAL_NAMES
    return text.partition(":")[0] in LOCAL_NAMES


def is_same(given: str, token: str) -> bool:
    """Compared in constant time, so that the token cannot be guessed letter by letter."""
    return hmac.compare_digest(given.encode(errors="replace"), token.encode())


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(32)


async def serve_pages(place: Place, app: Callable[[str, int], ASGIApp]) -> None:
    """Serve an application, made once its port is known, until the task is cancelled."""
    with closing(listen(*place)) as listener:
        made = app(place.host, listener.getsockname()[1])
        server = make_server(made, timeout_graceful_shutdown=SHUTDOWN_SECONDS)
        server.capture_signals = nullcontext  # type: ignore
        serving = asyncio.ensure_future(server.serve(sockets=[listener]))
        try:
            await asyncio.shield(serving)
        finally:
            server.should_exit = True
            await serving
