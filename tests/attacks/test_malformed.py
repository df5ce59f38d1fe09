"""Malformed requests: they must fill neither the disk nor the memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, suppress

import pytest

from attacks.under_attack import Attacked, Honest, attacked, flood

MANY = 300
MEGABYTES = 60


@pytest.fixture(scope="module")
def collector() -> Iterator[Attacked]:
    with attacked() as found:
        yield found


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00 nothing\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["noise", "version", "upgrade", "connect"],
)
def test_they_are_not_logged_one_by_one(collector: Attacked, request_bytes: bytes) -> None:
    """Hundreds of them make no more than a line or two."""
    before = len(collector.log)
    for _ in range(MANY):
        with collector.connect() as client, suppress(ConnectionError):
            client.sendall(request_bytes)
            client.recv(2**12)
    assert collector.status("/healthz") == 200
    assert len(collector.log) - before <= 2


@pytest.mark.parametrize(
    ("beginning", "rest"),
    [
        (b"GET /healthz HTTP/1.1\r\n", b"a:\r\n" * 7_000),
        (b"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"a:\r\n" * 7_000),
        (b"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\na:", b"x" * 2**20),
        (b"GET /healthz HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;", b"x" * 2**20),
    ],
    ids=["headers", "trailers", "endless-trailer", "endless-extension"],
)
def test_heads_that_grow_take_no_memory(collector: Attacked, beginning: bytes, rest: bytes) -> None:
    """Tens of thousands of headers of two bytes each, before or after a body, and endless ones."""
    before = collector.memory
    with Honest(collector) as honest, ExitStack() as stack:
        clients = [stack.enter_context(collector.connect()) for _ in range(100)]
        for client in clients:
            with suppress(ConnectionError):
                client.sendall(beginning)
        flood(clients, rest, 3.0)
    assert (honest.failure, set(honest.statuses)) == ("", {202})
    assert honest.peak - before < MEGABYTES
