"""How a submission travels: the seam where a test puts its own collector instead of a network."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

__all__ = ["Http", "Reply", "Transport"]

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
        parts = urlsplit(url)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        try:
            connection.putrequest("POST", parts.path, skip_accept_encoding=True)
            connection.putheader("Content-Type", "application/octet-stream")
            connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            asked = _seconds(response.getheader("Retry-After", ""))
            return Reply(response.status, _rule(response.read(4096)), asked)
        except http.client.HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error
        finally:
            connection.close()

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


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
