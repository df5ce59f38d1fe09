"""What strangers talk to: it takes submissions in and shows what is public, and it has no key.

It asks whoever stores submissions for verdicts on them, a group at a time; everything else that it
answers are fixed bytes, which others put into `pages`. It reads the path of a request, its method,
length and content type, its body, whether it accepts gzip, and its origin where some are allowed.
Nothing of a request is stored, logged or repeated in an answer, and every refusal ends the
connection: so nobody sends what nobody reads.
"""

from __future__ import annotations

import asyncio
import gzip
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import lru_cache
from typing import TypeVar

import h11
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from krand.collector.public import BRIEFLY, CLOSE, SAFE, Page, Verdict, root_of
from krand.wire.submissions import ID_LENGTH

T = TypeVar("T")
BODY_SECONDS = 10.0
"""The time in which a body must arrive."""
PATIENCE = 10.0
"""The time in which whoever stores submissions must answer."""
MOST_WAITING = 4_096
MOST_AT_ONCE = 256
CONTENT_TYPE = "application/octet-stream"
PIECE_BYTES = 2**16
LEAST_ZIPPED = 2**8
"""Shorter content is not worth it."""
PREFLIGHT_SECONDS = 86_400
RETRY_AFTER = {"Retry-After": "5"}

Store = Callable[[Sequence[bytes]], Awaitable[Sequence[Verdict]]]
"""Stores these submissions; a verdict on each, in their order."""
Known = Callable[[bytes], Awaitable[str]]
"""Whether the submission's id belongs to an invitation, and whether that was used."""

log = logging.getLogger("krand.collector")


class Connection(H11Protocol):
    """uvicorn's own. Whoever sends on before they are answered is cut off.

    uvicorn reads on for every request that it answers, so what is sent ahead would fill the memory.
    """

    def data_received(self, data: bytes) -> None:
        if self.conn.their_state is h11.DONE:
            self.transport.abort()
        else:
            super().data_received(data)


class Waiting:
    """Submissions that wait to be stored: one group is asked about at a time.

    What comes meanwhile goes together in the next group. So nobody waits when it is quiet, and the
    busier it is, the more people one sync of the disk is for.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._waiting: asyncio.Queue[tuple[bytes, asyncio.Future[Verdict]]]
        self._waiting = asyncio.Queue(MOST_WAITING)

    async def verdict(self, body: bytes) -> Verdict:
        """What became of it."""
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        try:
            self._waiting.put_nowait((body, answer))
            async with asyncio.timeout(PATIENCE):
                return await answer
        except (asyncio.QueueFull, TimeoutError):
            return Verdict.UNAVAILABLE

    async def run(self) -> None:
        """Ask about one group after the other."""
        while True:
            group = [await self._waiting.get()]
            while len(group) < MOST_AT_ONCE and not self._waiting.empty():
                group.append(self._waiting.get_nowait())
            try:
                said = await self._store([body for body, _ in group])
            except Exception as error:  # nobody in this group is acknowledged
                log.error("unforeseen %s", type(error).__name__)
                said = [Verdict.UNAVAILABLE] * len(group)
            for (_, answer), verdict in zip(group, said, strict=True):
                if not answer.done():
                    answer.set_result(verdict)


def refused(
    status: int, field: str, rule: str, headers: Mapping[str, str] | None = None
) -> Response:
    """The answer that names what is wrong, and nothing that was sent."""
    return JSONResponse({"field": field, "rule": rule}, status, {**CLOSE, **(headers or {})})


ANSWERS = {
    Verdict.ACCEPTED: JSONResponse({"status": "accepted"}, 202),
    Verdict.KNOWN: JSONResponse({"status": "known"}, 202),
    Verdict.REFUSED: refused(400, "submission", "must be of this plan and of the round now open"),
    Verdict.UNINVITED: refused(403, "invitation", "must be one of this survey"),
    Verdict.CLOSED: refused(410, "round", "must not be closed: nothing more is taken"),
    Verdict.UNAVAILABLE: refused(503, "collector", "cannot store now; try again", RETRY_AFTER),
}
"""What a person's device is told."""


class Collector:
    """The application; `pages` may be changed while it runs."""

    def __init__(
        self,
        plan_hash: str,
        length: int,
        pages: Mapping[str, Page],
        store: Store,
        known: Known | None = None,
        origins: Sequence[str] = (),
        life: Callable[[], AbstractAsyncContextManager[None]] | None = None,
    ) -> None:
        """`length` is that of every submission of the plan; `life` is entered while it serves."""
        self._plan, self._length, self._pages = plan_hash, length, pages
        self._waiting, self._known, self._life = Waiting(store), known, life
        root = root_of("{plan}")
        routes = [
            Route(f"{root}/submissions", self._submit, methods=["POST"]),
            Route(f"{root}/invitation", self._invitation, methods=["POST"]),
            Route("/{path:path}", self._page),
        ]
        cors = Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=["GET", "POST"],
            allow_headers=["content-type"],
            expose_headers=["Retry-After"],
            max_age=PREFLIGHT_SECONDS,
        )
        self.application = Starlette(
            routes=routes,
            middleware=[cors] if origins else [],
            lifespan=self._serving,
            exception_handlers={HTTPException: _not_served, Exception: _unforeseen},
        )
        self.application.router.redirect_slashes = False  # it would repeat what was asked

    @asynccontextmanager
    async def _serving(self, _: Starlette) -> AsyncIterator[None]:
        asking = asyncio.create_task(self._waiting.run())
        if self._life is None:
            yield
        else:
            async with self._life():
                yield
        asking.cancel()

    async def _submit(self, request: Request) -> Response:
        body = await self._body(request, self._length)
        if isinstance(body, Response):
            return body
        return ANSWERS[await self._waiting.verdict(body)]

    async def _invitation(self, request: Request) -> Response:
        """Tells whoever has a code whether it is one; the body is the id that the code makes."""
        if self._known is None:
            return refused(404, "invitation", "must be of a survey with invitations")
        body = await self._body(request, ID_LENGTH)
        if isinstance(body, Response):
            return body
        try:
            async with asyncio.timeout(PATIENCE):
                said = await self._known(body)
        except Exception as error:
            log.error("unforeseen %s", type(error).__name__)
            return ANSWERS[Verdict.UNAVAILABLE]
        return JSONResponse({"status": said}, headers=BRIEFLY)

    async def _body(self, request: Request, length: int) -> bytes | Response:
        """The body, which must have this length, or a refusal before a byte of it is read."""
        if request.path_params["plan"] != self._plan:
            return refused(404, "plan", "must be the plan that is collected here")
        headers = request.headers
        if headers.get("content-type", "").partition(";")[0].strip().lower() != CONTENT_TYPE:
            return refused(415, "content-type", f"must be {CONTENT_TYPE}")
        if "content-length" not in headers or "transfer-encoding" in headers:
            return refused(411, "content-length", "must be given, and the body be sent as it is")
        if headers["content-length"] != str(length):
            return refused(413, "body", f"must have {length} bytes")
        try:
            async with asyncio.timeout(BODY_SECONDS):
                return await request.body()
        except TimeoutError:
            return refused(408, "body", f"must arrive within {BODY_SECONDS:g} seconds")
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it

    async def _page(self, request: Request) -> Response:
        page = self._pages.get(request.scope["path"])
        if page is None:
            return refused(404, "request", "must be one that is answered here")
        content, headers = page.content, {**dict(SAFE), **dict(page.headers)}
        if len(content) >= LEAST_ZIPPED:
            headers["Vary"] = "Accept-Encoding"
            if "gzip" in request.headers.get("accept-encoding", ""):
                content, headers["Content-Encoding"] = _zipped(content), "gzip"
        headers |= {"Content-Type": page.content_type, "Content-Length": str(len(content))}
        return StreamingResponse(_in_pieces(content), headers=headers)


async def _in_pieces(content: bytes) -> AsyncIterator[bytes]:
    """Sent at once it would be copied for every client that does not read it."""
    for start in range(0, len(content), PIECE_BYTES):
        yield content[start : start + PIECE_BYTES]


@lru_cache(64)
def _zipped(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


async def _not_served(_: Request, error: Exception) -> Response:
    status, headers = 500, None
    if isinstance(error, HTTPException):
        status, headers = error.status_code, error.headers
    return refused(status, "request", "must be one that is answered here", headers)


async def _unforeseen(_: Request, error: Exception) -> Response:
    """After a bug in krand: the type of the error is logged, and nothing of the request."""
    log.error("unforeseen %s", type(error).__name__)
    return refused(500, "collector", "failed; nothing was stored")
