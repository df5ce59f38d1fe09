"""uvicorn's server, which accepts few connections at a time."""

from __future__ import annotations

import socket

import uvicorn

ACCEPTED_AT_ONCE = 16
"""Before other connections are looked at. By default thousands of new ones would come first."""
MOST_UNACCEPTED = 4_096
"""Connections that the system keeps until they are accepted. It drops further ones, whose clients
try again a second later."""


class CollectorServer(uvicorn.Server):
    """Serves an application on the sockets that it is run with."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(MOST_UNACCEPTED)  # the number above was for both
