"""The pages as one application."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from krand import __version__
from krand.errors import KrandError
from krand.web.access import Address
from krand.web.dashboard import PATH, Dashboard, Gate
from krand.web.guard import Guard
from krand.web.limits import QUICK_WORKERS
from krand.web.pages import render, static
from krand.web.planner import Planner
from krand.web.site_page import SitePage, SiteState, survey_path
from krand.web.watching import Watched
from krand.web.workers import Workers

STATIC = {"krand.js": "text/javascript", "krand.css": "text/css"}

log = logging.getLogger("krand.web")


def make_app(address: Address, watch: Watched | None = None) -> ASGIApp:
    """The planner, and the dashboard if there is something to monitor."""
    workers, quick = Workers(), Workers(QUICK_WORKERS)
    shared: dict[str, Any] = {"version": __version__, "has_collector": watch is not None}
    shared["has_planner"] = True
    planner = Planner(workers, quick, shared)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        first = asyncio.create_task(_quietly(planner))
        yield
        first.cancel()
        await workers.stop()
        await quick.stop()

    async def no_collector(_: Request) -> Response:
        return HTMLResponse(render("no_collector.html", **shared), 404)

    routes = list(planner.routes())
    if watch is None:
        routes += [Route(f"{PATH}{rest}", no_collector) for rest in ("", "/{rest:path}")]
    else:
        gate = Gate(address, shared)
        routes += Dashboard(watch, gate, workers, shared).routes()
        routes.append(Route(PATH, gate.enter, methods=["POST"]))
    return application(address, routes, shared, life)


def make_site_app(
    address: Address, surveys: Mapping[str, Watched], state: Callable[[], SiteState]
) -> ASGIApp:
    """The status of a whole site: all surveys, and the dashboard of each."""
    workers = Workers()
    shared = {"version": __version__, "has_collector": True, "has_planner": False}

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        yield
        await workers.stop()

    gate = Gate(address, shared)
    routes = list(SitePage(state, gate, shared).routes())
    for name, watch in surveys.items():
        routes += Dashboard(watch, gate, workers, shared, survey_path(name)).routes()
    return application(address, routes, shared, life)


def application(
    address: Address,
    routes: Sequence[Route],
    shared: dict[str, Any],
    life: Callable[[Starlette], AbstractAsyncContextManager[None]],
) -> ASGIApp:
    """Pages with what all of them need: static files, answers to what is not there, a guard."""

    async def told(_: Request, error: Exception) -> Response:
        status = error.status_code if isinstance(error, HTTPException) else 500
        headers = dict(error.headers or {}) if isinstance(error, HTTPException) else None
        return HTMLResponse(render("missing.html", **shared), status, headers)

    async def unforeseen(_: Request, error: Exception) -> Response:
        """A bug in krand: its type is logged, but nothing about the request."""
        log.error("unexpected %s", type(error).__name__)
        return HTMLResponse(render("failed.html", **shared), 500)

    app = Starlette(
        routes=[*routes, Route("/static/{name}", _static)],
        lifespan=life,
        exception_handlers={
            HTTPException: told,
            ClientDisconnect: _nobody,
            Exception: unforeseen,
        },
    )
    app.router.redirect_slashes = False  # a redirect would repeat the content of the request
    return Guard(app, address)  # outermost, so that error pages have the headers too


async def _quietly(planner: Planner) -> None:
    with suppress(KrandError):  # the first request for it reports the error
        await planner.warm_up()


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(static(name), media_type=STATIC[name])


async def _nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # nobody is there to read it
