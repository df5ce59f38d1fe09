"""A shortcut for submissions that arrive in one piece: they are answered in one write.

The general path costs a task, an event, a timer and two writes for every request: more than storing
a submission (benchmarks/collector.md). All other requests take the general path. Both give the same
answers, because they share the code of the checks.
"""

from __future__ import annotations

import asyncio
from functools import partial

from starlette.responses import Response
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from krand.collector.connection import BoundedConnection
from krand.collector.http import (
    CONTENT_TYPE,
    Collector,
    failure,
    not_stored,
    unavailable,
)
from krand.collector.store import StoreUnavailable

CLOSE = b"connection: close\r\n"


def answer_bytes(response: Response) -> bytes:
    """An answer as bytes."""
    lines = [name + b": " + value + b"\r\n" for name, value in response.raw_headers]
    return STATUS_LINE[response.status_code] + b"".join(lines) + b"\r\n" + bytes(response.body)


class _Submission(RequestResponseCycle):
    """What uvicorn's connection needs to know about a request that has no task."""

    message_event = asyncio.Event()
    """Never waited for."""

    def __init__(self, keep_alive: bool) -> None:
        self.keep_alive, self.disconnected = keep_alive, False
        self.body, self.more_body = bytearray(), True
        self.response_started = self.response_complete = False


class DirectConnection(BoundedConnection):
    """A connection to a collector, with the shortcut."""

    _arriving: _Submission | None = None
    """In the piece that is being parsed."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if isinstance(self._application, Collector):
            self._collector = self._application
            self._way_in = self._collector.way_in.encode()

    def _begin(self) -> None:
        if self._is_plain():
            keep_alive = self.parser.should_keep_alive()
            self.cycle = self._arriving = _Submission(keep_alive)
        else:
            super()._begin()

    def _is_plain(self) -> bool:
        """Whether the head is that of a usual submission, and no earlier request is unanswered."""
        return (
            self.url == self._way_in
            and self.parser.get_method() == b"POST"
            and self.parser.get_http_version() == "1.1"
            and [v for n, v in self.headers if n == b"content-type"] == [CONTENT_TYPE]
            and not self.expect_100_continue
            and not self.parser.should_upgrade()
            and self.app is self._collector
            # The answers to browsers differ, so they go the general way.
            and not (self._collector.cross_origin and b"origin" in dict(self.headers))
            and (self.cycle is None or self.cycle.response_complete)
        )

    def _parse(self, piece: bytes) -> None:
        super()._parse(piece)
        found, self._arriving = self._arriving, None
        if found is None or self.transport.is_closing():
            return
        if not found.more_body:
            self._take(found)
            return
        # The rest of the body comes later, so a task of the application must wait for it.
        self.cycle = None  # type: ignore[assignment]
        super()._begin()
        if found.body:
            self.on_body(bytes(found.body))

    def _take(self, found: _Submission) -> None:
        try:
            checked = self._collector.submissions.checked(bytes(found.body))
            if not isinstance(checked, Response):
                stored = self._collector.intake.enqueue(checked)
                stored.add_done_callback(partial(self._stored, found))
                return
        except StoreUnavailable:
            checked = unavailable()
        except Exception as error:
            checked = failure(error)
        # Not at once: other connections come first, however many of these were sent in a row.
        self.loop.call_soon(self._answer, found, answer_bytes(checked))

    def _stored(self, found: _Submission, stored: asyncio.Future[bool]) -> None:
        if (error := stored.exception()) is not None:
            response = not_stored(error)
        else:
            submissions = self._collector.submissions
            response = submissions.accepted if stored.result() else submissions.known
        self._answer(found, answer_bytes(response))

    def _answer(self, found: _Submission, answer: bytes) -> None:
        found.response_started = found.response_complete = True
        if self.transport.is_closing():
            return
        if not found.keep_alive and CLOSE not in answer:
            answer = answer.replace(b"\r\n\r\n", b"\r\n" + CLOSE + b"\r\n", 1)
        self.transport.write(answer)
        if CLOSE in answer:
            self.transport.close()
        self.on_response_complete()
