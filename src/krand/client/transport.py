"""How a submission travels: the seam where a test puts its own collector instead of a network."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from urllib.parse import SplitResult, urlsplit

from krand.errors import InvalidInput

if TYPE_CHECKING:
    from http.client import HTTPConnection

__all__ = ["Http", "Reply", "Transport", "collector_parts", "connection_to"]

TIMEOUT_SECONDS = 20.0
LONGEST_ASKED = 600.0
"""A collector may ask for patience (Retry-After), but not for ever."""
LONGEST_ANSWER = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """What a collector says to a submission."""

    status: int
    """As in HTTP: 202 is taken, 503 and some others may be better later."""
    rule: str = ""
    """Which rule the submission breaks."""
    wait: float = 0.0
    """How long the collector wants the client to wait, in seconds."""


class Transport(Protocol):
    """Carries submissions, and waits between attempts."""

    def post(self, url: str, body: bytes) -> Reply:
        """Deliver the bytes to this address; OSError where nobody answers."""

    def wait(self, seconds: float) -> None:
        """Let this much time pass."""


class Http:
    """The real one: a connection for each submission, and nothing that tells clients apart.

    It has no cookie and no name of an agent: only what HTTP cannot do without.
    """

    def __init__(self, timeout: float = TIMEOUT_SECONDS) -> None:
        self.timeout = timeout

    def post(self, url: str, body: bytes) -> Reply:
        """Deliver the bytes by POST."""
        from http.client import HTTPException  # with ssl and email: loaded when it is needed

        parts = urlsplit(url)
        connection = connection_to(parts, self.timeout)
        try:
            connection.putrequest("POST", parts.path, skip_accept_encoding=True)
            connection.putheader("Content-Type", "application/octet-stream")
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            asked = _seconds(response.getheader("Retry-After", ""))
            return Reply(response.status, _rule(response.read(4096)), asked)
        except HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error
        finally:
            connection.close()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


def collector_parts(field: str, url: str) -> SplitResult:
    """The parts of a collector's address; one that cannot be right is refused before anything."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port  # a ValueError if it is no port
        host.encode("idna")
    except ValueError:
        host = ""
    usual = url.isascii() and url.isprintable() and " " not in url
    if not (host and usual and parts.scheme in ("http", "https")):
        rule = "must be an address that begins with https:// or http://"
        raise InvalidInput(field, rule, url)
    if parts.query or parts.fragment or parts.username is not None:
        raise InvalidInput(field, "must have neither query nor fragment nor name of a user", url)
    return parts


def connection_to(parts: SplitResult, timeout: float) -> HTTPConnection:
    """A connection to the host of an address, encrypted if the address says so."""
    from http.client import HTTPConnection, HTTPSConnection

    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    return kind(parts.hostname or "", parts.port, timeout=timeout)


def _seconds(text: str) -> float:
    """A Retry-After in seconds; a date would need a clock that is right, and counts for nothing."""
    digits = text.strip()
    return min(float(digits), LONGEST_ASKED) if digits.isascii() and digits.isdigit() else 0.0


def _rule(answer: bytes) -> str:
    """What the collector says, if it is one: fit to be shown."""
    try:
        said = str(json.loads(answer)["error"]["rule"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""
    return "".join(c for c in said if c.isprintable())[:LONGEST_ANSWER]
