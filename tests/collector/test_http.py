"""Over HTTP: whatever arrives is answered below 500, and only a whole submission counts."""

from __future__ import annotations

import asyncio
import json
import logging
import socket
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from collecting import OCTETS, PATH, PLAN, Served, people_in, served, spool_config, submitted, until
from components import require
from krand.collector.sqlite.spool import Spool
from krand.collector.store import MINIMUM_GROUP, StoreUnavailable
from krand.wire.submissions import Submitted

require("starlette")
require("uvicorn")

from krand.collector import connection as bounds  # noqa: E402
from krand.collector import http as pages  # noqa: E402
from krand.collector import intake as queue  # noqa: E402
from krand.collector import neighbours  # noqa: E402

HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
LAST = HEALTH.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")


@pytest.fixture(scope="module")
def collector() -> Iterator[Served]:
    with served(spool_config(10**6)) as found:
        yield found


@pytest.fixture(autouse=True)
def unchanged(request: pytest.FixtureRequest) -> Iterator[None]:
    """Whatever a test sends, only those who were acknowledged are counted."""
    yield
    if "collector" in request.fixturenames:
        running: Served = request.getfixturevalue("collector")
        assert running.people() == running.count
        assert running.ask("GET", "/readyz")[0] == 200


def error_in(content: bytes) -> dict[str, str]:
    found = json.loads(content)["error"]
    assert set(found) == {"field", "rule"}
    return {str(k): str(v) for k, v in found.items()}


def statuses(said: bytes) -> list[int]:
    """Of every answer in a stream of them."""
    parts = said.split(b"HTTP/1.1 ")[1:]
    return [int(part[:3]) for part in parts]


def test_a_submission_is_accepted_once(collector: Served) -> None:
    """202 both times, and the second time it was known."""
    status, _, content = collector.submit()
    assert (status, json.loads(content)) == (202, {"status": "accepted"})
    again = collector.ask("POST", PATH, collector.body(collector.count), OCTETS)
    assert (again[0], json.loads(again[2])) == (202, {"status": "known"})


@pytest.mark.parametrize(
    ("path", "headers", "mangle", "status", "field"),
    [
        (f"/v1/{'00' * 32}/submissions", OCTETS, lambda b: b, 404, "plan"),
        ("/v1/../submissions", OCTETS, lambda b: b, 404, "plan"),
        ("/v1/%2e%2e%2f%2e%2e/submissions", OCTETS, lambda b: b, 404, "request"),
        ("/v1/%00%ff%c3%28/submissions", OCTETS, lambda b: b, 404, "plan"),
        (f"/v1/{PLAN.upper()}/submissions", OCTETS, lambda b: b, 404, "plan"),
        (f"{PATH}/", OCTETS, lambda b: b, 404, "request"),
        (f"/{PATH}", OCTETS, lambda b: b, 404, "request"),
        ("/../../etc/passwd", OCTETS, lambda b: b, 404, "request"),
        (PATH, {}, lambda b: b, 415, "content-type"),
        (PATH, {"Content-Type": "application/json"}, lambda b: b, 415, "content-type"),
        (PATH, {"Content-Type": "\xfe\xff;;;"}, lambda b: b, 415, "content-type"),
        (PATH, OCTETS, lambda b: b"", 422, "too_short"),
        (PATH, OCTETS, lambda b: b[:18], 422, "too_short"),
        (PATH, OCTETS, lambda b: b"\x02" + b[1:], 422, "unknown_version"),
        (PATH, OCTETS, lambda b: b[:1] + b"\x00\x02" + b[3:], 422, "other_round"),
        (PATH, OCTETS, lambda b: b[:-1], 422, "wrong_length"),
        (PATH, OCTETS, lambda b: b[:-24], 422, "wrong_length"),
        (PATH, OCTETS, lambda b: b + b"\x00", 413, "body"),
        (PATH, OCTETS, lambda b: b + b[19:43], 413, "body"),
        (PATH, OCTETS, lambda b: b + b[19:], 413, "body"),
        (PATH, OCTETS, lambda b: b + 3 * b[19:], 413, "body"),
        (PATH, OCTETS, lambda b: b * 20, 413, "body"),
    ],
)
def test_what_is_wrong_is_refused_by_name(
    collector: Served,
    path: str,
    headers: dict[str, str],
    mangle: Callable[[bytes], bytes],
    status: int,
    field: str,
) -> None:
    """Wrong plan, path, type or body: the answer says what, and nothing that was sent."""
    found, _, content = collector.ask("POST", path, mangle(collector.body(7)), headers)
    assert (found, error_in(content)["field"]) == (status, field)


def test_names_of_types_have_no_case(collector: Served) -> None:
    """And may be followed by parameters."""
    collector.count += 1
    body = collector.body(collector.count)
    headers = {"Content-Type": "Application/Octet-Stream; charset=binary"}
    assert collector.ask("POST", PATH, body, headers)[0] == 202


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(collector: Served, method: str) -> None:
    """With the list of those that are allowed."""
    status, headers, _ = collector.ask(method, PATH, collector.body(7), OCTETS)
    assert (status, headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_pages_can_be_read_and_not_written(collector: Served, path: str) -> None:
    """GET and HEAD are answered, everything else refused."""
    assert collector.ask("GET", path)[0] == 200
    status, _, content = collector.ask("HEAD", path)
    assert (status, content) == (200, b"")
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert collector.ask(method, path)[0] == 405


def test_answers_name_no_server_and_no_time(collector: Served) -> None:
    """And set no cookie: a client learns nothing that could mark it."""
    for status, headers, _ in (collector.submit(), collector.ask("GET", "/healthz")):
        assert status in (200, 202)
        assert set(headers) == {"content-length", "content-type"}


def test_a_body_in_chunks_is_taken_or_refused_as_any_other(collector: Served) -> None:
    """Also without a length; one that never ends is not read to its end."""
    collector.count += 1
    body = collector.body(collector.count)
    parts = iter([body[:5], body[5:40], body[40:]])
    assert collector.ask("POST", PATH, parts, OCTETS)[0] == 202
    head = f"POST {PATH} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n".encode()
    head += b"Content-Type: application/octet-stream\r\n\r\n"
    chunk = b"400\r\n" + bytes(0x400) + b"\r\n"
    # At once: a chunk that comes after the end of a connection may take the answer away.
    said = collector.say(head + 2 * chunk, half=False)  # returns, so it was closed
    assert statuses(said) == [413]


def test_a_slow_body_is_not_waited_for(collector: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """408, and the connection is closed; nothing of it is stored."""
    monkeypatch.setattr(pages, "BODY_SECONDS", 0.05)
    body = collector.body(9)
    said = collector.say(post_head(len(body)), body[:20], half=False)
    assert statuses(said) == [408]
    assert b"connection: close" in said


def post_head(length: object, *more: str) -> bytes:
    lines = [f"POST {PATH} HTTP/1.1", "Host: x", f"Content-Length: {length}", *more]
    lines.append("Content-Type: application/octet-stream")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


@pytest.mark.check
def test_a_slow_head_is_not_waited_for(collector: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the first one of a connection nor a later one."""
    monkeypatch.setattr(bounds, "HEAD_SECONDS", 0.05)
    assert collector.say(b"POST /v1/", half=False) == b""
    assert collector.say(half=False) == b""
    assert statuses(collector.say(HEALTH + b"GET /he", half=False)) == [200]


def test_a_huge_head_is_not_read_to_its_end(collector: Served) -> None:
    """One endless line, or endless lines; a large one that ends is no problem."""
    line = b"X-Long: " + b"x" * 8_000 + b"\r\n"
    for endless in (b"X-Long: " + b"x" * 2**19, line * 50):
        said = collector.say(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + endless, half=False)
        assert statuses(said) in ([], [400])  # it may be gone before it is read
    said = collector.say(b"GET /healthz HTTP/1.1\r\nHost: x\r\n" + line * 3 + b"\r\n")
    assert statuses(said) == [200]


@pytest.mark.parametrize("cut", [1, 30, 120, -30, -1])
def test_whoever_leaves_half_way_has_sent_nothing(collector: Served, cut: int) -> None:
    """Wherever the connection ends: politely, or without a word."""
    body = collector.body(11)
    whole = post_head(len(body)) + body
    collector.say(whole[:cut])
    with collector.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        client.sendall(whole[:cut])


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
        b"\0" * 500,
        b"POST\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
        "POST /v1/é/submissions HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        post_head("-1"),
        post_head("1e3"),
        post_head("12", "Content-Length: 13") + b"x" * 13,
        post_head("12", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n",
        post_head("5").replace(b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"zz\r\n",
        b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    ],
)
def test_what_is_no_request_gets_no_more_than_a_400(collector: Served, garbage: bytes) -> None:
    """TLS, zeros, contradicting lengths, other protocols: refused, and nothing fails."""
    for status in statuses(collector.say(garbage)):
        assert 200 <= status < 500


def test_requests_in_a_row_are_answered_in_order(collector: Served) -> None:
    """Pipelined on one connection: good ones and bad ones, each its own answer."""
    bodies = [collector.body(collector.count + n) for n in (1, 2)]
    collector.count += 2
    bad = b"\x05" + bodies[0][1:]
    stream = b"".join(post_head(len(b)) + b for b in (bodies[0], bad, bodies[1], bodies[0]))
    said = collector.say(stream + LAST, half=False)
    assert statuses(said) == [202, 422, 202, 202, 200]


def test_one_connection_too_many_is_told_when_to_come_back(
    collector: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """503 with Retry-After, closed; afterwards everything is as before."""
    monkeypatch.setattr(neighbours.Neighbours, "most", 0)
    status, headers, content = collector.ask("POST", PATH, collector.body(12), OCTETS)
    assert (status, headers["retry-after"], headers["connection"]) == (503, "5", "close")
    assert error_in(content)["field"] == "collector"
    monkeypatch.undo()
    assert collector.submit()[0] == 202


def test_a_silent_connection_makes_room_for_a_new_one(
    collector: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that was served longest ago is closed; the new one and the others are served."""
    monkeypatch.setattr(neighbours.Neighbours, "most", 3)
    silent = [collector.connect() for _ in range(3)]

    def served(client: socket.socket) -> None:
        """One whole answer, which may come in parts: nothing of it is left for the next."""
        client.sendall(HEALTH)
        said = b""
        while not said.endswith(b"ok\n"):
            said += client.recv(4096)
        assert said.startswith(b"HTTP/1.1 200")

    for client in (silent[1], silent[2], silent[0]):
        served(client)
    assert collector.submit()[0] == 202
    with suppress(ConnectionResetError):
        assert silent[1].recv(4096) == b""
    for client in (silent[2], silent[0]):
        served(client)
    for client in silent:
        client.close()


def test_requests_in_a_row_take_turns(collector: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty in a row of each of two connections: all of them wait for their turns."""
    turns: list[int] = []
    usual = neighbours.Neighbours.wait_for_turn

    def wait_for_turn(self: neighbours.Neighbours, connection: bounds.BoundedConnection) -> None:
        turns.append(id(connection))
        usual(self, connection)

    monkeypatch.setattr(neighbours.Neighbours, "wait_for_turn", wait_for_turn)
    clients = [collector.connect() for _ in range(2)]
    for client in clients:
        client.sendall(HEALTH * 19 + LAST)
    for client in clients:
        said = b"".join(iter(lambda from_=client: from_.recv(65536), b""))
        assert statuses(said) == [200] * 20
        client.close()
    assert [turns.count(each) >= 9 for each in set(turns)] == [True, True]  # short ones in pairs


def test_whoever_sends_one_request_comes_before_all_who_send_several(
    collector: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even the first of several that come at once is answered before its turn."""
    monkeypatch.setattr(neighbours.Neighbours, "_set_timer", lambda *_: None)  # no turn
    with ExitStack() as stack:
        several = [stack.enter_context(collector.connect()) for _ in range(20)]
        for client in several:
            client.sendall(HEALTH * 2)
        assert collector.submit()[0] == 202
        for client in several:
            client.setblocking(False)
            with pytest.raises(BlockingIOError):  # open, and without an answer
                client.recv(1)
        monkeypatch.undo()


def test_whoever_sends_too_much_ahead_is_closed_in_turn(
    collector: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is kept or answered; others are served as before."""
    monkeypatch.setattr(neighbours, "MOST_HELD_BYTES", 100)
    assert collector.say(HEALTH * 20, half=False) == b""
    assert collector.submit()[0] == 202
    monkeypatch.undo()
    assert statuses(collector.say(HEALTH * 20)) == [200] * 20


def test_more_connections_than_usual_are_closed_one_by_one(
    collector: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that were served longest ago; the newest ones stay."""
    monkeypatch.setattr(neighbours.Neighbours, "usual", 3)
    with ExitStack() as stack:
        idle = [stack.enter_context(collector.connect()) for _ in range(8)]
        for client in idle[:5]:
            with suppress(ConnectionResetError):
                assert client.recv(1) == b""
        for client in idle[5:]:
            client.sendall(HEALTH)
            assert client.recv(12) == b"HTTP/1.1 200"


def test_many_at_once_are_all_stored(collector: Served) -> None:
    """Two hundred people in sixteen threads, each acknowledged, each counted once."""
    numbers = range(collector.count + 1, collector.count + 201)
    found: list[int] = []

    def some(part: range) -> None:
        for number in part:
            body = collector.body(number)
            found.append(collector.ask("POST", PATH, body, OCTETS)[0])

    threads = [threading.Thread(target=some, args=(numbers[k::16],)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [202] * 200
    collector.count += 200


def test_a_full_queue_is_503_with_a_time_to_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the disk is busy only so many may wait; those who waited are stored in the end."""
    monkeypatch.setattr(queue, "MOST_WAITING", 1)
    go_on = threading.Event()
    with served(spool_config(100)) as collector:
        usual, answers = collector.spool.add, []
        monkeypatch.setattr(collector.spool, "add", lambda some: (go_on.wait(60), usual(some))[1])

        def come(number: int) -> None:
            answers.append(collector.ask("POST", PATH, collector.body(number), OCTETS))

        threads = [threading.Thread(target=come, args=(n,)) for n in range(12)]
        for thread in threads:
            thread.start()
        until(lambda: len(answers) >= 9)  # one group of up to two is stored, one waits
        refused = list(answers)
        go_on.set()
        for thread in threads:
            thread.join()
        assert all((s, h["retry-after"]) == (503, "5") for s, h, _ in refused)
        assert collector.people() == sum(status == 202 for status, _, _ in answers) > 0


def test_what_cannot_be_stored_is_503_and_not_acknowledged(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, then a damaged file: nobody is told a lie; when it works again, it works."""
    with served(spool_config(100)) as collector:
        for error in (StoreUnavailable("full"), sqlite3.DatabaseError("x"), ValueError("x")):
            with monkeypatch.context() as patch:
                patch.setattr(collector.spool, "add", failing(error))
                patch.setattr(collector.spool, "batches", failing(StoreUnavailable("full")))
                for status, headers, content in (
                    collector.ask("POST", PATH, collector.body(99), OCTETS),
                    collector.ask("GET", "/readyz"),
                    collector.ask("GET", f"/v1/{PLAN}/status"),
                ):
                    assert (status, headers["retry-after"]) == (503, "5")
                    assert error_in(content)["field"] == "spool"
                assert collector.ask("GET", "/healthz")[0] == 200
        assert collector.submit()[0] == 202
        assert collector.ask("GET", "/readyz")[0] == 200
        assert collector.people() == 1


def failing(error: Exception) -> Callable[..., Any]:
    def fail(*_: object) -> None:
        raise error

    return fail


def test_a_bug_of_ours_is_logged_without_the_request(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kind, and nothing of what was sent; the answer tells no more."""
    caplog.set_level(logging.INFO)
    with served(spool_config(100)) as collector:
        monkeypatch.setattr(pages.Submissions, "checked", failing(KeyError("kanarienvogel")))
        status, _, content = collector.submit()
    assert status == 500
    assert b"kanarienvogel" not in content
    ours = [record.getMessage() for record in caplog.records if record.name == "krand.collector"]
    assert ours == ["unforeseen KeyError"]
    from krand.collector.serving import JsonLines

    for record in caplog.records:
        assert "kanarienvogel" not in JsonLines().format(record)


def test_stopping_stores_what_has_arrived(tmp_path: Path) -> None:
    """The queue is emptied before the spool is closed."""
    spool = Spool(tmp_path / "spool", spool_config(100))

    async def arrive_and_stop() -> list[bool]:
        intake = queue.Intake(spool)
        intake.start()
        waiting = [
            asyncio.create_task(intake.submit(submitted(number, spool.config.format)))
            for number in range(50)
        ]
        await asyncio.sleep(0)
        await intake.stop()
        return await asyncio.gather(*waiting)

    assert asyncio.run(arrive_and_stop()) == [True] * 50
    with Spool(tmp_path / "spool", spool_config(100)) as again:
        assert people_in(again) == 50


def test_a_submission_waits_for_others_that_hide_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever comes within the time is stored in one group; a second time, all are repeated."""
    monkeypatch.setattr(queue, "GATHER_SECONDS", 600.0)
    monkeypatch.setattr(queue, "GATHER_STEPS", 60_000)
    groups, usual = [], Spool.add

    def add(spool: Spool, group: list[Submitted]) -> list[bool]:
        groups.append(len(group))
        return usual(spool, group)

    monkeypatch.setattr(Spool, "add", add)
    spool = Spool(tmp_path / "spool", spool_config(100))
    everybody = MINIMUM_GROUP + 1

    async def arrive_twice() -> None:
        intake = queue.Intake(spool)
        intake.start()
        for new in (True, False):
            waiting = []
            for number in range(everybody):
                waiting.append(intake.enqueue(submitted(number, spool.config.format)))
                await asyncio.sleep(0)
            assert await asyncio.gather(*waiting) == [new] * everybody
        await intake.stop()

    asyncio.run(arrive_twice())
    assert groups == [everybody] * 2
