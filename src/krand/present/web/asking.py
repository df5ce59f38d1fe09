"""Asking a collector over HTTP whether it is there, and for its coarse numbers."""

from __future__ import annotations

import http.client
import re
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from krand.errors import InvalidInput

__all__ = ["CollectorAddress", "Condition", "ask", "collector_address"]

SECONDS = 2.0
LONGEST_ANSWER = 2**16
COUNTER = re.compile(r"^krand_submissions_([a-z]+)_total (\d{1,15})$", re.MULTILINE)
COUNTERS = ("accepted", "repeated", "refused", "unavailable")


@dataclass(frozen=True, slots=True)
class CollectorAddress:
    """Where a collector answers."""

    url: str
    secure: bool
    host: str
    port: int | None
    path: str


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether it answers, whether its spool takes submissions, and its counters."""

    answers: bool
    ready: bool
    counters: dict[str, int] = field(default_factory=dict)


def collector_address(url: str) -> CollectorAddress:
    """The address in a URL; one that cannot be right is refused before anything is asked."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host = ""
    if not (host and url.isascii() and url.isprintable() and parts.scheme in ("http", "https")):
        rule = "must be an address that begins with https:// or http://"
        raise InvalidInput("collector", rule, url)
    if parts.query or parts.fragment or parts.username is not None:
        rule = "must have neither query nor fragment nor name of a user"
        raise InvalidInput("collector", rule, url)
    return CollectorAddress(url, parts.scheme == "https", host, port, parts.path.rstrip("/"))


def ask(address: CollectorAddress) -> Condition:
    """How it is now; a collector that does not answer is no error."""
    try:
        ready = _get(address, "/readyz")[0] == 200
    except (OSError, http.client.HTTPException):
        return Condition(answers=False, ready=False)
    try:
        text = _get(address, "/metrics")[1]
    except (OSError, http.client.HTTPException):
        text = ""
    found = {name: int(value) for name, value in COUNTER.findall(text)}
    return Condition(True, ready, {name: found[name] for name in COUNTERS if name in found})


def _get(address: CollectorAddress, path: str) -> tuple[int, str]:
    kind = http.client.HTTPSConnection if address.secure else http.client.HTTPConnection
    connection = kind(address.host, address.port, timeout=SECONDS)
    try:
        connection.request("GET", f"{address.path}{path}")
        response = connection.getresponse()
        return response.status, response.read(LONGEST_ANSWER).decode(errors="replace")
    finally:
        connection.close()
