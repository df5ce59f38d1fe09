"""A mail server: encrypted, and told one message for one address at a time.

What a server answers is never repeated: some quote the message that they refuse, and with it the
link, beside the address. Its numbers are enough.
"""

from __future__ import annotations

import re
import smtplib
import ssl
from dataclasses import dataclass
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
TAKEN, GONE = 250, 421
FORWARDED = 251
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


@dataclass(frozen=True, slots=True)
class MailServer:
    """Where a mail server is, and as whom to log in."""

    host: str
    port: int
    user: str
    tls: bool
    """From the first byte; otherwise STARTTLS, and nothing on this machine."""

    @property
    def is_here(self) -> bool:
        """Whether nothing that is sent to it leaves this machine."""
        return is_loopback(self.host)

    def connected(self, password: str) -> smtplib.SMTP:
        """A connection: encrypted unless it ends on this machine, and logged in."""
        name = f"{self.host}:{self.port}"
        try:
            return self._connected(password)
        except smtplib.SMTPAuthenticationError as error:
            hint = f"the server answered {error.smtp_code}: check the user's name and the password"
            raise InvalidInput("smtp", "must let this user in", self.user, hint) from None
        except smtplib.SMTPNotSupportedError:
            hint = "the server has no logins: leave out the user's name"
            raise InvalidInput("smtp", "must name no user", name, hint) from None
        except ssl.SSLError as error:
            hint = f"{error.reason or error}; smtps:// is TLS from the first byte, smtp:// STARTTLS"
            raise InvalidInput(
                "smtp", "must be reached by TLS with a valid certificate", name, hint
            ) from None
        except smtplib.SMTPResponseException as error:
            raise Unavailable(f"the mail server {name} answered {error.smtp_code}") from None
        except (smtplib.SMTPException, OSError) as error:
            reason = getattr(error, "strerror", None) or type(error).__name__
            raise Unavailable(f"the mail server {name} does not answer: {reason}") from None

    def _connected(self, password: str) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self.tls:
            found: smtplib.SMTP = smtplib.SMTP_SSL(
                self.host, self.port, timeout=TIMEOUT_SECONDS, context=context
            )
        else:
            found = smtplib.SMTP(self.host, self.port, timeout=TIMEOUT_SECONDS)
        try:
            found.ehlo_or_helo_if_needed()
            if not self.tls and not self.is_here:
                if not found.has_extn("starttls"):
                    rule = "must be encrypted, unless the server is on this machine"
                    hint = "the server offers no STARTTLS: try smtps://"
                    raise InvalidInput("smtp", rule, f"{self.host}:{self.port}", hint)
                found.starttls(context=context)
                found.ehlo()
            if self.user:
                found.login(self.user, password)
        except BaseException:
            found.close()
            raise
        return found


def mail_server(url: str) -> MailServer:
    """The server of an address such as smtps://user@mail.example.org."""
    hint = "for example smtps://survey@mail.example.org, or smtp:// for STARTTLS"
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    usual = url.isprintable() and " " not in url
    if not host or not usual or parts.scheme not in ("smtp", "smtps"):
        raise InvalidInput("smtp", "must begin with smtps:// or smtp://", _bare(url), hint)
    if parts.password is not None:
        remedy = "others see what is typed there: set a variable, and name it with --password-env"
        raise InvalidInput("smtp", "must not hold the password", _bare(url), remedy)
    if parts.path.strip("/") or parts.query or parts.fragment:
        raise InvalidInput("smtp", "must name a user, a server and a port alone", url, hint)
    tls = parts.scheme == "smtps"
    usual_port = 465 if tls else 25 if is_loopback(host) else 587
    return MailServer(host, port or usual_port, unquote(parts.username or ""), tls)


def _bare(url: str) -> str:
    """Without what may be a password."""
    return re.sub(r":[^:@/]*@", ":…@", url)


def checked_sender(text: str) -> Address:
    """The sender: an address, or a name and an address in < >."""
    name, bracket, rest = text.rpartition("<")
    plain = rest.removesuffix(">") if bracket else text
    try:
        address = checked_address(plain.strip())
    except InvalidInput as error:
        hint = error.hint or "for example 'City of Examples <survey@example.org>'"
        raise InvalidInput("from", error.rule, text, hint) from None
    if not address.isascii() or not name.isprintable():
        rule = "must have ASCII letters before the @, and a name in one line"
        raise InvalidInput("from", rule, text, "many servers could not answer another address")
    return Address(name.strip().strip('"').strip(), addr_spec=address)


def message_bytes(sender: Address, address: str, subject: str, body: str) -> bytes:
    """A message of plain text; what identifies it is random, and the link is in its body alone."""
    message = EmailMessage(SMTP if address.isascii() else SMTPUTF8)
    message["From"] = sender
    name, _, domain = address.rpartition("@")
    message["To"] = Address(username=name, domain=domain)
    message["Subject"] = subject
    message["Date"] = format_datetime(datetime.now(UTC))
    message["Message-ID"] = make_msgid(domain=sender.domain)
    message["Auto-Submitted"] = "auto-generated"
    message["X-Auto-Response-Suppress"] = "All"
    message.set_content(body, cte="quoted-printable")
    return message.as_bytes()


def deliver(server: smtplib.SMTP, sender: str, address: str, message: bytes) -> None:
    """Hand one message over. Without an error the server has taken it."""
    try:
        _address(server, sender, address)
    except smtplib.SMTPNotSupportedError:
        raise Refused("no SMTPUTF8", is_final=True) from None
    except (smtplib.SMTPException, OSError):
        raise Lost from None
    try:
        code, said = server.data(message)
    except smtplib.SMTPDataError as error:  # the answer to DATA, before any of the message
        code, said = max(error.smtp_code, 400), _bytes(error.smtp_error)
    except (smtplib.SMTPException, OSError):
        raise Doubtful from None
    if code == TAKEN:
        return
    if not 400 <= code <= 599:
        server.close()
        raise Doubtful
    _refuse(server, code, said)


def _address(server: smtplib.SMTP, sender: str, address: str) -> None:
    """The envelope. A server that can is asked to return headers alone, which have no link."""
    options = [] if address.isascii() else ["SMTPUTF8", "BODY=8BITMIME"]
    if server.has_extn("dsn"):
        options.append("RET=HDRS")
    code, said = server.mail(sender, options)
    if code != TAKEN:
        _forget(server, code)
        status = _code(code, said)
        if code < LEAST_FINAL:
            raise Lost
        hint = f"the mail server refuses it with {status}; is it an address of this user?"
        raise InvalidInput("from", "must be a sender that the server accepts", sender, hint)
    code, said = server.rcpt(address)
    if code not in (TAKEN, FORWARDED):
        _refuse(server, code, said)


def _refuse(server: smtplib.SMTP, code: int, said: bytes) -> None:
    _forget(server, code)
    raise Refused(_code(code, said), is_final=code >= LEAST_FINAL)


def _forget(server: smtplib.SMTP, code: int) -> None:
    """Begin anew with the next message; a server that says goodbye is not asked."""
    if code == GONE:
        server.close()
        return
    try:
        server.rset()
    except (smtplib.SMTPException, OSError):
        server.close()


def _code(code: int, said: bytes) -> str:
    found = ENHANCED.match(_bytes(said))
    return f"{code} {found[0].decode()}" if found else str(code)


def _bytes(said: bytes | str) -> bytes:
    return said if isinstance(said, bytes) else said.encode("utf-8", "replace")
