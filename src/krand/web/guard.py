"""Checks of every request, and security headers of every answer.

Any web site that the same browser visits can try to reach pages on a loopback address: through a
name that points here (so Host is checked), or through its own forms and scripts (so Origin is
checked). The headers tell the browser to load nothing from anywhere else.
Other people may have accounts on this machine, so nothing is shown without the token, here too.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from krand.errors import KrandError
from krand.web.access import Address, is_ours, is_same
from krand.web.forms import read_form
from krand.web.pages import render

CLOSED = "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:;"
    f" connect-src 'self'; {CLOSED}"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
READING = ("GET", "HEAD")
STATIC = "/static/"
ASKING = {"token", "enter"}
"""What the address of somebody has who comes to the gate: the token, or that it is in a form."""


def document_policy() -> str:
    """For a report of krand, which has inline styles: no scripts, nothing loaded."""
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; {CLOSED}"


class Guard:
    """Rejects requests that do not come from our own pages; adds the headers to every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app = self._refusal(scope["method"], Headers(scope=scope)) or self._app
        await app(scope, receive, send_guarded)

    def _refusal(self, method: str, headers: Headers) -> ASGIApp | None:
        host = headers.get("host", "")
        if not is_ours(host):
            return _refused(421, "Host: must be the address that krand run printed.")
        if method in READING:
            # Other sites may link to our pages, but not embed them.
            foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
            if foreign and headers.get("sec-fetch-mode") != "navigate":
                return _refused(403, "Origin: must be a page of krand run itself.")
            return None
        if not _is_from(host, headers):
            return _refused(403, "Origin: must be a page of krand run itself.")
        return None


def _is_from(host: str, headers: Headers) -> bool:
    """Whether a form was sent from our own page; programs other than browsers do not say."""
    origin = headers.get("origin")
    if origin is None:
        return headers.get("sec-fetch-site") in (None, "same-origin", "none")
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.lower() == host.strip().lower()


def _refused(status: int, text: str) -> ASGIApp:
    return PlainTextResponse(f"{text}\n", status, {"Connection": "close"})


class Gate:
    """Lets through whoever has the token, and everybody to how pages look."""

    def __init__(
        self, app: ASGIApp, address: Address, shared: dict[str, Any], free: str = STATIC
    ) -> None:
        """`free`: addresses that begin so need no token; what hides them is their own secret."""
        self._app, self._address = app, address
        self._shared, self._free = shared, (STATIC, free)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"].startswith(self._free):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        known = is_same(request.cookies.get(self._address.cookie, ""), self._address.token)
        if known and not ASKING & request.query_params.keys():
            await self._app(scope, receive, send)
            return
        given = await _given(request)
        entered = known or is_same(given, self._address.token)
        answer = self._entered(request) if entered else self._locked(bool(given))
        await answer(scope, receive, send)

    def _entered(self, request: Request) -> Response:
        """The same page, without the token in its address and in the history."""
        response = RedirectResponse(f"/{request.scope['path'].lstrip('/')}", 303)
        response.set_cookie(
            self._address.cookie, self._address.token, httponly=True, samesite="strict"
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
