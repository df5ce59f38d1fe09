"""A real mail server for tests: it keeps what it was given, and fails where a test says so."""

from __future__ import annotations

import asyncio
import quopri
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import SMTPUTF8
from typing import Any

from components import require

require("aiosmtpd")

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session  # noqa: E402

LINK = re.compile(rb"https://form\.example/#([A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])")
Say = Callable[[str, int, str], str | None]
"""Given the step (mail, rcpt, data, stored), how many messages are stored, and the address: an
answer of the server, "drop" to end the connection, or None for the usual."""


@dataclass
class Inbox:
    """What the server has taken, and how it behaves."""

    say: Say = lambda step, stored, address: None
    messages: list[tuple[str, bytes]] = field(default_factory=list)
    sessions: list[tuple[bool, str]] = field(default_factory=list)
    """Of each message whether it came encrypted, and the user who logged in."""
    port: int = 0

    def code_of(self, message: bytes) -> str:
        """The code in the one link of a message."""
        (found,) = LINK.findall(quopri.decodestring(message))
        return str(found.decode())

    def pairs(self) -> dict[str, str]:
        """Which address got which code: only the mail server knows."""
        return {address: self.code_of(message) for address, message in self.messages}

    def texts(self) -> dict[str, Any]:
        """The messages, parsed, by address."""
        return {to: message_from_bytes(raw, policy=SMTPUTF8) for to, raw in self.messages}

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return self._said("mail", server, address) or "250 OK"

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        refusal = self._said("rcpt", server, address)
        if refusal is None:
            envelope.rcpt_tos.append(address)
        return refusal or "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        (address,) = envelope.rcpt_tos
        refusal = self._said("data", server, address)
        if refusal is not None:
            return refusal
        content = envelope.content
        self.messages.append((address, content if isinstance(content, bytes) else b""))
        user = session.auth_data.login.decode() if session.auth_data else ""
        assert server.transport is not None
        self.sessions.append((server.transport.get_extra_info("ssl_object") is not None, user))
        return self._said("stored", server, address) or "250 2.0.0 OK"

    def _said(self, step: str, server: SMTP, address: str) -> str | None:
        said = self.say(step, len(self.messages), address)
        if said == "drop":
            assert server.transport is not None
            server.transport.abort()
            return "421 gone"
        return said


@contextmanager
def serving(
    inbox: Inbox,
    *,
    tls: ssl.SSLContext | None = None,
    starttls: ssl.SSLContext | None = None,
    password: str = "",
    utf8: bool = True,
) -> Iterator[Inbox]:
    """The server, on a port that the system chooses."""

    def login(*given: Any) -> AuthResult:
        data = given[4]
        known = isinstance(data, LoginPassword) and data.password.decode() == password
        return AuthResult(success=known, handled=known, auth_data=data)

    def protocol() -> SMTP:
        return SMTP(
            inbox,
            enable_SMTPUTF8=utf8,
            hostname="mail.example",
            tls_context=starttls,
            require_starttls=starttls is not None,
            auth_require_tls=False,
            authenticator=login if password else None,
            loop=loop,
        )

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(loop.create_server(protocol, "127.0.0.1", 0, ssl=tls))
    inbox.port = server.sockets[0].getsockname()[1]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield inbox
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
