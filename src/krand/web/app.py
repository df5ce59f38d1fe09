"""The pages as one application, in the language of whoever reads them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from krand import __version__
from krand.languages.catalogs import languages_of
from krand.languages.cldr import ENGLISH, locale_of
from krand.languages.speaking import marked, speaking
from krand.web.access import Address
from krand.web.guard import Gate, Guard
from krand.web.pages import render, static

STATIC = {"krand.js": "text/javascript", "krand.css": "text/css"}
ROOMS = ("console", "plans", "report", "wording")
"""Whose texts the pages need."""
COOKIE = ASKED = "language"

log = logging.getLogger("krand.web")


class Link(NamedTuple):
    """One of the pages that every page links to."""

    name: str
    path: str
    label: str


LINKS = (Link("surveys", "/", marked("Surveys")),)


def shared_with() -> dict[str, Any]:
    """What every page shows around its content."""
    languages = [Choice(code, locale_of(code).get_display_name() or code) for code in _codes()]
    return {"version": __version__, "links": LINKS, "languages": languages}


def application(
    address: Address,
    routes: Sequence[Route],
    shared: dict[str, Any],
    life: Callable[[Starlette], AbstractAsyncContextManager[None]],
    free: str,
) -> ASGIApp:
    """Pages with what all of them need: static files, answers to what is not there, gate, guard."""

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
    # The guard is outermost, so that every answer has the headers.
    return Guard(Choosing(Gate(app, address, shared, free)))


async def _static(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in STATIC:
        raise HTTPException(404)
    return Response(static(name), media_type=STATIC[name])


async def _nobody(_: Request, __: Exception) -> Response:
    return Response(status_code=400)  # nobody is there to read it


class Choice(NamedTuple):
    """A language in which the pages can be shown, by its own name."""

    code: str
    name: str


def _codes() -> tuple[str, ...]:
    return languages_of(*ROOMS)


class Choosing:
    """Every request speaks one language; `?language=de` is kept in a cookie, and left out again."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        chosen = request.query_params.get(ASKED)
        if request.method == "GET" and chosen in _codes():
            answer = RedirectResponse(f"/{scope['path'].lstrip('/')}", 303)
            answer.set_cookie(COOKIE, chosen, httponly=True, samesite="strict")
            await answer(scope, receive, send)
            return
        with speaking(_language(request)):
            await self._app(scope, receive, send)


def _language(request: Request) -> str:
    """The one chosen; else the first that the browser accepts and the pages have."""
    accepted = request.headers.get("accept-language", "").split(",")
    tags = [request.cookies.get(COOKIE, ""), *(each.partition(";")[0] for each in accepted)]
    codes = (tag.strip().partition("-")[0].lower() for tag in tags)
    return next((code for code in codes if code in _codes()), ENGLISH)
