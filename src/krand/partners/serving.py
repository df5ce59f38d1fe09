"""Runs a partner's service: TLS, a listener for operators, and work beside the requests.

Python keeps a quarter of a megabyte for each connection with TLS from the moment it is accepted.
Anybody can open thousands without a word, so those that have not shown that they speak TLS are few:
the one that has tried for longest is closed for a new one. An honest partner needs milliseconds.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from krand.collector.serving import check_installed, make_server
from krand.errors import InternalError, InvalidInput, KrandError

if TYPE_CHECKING:
    from pathlib import Path

    import uvicorn
    from starlette.applications import Starlette

    from krand.partners.identity import Identity

TROUBLE_SECONDS = 60.0
"""Until something that failed is tried again."""

log = logging.getLogger("krand.partners")
MOST_HANDSHAKES = 256
"""At a time. A partner far away must be done before as many others have come."""
HANDSHAKE_SECONDS = 10.0
"""The time in which a client must begin TLS. By default it is a minute."""
GOODBYE_SECONDS = 1.0
"""The time in which a client must answer the end of TLS. By default it is half a minute."""
PAUSE_SECONDS = 0.1
"""After the system could not give a connection, mostly because too many files are open."""


def make_partner_server(app: Starlette, tls: ssl.SSLContext | None) -> uvicorn.Server:
    """The server of a partner's application, encrypted if there is a context."""
    check_installed()
    import uvicorn

    class PartnerServer(uvicorn.Server):
        """With TLS, connections count from the moment they are accepted."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            if tls is None:
                await super().startup(sockets)
                return
            await super().startup([])
            for listener in sockets or ():
                made: Any = self.config.http_protocol_class
                protocol = partial(
                    made, config=self.config, server_state=self.server_state, app_state={}
                )
                server: Any = TlsListener(protocol, listener, tls)
                self.servers.append(server)

    config = make_server(app).config
    config.load()
    return PartnerServer(config)


def tls_context(
    identity: Identity, own: Path, certificate: Path | None, key: Path | None, behind_proxy: bool
) -> ssl.SSLContext | None:
    """TLS with a given certificate, or with the identity's in `own`; None behind a proxy."""
    if behind_proxy:
        return None
    if certificate is not None:
        return files_context(certificate, key)
    return identity_context(identity, own)


def identity_context(identity: Identity, path: Path) -> ssl.SSLContext:
    """TLS with a certificate that the identity signed, kept in this file."""
    from krand.partners.tls import ensure_certificate

    ensure_certificate(identity, path)
    return files_context(path, None)


def files_context(certificate: Path, key: Path | None) -> ssl.SSLContext:
    """TLS with a certificate from elsewhere; its key may be in the same file."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        rule = "must be a certificate in PEM, with its key"
        reason = (getattr(error, "strerror", "") or str(error)).lower()
        raise InvalidInput("tls_cert", rule, str(certificate), reason) from None
    return context


class Worker:
    """Calls `work` again and again in a thread of its own, until it is told to stop.

    What fails is logged when it changes, and tried again later: most of it passes, and whatever
    concerns one survey must not end the others. Only an error that is `fatal` ends the work.
    """

    def __init__(
        self,
        work: Callable[[], float],
        ended: Callable[[KrandError], None],
        fatal: type[KrandError],
    ) -> None:
        """`work` does what there is to do, and says in how many seconds to look again."""
        self._work, self._ended, self._fatal = work, ended, fatal
        self._stop, self._wake = threading.Event(), threading.Event()
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="work", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def wake(self) -> None:
        """There may be something to do."""
        self._wake.set()

    def stop(self) -> None:
        """End after what is being done."""
        self._stop.set()
        self._wake.set()

    def join(self) -> None:
        """Wait for the end, if it has begun."""
        if self._thread.ident is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            self._wake.clear()
            try:
                seconds = self._work()
                self._trouble = ""
            except KrandError as error:
                if isinstance(error, self._fatal):
                    self._ended(error)
                    return
                seconds = TROUBLE_SECONDS
                if str(error) != self._trouble:
                    self._trouble = str(error)
                    log.warning("%s", error)
            except Exception as error:
                log.error("unforeseen %s", type(error).__name__)
                self._ended(
                    InternalError(f"{type(error).__name__} while working; please report it")
                )
                return
            self._wake.wait(seconds)


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
