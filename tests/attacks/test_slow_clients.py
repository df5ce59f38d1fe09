"""Slow clients: whoever takes too long to write or to read gives up the connection."""

from __future__ import annotations

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from time import sleep

import pytest

from attacks.under_attack import Attacked, Honest, attacked, flood, get, is_gone, post
from collecting import until
from collector.crowds import body_of
from components import missing

CONNECTIONS = 200
FILES = resource.RLIMIT_NOFILE
PATIENCE_SECONDS = FLOOD_SECONDS = 60.0
"""At most: it ends when every connection is closed."""


@pytest.fixture(scope="module")
def collector() -> Iterator[Attacked]:
    with attacked(impatient=True) as found:
        yield found


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many as this process may have; restored afterwards."""
    before = resource.getrlimit(FILES)
    if before[1] != resource.RLIM_INFINITY and before[1] < 4_096:
        missing("4,096 open files", "the limit of this machine is lower")
    yield
    resource.setrlimit(FILES, before)


def is_closed(client: socket.socket) -> bool:
    """Whether the collector ends the connection by itself, within the time of the client."""
    client.settimeout(PATIENCE_SECONDS)
    with suppress(ConnectionError):
        while True:
            try:
                if client.recv(2**16) == b"":
                    return True
            except TimeoutError:
                return False
    return True


def drip(client: socket.socket, seconds: float = PATIENCE_SECONDS) -> bool:
    """Whether the connection ends while one byte after another is sent."""
    for _ in range(int(seconds / 0.1)):
        try:
            client.send(b"x")
        except OSError:
            return True
        sleep(0.1)
    return False


@pytest.mark.parametrize(
    "beginning",
    [
        b"",
        b"GET /heal",
        get()[:-2] + b"X-Slow: ",
        get() + b"GET /heal",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX-Slow: ",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
    ids=["nothing", "line", "header", "second", "unread-body", "trailer", "upgrade"],
)
def test_whoever_writes_slowly_is_not_waited_for(collector: Attacked, beginning: bytes) -> None:
    """A byte now and then, in any part of a request, does not keep a connection."""
    with collector.connect() as client:
        client.sendall(beginning)
        assert drip(client)


def test_a_body_that_ends_after_its_answer_leaves_no_idle_connection(collector: Attacked) -> None:
    """The answer to a page comes before the body is complete; then the client falls silent."""
    with collector.connect() as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
        assert client.recv(15, socket.MSG_WAITALL) == b"HTTP/1.1 200 OK"
        client.sendall(b"x")
        assert is_closed(client)


def test_slow_bodies_of_submissions_are_given_up(collector: Attacked) -> None:
    """Half a submission, then a byte now and then; meanwhile others are served."""
    body = body_of(10**9)
    with ExitStack() as stack, Honest(collector) as honest:
        clients = [stack.enter_context(collector.connect()) for _ in range(CONNECTIONS)]
        for client in clients:
            client.sendall(post(collector.path, body[:20], len(body)))
        assert sum(map(is_closed, clients)) == CONNECTIONS
    assert (honest.failure, set(honest.statuses)) == ("", {202})


@pytest.mark.parametrize(("path", "connections"), [("/openapi.json", 20), ("/healthz", 3)])
def test_whoever_does_not_read_is_not_waited_for(
    collector: Attacked, path: str, connections: int
) -> None:
    """Answers pile up with the client, then with us: the connection is ended, nobody is held up."""
    before = collector.memory
    with ExitStack() as stack, Honest(collector) as honest:
        clients = [stack.enter_context(collector.connect(2**12)) for _ in range(connections)]
        flood(clients, get(path) * 5_000, FLOOD_SECONDS)
        ended = sum(map(is_gone, clients))
    assert ended == len(clients)
    assert (honest.failure, set(honest.statuses)) == ("", {202})
    assert honest.peak - before < 60


def test_more_connections_than_files_by_default(many_files: None) -> None:
    """Where a process may open 1,024 files unless it asks, 1,200 connections keep nobody out."""
    resource.setrlimit(FILES, (1_024, resource.getrlimit(FILES)[1]))
    with attacked() as collector, ExitStack() as stack:
        resource.setrlimit(FILES, (4_096, resource.getrlimit(FILES)[1]))
        for _ in range(1_200):
            stack.enter_context(collector.connect()).sendall(b"GET /heal")
        with Honest(collector) as honest:
            until(lambda: len(honest.statuses) >= 3)
        assert not [line for line in collector.log if "out of system resource" in line]
    assert (honest.failure, set(honest.statuses)) == ("", {202})
