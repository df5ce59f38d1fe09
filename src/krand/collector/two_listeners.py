"""uvicorn's server with a second listener: for the operator, with an application of its own."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from functools import partial

import uvicorn

__all__ = ["TwoListeners"]


class TwoListeners(uvicorn.Server):
    """Serves the first application on the sockets that it is run with, another one on a second."""

    def __init__(self, first: uvicorn.Config, second: uvicorn.Config, own: socket.socket) -> None:
        super().__init__(first)
        self._second, self._own = second, own

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._second.load()
        made: Callable[..., asyncio.Protocol] = self._second.http_protocol_class
        state = self.server_state
        protocol = partial(made, config=self._second, server_state=state, app_state={})
        loop = asyncio.get_running_loop()
        self.servers.append(await loop.create_server(protocol, sock=self._own))
