"""Parses forms as browsers send them, limited in size and time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from email.message import Message
from urllib.parse import parse_qsl

from starlette.requests import Request

from krand.errors import InvalidInput
from krand.web.limits import BODY_SECONDS, MOST_BODY_BYTES

__all__ = ["Form", "read_form"]

MOST_FIELDS = 50


@dataclass(frozen=True, slots=True)
class Form:
    """Text fields, and files that are not empty."""

    texts: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


async def read_form(request: Request) -> Form:
    """The form in a request; InvalidInput if it is too long, too slow or not a form."""
    try:
        body = await asyncio.wait_for(_body(request), BODY_SECONDS)
    except TimeoutError:
        rule = f"must arrive within {BODY_SECONDS:g} seconds"
        raise InvalidInput("form", rule, None) from None
    kind = Message()
    kind["Content-Type"] = request.headers.get("content-type", "")
    if kind.get_content_type() == "multipart/form-data":
        return _parts(body, kind.get_boundary("") or "")
    if kind.get_content_type() == "application/x-www-form-urlencoded":
        return _pairs(body)
    raise InvalidInput("form", "must be sent as a form", kind.get_content_type())


async def _body(request: Request) -> bytes:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY_BYTES:
            rule = f"must have at most {MOST_BODY_BYTES:,} bytes"
            raise InvalidInput("form", rule, None, "the command line allows more")
    return bytes(body)


def _pairs(body: bytes) -> Form:
    try:
        pairs = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS)
    except ValueError:
        raise _no_form() from None
    return Form(dict(pairs))


def _parts(body: bytes, boundary: str) -> Form:
    """RFC 7578: parts separated by the boundary, each with headers and an empty line."""
    form = Form()
    parts = (b"\r\n" + body).split(b"\r\n--" + boundary.encode(errors="replace"))
    if not boundary or len(parts) - 2 > MOST_FIELDS or not parts[-1].startswith(b"--"):
        raise _no_form()
    for part in parts[1:-1]:
        head, _, content = part.partition(b"\r\n\r\n")
        name, is_file = _named(head)
        if is_file and content:
            form.files[name] = content
        elif not is_file:
            form.texts[name] = content.decode(errors="replace")
    return form


def _named(head: bytes) -> tuple[str, bool]:
    """The name of a part, and whether it is a file."""
    for line in head.decode(errors="replace").split("\r\n"):
        label, _, value = line.partition(":")
        if label.strip().lower() == "content-disposition":
            disposition = Message()
            disposition["Content-Disposition"] = value.strip().replace("\n", " ")
            name = disposition.get_param("name", None, "content-disposition")
            if isinstance(name, str):
                file = disposition.get_param("filename", None, "content-disposition")
                return name, file is not None
    raise _no_form()


def _no_form() -> InvalidInput:
    return InvalidInput("form", "must be a form in the format that browsers send", None)
