"""Asks a collector over HTTP for its state."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from urllib.parse import SplitResult

from krand.client.transport import collector_parts, connection_to

__all__ = ["CollectorAddress", "Condition", "ask", "collector_address"]

SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class CollectorAddress:
    """The address of a collector."""

    url: str
    parts: SplitResult


@dataclass(frozen=True, slots=True)
class Condition:
    """Whether it responds, and whether it accepts submissions."""

    answers: bool
    ready: bool


def collector_address(url: str) -> CollectorAddress:
    """The address in a URL; an invalid one is rejected before any request."""
    return CollectorAddress(url, collector_parts("collector", url))


def ask(address: CollectorAddress) -> Condition:
    """The current state; a collector that does not respond is not an error."""
    try:
        return Condition(answers=True, ready=_status_of(address, "/readyz") == 200)
    except (OSError, http.client.HTTPException):
        return Condition(answers=False, ready=False)


def _status_of(address: CollectorAddress, path: str) -> int:
    connection = connection_to(address.parts, SECONDS)
    try:
        connection.request("GET", f"{address.parts.path.rstrip('/')}{path}")
        return connection.getresponse().status
    finally:
        connection.close()
