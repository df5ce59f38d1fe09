"""Answers that are the same for everybody, sent in pieces.

An answer that is written at once is copied for every client that does not read it. In pieces, a
connection holds one of them, however long the answer is.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

__all__ = ["CLOSE", "READING", "Fixed", "header", "problem"]

PIECE_BYTES = 2**14
CLOSE = {"Connection": "close"}
"""For answers that are sent before the whole body has arrived."""
READING = "GET, HEAD"
SAFE = (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"))
LEAST_ZIPPED = 2**8
"""Shorter ones are not worth it."""

Headers = list[tuple[bytes, bytes]]


class Fixed:
    """Answers GET and HEAD with the same content, compressed for clients that accept it."""

    def __init__(
        self, content: bytes, content_type: str, headers: Iterable[tuple[str, str]] = ()
    ) -> None:
        shared = _encoded((("Content-Type", content_type), *SAFE, *headers))
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
    return JSONResponse({"error": {"field": field, "rule": rule}}, status, headers)


def _accepts_gzip(scope: Scope) -> bool:
    """Whether gzip is named and not refused by a weight of zero."""
    for entry in header(scope, b"accept-encoding").lower().split(b","):
        coding, _, weight = entry.replace(b" ", b"").partition(b";")
        if coding == b"gzip":
            return not weight or bool(weight.removeprefix(b"q=").strip(b"0."))
    return False


def _encoded(headers: Iterable[tuple[str, str]]) -> Headers:
    return [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in headers]


def _with_length(headers: Headers, content: bytes) -> Headers:
    return [*headers, (b"content-length", str(len(content)).encode())]
