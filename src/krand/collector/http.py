"""The collector on HTTP: a thin layer that takes submissions and answers.

It reads the path, the content type, the length and the body of a request, whether it accepts gzip,
and, where origins are configured, its origin. Addresses, other headers, cookies and times are
neither read nor stored, and a failure is logged without the request.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from krand.collector.intake import Intake
from krand.collector.progress import Newest
from krand.collector.public import BRIEFLY, CLOSE, header, problem, public_answers
from krand.collector.public import problem as _problem
from krand.collector.settings import ANY_ORIGIN, Page, Settings
from krand.collector.store import CLOSED_RULE, RoundClosed, StoreUnavailable
from krand.errors import KrandError
from krand.wire.submissions import ID_LENGTH, Refusal, Refused, Submitted, round_in

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from krand.collector.invitations import Followed
    from krand.collector.store import Store

BODY_SECONDS = 10.0
"""The time in which a body must arrive."""
DISCONNECTED = 400
RETRY_AFTER = {"Retry-After": "5"}
CONTENT_TYPE = b"application/octet-stream"
PUBLIC = {"": "GET", "/signatures": "GET", "/open": "GET", "/invitation": "POST"}
"""What clients may ask for, under the plan's hash."""

LOOK_SECONDS = 1.0
Following = Callable[[int], "tuple[Store, Settings] | None"]
"""Store and settings of the round after this one, once it is open."""

log = logging.getLogger("krand.collector")
MAX_AGE_SECONDS = 86_400
ALLOWED = {
    "Access-Control-Allow-Methods": "GET, POST",
    "Access-Control-Allow-Headers": "content-type",
    "Access-Control-Max-Age": str(MAX_AGE_SECONDS),
}
VARY = (b"vary", b"Origin")
EXPOSED = (b"access-control-expose-headers", b"Retry-After")


class Collector(Starlette):
    """The application of one store, which it owns from now on."""

    def __init__(
        self,
        store: Store,
        settings: Settings | None = None,
        pages: Mapping[str, Page] | None = None,
        following: Following | None = None,
    ) -> None:
        settings = settings or Settings()
        self._pages, self._following = pages or {}, following
        self._take(store, settings)
        self.way_in = f"/v1/plans/{store.config.plan_hash}/submissions"
        self.cross_origin = CrossOrigin(settings.origins) if settings.origins else None
        super().__init__(
            routes=[
                Route("/v1/plans/{plan}/submissions", _Now(self), methods=["POST"]),
                *(
                    Route(f"/v1/plans/{{plan}}{name}", _other_plan, methods=[method])
                    for name, method in PUBLIC.items()
                ),
                *_health(self),
            ],
            lifespan=self._life,
            exception_handlers={HTTPException: _not_served, Exception: _unforeseen},
        )
        self.router.redirect_slashes = False  # a redirect would repeat what the request contained

    def _take(self, store: Store, settings: Settings) -> None:
        """Take submissions of this store's round from now on."""
        self.intake = Intake(store, settings.is_over)
        self.submissions = Submissions(self.intake, settings)
        self._public = public_answers(self.intake, settings, self._pages)
        if settings.invitations is not None:
            asked = InvitationStatus(self.intake, settings.invitations)
            self._public[f"/v1/plans/{store.config.plan_hash}/invitation".encode()] = asked

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Nearly every request takes this shortcut: routing and middleware would take as long as
        # storing a submission (benchmarks/collector.md).
        is_submission = scope.get("path") == self.way_in and scope.get("method") == "POST"
        app = self.submissions if is_submission else self._answer
        path: bytes = scope.get("raw_path", b"")
        # Browsers may ask from other origins, but not for what is for operators.
        if self.cross_origin and (path.startswith(b"/v1/") or path in self._public):
            await self.cross_origin.answer(app, scope, receive, send)
        else:
            await app(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        app: ASGIApp = self._public.get(scope.get("raw_path", b""), super().__call__)
        await app(scope, receive, send)

    @asynccontextmanager
    async def _life(self, _: Starlette) -> AsyncIterator[None]:
        self.intake.start()
        following, task = self._following, None
        if following is not None:
            task = asyncio.create_task(self._follow(following))
        yield
        if task is not None:
            task.cancel()
        await self.intake.stop()

    async def _follow(self, following: Following) -> None:
        """One round after the other: whoever waits is answered by the round that took them."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            now = self.intake.store.config.format.round
            try:
                found = await loop.run_in_executor(None, following, now)
            except Exception as error:  # it is asked again; meanwhile the round is served as it is
                log.error("the next round was not opened: %s", type(error).__name__)
                continue
            if found is not None:
                before = self.intake
                self._take(*found)
                self.intake.start()
                await before.stop()


class _Now:
    """The submissions of the round that is served now."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._collector.submissions(scope, receive, send)


async def _other_plan(_: Request) -> Response:
    return _problem(404, "plan", "must be the plan that is collected here")


def _health(collector: Collector) -> list[Route]:
    """For the operator: whether the process answers, and whether it can store."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        try:
            await collector.intake.check_ready()
        except KrandError:
            return _problem(503, "spool", "must be usable", RETRY_AFTER)
        return PlainTextResponse("ready\n")

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def busy() -> Response:
    """The answer to one connection too many.

    It has no headers for other origins: to a page it is a failed connection, to be tried again.
    """
    headers = {**RETRY_AFTER, **CLOSE}
    return _problem(503, "collector", "has too many connections; try again", headers)


def unavailable() -> Response:
    """The answer to a submission that was not stored."""
    return _problem(503, "spool", "cannot store anything now; try again", RETRY_AFTER)


def not_stored(error: BaseException) -> Response:
    """The answer to a submission that was not stored: for good, or to be tried again."""
    if isinstance(error, RoundClosed):
        return _problem(410, error.field, error.rule)
    return unavailable()


class Submissions:
    """The route for submissions: each is stored durably, or refused with a reason."""

    def __init__(self, intake: Intake, settings: Settings) -> None:
        self.intake, self.config = intake, intake.store.config
        self._invitations = settings.invitations
        self.accepted, self.known = (
            JSONResponse({"status": status}, 202) for status in ("accepted", "known")
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            response = await self._verdict(scope, receive)
        except Exception as error:
            response = failure(error)
        await response(scope, receive, send)

    async def _verdict(self, scope: Scope, receive: Receive) -> Response:
        body = await _arrived(receive, self.config.format.length)
        if isinstance(body, Response):
            return body
        if scope["path"] != f"/v1/plans/{self.config.plan_hash}/submissions":
            return _problem(404, "plan", "must be the plan that is collected here")
        if _media_type(scope) != CONTENT_TYPE:
            return _problem(415, "content-type", f"must be {CONTENT_TYPE.decode()}")
        checked = self.checked(body)
        if isinstance(checked, Response):
            return checked
        try:
            return self.accepted if await self.intake.submit(checked) else self.known
        except (StoreUnavailable, RoundClosed) as error:
            return not_stored(error)

    def checked(self, body: bytes) -> Submitted | Response:
        """The submission in a body, or the answer that refuses it."""
        if len(body) > self.config.format.length:
            return _too_long(self.config.format.length)
        try:
            found = self.config.format.read(body)
        except Refused as refusal:
            if refusal.reason is Refusal.OTHER_ROUND and round_in(body) < self.config.format.round:
                return _problem(410, "round", CLOSED_RULE)
            return _problem(400, str(refusal.reason), refusal.rule)
        if self._invitations is not None and not self._invitations.admit(found.id):
            return _problem(403, "invitation", "must be one of this survey")
        return found


class InvitationStatus:
    """Tells whoever has a code whether it is one, and whether it was used.

    The body is the submission's id that the code makes. Whoever knows it could learn the same by
    submitting. They do not learn when somebody else did: a code counts as unused until at least 32
    people have come since the last step (`progress.Newest`).
    """

    def __init__(self, intake: Intake, invitations: Followed) -> None:
        self._intake, self._invitations = intake, invitations
        self._newest = intake.newest = Newest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        response = await self._verdict(scope, receive)
        await response(scope, receive, send)

    async def _verdict(self, scope: Scope, receive: Receive) -> Response:
        if scope["method"] != "POST":
            return _problem(405, "request", "must be POST", {"Allow": "POST"})
        body = await _arrived(receive, ID_LENGTH)
        if isinstance(body, Response):
            return body
        if _media_type(scope) != CONTENT_TYPE:
            return _problem(415, "content-type", f"must be {CONTENT_TYPE.decode()}")
        if len(body) != ID_LENGTH:
            return _problem(400, "body", f"must have {ID_LENGTH} bytes")
        try:
            return JSONResponse({"status": await self._status(body)}, headers=BRIEFLY)
        except KrandError:
            return unavailable()

    async def _status(self, name: bytes) -> str:
        if not self._invitations.admit(name):
            return "unknown"
        used = await self._intake.known(name)
        return "used" if used and name not in self._newest else "unused"


async def _arrived(receive: Receive, most: int) -> bytes | Response:
    """The body, or the answer to one that is late or too long."""
    try:
        async with asyncio.timeout(BODY_SECONDS):
            body = await _body(receive, most)
    except TimeoutError:
        return _problem(408, "body", f"must arrive within {BODY_SECONDS:g} seconds", CLOSE)
    except ClientDisconnect:
        return Response(status_code=DISCONNECTED)  # nobody reads it
    return _too_long(most) if body is None else body


def _too_long(length: int) -> Response:
    return _problem(413, "body", f"must have {length} bytes", CLOSE)


async def _body(receive: Receive, most: int) -> bytes | None:
    """The body, or None as soon as it is too long."""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        size += len(part)
        if size > most:
            return None
        parts.append(part)
        more = message.get("more_body", False)
    return b"".join(parts)


def _media_type(scope: Scope) -> bytes:
    return header(scope, b"content-type").partition(b";")[0].strip().lower()


async def _not_served(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else None
    return _problem(status, "request", "must be one that the collector answers", headers)


async def _unforeseen(_: Request, error: Exception) -> Response:
    return failure(error)


def failure(error: Exception) -> Response:
    """The answer after a bug in krand. The type of the error is logged, nothing of the request."""
    log.error("unforeseen %s", type(error).__name__)
    return _problem(500, "collector", "failed; nothing was stored")


class CrossOrigin:
    """Adds what browsers ask for to the answers of an application.

    Only origins that the operator named are answered with a header, and it is the operator's text
    that is sent. The origin of a request is compared and forgotten. Starlette's middleware takes
    10 µs more of processor time a request, and refuses other origins without field and rule.
    """

    def __init__(self, origins: tuple[str, ...]) -> None:
        self._origins = {origin.encode(): origin.encode() for origin in origins}
        self._for_all = ANY_ORIGIN in origins

    async def answer(self, app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or let the application answer."""
        origin = header(scope, b"origin")
        allowed = b"*" if self._for_all else self._origins.get(origin)
        asked = header(scope, b"access-control-request-method")
        if scope["method"] == "OPTIONS" and asked and origin:  # a preflight
            app = Response(status_code=204, headers=ALLOWED)
            if allowed is None:
                app = problem(403, "origin", "must be one that this collector allows")
        added = [] if self._for_all else [VARY]
        if allowed is not None and origin:
            added += [(b"access-control-allow-origin", allowed), EXPOSED]

        async def send_with(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await app(scope, receive, send_with)
