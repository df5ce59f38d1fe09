"""Delivering a submission: the same bytes until they are acknowledged, or a clear no."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

import krand
import steps
from krand.testing import small_plan

PLAN = steps.named(small_plan())
Behaviour = Callable[[socket.socket], object]


class Collector:
    """Answers each connection as a script says, and remembers what it was sent."""

    def __init__(self, *script: Behaviour) -> None:
        self.script, self.heads, self.bodies = script, list[bytes](), list[bytes]()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"

    def run(self) -> None:
        for behaviour in self.script:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                self.take(connection)
                behaviour(connection)

    def take(self, connection: socket.socket) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65536)
        head, _, body = received.partition(b"\r\n\r\n")
        lines = [line.lower() for line in head.split(b"\r\n")]
        (length,) = (int(line[15:]) for line in lines if line.startswith(b"content-length:"))
        while len(body) < length:
            body += connection.recv(65536)
        self.heads.append(head)
        self.bodies.append(body)


@contextmanager
def collecting(*script: Behaviour) -> Iterator[Collector]:
    collector = Collector(*script)
    thread = threading.Thread(target=collector.run)
    thread.start()
    try:
        yield collector
    finally:
        with suppress(OSError):  # nobody else will come
            collector.listener.shutdown(socket.SHUT_RDWR)
        thread.join()
        collector.listener.close()


def answer(status: int, content: bytes = b"{}", *headers: str) -> Behaviour:
    lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(content)}", *headers]
    return say("\r\n".join(lines).encode() + b"\r\n\r\n" + content)


def say(content: bytes) -> Behaviour:
    return lambda connection: connection.sendall(content)


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def hang(connection: socket.socket) -> None:
    connection.recv(1)  # until the client has had enough


BUSY, STORED = answer(503), answer(202, b'{"status": "accepted"}')
RETRIED = (408, 429, 500, 502, 504, 599)
TRANSIENT = {
    "nothing": say(b""),
    "reset": reset,
    "garbage": say(b"\x16\x03\x01\x00\xff\xfe kanarienvogel \r\n\r\n"),
    "no status": say(b"HTTP/1.1 ok sure\r\n\r\n"),
    "half a status": say(b"HTTP/1.1 20"),
    "a bad chunk": say(b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "too many headers": say(b"HTTP/1.1 202 Accepted\r\n" + b"X: y\r\n" * 500 + b"\r\n"),
    "a long line": say(b"HTTP/1.1 202 Accepted\r\nX: " + b"y" * 70_000 + b"\r\n\r\n"),
    "silence": hang,
    **{str(status): answer(status) for status in RETRIED},
}


@pytest.fixture(autouse=True)
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """No time passes between attempts; how long it would have been each time."""
    found: list[float] = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


def device(url: str = "") -> krand.Client:
    return steps.device(PLAN, url=url)


def deliver(url: str) -> int:
    return device(url).submit({"smokes": True})


@pytest.mark.parametrize("trouble", TRANSIENT)
def test_after_any_trouble_the_same_bytes_are_sent_again(
    trouble: str, waited: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice in trouble, then stored: three times the identical request."""
    connect = socket.create_connection

    def impatient(address: Any, timeout: float, *given: Any) -> socket.socket:
        return connect(address, 0.3 if trouble == "silence" else timeout, *given)

    monkeypatch.setattr(socket, "create_connection", impatient)
    with collecting(TRANSIENT[trouble], TRANSIENT[trouble], STORED) as collector:
        client = device(collector.url)
        made = client.prepare({"smokes": True})
        client.submit({})
    assert set(collector.bodies) == {b"\x01\x00\x01" + made.id + b"".join(made.messages)}
    assert (len(collector.bodies), len(set(collector.heads)), len(waited)) == (3, 1, 2)


def test_the_status_is_the_acknowledgement(waited: list[float]) -> None:
    """It is sent when everything is stored; what comes after it may be lost."""
    half = say(b"HTTP/1.1 202 Accepted\r\nContent-Length: 50\r\n\r\n{")
    for told in (half, *(answer(202, odd) for odd in (b"[]", b"?", b"\xff", b"[" * 4_000))):
        with collecting(told, STORED) as collector:
            deliver(collector.url)
        assert (waited, len(collector.bodies)) == ([], 1)


def test_a_request_says_only_what_http_needs() -> None:
    """Where to, what kind, how long: no agent, no cookie, no language; a path is kept."""
    for ending in ("", "/surveys/one", "/surveys/one/"):
        with collecting(STORED) as collector:
            deliver(collector.url + ending)
        first, *lines = collector.heads[0].decode().split("\r\n")
        assert first == f"POST {ending.rstrip('/')}/v1/plans/{PLAN.hash}/submissions HTTP/1.1"
        said = {line.split(":")[0].lower() for line in lines}
        assert said == {"host", "content-type", "content-length"}


def test_in_the_end_it_gives_up_and_says_that_nothing_is_lost(
    tmp_path: Path, waited: list[float]
) -> None:
    """Waits about double; another start of the program sends the same bytes, and then none."""

    def client() -> krand.Client:
        ledger = krand.Ledger(tmp_path / "ledger")
        return steps.device(PLAN, ledger, url=collector.url)

    with collecting(*[BUSY] * 8, STORED, STORED) as collector:
        with pytest.raises(krand.NotDelivered) as error:
            client().submit({"smokes": True})
        assert isinstance(error.value, krand.Unavailable)
        assert error.value.exit_code == 75
        for part in ("8 attempts", "503", "nothing is lost"):
            assert part in str(error.value)
        client().submit({"smokes": False})
        with pytest.raises(krand.AlreadySubmitted, match="the new ones were not sent"):
            client().submit({"smokes": True})
    assert (len(collector.bodies), len(set(collector.bodies))) == (9, 1)
    parts = [seconds / min(2.0**number, 60) for number, seconds in enumerate(waited)]
    assert (len(parts), min(parts) >= 0.5, max(parts) <= 1.5) == (7, True, True), waited
    assert len(set(parts)) > 4, "devices that failed together come back together"


WISHES = {"7": 7, "120": 120, "99999999": 600, "soon": 0, "-5": 0, "1.5": 0, "٣": 0, "": 0}


@pytest.mark.parametrize("asked", WISHES)
def test_a_collector_that_asks_for_patience_gets_it_once(asked: str, waited: list[float]) -> None:
    """Never back before Retry-After, and a little later, each at another time; not for ever."""
    busy = say(f"HTTP/1.1 503 No\r\nContent-Length: 0\r\nRetry-After: {asked}\r\n\r\n".encode())
    with collecting(busy, reset, STORED) as collector:
        deliver(collector.url)
    first, second = waited
    assert WISHES[asked] + 0.5 <= first <= WISHES[asked] + 1.5, first
    assert 1 <= second <= 3, second


RULE = "\x1b[2Jmust be mine\x07\r\n" + "x" * 3_000
SAID = json.dumps({"field": "plan", "rule": RULE}).encode()
ODD = (b"", b"\xff\xfe", b"[]", b'{"rule": 5}', b'{"rule": {}}', b"[" * 4_000)
REFUSALS = [(status, SAID) for status in (200, 301, 400, 403, 404, 413, 422, 499)]
REFUSALS += [(204, b""), *((404, content) for content in ODD)]


@pytest.mark.parametrize(("status", "said"), REFUSALS)
def test_what_will_not_be_better_later_is_told_at_once(
    status: int, said: bytes, waited: list[float]
) -> None:
    """One attempt, and what the collector said, fit to be shown; the answers are kept."""
    with collecting(answer(status, said), STORED) as collector:
        client = device(collector.url)
        with pytest.raises(krand.InvalidInput) as error:
            client.submit({})
    told = str(error.value.value)
    assert (len(collector.bodies), waited, error.value.field) == (1, [], "submission")
    assert (told.split()[0], "must be mine" in told) == (str(status), said == SAID)
    assert told.isprintable()
    assert len(told) < 300
    assert [entry.acknowledged for entry in client.ledger.entries()] == [False]


def test_where_nobody_listens_it_is_not_delivered() -> None:
    """A closed port, and a name that does not exist."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}", "https://collector.invalid"):
        with pytest.raises(krand.NotDelivered):
            deliver(url)


WRONG = ("", "collector.example.org", "ftp://example.org", "http://", "https:///x", "http://:80")
WRONG += ("http://example.org:port", "http://example.org:99999", "http://exa mple.org")
WRONG += ("http://example.org/\r\nX: y", "http://example.org/é", "http://[::1", "http://a..b")
WRONG += ("https://example.org/?q=1", "https://example.org/#top", "https://me:pass@example.org")
WRONG += (f"https://{'a' * 70}.org", "http://example.org", "http://10.0.0.1")
WRONG += ("http://[2001:db8::1]", "http://localhost.example.org", "http://0.0.0.0")


@pytest.mark.parametrize("url", WRONG)
def test_an_address_that_cannot_be_right_is_refused_before_anything_is_sent(
    url: str, waited: list[float]
) -> None:
    """Named as the field url; nothing is tried. Without TLS only this machine is addressed."""
    with pytest.raises(krand.InvalidInput) as error:
        deliver(url)
    assert (error.value.field, waited) == ("url", [])


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.8.9.10"])
def test_http_is_for_this_machine(host: str) -> None:
    """What never leaves it needs no encryption."""
    with collecting(STORED) as collector:
        port = collector.url.rpartition(":")[2]
        with suppress(krand.NotDelivered):  # where the machine has no such address
            assert deliver(f"http://{host}:{port}") == 1
