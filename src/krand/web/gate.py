"""The gate of the pages: nothing is shown without the token, on this machine too.

Other people may have accounts on it, and any page that a browser shows can reach its addresses.
"""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from krand.errors import KrandError
from krand.web.access import Address, is_same
from krand.web.forms import read_form
from krand.web.pages import render

STATIC = "/static/"
ASKING = {"token", "enter"}
"""What the address of somebody has who comes to the gate: the token, or that it is in a form."""


class Gate:
    """Lets through whoever has the token, and everybody to how pages look."""

    def __init__(
        self, app: ASGIApp, address: Address, shared: dict[str, Any], free: str = STATIC
    ) -> None:
        """`free`: addresses that begin so need no token; what hides them is their own secret."""
        assert address.token
        self._app, self._address, self._token = app, address, address.token
        self._shared, self._free = shared, (STATIC, free)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(self._free):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        known = is_same(request.cookies.get(self._address.cookie, ""), self._token)
        if known and not ASKING & request.query_params.keys():
            await self._app(scope, receive, send)
            return
        given = await _given(request)
        entered = known or is_same(given, self._token)
        answer = self._entered(request) if entered else self._locked(bool(given))
        await answer(scope, receive, send)

    def _entered(self, request: Request) -> Response:
        """The same page, without the token in its address and in the history."""
        response = RedirectResponse(f"/{request.scope['path'].lstrip('/')}", 303)
        response.set_cookie(
            self._address.cookie,
            self._token,
            httponly=True,
            samesite="strict",
            secure=self._address.tls,
        )
        return response

    def _locked(self, wrong: bool) -> Response:
        """Explains the token, and says nothing about any survey."""
        page = render("locked.html", **{**self._shared, "links": ()}, wrong=wrong)
        return HTMLResponse(page, 401, {"Referrer-Policy": "same-origin"})


async def _given(request: Request) -> str:
    """The token in the address, or entered in the form."""
    if request.method != "POST":
        return request.query_params.get("token", "")
    try:
        return (await read_form(request)).texts.get("token", "").strip()
    except KrandError:
        return ""
