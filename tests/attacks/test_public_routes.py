"""Attacks on what everybody may ask for: the plan, pages, from any origin, with any invitation."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace

import pytest

from attacks.under_attack import Attacked, Flood, Honest, attacked, get, is_gone, post, withstands
from collecting import served, until
from collector.crowds import body_of, messages_of, plan_of
from components import require
from krand.collector.invitations import Invitations, digest_of
from krand.collector.opening import config_of
from krand.collector.settings import Settings
from krand.wire.submissions import submission_bytes

require("starlette")
require("uvicorn")

FORM = "https://form.example"
LONG_PAGE = """
import os, sys
sys.modules["uvloop"] = None  # it shares what is not sent yet; asyncio copies it
from krand.cli.main import main
from krand.collector import connection, http, serving
from krand.collector.settings import Page
connection.HEAD_SECONDS = connection.ANSWER_SECONDS = http.BODY_SECONDS = 1.0
usual = serving.make_server
pages = {"/long": Page(os.urandom(2_000_000), "application/octet-stream")}
serving.make_server = lambda store, settings, **_: usual(store, settings, pages=pages)
main()
"""
"""The command, with a long page that cannot be compressed, and little patience."""
READERS = 100


@pytest.fixture(scope="module")
def collector() -> Iterator[Attacked]:
    with attacked(krand=("-c", LONG_PAGE), options=("--origin", FORM)) as found:
        yield found


def preflight(path: str, origin: bytes = FORM.encode()) -> bytes:
    """What a browser sends first."""
    lines = [f"OPTIONS {path} HTTP/1.1\r\nHost: x\r\n".encode(), b"Origin: ", origin]
    return b"".join([*lines, b"\r\nAccess-Control-Request-Method: POST\r\n\r\n"])


CLOSE = b"Connection: close\r\n"


def answers(collector: Attacked, request: bytes) -> bytes:
    """Everything that comes back, until the collector ends the connection, which is asked for."""
    return asked(collector.collector.port, request)


def asked(port: int, request: bytes) -> bytes:
    """The answer to one request, which is the last of its connection."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), 60) as client:
        client.sendall(request.replace(b"Host: x\r\n", b"Host: x\r\n" + CLOSE, 1))
        with suppress(ConnectionError):
            while piece := client.recv(2**16):
                found += piece
    return found


@pytest.mark.check
def test_a_long_page_is_not_copied_for_whoever_does_not_read_it(collector: Attacked) -> None:
    """Each holds one piece of it, until the collector gives up the connection."""
    before = collector.memory
    with ExitStack() as stack, Honest(collector) as honest:
        clients = [stack.enter_context(collector.connect(2**12)) for _ in range(READERS)]
        for client in clients:
            client.sendall(get("/long"))
        until(lambda: all(map(is_gone, clients)))
    honest.check(before)


@pytest.mark.parametrize(
    "origin",
    [
        b"injected",
        b"injected" * 3_000,
        b"injected" * 6_000,
        b"https://form.example\rX-Other: injected",
        b"https://form.example\nX-Other: injected",
        b"https://form.example\x00injected",
        b"https://form.example, injected",
        b"injected\r\nOrigin: https://form.example",
        b"\xff\xfeinjected",
        b"",
    ],
    ids=["word", "24 kB", "48 kB", "CR", "LF", "NUL", "list", "two", "not text", "empty"],
)
def test_nothing_of_an_origin_comes_back(collector: Attacked, origin: bytes) -> None:
    """At most the operator's own text does, and only for exactly this text."""
    own = b"Origin: " + origin + b"\r\n\r\n"
    asked = get(collector.path.replace("submissions", "status"))[:-2] + own
    for request in (preflight(collector.path, origin)[:-2] + own, asked):
        told = answers(collector, request)
        assert told.startswith(b"HTTP/1.1 ")
        assert b"injected" not in told
        assert b"\r\nx-other" not in told.lower()
        assert b"access-control-allow-origin: " + origin not in told or not origin


def test_only_the_operators_origin_is_allowed(collector: Attacked) -> None:
    """Otherwise the test above could not fail."""
    good = answers(collector, preflight(collector.path))
    assert b"access-control-allow-origin: https://form.example\r\n" in good
    near = answers(collector, preflight(collector.path, FORM.encode() + b".evil"))
    assert b"access-control-allow-origin" not in near


@pytest.mark.check
def test_a_flood_of_preflights_holds_nobody_up(collector: Attacked) -> None:
    """From an allowed origin and from another one, as fast as they are taken, and never read."""
    both = preflight(collector.path) + preflight(collector.path, b"https://other.example")
    attack = Flood(content=both * 5_000, connections=10, seconds=3.0, buffer=2**12)
    taken, _ = withstands(collector, attack)
    assert taken > 100 * attack.connections * len(both)


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "PATCH"])
def test_other_methods_store_nothing(collector: Attacked, method: str) -> None:
    """A whole submission by another method is answered 405, on every path for clients."""
    body = body_of(10**9 + int.from_bytes(method.encode()[:2]))
    request = post(collector.path, body).replace(b"POST", method.encode(), 1)
    assert answers(collector, request).startswith(b"HTTP/1.1 405 ")
    if method != "HEAD":
        path = collector.path.replace("submissions", "plan")
        other = request.replace(collector.path.encode(), path.encode())
        assert answers(collector, other).startswith(b"HTTP/1.1 405 ")
    assert b'"accepted"' in answers(collector, post(collector.path, body))


@pytest.mark.parametrize(
    "path",
    [
        *("//", "//long", "/long/", "/%6cong", "/%2e/long", "/./long", "/x/../long", "/LONG"),
        *("/long%00", "/long%2f", "/long;x", "\\long", "/v1/../long", "/v1/%2e%2e/long"),
        *("PLAN/", "PLAN%2f", "/PLAN", "PLAN/../plan", "PLAN%00"),
    ],
)
def test_a_path_has_one_spelling(collector: Attacked, path: str) -> None:
    """Nothing is decoded, joined or redirected, so that a proxy's rules mean the same here."""
    plan = collector.path.replace("submissions", "plan")
    told = answers(collector, get(path.replace("PLAN", plan)))
    assert told.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 "))
    assert b"\r\nlocation:" not in told.lower()
    assert len(told) < 2_000


def test_guessed_invitations_are_refused_alike_on_both_ways() -> None:
    """The shortcut and the general path; nothing is stored, and the answer tells nothing."""
    open_plan = plan_of(1000)
    plan = replace(open_plan, survey=replace(open_plan.survey, invitations=True))
    key, invited = os.urandom(32), os.urandom(16)
    known = Invitations(key, frozenset({digest_of(invited, key)}), 1)
    path = f"/v1/{plan.hash}/submissions"
    with served(config_of(plan), Settings(plan=plan, invitations=known)) as collector:
        told = set()
        for name in (os.urandom(16) for _ in range(50)):
            request = post(path, submission_bytes(1, name, tuple(messages_of(1))))
            for way in (request, request.replace(b"-stream", b"-stream; a=b")):
                told.add(asked(collector.port, way))
        (answer,) = told
        assert answer.startswith(b"HTTP/1.1 403 ")
        content = json.loads(answer.partition(b"\r\n\r\n")[2])
        assert content["error"]["field"] == "invitation"
        good = post(path, submission_bytes(1, invited, tuple(messages_of(1))))
        assert asked(collector.port, good).startswith(b"HTTP/1.1 202 ")
        assert collector.people() == 1
