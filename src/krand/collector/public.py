"""What clients ask a collector for: the plan, its signatures, and whether the round is open."""

from __future__ import annotations

import asyncio
import gzip
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, Response

from krand.collector.store import Batch, State
from krand.errors import InvalidInput, KrandError
from krand.survey.canonical import canonical_json
from krand.wire.plan_signatures import signature_values

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from krand.collector.intake import Intake
    from krand.collector.settings import Page, Settings

STATUS_SECONDS = 1.0
"""A status is computed at most once in this time, for everybody."""
FOREVER = ("Cache-Control", "public, max-age=31536000, immutable")
BRIEFLY = {"Cache-Control": "no-store"}
PIECE_BYTES = 2**14
CLOSE = {"Connection": "close"}
"""For answers that are sent before the whole body has arrived."""
READING = "GET, HEAD"
SAFE = (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"))
LEAST_ZIPPED = 2**8
"""Shorter ones are not worth it."""

Headers = list[tuple[bytes, bytes]]


class Fixed:
    """Answers GET and HEAD with the same content, compressed for clients that accept it.

    An answer that is written at once is copied for every client that does not read it. In pieces, a
    connection holds one of them, however long the answer is.
    """

    def __init__(
        self, content: bytes, content_type: str, headers: Iterable[tuple[str, str]] = ()
    ) -> None:
        given = (("Content-Type", content_type), *SAFE, *headers)
        shared = [(name.lower().encode("ascii"), text.encode("latin-1")) for name, text in given]
        zipped = gzip.compress(content, mtime=0) if len(content) >= LEAST_ZIPPED else content
        self._plain = content, _with_length(shared, content)
        self._zipped = self._plain
        if len(zipped) < len(content):
            varying = [*shared, (b"vary", b"Accept-Encoding")]
            self._plain = content, _with_length(varying, content)
            coded = [*varying, (b"content-encoding", b"gzip")]
            self._zipped = zipped, _with_length(coded, zipped)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            refusal = problem(405, "request", f"must be one of {READING}", {"Allow": READING})
            await refusal(scope, receive, send)
            return
        content, headers = self._zipped if _accepts_gzip(scope) else self._plain
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        last = 0 if scope["method"] == "HEAD" else max(0, len(content) - 1) // PIECE_BYTES
        for number in range(last + 1):
            piece = content[number * PIECE_BYTES : (number + 1) * PIECE_BYTES]
            await send({"type": "http.response.body", "body": piece, "more_body": number < last})


def header(scope: Scope, name: bytes) -> bytes:
    """The first header of that name, or nothing."""
    return next((value for found, value in scope["headers"] if found == name), b"")


def problem(
    status: int, field: str, rule: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    """The answer that names what is wrong, and nothing that was sent."""
    return JSONResponse({"field": field, "rule": rule}, status, headers)


def _accepts_gzip(scope: Scope) -> bool:
    """Whether gzip is named and not refused by a weight of zero."""
    for entry in header(scope, b"accept-encoding").lower().split(b","):
        coding, _, weight = entry.replace(b" ", b"").partition(b";")
        if coding == b"gzip":
            return not weight or bool(weight.removeprefix(b"q=").strip(b"0."))
    return False


def _with_length(headers: Headers, content: bytes) -> Headers:
    return [*headers, (b"content-length", str(len(content)).encode())]


def public_answers(
    intake: Intake, settings: Settings, pages: Mapping[str, Page]
) -> dict[bytes, ASGIApp]:
    """Who answers which path, byte by byte."""
    plan = settings.plan
    found: dict[bytes, ASGIApp] = {}
    for path, page in pages.items():
        found[_page_path(path)] = Fixed(page.content, page.content_type, page.headers)
    root = f"/v1/plans/{intake.store.config.plan_hash}"
    found[f"{root}/open".encode()] = Status(intake)
    if plan is not None:
        signatures = canonical_json([signature_values(one) for one in settings.signatures])
        found[root.encode()] = Fixed(plan.bytes, "application/json", (FOREVER,))
        found[f"{root}/signatures".encode()] = Fixed(signatures, "application/json")
    return found


def _page_path(path: str) -> bytes:
    if not path.startswith("/") or path.startswith("/v1/") or not path.isascii():
        rule = "must begin with / and must not begin with /v1/"
        raise InvalidInput("pages", rule, path)
    return path.encode()


class Status:
    """Whether the round is open: the same for everybody who asks."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._answer: Response | None = None
        self._until = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            answer: Response = problem(
                405, "request", f"must be one of {READING}", {"Allow": READING}
            )
        else:
            answer = await self._current()
        await answer(scope, receive, send)

    async def _current(self) -> Response:
        now = asyncio.get_running_loop().time()
        if self._answer is None or now >= self._until:
            try:
                batches = await self._intake.batches()
            except KrandError:
                retry = {"Retry-After": "5"}
                self._answer = problem(503, "spool", "must be usable", retry)
            else:
                self._answer = JSONResponse(self._values(batches), headers=BRIEFLY)
            self._until = now + STATUS_SECONDS
        return self._answer

    def _values(self, batches: Sequence[Batch]) -> dict[str, Any]:
        is_open = batches[-1].state is State.OPEN and not self._intake.is_over
        return {"open": is_open, "round": self._intake.store.config.format.round}
