"""Checks of every request, and security headers of every answer.

Any web site that the same browser visits can try to reach pages on a loopback address: through a
name that points here (so Host is checked), or through its own forms and scripts (so Origin is
checked). The headers tell the browser to load nothing from anywhere else.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from krand.web.access import Address

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


def document_policy() -> str:
    """For a report of krand, which has inline styles: no scripts, nothing loaded."""
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; {CLOSED}"


class Guard:
    """Rejects requests that do not come from our own pages; adds the headers to every answer."""

    def __init__(self, app: ASGIApp, address: Address) -> None:
        self._app, self._address = app, address

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
        if not self._address.is_ours(host):
            return _refused(421, "Host: must be the address that krand web printed.")
        if method in READING:
            # Other sites may link to our pages, but not embed them.
            foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
            if foreign and headers.get("sec-fetch-mode") != "navigate":
                return _refused(403, "Origin: must be a page of krand web itself.")
            return None
        if not _is_from(host, headers):
            return _refused(403, "Origin: must be a page of krand web itself.")
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
