"""One connection: uvicorn's own, with limits on what a client can make the server hold or wait for.

uvicorn parses whatever arrives at once. So one client that sends many requests and reads no answer
could fill the memory and delay everybody else, and a few thousand slow clients could keep everybody
else out. Here at most one request of a connection is answered at a time. What was sent after it is
not parsed, and nothing more is read, until it has its turn. Such requests take turns with those of
other connections, a limited number each second; if several arrive at once, so does the first of
them. A client that sends too much ahead is closed when its turn comes, not before: it would come
back at once, and a new connection costs more than one that waits. When there are too many
connections, the one that was served longest ago is closed.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import httptools
import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from krand.collector.http import busy
from krand.collector.neighbours import Neighbours

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

log = logging.getLogger("krand.collector")

LOG_SECONDS = 60.0
"""Between two lines about malformed requests."""
MOST_HEAD_BYTES = 2**15
MOST_HEADERS = 100
HEAD_SECONDS = 10.0
ANSWER_SECONDS = 10.0
"""The time in which a client must read an answer."""
MOST_PIPELINED = 8
"""Requests of one connection that are parsed and waiting. One more closes the connection."""
MOST_BODY_BYTES = 2**14
"""How much of a body is parsed before the application asks for it."""

MOST_UNSENT_BYTES = 2**12
"""How much of an answer may wait to be sent. Beyond this no further request is answered."""

HEAD_END = b"\r\n\r\n"
MOST_PIECE, LEAST_PIECE = 2**14, 64
"""A piece ends where a head may end, so that it contains few requests."""
ACCEPTED_AT_ONCE = 16
"""Before other connections are looked at. By default thousands of new ones would come first."""
MOST_UNACCEPTED = 4_096
"""Connections that the system keeps until they are accepted. It drops further ones, whose clients
try again a second later."""


class Malformed:
    """The number of malformed requests since the last line in the log.

    A line for each of them would let anybody fill the disk, and would show when it came.
    """

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


class _Flow(FlowControl):
    """Reading continues only when what was read before is parsed."""

    def __init__(self, transport: asyncio.Transport, go_on: Callable[[], bool]) -> None:
        super().__init__(transport)
        self.go_on = go_on

    def resume_reading(self) -> None:
        if self.read_paused and self.go_on():
            super().resume_reading()


class BoundedConnection(HttpToolsProtocol):
    """Closed when its client is too slow or sends too much."""

    flow: _Flow
    _held = b""
    _parsed = 0
    """How much of what is held has been parsed."""
    _waits_for_turn = False
    _sent_too_much = False
    """What it sent ahead was dropped, so nothing more on this connection can be understood."""
    _without_content = 0
    """Bytes since a request began or its body last grew: mostly an incomplete head."""
    _sending: asyncio.TimerHandle | None = None
    """Runs while the rest of a request is missing."""
    _reading: asyncio.TimerHandle | None = None
    """Runs while the client has not read an answer."""

    def __init__(self, neighbours: Neighbours, **uvicorns: Any) -> None:
        super().__init__(**uvicorns)
        self._neighbours = neighbours

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.flow = _Flow(transport, self._go_on)
        self._application = self.app
        own = transport.get_extra_info("socket")
        if own is not None and own.family in (socket.AF_INET, socket.AF_INET6):
            # Without this the second part of an answer would wait 40 ms for an acknowledgement.
            own.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(MOST_UNSENT_BYTES)
        self._wait_for_request()
        self._neighbours.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.flow.go_on = lambda: False
        self._end_waiting()
        self._unset_keepalive_if_required()
        self._release()
        self._neighbours.remove(self)
        self.pipeline.clear()
        super().connection_lost(exc)
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        several = data.count(HEAD_END) > 1
        if not several and len(data) <= MOST_PIECE and not self._held and not self._must_wait():
            self._parse(data)
            return
        self._hold(data)
        if several and not self._must_wait():
            self._wait_for_turn()
        self.flow.resume_reading()
        if self._held and self._neighbours.hold_too_much:
            self._sent_too_much = True
            self._release()
            self._wait_for_turn()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._without_content = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= MOST_HEADERS:
            raise ValueError("too many headers")  # the parser reports a malformed request
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        if len(self.pipeline) >= MOST_PIPELINED:
            raise ValueError("too many requests at once")
        self._without_content = 0
        self._end_waiting()
        # A response is itself an application: one that gives this answer to every request.
        refusing = self._neighbours.are_too_many
        self.app = cast("ASGI3Application", busy()) if refusing else self._application
        self._begin()

    def _begin(self) -> None:
        """Start to answer a request whose head is complete."""
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._without_content = 0
        super().on_body(body)

    def on_response_complete(self) -> None:
        self._neighbours.served(self)
        self._waits_for_turn = bool(self._held)
        super().on_response_complete()
        if self.transport.is_closing():
            self._wait_for_reader()
        elif self._waits_for_turn:
            self._unset_keepalive_if_required()
            self._wait_for_turn()
        elif self.cycle.response_complete:
            self.cycle.body.clear()  # it is not needed any more
        else:  # the next request had arrived already
            self._unset_keepalive_if_required()

    def take_turn(self) -> None:
        """Continue with what was sent before its turn, or close if that was too much."""
        self._waits_for_turn = False
        if self._sent_too_much:
            self.transport.abort()
        else:
            self.flow.resume_reading()

    def _wait_for_turn(self) -> None:
        self._waits_for_turn = True
        self._neighbours.wait_for_turn(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._wait_for_reader()

    def send_400_response(self, msg: str) -> None:
        super().send_400_response(msg)
        self._wait_for_reader()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._wait_for_reader()

    def resume_writing(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        super().resume_writing()
        self.flow.resume_reading()

    def _must_wait(self) -> bool:
        """Whether a request is being answered, so that nothing after it must be parsed."""
        cycle = self.cycle
        if self.pipeline or self.flow.write_paused or self._waits_for_turn:
            return True
        if cycle is None or cycle.response_complete:
            return False
        return not cycle.more_body or len(cycle.body) > MOST_BODY_BYTES

    def _hold(self, data: bytes) -> None:
        self.flow.pause_reading()
        rest = self._held[self._parsed :] + data
        self._release()
        self._held = rest
        self._neighbours.held += len(rest)

    def _release(self) -> None:
        self._neighbours.held -= len(self._held)
        self._held, self._parsed = b"", 0

    def _go_on(self) -> bool:
        """Parse what is held, up to a request that must be answered. Whether to read more."""
        held, closing = self._held, self.transport.is_closing
        while self._parsed < len(held) and not self._must_wait() and not closing():
            start, self._parsed = self._parsed, _piece_end(held, self._parsed)
            self._parse(held[start : self._parsed])
        if self._parsed == len(held):
            self._release()
        return not (self._held or self.pipeline or self._sent_too_much or closing())

    def _parse(self, piece: bytes) -> None:
        self._without_content += len(piece)
        try:
            self.parser.feed_data(piece)
        except httptools.HttpParserError:
            self._refuse("Invalid HTTP request received.")
            return
        except httptools.HttpParserUpgrade:
            pass  # answered as if no upgrade were asked for; what follows is ignored
        if self._without_content > MOST_HEAD_BYTES:
            self._refuse("The head of the request is too long.")
        elif self._sending is None and (self.cycle is None or self.cycle.response_complete):
            self._wait_for_request()

    def _refuse(self, why: str) -> None:
        MALFORMED.count(self.loop)
        if self.pipeline or self.is_owed_an_answer():
            self.transport.close()  # an answer would look like that to the previous request
        else:
            self.send_400_response(why)

    def is_owed_an_answer(self) -> bool:
        """Whether a whole request has arrived and is not answered yet.

        A client that does not read its answer is owed nothing: others may have the connection.
        """
        cycle = self.cycle
        if cycle is None or cycle.response_complete or cycle.more_body:
            return False
        return not self.flow.write_paused

    def _wait_for_request(self) -> None:
        self._sending = self.loop.call_later(HEAD_SECONDS, self._too_slow)

    def _end_waiting(self) -> None:
        if self._sending is not None:
            self._sending.cancel()
            self._sending = None

    def _too_slow(self) -> None:
        self._sending = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()
            self._wait_for_reader()

    def _wait_for_reader(self) -> None:
        """A connection is closed only when everything is sent, so a time limit is set."""
        if self._reading is None and self.transport.get_write_buffer_size():
            self._reading = self.loop.call_later(ANSWER_SECONDS, self.transport.abort)


def _piece_end(data: bytes, start: int) -> int:
    """Where the next piece ends: after a head, or when it is long enough."""
    most = min(start + MOST_PIECE, len(data))
    found = data.find(HEAD_END, start + LEAST_PIECE - len(HEAD_END), most)
    return most if found < 0 else found + len(HEAD_END)


class CollectorServer(uvicorn.Server):
    """Serves an application on the sockets that it is run with."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(MOST_UNACCEPTED)  # the number above was for both
