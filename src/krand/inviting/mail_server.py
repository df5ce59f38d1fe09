"""A mail server: encrypted, and told one message for one address at a time.

What a server answers is never repeated: some quote the message that they refuse, and with it the
link, beside the address. Its numbers are enough.
"""

from __future__ import annotations

import re
import smtplib
import ssl
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.policy import SMTP, SMTPUTF8
from email.utils import format_datetime, make_msgid
from urllib.parse import unquote, urlsplit

from krand.client.transport import is_loopback
from krand.errors import InvalidInput, Unavailable
from krand.inviting.addresses import checked_address

TIMEOUT_SECONDS = 60.0
ENHANCED = re.compile(rb"[245]\.\d{1,3}\.\d{1,3}\b")
"""The status codes of RFC 3463, at the beginning of an answer."""
TAKEN, FORWARDED, GONE = 250, 251, 421
LEAST_FINAL = 500
"""From here on a refusal is final; below, the same may be taken later."""


class Lost(Exception):
    """The connection ended before the message was handed over: the server does not have it."""


class Doubtful(Exception):
    """Whether the server has taken the message is not known."""


class Refused(Exception):
    """The server does not take this message for this address; `code` is all of its answer."""

    def __init__(self, code: str, *, is_final: bool) -> None:
        self.code, self.is_final = code, is_final
        super().__init__(code)


@dataclass(slots=True)
class MailServer:
    """Where a mail server is, who logs in and writes, and the connection while there is one."""

    host: str
    port: int
    user: str
    tls: bool
    """From the first byte; otherwise STARTTLS, and nothing on this machine."""
    sender: Address
    password: str = field(default="", repr=False)
    _server: smtplib.SMTP | None = None

    def connect(self) -> None:
        """Connect, encrypted unless the server is on this machine, and log in."""
        name = f"{self.host}:{self.port}"
        try:
            self._connect()
        except smtplib.SMTPAuthenticationError as error:
            hint = f"the server answered {error.smtp_code}: check the user's name and the password"
            raise InvalidInput("smtp", "must let this user in", self.user, hint) from None
        except smtplib.SMTPNotSupportedError:
            hint = "the server has no logins: leave out the user's name"
            raise InvalidInput("smtp", "must name no user", name, hint) from None
        except ssl.SSLError as error:
            rule = "must be reached by TLS with a valid certificate"
            hint = f"{error.reason or error}; smtps:// is TLS from the first byte, smtp:// STARTTLS"
            raise InvalidInput("smtp", rule, name, hint) from None
        except smtplib.SMTPResponseException as error:
            raise Unavailable(f"the mail server {name} answered {error.smtp_code}") from None
        except (smtplib.SMTPException, OSError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise Unavailable(f"the mail server {name} does not answer: {reason}") from None

    def _connect(self) -> None:
        context, at = ssl.create_default_context(), (self.host, self.port)
        if self.tls:
            found: smtplib.SMTP = smtplib.SMTP_SSL(*at, timeout=TIMEOUT_SECONDS, context=context)
        else:
            found = smtplib.SMTP(*at, timeout=TIMEOUT_SECONDS)
        try:
            found.ehlo_or_helo_if_needed()
            if not self.tls and not is_loopback(self.host):
                if not found.has_extn("starttls"):
                    rule = "must be encrypted, unless the server is on this machine"
                    hint = "the server offers no STARTTLS: try smtps://"
                    raise InvalidInput("smtp", rule, f"{self.host}:{self.port}", hint)
                found.starttls(context=context)
                found.ehlo()
            if self.user:
                found.login(self.user, self.password)
        except BaseException:
            found.close()
            raise
        self._server = found

    def close(self) -> None:
        """End the connection."""
        if self._server is not None:
            self._server.close()
            self._server = None

    def deliver(self, address: str, subject: str, body: str) -> None:
        """Hand one message over. Without an error the server has taken it."""
        if self._server is None:
            self.connect()
        assert self._server is not None
        try:
            self._envelope(self._server, address)
        except smtplib.SMTPNotSupportedError:
            raise Refused("no SMTPUTF8", is_final=True) from None
        except (smtplib.SMTPException, OSError):
            self.close()
            raise Lost from None
        said: bytes | str
        try:
            code, said = self._server.data(self._message(address, subject, body))
        except smtplib.SMTPDataError as error:  # the answer to DATA, before any of the message
            code, said = max(error.smtp_code, 400), error.smtp_error
        except (smtplib.SMTPException, OSError):
            self.close()
            raise Doubtful from None
        if code == TAKEN:
            return
        if not 400 <= code <= 599:
            self.close()
            raise Doubtful
        self._refuse(self._server, code, said)

    def _envelope(self, server: smtplib.SMTP, address: str) -> None:
        """A server that can is asked to return headers alone, which have no link."""
        options = [] if address.isascii() else ["SMTPUTF8", "BODY=8BITMIME"]
        if server.has_extn("dsn"):
            options.append("RET=HDRS")
        sender = self.sender.addr_spec
        code, said = server.mail(sender, options)
        if code != TAKEN and code < LEAST_FINAL:
            raise smtplib.SMTPServerDisconnected
        if code != TAKEN:
            hint = f"the mail server refuses it with {_code(code, said)}; does this user own it?"
            raise InvalidInput("from", "must be a sender that the server accepts", sender, hint)
        code, said = server.rcpt(address)
        if code not in (TAKEN, FORWARDED):
            self._refuse(server, code, said)

    def _refuse(self, server: smtplib.SMTP, code: int, said: bytes | str) -> None:
        try:
            if code == GONE:  # it says goodbye
                raise smtplib.SMTPServerDisconnected
            server.rset()
        except (smtplib.SMTPException, OSError):
            self.close()
        raise Refused(_code(code, said), is_final=code >= LEAST_FINAL)

    def _message(self, address: str, subject: str, body: str) -> bytes:
        """Plain text; what identifies it is random, and the link is in its body alone."""
        message = EmailMessage(SMTP if address.isascii() else SMTPUTF8)
        message["From"] = self.sender
        name, _, domain = address.rpartition("@")
        message["To"] = Address(username=name, domain=domain)
        message["Subject"] = subject
        message["Date"] = format_datetime(datetime.now(UTC))
        message["Message-ID"] = make_msgid(domain=self.sender.domain)
        message["Auto-Submitted"] = "auto-generated"
        message["X-Auto-Response-Suppress"] = "All"
        message.set_content(body, cte="quoted-printable")
        return message.as_bytes()


def _code(code: int, said: bytes | str) -> str:
    text = said if isinstance(said, bytes) else said.encode("utf-8", "replace")
    found = ENHANCED.match(text)
    return f"{code} {found[0].decode()}" if found else str(code)


def mail_server(url: str, sender: str) -> MailServer:
    """The server at smtps://user@mail.example.org, not connected, for this sender's messages."""
    hint = "for example smtps://survey@mail.example.org, or smtp:// for STARTTLS"
    shown = re.sub(r":[^:@/]*@", ":…@", url)  # without what may be a password
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    usual = url.isprintable() and " " not in url
    if not host or not usual or parts.scheme not in ("smtp", "smtps"):
        raise InvalidInput("smtp", "must begin with smtps:// or smtp://", shown, hint)
    if parts.password is not None:
        remedy = "others see what is typed there: set the variable KRAND_MAIL_PASSWORD, or be asked"
        raise InvalidInput("smtp", "must not hold the password", shown, remedy)
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidInput("smtp", "must name a user, a server and a port alone", url, hint)
    tls = parts.scheme == "smtps"
    usual_port = 465 if tls else 25 if is_loopback(host) else 587
    user = unquote(parts.username or "")
    return MailServer(host, port or usual_port, user, tls, _checked_sender(sender))


def _checked_sender(text: str) -> Address:
    """An address, or a name and an address in < >."""
    name, bracket, rest = text.rpartition("<")
    plain = rest.removesuffix(">") if bracket else text
    try:
        address = checked_address(plain.strip())
    except InvalidInput as error:
        raise InvalidInput("from", error.rule, text, error.hint) from None
    if not address.isascii() or not name.isprintable():
        rule = "must have ASCII letters before the @, and a name in one line"
        raise InvalidInput("from", rule, text, "many servers could not answer another address")
    return Address(name.strip().strip('"').strip(), addr_spec=address)
