"""How submissions are sent; tests replace the network with their own collector here."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import SplitResult, urlsplit

from krand.errors import InvalidInput

TIMEOUT_SECONDS = 20.0
LONGEST_ASKED = 600.0
"""The longest wait that a collector may ask for (Retry-After)."""
OK = 200
LONGEST_RULE = 200
LONGEST_PLAN, LONGEST_WORD = 2**23, 4096
"""The most bytes that are read of what a collector publishes, and of what it says."""
TIMED_OUT, TOO_MANY, SERVER_FAILED = 408, 429, 500


@dataclass(frozen=True, slots=True)
class Reply:
    """A collector's reply."""

    status: int
    """As in HTTP: 202 means accepted; 503 and some others mean: try again later. 0: no answer."""
    rule: str = ""
    """The rule that the submission violates."""
    wait: float = 0.0
    """How long the collector wants the client to wait, in seconds."""
    known: bool = False
    """Whether the collector had a submission with this id already."""
    content: bytes = b""
    """What was asked for."""

    @property
    def is_passing(self) -> bool:
        """Whether it may be better later; every 5xx is the server's failure."""
        return self.status in (0, TIMED_OUT, TOO_MANY) or self.status >= SERVER_FAILED

    @property
    def problem(self) -> str:
        """What went wrong, in few words."""
        return f"{self.status or ''} {self.rule}".strip()


class Transport(Protocol):
    """Carries submissions, and waits between attempts."""

    def get(self, url: str) -> Reply:
        """What stands at this address, in up to 8 MB; OSError if there is no answer."""

    def post(self, url: str, body: bytes) -> Reply:
        """Send the bytes to this address; OSError if there is no reply."""

    def wait(self, seconds: float) -> None:
        """Wait this long."""


class Http:
    """Real HTTP: a new connection for each request, and nothing that distinguishes clients.

    It sends no cookie and no user agent, only the headers that HTTP requires.
    """

    def __init__(self, timeout: float = TIMEOUT_SECONDS) -> None:
        self.timeout = timeout

    def get(self, url: str) -> Reply:
        """Ask with GET."""
        return self._reply("GET", url, None, LONGEST_PLAN + 1)

    def post(self, url: str, body: bytes) -> Reply:
        """Send the bytes with POST."""
        return self._reply("POST", url, body, LONGEST_WORD)

    def _reply(self, method: str, url: str, body: bytes | None, most: int) -> Reply:
        """The reply, as far as it can be understood; its rule is cleaned for display.

        A Retry-After that is a date is ignored, because it needs a correct clock.
        """
        # With ssl and email: loaded when they are needed.
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        parts = urlsplit(url)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(parts.hostname or "", parts.port, timeout=self.timeout)
        try:
            connection.putrequest(method, parts.path, skip_accept_encoding=True)
            if body is not None:
                connection.putheader("Content-Type", "application/octet-stream")
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            asked = response.getheader("Retry-After", "").strip()
            status, content = response.status, response.read(most)
        except HTTPException as error:
            raise OSError(str(error) or type(error).__name__) from error
        finally:
            connection.close()
        said = _said(content) if body is not None or status != OK else {}
        rule = said.get("rule")
        return Reply(
            status,
            rule=_shown(rule) if isinstance(rule, str) else "",
            wait=min(float(asked), LONGEST_ASKED) if asked.isascii() and asked.isdigit() else 0.0,
            known=said.get("status") == "known",
            content=content if status == OK else b"",
        )

    def wait(self, seconds: float) -> None:
        """Sleep."""
        time.sleep(seconds)


def _said(content: bytes) -> dict[str, object]:
    """The JSON object that a collector says something with; empty if it is none."""
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return values if isinstance(values, dict) else {}


def _shown(text: str) -> str:
    """A collector's text, fit for a terminal."""
    return "".join(each for each in text if each.isprintable())[:LONGEST_RULE]


def collector_parts(field: str, url: str) -> SplitResult:
    """The parts of a collector's address; an invalid address is rejected."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port  # ValueError if it is not a port
        host.encode("idna")
    except ValueError:
        host = ""
    usual = url.isascii() and url.isprintable() and " " not in url
    if not (host and usual and parts.scheme in ("http", "https")):
        rule = "must be an address that starts with https:// or http://"
        raise InvalidInput(field, rule, url)
    if parts.query or parts.fragment or parts.username is not None:
        raise InvalidInput(field, "must have no query, no fragment and no user name", url)
    return parts


def safe_parts(field: str, url: str) -> SplitResult:
    """The same for a collector that submissions are sent to: by https, or on this machine."""
    parts = collector_parts(field, url)
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        rule = "must begin with https://, or name this machine (localhost, 127.0.0.1, [::1])"
        hint = (
            "over http:// everybody on the way sees who takes part, and can keep submissions back"
            " or replace them: put TLS in front of the collector"
        )
        raise InvalidInput(field, rule, url, hint)
    return parts


def is_loopback(host: str | None) -> bool:
    """Whether what is sent to this host never leaves the machine."""
    try:
        return host == "localhost" or ip_address(host or "").is_loopback
    except ValueError:
        return False
