"""One connection: uvicorn's own, with bounds for the head of a request.

uvicorn bounds neither how long the head may be nor how long it may take, so that one client could
fill the memory, and a few thousand keep everybody else out.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from krand.collect.http import busy

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

__all__ = ["HEAD_SECONDS", "MOST_CONNECTIONS", "MOST_HEAD_BYTES", "BoundedConnection"]

MOST_CONNECTIONS = 4_096
MOST_HEAD_BYTES = 2**16
HEAD_SECONDS = 10.0


class BoundedConnection(HttpToolsProtocol):
    """Closed when the head of a request is too long or too slow; too many are told so."""

    _head: int | None = 0
    """Bytes of a head that is not complete yet."""
    _patience: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._usual = self.app
        self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._head is None or self.transport.is_closing():
            return
        self._head += len(data)
        if self._head > MOST_HEAD_BYTES:
            self.send_400_response("The head of the request is too long.")
        elif self._patience is None:
            self._wait_for_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        if self._head is None:
            self._head = 0

    def on_headers_complete(self) -> None:
        self._end_head()
        too_many = len(self.connections) > MOST_CONNECTIONS
        # A response is itself an application: one that gives this answer, whatever is asked.
        self.app = cast("ASGI3Application", busy()) if too_many else self._usual
        super().on_headers_complete()

    def _wait_for_head(self) -> None:
        self._patience = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def _end_head(self) -> None:
        self._head = None
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _too_slow(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete:
            self._wait_for_head()  # we are slow ourselves: the request before is not answered yet
        else:
            self.transport.close()
