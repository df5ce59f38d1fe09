"""All connections of one server: which one is closed for others, and which one waits its turn."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from itertools import islice
from typing import Protocol

MOST_ASKED = 64
"""Connections that are considered for closing. If all of them wait for an answer, the new
connection is refused."""
MOST_HELD_BYTES = 2**26
"""What all connections together may send ahead of their turn."""
TURN_SECONDS = 0.005
"""Between two requests that were sent without waiting for the previous answer, and between two
connections that are closed."""


class _Transport(Protocol):
    def abort(self) -> None: ...


class _Timer(Protocol):
    def call_later(self, delay: float, callback: Callable[[], None], /) -> object: ...


class Connection(Protocol):
    """What a connection must offer to the others."""

    @property
    def transport(self) -> _Transport: ...

    @property
    def loop(self) -> _Timer: ...

    def is_owed_an_answer(self) -> bool:
        """Whether a whole request has arrived and is not answered yet."""

    def take_turn(self) -> None:
        """Continue with what was sent before its turn, or close if that was too much."""


class Neighbours:
    """The connections of one server."""

    usual = 4_096
    """Beyond this, the connection that was served longest ago is closed every few milliseconds. Its
    client may come back at once, and a new connection costs more than one that waits."""
    most = 8_192
    """Beyond this, one is closed at once for each new one."""

    def __init__(self) -> None:
        self.held = 0
        """Bytes that are not parsed yet."""
        self._open: OrderedDict[Connection, None] = OrderedDict()
        """The one that was served longest ago comes first."""
        self._turns: OrderedDict[Connection, None] = OrderedDict()
        """Connections that sent several requests at once: one continues every few milliseconds.

        Clients that wait for an answer before the next request, as nearly all do, are not here.
        """
        self._is_timed = False

    @property
    def hold_too_much(self) -> bool:
        return self.held > MOST_HELD_BYTES

    @property
    def are_too_many(self) -> bool:
        return len(self._open) > self.most

    def add(self, connection: Connection) -> None:
        """Add a connection. If there are too many, one that waits for its client is closed."""
        self._open[connection] = None
        if self.are_too_many:
            self._make_room(connection)
        elif len(self._open) > self.usual:
            self._set_timer(connection)

    def served(self, connection: Connection) -> None:
        """An answer was sent on this connection."""
        if connection in self._open:
            self._open.move_to_end(connection)

    def remove(self, connection: Connection) -> None:
        self._open.pop(connection, None)
        self._turns.pop(connection, None)

    def wait_for_turn(self, connection: Connection) -> None:
        self._turns[connection] = None
        self._set_timer(connection)

    def _make_room(self, newest: Connection | None = None) -> None:
        for other in islice(self._open, MOST_ASKED):
            if other is not newest and not other.is_owed_an_answer():
                del self._open[other]
                other.transport.abort()
                return

    def _set_timer(self, connection: Connection) -> None:
        if not self._is_timed:
            self._is_timed = True
            connection.loop.call_later(TURN_SECONDS, self._next_turn)

    def _next_turn(self) -> None:
        self._is_timed = False
        if self._turns:
            connection, _ = self._turns.popitem(last=False)
            connection.take_turn()
        if len(self._open) > self.usual:
            self._make_room()
        if self._turns or len(self._open) > self.usual:
            self._set_timer(next(iter(self._turns or self._open)))
