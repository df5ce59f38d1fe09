"""A load generator on loopback: connections that stay open, submissions that are all different."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass, field

HEAD = (
    "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
    "Content-Length: {length}\r\n\r\n"
)


@dataclass(slots=True)
class Load:
    """What to send, how fast, for how long."""

    port: int
    path: str
    length: int
    seconds: float
    connections: int
    rate: float
    """Submissions per second; 0 is as fast as they are answered."""
    latencies: list[float] = field(default_factory=list)
    other: int = 0
    """Answers that are not 202."""
    end: float = 0.0
    head: bytes = b""

    def body(self) -> bytes:
        """Version 1, round 1, a new id, and noise, which looks like sealed messages."""
        return b"\x01\x00\x01" + os.urandom(self.length - 3)

    async def run(self) -> None:
        self.head = HEAD.format(path=self.path, length=self.length).encode()
        self.end = time.perf_counter() + self.seconds
        await asyncio.gather(*(self.one(number) for number in range(self.connections)))

    async def one(self, number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        gap = self.connections / self.rate if self.rate else 0.0
        due = time.perf_counter() + gap * number / self.connections
        while (now := time.perf_counter()) < self.end:
            if gap:
                await asyncio.sleep(max(0.0, due - now))
            # At a given rate the clock starts when it was due: waiting for the one before counts.
            start = due if gap else time.perf_counter()
            due += gap
            writer.write(self.head + self.body())
            status = await self.answer(reader)
            self.latencies.append(time.perf_counter() - start)
            self.other += status != 202
        writer.close()

    @staticmethod
    async def answer(reader: asyncio.StreamReader) -> int:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = head.lower().split(b"\r\n")
        length = next(int(line[16:]) for line in lines if line.startswith(b"content-length: "))
        await reader.readexactly(length)
        return int(head[9:12])


def main() -> None:
    """Options as JSON on the command line, results as JSON on stdout."""
    load = Load(**json.loads(sys.argv[1]))
    start = time.perf_counter()
    asyncio.run(load.run())
    took = time.perf_counter() - start
    found = sorted(load.latencies)
    print(
        json.dumps(
            {
                "rate": len(found) / took,
                "count": len(found),
                "other": load.other,
                "p50": found[len(found) // 2],
                "p99": found[int(len(found) * 0.99)],
            }
        )
    )


if __name__ == "__main__":
    main()
