"""A submission in one piece goes a shorter way than one in two: both get the same answer.

Nagle's algorithm is off: with it, the second part of every answer waits some 40 ms.
"""

from __future__ import annotations

import gc
import io
import socket
import time
import weakref
from collections.abc import Callable, Iterator

import pytest

from collecting import (
    PLAN,
    Served,
    asked,
    body_of,
    in_thread,
    quick_folder,
    served,
    serving,
    spool_config,
)
from components import require
from krand.collector.sqlite.spool import Spool
from krand.collector.store import StoreUnavailable

require("starlette")
require("uvicorn")

from krand.collector import direct  # noqa: E402
from krand.collector.connection import BoundedConnection  # noqa: E402
from krand.collector.intake import Intake  # noqa: E402
from krand.collector.serving import listen  # noqa: E402

FORMAT = spool_config(1).format
OCTETS = ("Content-Type: application/octet-stream",)
PAUSE_SECONDS = 0.03


def say(collector: Served, *parts: bytes, answers: int = 1) -> bytes:
    """Parts with a pause between them; so many answers."""
    with socket.create_connection(("127.0.0.1", collector.port), 30) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number, part in enumerate(parts):
            time.sleep(PAUSE_SECONDS if number else 0)
            client.sendall(part)
        with client.makefile("rb") as stream:
            return b"".join(_answer(stream) for _ in range(answers))


def _answer(stream: io.BufferedReader) -> bytes:
    """One answer; before it there may be a word to go on."""
    lines = list(iter(stream.readline, b"\r\n"))
    if lines[0].startswith(b"HTTP/1.1 100"):
        return _answer(stream)
    (length,) = (int(line[15:]) for line in lines if line.startswith(b"content-length:"))
    return b"".join(lines) + stream.read(length)


@pytest.fixture
def collector() -> Iterator[Served]:
    with served(spool_config(100)) as found:
        yield found


@pytest.fixture
def directly(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """The bodies that went the shorter way."""
    found: list[bytes] = []
    usual = direct.DirectConnection._take

    def take(self: direct.DirectConnection, submission: direct._Submission) -> None:
        found.append(bytes(submission.body))
        usual(self, submission)

    monkeypatch.setattr(direct.DirectConnection, "_take", take)
    return found


def head(length: int, *lines: str, version: str = "1.1") -> bytes:
    first = f"POST /v1/{PLAN}/submissions HTTP/{version}"
    whole = (first, "Host: x", f"Content-Length: {length}", *lines)
    return ("\r\n".join(whole) + "\r\n\r\n").encode()


@pytest.mark.parametrize(
    ("lines", "change", "short"),
    [
        (OCTETS, lambda body: body, True),
        ((*OCTETS, "Connection: close"), lambda body: body, True),
        (OCTETS, lambda body: body[:-1], True),
        (OCTETS, lambda body: b"\x02" + body[1:], True),
        ((*OCTETS, "Connection: close"), lambda body: b"\x02" + body[1:], True),
        (OCTETS, lambda body: body + b"x", True),
        (("Content-Type: text/plain",), lambda body: body, False),
        ((*OCTETS, "Content-Type: text/plain"), lambda body: body, False),
        (("Content-Type: text/plain", *OCTETS), lambda body: body, False),
        (("Content-Type: Application/Octet-Stream; a=b",), lambda body: body, False),
        ((*OCTETS, "Expect: 100-continue"), lambda body: body, False),
        ((), lambda body: body, False),
    ],
)
def test_both_ways_give_the_same_answer(
    collector: Served,
    directly: list[bytes],
    lines: tuple[str, ...],
    change: Callable[[bytes], bytes],
    short: bool,
) -> None:
    """Byte by byte, whether it is taken or refused."""
    for version in ("1.1", "1.0"):
        body = change(body_of(7, FORMAT))
        beginning = head(len(body), *lines, version=version)
        say(collector, beginning, body)  # whoever is stored is known from now on
        directly.clear()
        in_two = say(collector, beginning, body)
        assert directly == []
        assert say(collector, beginning + body) == in_two != b""
        assert bool(directly) == (short and version == "1.1")


def test_each_of_a_row_is_answered_in_order(collector: Served, directly: list[bytes]) -> None:
    """Whole submissions, wrong ones and pages in one piece."""
    parts = [body_of(1, FORMAT), b"\x05" * 20, body_of(2, FORMAT), body_of(1, FORMAT)]
    stream = b"".join(head(len(body), *OCTETS) + body for body in parts)
    page = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    said = say(collector, page + stream + page, answers=6)
    answers = [part[:3] for part in said.split(b"HTTP/1.1 ")[1:]]
    assert answers == [b"200", b"202", b"422", b"202", b"202", b"200"]
    assert said.count(b"accepted") == 2
    assert said.count(b'"known"') == 1
    assert collector.people() == 2


@pytest.mark.check
def test_hundreds_of_wrong_ones_in_a_row_are_refused_one_by_one(collector: Served) -> None:
    """None of them fails because of those before it."""
    wrong = head(20, *OCTETS) + b"\x05" * 20
    said = say(collector, wrong * 600, answers=600)
    assert said.count(b"HTTP/1.1 422") == 600


def test_what_cannot_be_stored_is_503(
    collector: Served, directly: list[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Told at once, or when storing it has failed."""
    body = body_of(3, FORMAT)

    def fail(*_: object) -> None:
        raise StoreUnavailable("full")

    for where, name in ((collector.spool, "add"), (Intake, "enqueue")):
        with monkeypatch.context() as patch:
            patch.setattr(where, name, fail)
            said = say(collector, head(len(body), *OCTETS) + body)
            assert said.startswith(b"HTTP/1.1 503")
            assert b"retry-after: 5\r\n" in said
    assert len(directly) == 2
    assert say(collector, head(len(body), *OCTETS) + body).startswith(b"HTTP/1.1 202")


def test_a_collector_that_stopped_is_not_kept() -> None:
    """No connection leaves behind what holds the store of a collector that is gone."""
    with quick_folder() as folder:
        spool = Spool(folder / "spool", spool_config(100))
        with serving(spool) as port:
            body = body_of(7, FORMAT)
            said = say(Served(spool, port), head(len(body), *OCTETS) + body)
            assert b"accepted" in said
        kept = weakref.ref(spool)
        del spool
        gc.collect()
        assert kept() is None


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each connection, whether it sends at once when its first bytes arrive."""
    found: list[bool] = []
    usual = BoundedConnection.data_received

    def data_received(self: BoundedConnection, data: bytes) -> None:
        accepted = self.transport.get_extra_info("socket")
        found.append(bool(accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))
        usual(self, data)

    monkeypatch.setattr(BoundedConnection, "data_received", data_received)
    return found


def test_the_collector_sends_at_once(seen: list[bool]) -> None:
    """On every connection."""
    with served(spool_config(100)) as collector:
        for _ in range(2):
            assert collector.ask("GET", "/healthz").status == 200
    assert seen == [True, True]


@pytest.mark.check
def test_the_pages_are_sent_at_once(seen: list[bool]) -> None:
    """`krand web` too."""
    from krand.web.access import Address, make_server
    from krand.web.app import make_site_app
    from krand.web.site_page import SiteState

    listener = listen("127.0.0.1", 0)
    address = Address("127.0.0.1", listener.getsockname()[1], "t" * 43)
    state = SiteState(name="here", surveys=())
    server = make_server(lambda: make_site_app(address, lambda: state))
    with in_thread(server, listener) as port:
        asked(port, "GET", "/")
    assert seen == [True]
