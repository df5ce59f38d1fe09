"""uvicorn's server: it accepts few connections at a time, and may have a second listener."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial

import uvicorn

ACCEPTED_AT_ONCE = 16
"""Before other connections are looked at. By default thousands of new ones would come first."""
MOST_UNACCEPTED = 4_096
"""Connections that the system keeps until they are accepted. It drops further ones, whose clients
try again a second later."""


class CollectorServer(uvicorn.Server):
    """Serves an application on the sockets that it is run with, and another one on its own."""

    def __init__(
        self, config: uvicorn.Config, second: tuple[uvicorn.Config, socket.socket] | None = None
    ) -> None:
        super().__init__(config)
        self._second = second

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(MOST_UNACCEPTED)  # the number above was for both
        if self._second is not None:
            self.servers.append(await self._listen(*self._second))

    async def _listen(self, config: uvicorn.Config, own: socket.socket) -> asyncio.Server:
        return await asyncio.get_running_loop().create_server(self._protocol(config), sock=own)

    def _protocol(self, config: uvicorn.Config) -> Callable[[], asyncio.Protocol]:
        """What makes the protocol of a new connection."""
        if not config.loaded:
            config.load()
        made: Callable[..., asyncio.Protocol] = config.http_protocol_class
        return partial(made, config=config, server_state=self.server_state, app_state={})
