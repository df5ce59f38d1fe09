"""All connections of one server: who makes room for others, and who waits for a turn."""

from __future__ import annotations

from collections import OrderedDict
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krand.collector.connection import BoundedConnection

__all__ = ["MOST_CONNECTIONS", "MOST_HELD_BYTES", "Neighbours"]

MOST_CONNECTIONS = 4_096
"""Beyond that the connection that was served longest ago is closed."""
MOST_ASKED = 64
"""Connections that are asked to make room; if we owe all of them an answer, the new one is told."""
MOST_HELD_BYTES = 2**26
"""What all connections together may have sent ahead of their turn."""
TURN_SECONDS = 0.005
"""Between two requests that were sent without waiting for the answer to the one before."""


class Neighbours:
    """The connections of one server."""

    def __init__(self) -> None:
        self.held = 0
        """Bytes that wait unparsed."""
        self._open: OrderedDict[BoundedConnection, None] = OrderedDict()
        """The one that was served longest ago comes first."""
        self._turns: OrderedDict[BoundedConnection, None] = OrderedDict()
        """Connections that sent requests in a row: one of them goes on every few milliseconds.

        Whoever waits for an answer before the next request, as nearly everybody does, is not here.
        """
        self._is_timed = False

    @property
    def are_too_many(self) -> bool:
        return len(self._open) > MOST_CONNECTIONS

    def add(self, connection: BoundedConnection) -> None:
        """A new one; if there are too many, one that waits for its client makes room."""
        self._open[connection] = None
        if self.are_too_many:
            self._make_room(connection)

    def served(self, connection: BoundedConnection) -> None:
        """An answer was given."""
        if connection in self._open:
            self._open.move_to_end(connection)

    def remove(self, connection: BoundedConnection) -> None:
        self._open.pop(connection, None)
        self._turns.pop(connection, None)

    def wait_for_turn(self, connection: BoundedConnection) -> None:
        self._turns[connection] = None
        self._set_timer(connection)

    def _make_room(self, newest: BoundedConnection) -> None:
        for other in islice(self._open, MOST_ASKED):
            if other is not newest and not other.is_owed_an_answer():
                del self._open[other]
                other.transport.abort()
                return

    def _set_timer(self, connection: BoundedConnection) -> None:
        if not self._is_timed:
            self._is_timed = True
            connection.loop.call_later(TURN_SECONDS, self._next_turn)

    def _next_turn(self) -> None:
        self._is_timed = False
        if self._turns:
            connection, _ = self._turns.popitem(last=False)
            connection.take_turn()
            if self._turns:
                self._set_timer(connection)
