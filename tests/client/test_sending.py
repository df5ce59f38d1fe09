"""Delivering a submission: the same bytes until they are acknowledged, or a clear no."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from krand.client import sending
from krand.client.client import Client
from krand.client.ledger import AlreadySubmitted, Ledger, Submission
from krand.client.sending import Delivered, NotDelivered, send
from krand.client.transport import Http, safe_parts
from krand.errors import InvalidInput, Unavailable
from krand.promise import Linkage, Policy
from krand.survey.questions import YesNo
from krand.survey.survey import Survey
from krand.wire.keys import generate_private_key
from plans import plan_with_noise

PLAN = "ab" * 32
SENT = Submission(bytes(range(16)), (b"first message", b"other message"))
Behaviour = Callable[[socket.socket], None]


class Collector:
    """Answers each connection as a script says, and remembers what it was sent."""

    def __init__(self, script: list[Behaviour]) -> None:
        self.script, self.heads, self.bodies = list(script), [], []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.listener.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run)

    def run(self) -> None:
        for behaviour in self.script:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(30)
                self.take(connection)
                behaviour(connection)

    def take(self, connection: socket.socket) -> None:
        received = b""
        while b"\r\n\r\n" not in received:
            received += connection.recv(65536)
        head, _, body = received.partition(b"\r\n\r\n")
        (length,) = (
            int(line.split(b":")[1])
            for line in head.split(b"\r\n")
            if line.lower().startswith(b"content-length:")
        )
        while len(body) < length:
            body += connection.recv(65536)
        self.heads.append(head)
        self.bodies.append(body)


@contextmanager
def collecting(*script: Behaviour) -> Iterator[Collector]:
    collector = Collector(list(script))
    collector.thread.start()
    try:
        yield collector
    finally:
        collector.listener.settimeout(0)  # nobody else will come
        with suppress(OSError):
            collector.listener.shutdown(socket.SHUT_RDWR)
        collector.thread.join()
        collector.listener.close()


def answer(status: int, content: bytes = b"{}", *headers: str) -> Behaviour:
    def behave(connection: socket.socket) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(content)}", *headers]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + content)

    return behave


def say(content: bytes) -> Behaviour:
    return lambda connection: connection.sendall(content)


def reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")


def hang(connection: socket.socket) -> None:
    connection.recv(1)  # until the client has had enough


STORED = answer(202, b'{"status": "accepted"}')
RETRIED = (408, 429, 500, 501, 502, 503, 504, 507, 520, 599)
TRANSIENT = {
    "nothing": say(b""),
    "reset": reset,
    "garbage": say(b"\x16\x03\x01\x00\xff\xfe kanarienvogel \r\n\r\n"),
    "no status": say(b"HTTP/1.1 ok sure\r\n\r\n"),
    "half a status": say(b"HTTP/1.1 20"),
    "a bad chunk": say(b"HTTP/1.1 202 Accepted\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
    "too many headers": say(b"HTTP/1.1 202 Accepted\r\n" + b"X: y\r\n" * 500 + b"\r\n"),
    "a long line": say(b"HTTP/1.1 202 Accepted\r\nX: " + b"y" * 70_000 + b"\r\n\r\n"),
    "slow": hang,
    **{str(status): answer(status) for status in RETRIED},
}


class Impatient(Http):
    """Over HTTP, with an end to every silence; how long it would have waited between attempts."""

    def __init__(self, timeout: float = 60.0) -> None:
        super().__init__(timeout=timeout)
        self.waited: list[float] = []

    def wait(self, seconds: float) -> None:
        self.waited.append(seconds)


def deliver(collector: Collector, attempts: int = 8, timeout: float = 60.0) -> list[float]:
    """Send it without waiting; how long it would have waited each time."""
    transport = Impatient(timeout)
    send(collector.url, PLAN, 3, SENT, attempts=attempts, transport=transport)
    return transport.waited


@pytest.mark.parametrize("trouble", TRANSIENT)
def test_after_any_trouble_the_same_bytes_are_sent_again(trouble: str) -> None:
    """Twice in trouble, then stored: three times the identical request."""
    with collecting(TRANSIENT[trouble], TRANSIENT[trouble], STORED) as collector:
        timeout = 0.3 if trouble == "slow" else 60.0
        assert len(deliver(collector, timeout=timeout)) == 2
    assert len(collector.bodies) == 3
    assert len(set(collector.bodies)) == len(set(collector.heads)) == 1
    body = b"\x01\x00\x03" + SENT.id + b"".join(SENT.messages)
    assert collector.bodies[0] == body


def test_the_status_is_the_acknowledgement() -> None:
    """It is sent when everything is stored; what comes after it may be lost."""
    half = say(b"HTTP/1.1 202 Accepted\r\nContent-Length: 50\r\n\r\n{")
    with collecting(half, STORED) as collector:
        assert deliver(collector) == []


def test_a_request_says_only_what_http_needs() -> None:
    """Where to, what kind, how long: no agent, no cookie, no language."""
    with collecting(STORED) as collector:
        assert deliver(collector) == []
    first, *lines = collector.heads[0].decode().split("\r\n")
    assert first == f"POST /v1/{PLAN}/submissions HTTP/1.1"
    assert {line.split(":")[0].lower() for line in lines} == {
        *("host", "content-type", "content-length")
    }


def test_waits_grow_and_differ() -> None:
    """Each about twice the one before, up to a minute, and not the same for everybody."""
    with collecting(*[answer(503)] * 11, STORED) as collector:
        waited = deliver(collector, attempts=12)
    for number, seconds in enumerate(waited):
        middle = min(2.0**number, 60)
        assert middle / 2 <= seconds <= middle * 3 / 2
    with collecting(answer(503), STORED) as collector:
        assert deliver(collector) != waited[:1]


@pytest.mark.parametrize(("asked", "least"), [("7", 7), ("120", 120), ("99999999", 600)])
def test_a_collector_that_asks_for_patience_gets_it(asked: str, least: float) -> None:
    """Never back before Retry-After, and a little later, each at another time; but not for ever."""
    busy = answer(503, b"{}", f"Retry-After: {asked}")
    with collecting(busy, STORED) as collector:
        (seconds,) = deliver(collector)
    assert least < seconds <= least + 1.5


@pytest.mark.parametrize("asked", ["soon", "-5", "1.5", "", "٣", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_wish_that_is_no_number_of_seconds_counts_for_nothing(asked: str) -> None:
    """Then it waits as it would have."""
    busy = answer(503, b"{}", f"Retry-After: {asked}")
    with collecting(busy, STORED) as collector:
        (seconds,) = deliver(collector)
    assert seconds <= 1.5


def test_the_wish_holds_for_one_wait_only() -> None:
    """After another kind of trouble the usual waits are back."""
    with collecting(answer(503, b"{}", "Retry-After: 50"), reset, STORED) as collector:
        first, second = deliver(collector)
    assert first > 50
    assert second <= 3


@pytest.mark.parametrize("told", [b'{"status": "known"}', b'{"status": "accepted"}', b"[]", b"?"])
@pytest.mark.parametrize("failures", [0, 1])
def test_the_caller_learns_whether_the_collector_had_it_already(told: bytes, failures: int) -> None:
    """And whether the first attempt was answered; whatever else the answer contains."""
    with collecting(*[reset] * failures, answer(202, told)) as collector:
        found = send(collector.url, PLAN, 3, SENT, transport=Impatient())
    assert found == Delivered(known=b"known" in told, at_once=not failures)


@pytest.mark.parametrize("status", [200, 204, 301, 400, 401, 403, 404, 405, 413, 415, 422, 499])
def test_what_will_not_be_better_later_is_told_at_once(status: int) -> None:
    """One attempt, and what the collector said."""
    refusal = json.dumps({"error": {"field": "plan", "rule": "must be mine"}}).encode()
    with (
        collecting(answer(status, b"" if status == 204 else refusal), STORED) as collector,
        pytest.raises(InvalidInput) as error,
    ):
        deliver(collector)
    assert len(collector.bodies) == 1
    assert error.value.field == "submission"
    assert str(error.value.value).startswith(str(status))
    if status != 204:
        assert "must be mine" in str(error.value.value)


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff\xfe", b"[]", b'{"error": 5}', b'{"error": {"rule": {}}}', b"[" * 4_000, b"null"],
)
def test_a_refusal_that_makes_no_sense_is_a_refusal(content: bytes) -> None:
    """Whatever stands in it."""
    with collecting(answer(404, content)) as collector, pytest.raises(InvalidInput):
        deliver(collector)


def test_what_a_collector_says_is_fit_to_be_shown() -> None:
    """No control characters for a terminal, and no novel."""
    rule = "\x1b[2J\x07\r\n" + "x" * 3_000
    content = json.dumps({"error": {"rule": rule}}).encode()
    with collecting(answer(404, content)) as collector, pytest.raises(InvalidInput) as error:
        deliver(collector)
    assert str(error.value.value).isprintable()
    assert len(str(error.value.value)) < 300


def test_in_the_end_it_gives_up_and_says_that_nothing_is_lost() -> None:
    """NotDelivered, with the last trouble and the exit code for trying again."""
    with collecting(*[answer(503)] * 4) as collector, pytest.raises(NotDelivered) as error:
        deliver(collector, attempts=4)
    assert len(collector.bodies) == 4
    assert isinstance(error.value, Unavailable)
    assert error.value.exit_code == 75
    for part in ("4 attempts", "503", "nothing is lost"):
        assert part in str(error.value)


def test_where_nobody_listens_it_is_not_delivered() -> None:
    """A closed port, and a name that does not exist."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    for url in (f"http://127.0.0.1:{port}", "https://collector.invalid"):
        with pytest.raises(NotDelivered):
            send(url, PLAN, 1, SENT, attempts=2, transport=Impatient())


@pytest.mark.parametrize(
    "url",
    [
        *("", "collector.example.org", "ftp://example.org", "http://", "https:///x", "http://:80"),
        *("http://example.org:port", "http://example.org:99999", "http://exa mple.org"),
        *("http://example.org/\r\nX: y", "http://example.org/é", "http://[::1", "http://a..b"),
        *("http://example.org/?q=1", "http://example.org/#top", "http://me:pass@example.org"),
        *(
            f"http://{'a' * 70}.org",
            "http://example.org",
            "http://10.0.0.1",
            "http://[2001:db8::1]",
        ),
        *("http://localhost.example.org", "http://127.0.0.1.example.org", "http://0.0.0.0"),
    ],
)
def test_an_address_that_cannot_be_right_is_refused_before_anything_is_sent(url: str) -> None:
    """Named as the field url; nothing is tried, nobody waits."""
    transport = Impatient()
    with pytest.raises(InvalidInput) as error:
        send(url, PLAN, 1, SENT, transport=transport)
    assert error.value.field == "url"
    assert not transport.waited


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.8.9.10", "[::1]", "LOCALHOST:80"])
def test_http_is_for_this_machine(host: str) -> None:
    """What never leaves it needs no encryption."""
    assert safe_parts("url", f"http://{host}/x").path == "/x"


def test_a_collector_may_live_under_a_path() -> None:
    """With or without a slash at the end."""
    for ending in ("/surveys/one", "/surveys/one/"):
        with collecting(STORED) as collector:
            send(collector.url + ending, PLAN, 1, SENT)
        assert collector.heads[0].startswith(f"POST /surveys/one/v1/{PLAN}/subm".encode())


def test_a_client_that_failed_sends_the_same_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even with other answers and from another start of the program; then never again."""
    monkeypatch.setattr(sending, "FIRST_WAIT", 0.0)
    policy = Policy(epsilon=1.0, delta=1e-3, minimum_crowd=1000)
    noisy = plan_with_noise(
        Survey(id="habits", policy=policy, questions=(YesNo(name="a"),), linkage=Linkage.BIT), 1
    )
    plan = noisy.sealed_for(generate_private_key().public_key())

    def client() -> Client:
        return Client(plan, Ledger(tmp_path / "ledger"), expected_hash=plan.hash)

    with collecting(*[answer(503)] * 8, STORED, STORED) as collector:
        with pytest.raises(NotDelivered):
            client().submit(collector.url, {"a": True})
        client().submit(collector.url, {"a": False})
        with pytest.raises(AlreadySubmitted, match="the new ones were not sent"):
            client().submit(collector.url, {"a": True})
    assert len(collector.bodies) == 9
    assert len(set(collector.bodies)) == 1
