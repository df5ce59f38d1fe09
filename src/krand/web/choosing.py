"""The language of the pages: as the reader chose it, or else as the browser prefers."""

from __future__ import annotations

from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from krand.languages.catalogs import languages_of
from krand.languages.cldr import ENGLISH, locale_of
from krand.languages.speaking import speaking

ROOMS = ("console", "plans", "report", "wording")
"""Whose texts the pages need."""
COOKIE = ASKED = "language"


class Choice(NamedTuple):
    """A language in which the pages can be shown, by its own name."""

    code: str
    name: str


def choices() -> tuple[Choice, ...]:
    """All of them, English first."""
    return tuple(Choice(code, locale_of(code).get_display_name() or code) for code in _codes())


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
