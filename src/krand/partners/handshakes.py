"""Accepts connections for TLS, a bounded number at a time before the handshake is done.

Python keeps a quarter of a megabyte for each connection with TLS from the moment it is accepted.
Anybody can open thousands without a word, so those that have not shown that they speak TLS are few:
the one that has tried for longest is closed for a new one. An honest partner needs milliseconds.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import traceback
from collections.abc import Callable
from contextlib import suppress

MOST_HANDSHAKES = 256
"""At a time. A partner far away must be done before as many others have come."""
HANDSHAKE_SECONDS = 10.0
"""The time in which a client must begin TLS. By default it is a minute."""
GOODBYE_SECONDS = 1.0
"""The time in which a client must answer the end of TLS. By default it is half a minute."""
PAUSE_SECONDS = 0.1
"""After the system could not give a connection, mostly because too many files are open."""


class TlsListener:
    """Serves a protocol with TLS on a listening socket; closed as asyncio's own servers are."""

    def __init__(
        self,
        protocol: Callable[[], asyncio.Protocol],
        listener: socket.socket,
        context: ssl.SSLContext,
    ) -> None:
        self._protocol, self._listener, self._context = protocol, listener, context
        self._handshakes: dict[socket.socket, asyncio.Task[None]] = {}
        """The one that began first comes first."""
        listener.setblocking(False)
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Accept nobody any more; connections stay open."""
        self._accepting.cancel()
        for connection in self._handshakes:
            _hang_up(connection)
        self._listener.close()

    async def wait_closed(self) -> None:
        """Until nobody is accepted any more."""
        await asyncio.wait([self._accepting])

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError:
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            if len(self._handshakes) >= MOST_HANDSHAKES:
                oldest = next(iter(self._handshakes))
                self._handshakes.pop(oldest)
                _hang_up(oldest)
            self._handshakes[connection] = loop.create_task(self._begin(connection))
            # Otherwise all that wait would be accepted before the first one is looked at.
            await asyncio.sleep(0)

    async def _begin(self, connection: socket.socket) -> None:
        """Shake hands; afterwards the connection is that of its protocol, or closed."""
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                self._protocol,
                connection,
                ssl=self._context,
                ssl_handshake_timeout=HANDSHAKE_SECONDS,
                ssl_shutdown_timeout=GOODBYE_SECONDS,
            )
        except OSError as error:  # that of TLS is one, too
            # It and what waited for it hold each other, and with them the connection's memory.
            traceback.clear_frames(error.__traceback__)
        finally:
            self._handshakes.pop(connection, None)


def _hang_up(connection: socket.socket) -> None:
    """Asyncio sees the end, and lets go of everything that it has for this connection."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)
