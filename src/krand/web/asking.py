"""Asks a collector over HTTP for its state and its coarse counters."""

from __future__ import annotations

import http.client
import re
from dataclasses import dataclass, field
from urllib.parse import SplitResult

from krand.client.transport import collector_parts, connection_to

__all__ = ["CollectorAddress", "Condition", "ask", "collector_address"]

SECONDS = 2.0
LONGEST_ANSWER = 2**16
COUNTER = re.compile(r"^krand_submissions_([a-z]+)_total (\d{1,15})$", re.MULTILINE)
COUNTERS = ("accepted", "repeated", "refused", "unavailable")


@dataclass(frozen=True, slots=True)
class CollectorAddress:
    """The address of a collector."""

    url: str
    parts: SplitResult


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether it responds, whether it accepts submissions, and its counters."""

    answers: bool
    ready: bool
    counters: dict[str, int] = field(default_factory=dict)


def collector_address(url: str) -> CollectorAddress:
    """The address in a URL; an invalid one is rejected before any request."""
    return CollectorAddress(url, collector_parts("collector", url))


def ask(address: CollectorAddress) -> Condition:
    """The current state; a collector that does not respond is not an error."""
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
    connection = connection_to(address.parts, SECONDS)
    try:
        connection.request("GET", f"{address.parts.path.rstrip('/')}{path}")
        response = connection.getresponse()
        return response.status, response.read(LONGEST_ANSWER).decode(errors="replace")
    finally:
        connection.close()
