"""Malformed requests: counted, and logged at most once a minute.

A line for each of them would let anybody fill the disk, and would show when it came.
"""

from __future__ import annotations

import asyncio
import logging

__all__ = ["MALFORMED", "Malformed", "rough"]

LOG_SECONDS = 60.0

log = logging.getLogger("krand.collector")


class Malformed:
    """The number of malformed requests since the last line in the log."""

    def __init__(self) -> None:
        self._number = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        """The loop in which a line is scheduled."""

    def count(self, loop: asyncio.AbstractEventLoop) -> None:
        """Count one. The first one schedules a line, a minute later, about all up to then."""
        self._number += 1
        if self._loop is not loop:
            self._loop = loop
            loop.call_later(LOG_SECONDS, self._tell)

    def _tell(self) -> None:
        number, self._number, self._loop = self._number, 0, None
        log.warning("malformed requests in the last minute: %s", rough(number))


def rough(number: int) -> str:
    """A number up to its power of ten: 'up to 10', 'up to 100', and so on."""
    bound = 10
    while bound < number:
        bound *= 10
    return f"up to {bound:,}"


MALFORMED = Malformed()
"""Those of this process."""
