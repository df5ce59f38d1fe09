"""What goes between the processes of `krand run`: frames on a pipe.

A frame is the length of its content in four bytes, its kind in one, and the content. Whoever asks
waits for the answer, a frame of the same kind, before asking again:

    SUBMIT      plan's hash (32 bytes), round (2), bodies of one length → a Verdict each (2 bytes)
    INVITATION  plan's hash (32 bytes), id (16) → an Invited (2 bytes)
    PARTNER     a request, as `Asked.content` → its status (2 bytes), JSON
    CONTROL     JSON → JSON, on the folder's control socket

The worker believes nothing that is in a frame: whoever took over the listener can send any.
"""

from __future__ import annotations

import asyncio
import os
import socket
import struct
from dataclasses import dataclass
from enum import IntEnum
from itertools import groupby
from operator import itemgetter

HEAD = struct.Struct(">IB")
AT_ONCE, MOST_WAITING = 256, 4_096
"""Submissions that go in one frame, and those that wait."""
PATIENCE = 10.0
"""The time in which the worker must answer."""
LONGEST = 8 * 2**20
"""Of a frame's content: a plan, and the lines before it."""
HASH_BYTES, NUMBER_BYTES = 32, 2


class Kind(IntEnum):
    """What a frame is about."""

    SUBMIT = 1
    INVITATION = 2
    PARTNER = 3
    CONTROL = 4


class Invited(IntEnum):
    """Whether an id belongs to an invitation, and whether that was used."""

    UNKNOWN = 0
    UNUSED = 1
    USED = 2


class BadFrame(Exception):
    """The other end is not what it was; the pipe ends."""


def frame(kind: Kind, content: bytes) -> bytes:
    """The bytes of a frame."""
    if len(content) > LONGEST:
        raise BadFrame("too long")
    return HEAD.pack(len(content), kind) + content


async def read_frame(reader: asyncio.StreamReader) -> tuple[Kind, bytes]:
    """The next frame; BadFrame if it is none, or the pipe ends."""
    try:
        length, kind = HEAD.unpack(await reader.readexactly(HEAD.size))
        if length > LONGEST:
            raise BadFrame("too long")
        return Kind(kind), await reader.readexactly(length)
    except (ValueError, asyncio.IncompleteReadError, OSError) as error:
        raise BadFrame(type(error).__name__) from None


def number(value: int) -> bytes:
    """A round, a verdict or a status, as frames have them."""
    return value.to_bytes(NUMBER_BYTES)


@dataclass(frozen=True, slots=True)
class Submissions:
    """What SUBMIT asks: bodies of one length for one plan and round."""

    plan: str
    round: int
    bodies: bytes

    @property
    def content(self) -> bytes:
        """The frame's content."""
        return bytes.fromhex(self.plan) + number(self.round) + self.bodies

    @classmethod
    def read(cls, content: bytes) -> Submissions:
        """What is in a frame; BadFrame if it is too short."""
        start = HASH_BYTES + NUMBER_BYTES
        if len(content) < start:
            raise BadFrame("too short")
        found = int.from_bytes(content[HASH_BYTES:start])
        return cls(content[:HASH_BYTES].hex(), found, content[start:])


@dataclass(frozen=True, slots=True)
class Asked:
    """What PARTNER asks: the request of a party, or of a stranger who signed nothing."""

    method: str
    path: str
    """With its query."""
    authorization: str
    """The header that `krand.partners.requests.asker` checks; empty if there was none."""
    body: bytes = b""

    @property
    def content(self) -> bytes:
        """The frame's content: three lines, then the body."""
        lines = "\n".join((self.method, self.path, self.authorization, ""))
        return lines.encode("utf-8", "surrogateescape") + self.body

    @classmethod
    def read(cls, content: bytes) -> Asked:
        """What is in a frame; BadFrame if it has not three lines."""
        try:
            *lines, body = content.split(b"\n", 3)
            method, path, authorization = (line.decode() for line in lines)
        except ValueError:
            raise BadFrame("no request") from None
        return cls(method, path, authorization, body)


class Pipe:
    """One question to the worker at a time: what comes meanwhile goes together in the next ones.

    So nobody waits when it is quiet, and the busier it is, the more people one sync of the disk is
    for. Without its worker the process ends.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._said: asyncio.Queue[bytes] = asyncio.Queue()
        self._waiting: asyncio.Queue[tuple[Kind, bytes, bytes, asyncio.Future[bytes]]]
        self._waiting = asyncio.Queue(MOST_WAITING)

    async def ask(self, kind: Kind, subject: bytes, content: bytes = b"") -> bytes | None:
        """What the worker says, of a submission its verdict; None if it does not answer in time."""
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        try:
            self._waiting.put_nowait((kind, subject, content, answer))
            async with asyncio.timeout(PATIENCE):
                return await answer
        except (asyncio.QueueFull, TimeoutError):
            return None

    async def run(self) -> None:
        """Until the worker has gone."""
        try:
            reader, writer = await asyncio.open_connection(sock=self._end)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._hear(reader))
                tasks.create_task(self._say(writer))
        finally:
            os._exit(1)  # whoever waits for an answer is cut off, and comes again

    async def _hear(self, reader: asyncio.StreamReader) -> None:
        """All the time, so that the end of a worker is noticed while nobody asks anything."""
        while True:
            _, said = await read_frame(reader)
            self._said.put_nowait(said)

    async def _say(self, writer: asyncio.StreamWriter) -> None:
        while True:
            some = [await self._waiting.get()]
            while len(some) < AT_ONCE and not self._waiting.empty():
                some.append(self._waiting.get_nowait())
            some = sorted((one for one in some if not one[3].done()), key=itemgetter(0, 1))
            for (kind, subject), group in groupby(some, itemgetter(0, 1)):
                asked = list(group)
                if kind is Kind.SUBMIT:
                    content = b"".join(body for _, _, body, _ in asked)
                    said = await self._answer(writer, frame(kind, subject + content))
                    size = len(said) // len(asked)
                    for place, (*_, answer) in enumerate(asked):
                        _tell(answer, said[place * size :][:size])
                else:
                    for _, _, content, answer in asked:
                        _tell(answer, await self._answer(writer, frame(kind, subject + content)))

    async def _answer(self, writer: asyncio.StreamWriter, question: bytes) -> bytes:
        writer.write(question)
        await writer.drain()
        return await self._said.get()


def _tell(answer: asyncio.Future[bytes], said: bytes) -> None:
    if not answer.done():  # nobody waits for it any more
        answer.set_result(said)
