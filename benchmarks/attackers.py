"""Clients of a collector on loopback: those who attack it, and honest ones; used by attacked.py.

    python benchmarks/attackers.py '{"kind": "honest", "port": 8080, …}'

Each runs in a process of its own and prints what it saw as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

ANSWER_SECONDS = 60.0
PAUSE_SECONDS = 0.2
"""Before a connection that was closed is opened again."""


@dataclass(slots=True)
class Clients:
    """So many connections of one kind, for so long."""

    kind: str
    port: int
    path: str
    length: int
    connections: int
    seconds: float
    end: float = 0.0
    statuses: Counter[str] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)
    opened: int = 0

    async def run(self) -> None:
        self.end = time.monotonic() + self.seconds
        one = KINDS[self.kind]
        with suppress(TimeoutError):
            async with asyncio.timeout(self.seconds + (ANSWER_SECONDS if one is honest else 0)):
                await asyncio.gather(*(self._again(one) for _ in range(self.connections)))

    async def _again(self, one: Callable[[Clients], Awaitable[None]]) -> None:
        """Open a connection, and another one whenever it is closed."""
        while time.monotonic() < self.end:
            try:
                await one(self)
            except (OSError, asyncio.IncompleteReadError):
                self.statuses["broken"] += 1
                await asyncio.sleep(PAUSE_SECONDS)

    async def connect(
        self, receive_buffer: int = 0
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        client = socket.socket()
        client.setblocking(False)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            await asyncio.get_running_loop().sock_connect(client, ("127.0.0.1", self.port))
        except BaseException:
            client.close()
            raise
        self.opened += 1
        return await asyncio.open_connection(sock=client, limit=2**12)

    def submission(self) -> bytes:
        """Of somebody new: version 1, round 1, an id, and noise, which looks like messages."""
        return self.head() + b"\x01\x00\x01" + os.urandom(self.length - 3)

    def head(self) -> bytes:
        lines = [f"POST {self.path} HTTP/1.1", "Host: x", f"Content-Length: {self.length}"]
        lines.append("Content-Type: application/octet-stream")
        return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def honest(clients: Clients) -> None:
    """One submission on a connection of its own, as a device sends it."""
    start = time.monotonic()
    reader, writer = await clients.connect()
    try:
        writer.write(clients.submission())
        answer = await reader.readuntil(b"\r\n\r\n")
        clients.statuses[answer[9:12].decode()] += 1
        if answer[9:12] == b"202":
            clients.latencies.append(time.monotonic() - start)
    finally:
        writer.close()
    await asyncio.sleep(0.02)


async def slow_reader(clients: Clients) -> None:
    """Many pages in a row, and no answer is read."""
    reader, writer = await clients.connect(2**12)
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    try:
        path = clients.path.replace("submissions", "plan").encode()
        writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
        await _while_open(writer, clients, b"")
    finally:
        writer.transport.abort()


async def slow_writer(clients: Clients) -> None:
    """The head of a submission, then a byte a second."""
    _, writer = await clients.connect()
    try:
        writer.write(clients.head())
        await _while_open(writer, clients, b"\x01")
    finally:
        writer.transport.abort()


async def pipeliner(clients: Clients) -> None:
    """Submissions and pages in a row, as many as the collector takes; no answer is read."""
    reader, writer = await clients.connect()
    reader._transport.pause_reading()  # type: ignore[attr-defined]
    row = (clients.submission() + b"GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n") * 20
    try:
        while time.monotonic() < clients.end:
            writer.write(row)
            await writer.drain()
    finally:
        writer.transport.abort()


async def late_pipeliner(clients: Clients) -> None:
    """One submission, which is served at once, and while it is, as many more as are taken."""
    reader, writer = await clients.connect()
    try:
        writer.write(clients.submission())
        await writer.drain()
        await asyncio.sleep(0)
        row = clients.submission() * 20
        while time.monotonic() < clients.end:
            writer.write(row)
            await writer.drain()
            await reader.read(2**12)
    finally:
        writer.transport.abort()


async def _while_open(writer: asyncio.StreamWriter, clients: Clients, content: bytes) -> None:
    while time.monotonic() < clients.end and not writer.is_closing():
        writer.write(content)
        await asyncio.sleep(1)
    if time.monotonic() < clients.end:
        raise ConnectionError


KINDS: dict[str, Callable[[Clients], Awaitable[None]]] = {
    "honest": honest,
    "slow readers": slow_reader,
    "slow writers": slow_writer,
    "pipelining, no answer read": pipeliner,
    "pipelining after one request": late_pipeliner,
}


def main() -> None:
    """Options as JSON on the command line, results as JSON on stdout."""
    options: dict[str, Any] = json.loads(sys.argv[1])
    clients = Clients(**options)
    asyncio.run(clients.run())
    found = sorted(clients.latencies) or [0.0]
    told = {
        "statuses": clients.statuses,
        "opened": clients.opened,
        "p50": found[len(found) // 2],
        "p99": found[int(len(found) * 0.99)],
        "slowest": found[-1],
    }
    print(json.dumps(told))


if __name__ == "__main__":
    main()
