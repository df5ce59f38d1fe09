"""The unix socket `control` in a party's folder, by which other commands talk to its worker.

A request is a CONTROL frame with JSON, `{"ask": "status", …}`, and so is its answer. Walls around
the listener keep it from files, but not from sockets: so whoever asks shows the word in the file
`control.key`, which is new at each start of the worker.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from krand.errors import InvalidInput, KrandError, Unavailable
from krand.site.frames import HEAD, LONGEST, BadFrame, Kind, frame, read_frame
from krand.sqlite_files import make_private

LONGEST_NAME = 100
"""Of a socket, in bytes; the system takes 104 or 108."""
SECONDS = 60.0

Answer = Mapping[str, Any]
Handle = Callable[[str, dict[str, Any]], Answer | Awaitable[Answer]]
"""What is asked, and with which values; it refuses by a KrandError, which `ask` raises again."""


async def serve_control(path: Path, handle: Handle) -> asyncio.Server:
    """Answer at this socket until the server is closed, for whoever holds the folder's lock."""
    word, file = secrets.token_hex(32), _key(path)
    file.unlink(missing_ok=True)
    make_private(file)
    file.write_text(word, encoding="ascii")

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            kind, content = await read_frame(reader)
            values = json.loads(content)
            if kind is Kind.CONTROL and secrets.compare_digest(str(values.pop("key", "")), word):
                said = await _answered(handle, values.pop("ask"), values)
                writer.write(frame(Kind.CONTROL, json.dumps(said).encode()))
                await writer.drain()
        except (BadFrame, OSError, ValueError, TypeError, LookupError, AttributeError):
            pass  # whoever asked has gone, or is no krand
        finally:
            writer.close()

    path.unlink(missing_ok=True)  # of a worker that was killed
    listening = socket.socket(socket.AF_UNIX)
    with _short(path) as name:
        listening.bind(name)
    path.chmod(0o600)
    return await asyncio.start_unix_server(answer, sock=listening)


def ask(path: Path, what: str, *, seconds: float = SECONDS, **values: Any) -> dict[str, Any] | None:
    """What the folder's worker answers; None if there is no worker."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(seconds)
        try:
            with _short(path) as name:
                connection.connect(name)
            word = _key(path).read_text(encoding="ascii")
        except (FileNotFoundError, ConnectionRefusedError):
            return None
        asked = {"ask": what, "key": word, **values}
        try:
            connection.sendall(frame(Kind.CONTROL, json.dumps(asked).encode()))
            length, _ = HEAD.unpack(_exactly(connection, HEAD.size))
            said: dict[str, Any] = json.loads(_exactly(connection, min(length, LONGEST)))
        except (OSError, EOFError):
            raise Unavailable(f"the program that works in {path.parent} does not answer") from None
    if "refused" in said:
        raise InvalidInput(**said["refused"])
    if "failed" in said:
        raise Unavailable(said["failed"])
    return said


async def _answered(handle: Handle, what: str, values: dict[str, Any]) -> Answer:
    try:
        answer = handle(what, values)
        return await answer if inspect.isawaitable(answer) else answer
    except InvalidInput as error:
        value = (
            error.value if isinstance(error.value, str | int | float | None) else str(error.value)
        )
        named = {"field": error.field, "rule": error.rule, "value": value, "hint": error.hint}
        return {"refused": named}
    except KrandError as error:
        return {"failed": str(error)}
    except Exception as error:  # nothing that a command asks ends the worker
        return {"failed": f"the worker cannot answer: {type(error).__name__}"}


def _key(path: Path) -> Path:
    return path.with_name(f"{path.name}.key")


def _exactly(connection: socket.socket, length: int) -> bytes:
    found = bytearray()
    while len(found) < length:
        part = connection.recv(length - len(found))
        if not part:
            raise EOFError
        found += part
    return bytes(found)


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """The socket's name, also in a folder whose name is too long for one."""
    name = str(path)
    if len(os.fsencode(name)) <= LONGEST_NAME:
        yield name
        return
    if not os.path.isdir("/proc/self/fd"):
        rule = f"must have a name of at most {LONGEST_NAME} bytes"
        raise InvalidInput("folder", rule, name, "use a folder nearer to the root")
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        with suppress(OSError):
            os.close(folder)
