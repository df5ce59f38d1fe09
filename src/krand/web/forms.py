"""Forms as browsers send them, limited in size and time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import Message, Receive

from krand.errors import InvalidInput

MOST_BODY_BYTES, BODY_SECONDS = 2**20, 10.0
MOST_FIELDS = 50
KINDS = ("multipart/form-data", "application/x-www-form-urlencoded")


@dataclass(frozen=True, slots=True)
class Form:
    """Text fields, and files that are not empty."""

    texts: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


async def read_form(request: Request, most_fields: int = MOST_FIELDS) -> Form:
    """The form in a request; InvalidInput if it is too long, too slow or not a form."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in KINDS:
        raise InvalidInput("form", "must be sent as a form", kind)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await _parsed(request, most_fields)
    except TimeoutError:
        rule = f"must arrive within {BODY_SECONDS:g} seconds"
        raise InvalidInput("form", rule, None) from None
    except HTTPException:
        rule = "must be a form in the format that browsers send"
        raise InvalidInput("form", rule, None) from None


async def _parsed(request: Request, most_fields: int) -> Form:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY_BYTES:
            rule = f"must have at most {MOST_BODY_BYTES:,} bytes"
            raise InvalidInput("form", rule, None, "the command line allows more")
    request = Request(request.scope, _only(bytes(body)))
    limits = {"max_files": MOST_FIELDS, "max_fields": most_fields, "max_part_size": MOST_BODY_BYTES}
    form = Form()
    async with request.form(**limits) as found:
        for name, value in found.multi_items():
            if not isinstance(value, UploadFile):
                form.texts[name] = value
            elif content := await value.read():
                form.files[name] = content
    return form


def _only(body: bytes) -> Receive:
    """What a server would pass on if this were all."""

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
