"""Attackers of a mixer's service, who share nothing with krand; used by attacked_mixer.py.

    python benchmarks/mixer_attackers.py '{"kind": "forged identities", "port": 8443, …}'

They know what everybody can read (the service's identity, the plan, the survey), and one request of
an honest partner that they have recorded. Each kind runs in a process of its own and prints what it
saw as JSON.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import os
import ssl
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

PAUSE_SECONDS = 0.2
"""Before a connection that was closed is opened again."""
FULL_BODY = 2**20
CLIENT_HELLO = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"
TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
TLS.check_hostname, TLS.verify_mode = False, ssl.CERT_NONE

Headers = dict[str, str]


@dataclass(slots=True)
class Attackers:
    """So many connections of one kind, for so long."""

    kind: str
    port: int
    recipient: str
    """The identity of the service."""
    plan: str
    partner: str
    """The identity that the attackers would like to have."""
    survey: str
    recorded: dict[str, Any]
    """Method, path, headers and body of a request of the partner."""
    connections: int
    seconds: float
    end: float = 0.0
    seen: Counter[str] = field(default_factory=Counter)
    opened: int = 0
    turns: Iterator[int] = field(default_factory=itertools.count)

    async def run(self) -> None:
        self.end = time.monotonic() + self.seconds
        with suppress(TimeoutError):
            async with asyncio.timeout(self.seconds):
                await asyncio.gather(*(self._again() for _ in range(self.connections)))

    async def _again(self) -> None:
        """Open a connection, and another one whenever it is closed."""
        while time.monotonic() < self.end:
            try:
                await KINDS[self.kind](self)
            except (OSError, EOFError, ssl.SSLError):
                self.seen["closed"] += 1
                await asyncio.sleep(PAUSE_SECONDS)

    @asynccontextmanager
    async def connected(self, tls: bool = True) -> Any:
        context = TLS if tls else None
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=context)
        self.opened += 1
        try:
            yield reader, writer
        finally:
            writer.transport.abort()

    async def nonce(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str:
        _, content = await answered(reader, writer, head("POST", "/v1/nonce", {}, 0))
        return str(json.loads(content)["nonce"])

    def signed(
        self, method: str, path: str, body: bytes, nonce: str, identity: str = ""
    ) -> Headers:
        """As the documentation describes it, with a new key; the identity may be a lie."""
        key = Ed25519PrivateKey.generate()
        values = {"format": "krand-request-1", "method": method, "recipient": self.recipient}
        values |= {"path": path, "body": hashlib.sha256(body).hexdigest(), "nonce": nonce}
        text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        return {
            "Krand-Identity": identity or key.public_key().public_bytes_raw().hex(),
            "Krand-Nonce": nonce,
            "Krand-Body": values["body"],
            "Krand-Signature": key.sign(b"krand request\0" + text.encode()).hex(),
        }

    def keys_wanted(self) -> bytes:
        wanted = {"survey": self.survey, "organiser": "Nobody", "hop": 2}
        return json.dumps({**wanted, "pairing": os.urandom(16).hex()}).encode()


def head(method: str, path: str, headers: Headers, length: int | None) -> bytes:
    """Of a request; without a length its body comes in chunks."""
    size = {"Transfer-Encoding": "chunked"} if length is None else {"Content-Length": str(length)}
    told = {"Host": "mixer", **size, **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in told.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


async def answered(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, content: bytes
) -> tuple[str, bytes]:
    """Send this, and read one answer: its status and its body."""
    writer.write(content)
    return await answer(reader)


async def answer(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    told = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = told.lower().partition("content-length:")[2].split("\r\n")[0].strip()
    return told[9:12], await reader.readexactly(int(length or 0))


async def half_open(attackers: Attackers) -> None:
    """A connection on which TLS never begins."""
    async with attackers.connected(tls=False) as (reader, _):
        await gone(reader)


async def half_handshake(attackers: Attackers) -> None:
    """The beginning of a TLS handshake, and no more."""
    async with attackers.connected(tls=False) as (reader, writer):
        writer.write(CLIENT_HELLO)
        await gone(reader)


async def slow_reader(attackers: Attackers) -> None:
    """The list of plans a hundred times, and no answer is read."""
    async with attackers.connected() as (reader, writer):
        reader._transport.pause_reading()
        writer.write(head("GET", "/v1/plans", {}, 0) * 100)
        while not writer.is_closing():
            writer.write(b"")
            await asyncio.sleep(1)
    raise ConnectionError


async def slow_writer(attackers: Attackers) -> None:
    """A signed request for keys whose body comes by one byte a second."""
    async with attackers.connected() as (reader, writer):
        body = attackers.keys_wanted().ljust(FULL_BODY)
        nonce = await attackers.nonce(reader, writer)
        headers = attackers.signed("POST", "/v1/keys", body, nonce)
        writer.write(head("POST", "/v1/keys", headers, len(body)))
        said = asyncio.create_task(answer(reader))
        while not said.done():
            writer.write(b" ")
            await asyncio.sleep(1)
        attackers.seen[(await said)[0]] += 1


async def replayer(attackers: Attackers) -> None:
    """The recorded request as it was; with a new nonce; at another path; with another body."""
    async with attackers.connected() as (reader, writer):
        sent, body = attackers.recorded, bytes.fromhex(attackers.recorded["body"])
        headers, path = dict(sent["headers"]), sent["path"]
        turn = next(attackers.turns) % 4
        if turn:
            headers["krand-nonce"] = await attackers.nonce(reader, writer)
        if turn == 2:
            path += f"/{os.urandom(16).hex()}/receipt"
        if turn == 3:
            body = body[::-1]
        content = head(sent["method"], path, headers, len(body)) + body
        await refused(attackers, reader, writer, content)


async def forger(attackers: Attackers) -> None:
    """The partner's identity, and a signature by another key."""
    async with attackers.connected() as (reader, writer):
        path, body = f"/v1/plans/{attackers.plan}/batches", b"{}"
        nonce = await attackers.nonce(reader, writer)
        headers = attackers.signed("POST", path, body, nonce, attackers.partner)
        await refused(attackers, reader, writer, head("POST", path, headers, len(body)) + body)


async def pusher(attackers: Attackers) -> None:
    """A stranger, correctly signed, sends the recorded chain and then a chunk."""
    async with attackers.connected() as (reader, writer):
        path, body = attackers.recorded["path"], bytes.fromhex(attackers.recorded["body"])
        method = "POST"
        if next(attackers.turns) % 2:
            method, path = "PATCH", f"{path}/{os.urandom(16).hex()}?offset=0"
            body = os.urandom(2**16)
        nonce = await attackers.nonce(reader, writer)
        headers = attackers.signed(method, path, body, nonce)
        await refused(attackers, reader, writer, head(method, path, headers, len(body)) + body)


async def asker(attackers: Attackers) -> None:
    """A stranger, a new one each time, asks for keys."""
    async with attackers.connected() as (reader, writer):
        while time.monotonic() < attackers.end:
            body = attackers.keys_wanted()
            nonce = await attackers.nonce(reader, writer)
            headers = attackers.signed("POST", "/v1/keys", body, nonce)
            content = head("POST", "/v1/keys", headers, len(body)) + body
            attackers.seen[(await answered(reader, writer, content))[0]] += 1


async def oversized(attackers: Attackers) -> None:
    """Bodies that are said to be huge or never end, unsigned and signed; and an endless head."""
    async with attackers.connected() as (reader, writer):
        turn, path = next(attackers.turns) % 4, "/v1/keys"
        if turn == 3:
            await endless(attackers, reader, writer, b"GET / HTTP/1.1\r\n", b"X: " + b"x" * 2**14)
            return
        nonce = await attackers.nonce(reader, writer)
        headers = attackers.signed("POST", path, b"", nonce)
        if turn == 0:
            await refused(attackers, reader, writer, head("POST", path, headers, 10**12))
            return
        path, headers = (path, headers) if turn == 1 else ("/v1/nonce", {})
        chunk = b"10000\r\n" + b" " * 2**16 + b"\r\n"
        await endless(attackers, reader, writer, head("POST", path, headers, None), chunk)


async def endless(
    attackers: Attackers,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    start: bytes,
    more: bytes,
) -> None:
    """Send more and more until there is an answer, or nobody reads any more."""
    writer.write(start)
    said = asyncio.create_task(answer(reader))
    try:
        while not said.done() and time.monotonic() < attackers.end:
            writer.write(more)
            await writer.drain()
            await asyncio.sleep(0)  # the others have their turn
        attackers.seen[(await said)[0]] += 1
    finally:
        said.cancel()


async def refused(
    attackers: Attackers,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    content: bytes,
) -> None:
    """Send a request, and count what is answered."""
    attackers.seen[(await answered(reader, writer, content))[0]] += 1


async def gone(reader: asyncio.StreamReader) -> None:
    """Wait until the service closes."""
    if not await reader.read(1):
        raise ConnectionError


KINDS: dict[str, Callable[[Attackers], Awaitable[None]]] = {
    "connections without TLS": half_open,
    "half a handshake": half_handshake,
    "slow readers": slow_reader,
    "slow writers of bodies": slow_writer,
    "replays": replayer,
    "forged identities": forger,
    "strangers push batches": pusher,
    "strangers ask for keys": asker,
    "oversized bodies and heads": oversized,
}


def main() -> None:
    """Options as JSON on the command line, results as JSON on stdout."""
    attackers = Attackers(**json.loads(sys.argv[1]))
    asyncio.run(attackers.run())
    print(json.dumps({"seen": attackers.seen, "opened": attackers.opened}))


if __name__ == "__main__":
    main()
