"""The collector on HTTP: a thin layer that takes bodies and gives verdicts.

It looks at the path, the length and the body of a request. Addresses, other headers, cookies and
times are neither read nor kept, and a failure is logged without the request that met it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from krand.collect.intake import Intake
from krand.collect.metrics import metrics_text
from krand.collect.openapi import describe_api
from krand.collect.spool import SpoolUnavailable
from krand.errors import KrandError
from krand.wire.submissions import Refused

if TYPE_CHECKING:
    from krand.collect.spool import Spool

__all__ = ["BODY_SECONDS", "busy", "make_app"]

BODY_SECONDS = 10.0
"""A body that takes longer is not waited for."""
RETRY_AFTER = {"Retry-After": "5"}
CLOSE = {"Connection": "close"}
"""Where the rest of a body is not waited for."""
CONTENT_TYPE = "application/octet-stream"

log = logging.getLogger("krand.collect")

Handler = Callable[[Request], Awaitable[Response]]


def make_app(spool: Spool) -> Starlette:
    """The application of one spool; it owns the spool from now on."""
    intake = Intake(spool)
    description = describe_api(spool.setting)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        intake.start()
        yield
        await intake.stop()

    async def submissions(request: Request) -> Response:
        return await _taken(request, intake)

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        try:
            await intake.check_ready()
        except KrandError:
            return _problem(503, "spool", "must be usable", RETRY_AFTER)
        return PlainTextResponse("ready\n")

    async def metrics(_: Request) -> Response:
        try:
            batches = await intake.batches()
        except KrandError:
            return _problem(503, "spool", "must be usable", RETRY_AFTER)
        return PlainTextResponse(metrics_text(intake.counts, batches))

    async def openapi(_: Request) -> Response:
        return JSONResponse(description)

    app = Starlette(
        routes=[
            Route("/v1/{plan}/submissions", submissions, methods=["POST"]),
            Route("/healthz", healthz),
            Route("/readyz", readyz),
            Route("/metrics", metrics),
            Route("/openapi.json", openapi),
        ],
        lifespan=life,
        exception_handlers={HTTPException: _told, Exception: _unforeseen},
    )
    app.router.redirect_slashes = False  # a redirect would send back what the request said
    app.state.intake = intake
    return app


def busy() -> Response:
    """The answer to one connection too many."""
    headers = {**RETRY_AFTER, **CLOSE}
    return _problem(503, "collector", "has too many connections; try again", headers)


async def _taken(request: Request, intake: Intake) -> Response:
    """One submission: whole and durable, or refused with a reason."""
    shape = intake.spool.setting.shape
    try:
        body = await asyncio.wait_for(_body(request, shape.longest), BODY_SECONDS)
    except TimeoutError:
        rule = f"must arrive within {BODY_SECONDS:g} seconds"
        return _refused(intake, 408, "body", rule, CLOSE)
    except ClientDisconnect:
        return Response(status_code=400)  # nobody is there to read it
    if body is None:
        return _refused(intake, 413, "body", f"must have at most {shape.longest} bytes", CLOSE)
    if request.path_params["plan"] != intake.spool.setting.plan_hash:
        return _refused(intake, 404, "plan", "must be the plan that is collected here")
    if _media_type(request) != CONTENT_TYPE:
        return _refused(intake, 415, "content-type", f"must be {CONTENT_TYPE}")
    try:
        submitted = shape.read(body)
    except Refused as refusal:
        return _refused(intake, 422, str(refusal.reason), refusal.rule)
    try:
        new = await intake.submit(submitted)
    except SpoolUnavailable:
        return _problem(503, "spool", "cannot store anything now; try again", RETRY_AFTER)
    return JSONResponse({"status": "accepted" if new else "known"}, 202)


async def _body(request: Request, longest: int) -> bytes | None:
    """The body, or None as soon as it is too long."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > longest:
            return None
        parts.append(part)
    return b"".join(parts)


def _media_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _refused(
    intake: Intake, status: int, field: str, rule: str, headers: dict[str, str] | None = None
) -> Response:
    intake.counts.refused += 1
    return _problem(status, field, rule, headers)


def _problem(
    status: int, field: str, rule: str, headers: dict[str, str] | None = None
) -> JSONResponse:
    return JSONResponse({"error": {"field": field, "rule": rule}}, status, headers)


async def _told(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers = dict(error.headers or {}) if isinstance(error, HTTPException) else None
    return _problem(status, "request", "must be one of those that are described", headers)


async def _unforeseen(_: Request, error: Exception) -> Response:
    """A bug of ours: its kind is logged, nothing of the request."""
    log.error("unforeseen %s", type(error).__name__)
    return _problem(500, "collector", "failed; nothing was stored")
