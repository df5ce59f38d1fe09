"""Clients that mean harm: requests in a row, malformed ones, and slow writing and reading.

They must fill neither the disk nor the memory, and cost nobody's time.
"""

from __future__ import annotations

import resource
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from time import sleep

import pytest

from attacks.under_attack import Attacked, Flood, Honest, attacked, get, post, withstands
from collecting import until
from collector.crowds import body_of
from components import missing

MANY = 300
CONNECTIONS = 200
FILES = resource.RLIMIT_NOFILE
PATIENCE_SECONDS = FLOOD_SECONDS = 60.0
"""At most: it ends when every connection is closed."""


@pytest.fixture(scope="module")
def collector() -> Iterator[Attacked]:
    with attacked() as found:
        yield found


@pytest.fixture(scope="module")
def impatient() -> Iterator[Attacked]:
    with attacked(impatient=True) as found:
        yield found


ROWS: dict[str, tuple[Callable[[str], bytes], int]] = {
    "whole submissions, all of one person": (lambda path: post(path, body_of(10**9)) * 150, 300),
    "a page": (lambda _: get("/healthz") * 5_000, 24),
    "a page that asks the spool": (lambda _: get("/readyz") * 5_000, 24),
    "a long page": (lambda path: get(path.replace("submissions", "plan")) * 5_000, 24),
    "no page": (lambda _: get("/nowhere") * 5_000, 24),
    "the shortest requests that HTTP allows": (lambda _: b"GET / HTTP/1.1\r\n\r\n" * 10_000, 24),
    "bodies that are refused one by one": (lambda path: post(path, b"\x07" * 100) * 2_000, 24),
    "bodies for a page, which reads none": (lambda _: post("/readyz", bytes(2**18)), 200),
}
"""What is sent on each of so many connections; the first by `make test`, the others by the gate."""
BY_THE_GATE = [pytest.param(name, marks=pytest.mark.check) for name in [*ROWS][1:]]


@pytest.mark.check
@pytest.mark.parametrize("what", [next(iter(ROWS)), *BY_THE_GATE])
def test_requests_in_a_row_of_which_no_answer_is_read(what: str) -> None:
    """Thousands on each connection; an unbounded pipeline takes hundreds of megabytes."""
    content, connections = ROWS[what]
    with attacked() as fresh:
        whole = content(fresh.path)
        attack = Flood(content=whole, connections=connections, seconds=4.0, megabytes=80)
        withstands(fresh, attack)


@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00 nothing\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    ],
    ids=["noise", "version", "upgrade", "connect"],
)
def test_malformed_requests_make_few_lines_in_the_log(collector: Attacked, sent: bytes) -> None:
    """Hundreds of them make no more than a line or two."""
    before = len(collector.log)
    for _ in range(MANY):
        with collector.connect() as client, suppress(ConnectionError):
            client.sendall(sent)
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
    withstands(collector, Flood(beginning=beginning, content=rest, connections=100, seconds=3.0))


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


@pytest.mark.check
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
def test_whoever_writes_slowly_is_not_waited_for(impatient: Attacked, beginning: bytes) -> None:
    """A byte now and then, in any part of a request, does not keep a connection."""
    with impatient.connect() as client:
        client.sendall(beginning)
        assert drip(client)


def test_a_body_that_ends_after_its_answer_leaves_no_idle_connection(impatient: Attacked) -> None:
    """The answer to a page comes before the body is complete; then the client falls silent."""
    with impatient.connect() as client:
        client.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n")
        assert client.recv(15, socket.MSG_WAITALL) == b"HTTP/1.1 200 OK"
        client.sendall(b"x")
        assert is_closed(client)


def test_slow_bodies_of_submissions_are_given_up(impatient: Attacked) -> None:
    """Half a submission, then a byte now and then; meanwhile others are served."""
    body, before = body_of(10**9), impatient.memory
    with ExitStack() as stack, Honest(impatient) as honest:
        clients = [stack.enter_context(impatient.connect()) for _ in range(CONNECTIONS)]
        for client in clients:
            client.sendall(post(impatient.path, body[:20], len(body)))
        assert sum(map(is_closed, clients)) == CONNECTIONS
    honest.check(before)


@pytest.mark.check
@pytest.mark.parametrize(("path", "connections"), [("plan", 20), ("status", 3)])
def test_whoever_does_not_read_is_not_waited_for(
    impatient: Attacked, path: str, connections: int
) -> None:
    """Answers pile up with the client, then with us: the connection is ended, nobody is held up."""
    content = get(impatient.path.replace("submissions", path)) * 5_000
    attack = Flood(content=content, connections=connections, seconds=FLOOD_SECONDS, buffer=2**12)
    assert withstands(impatient, attack)[1] == connections


@pytest.mark.check
def test_more_connections_than_files_by_default(many_files: None) -> None:
    """Where a process may open 1,024 files unless it asks, 1,200 connections keep nobody out."""
    resource.setrlimit(FILES, (1_024, resource.getrlimit(FILES)[1]))
    with attacked() as collector, ExitStack() as stack:
        resource.setrlimit(FILES, (4_096, resource.getrlimit(FILES)[1]))
        for _ in range(1_200):
            stack.enter_context(collector.connect()).sendall(b"GET /heal")
        before = collector.memory
        with Honest(collector) as honest:
            until(lambda: len(honest.statuses) >= 3)
        assert not [line for line in collector.log if "out of system resource" in line]
    honest.check(before)
