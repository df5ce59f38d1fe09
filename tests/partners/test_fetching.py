"""How one party asks another: whatever the address leads to, it takes bounded time, and nothing
that was not signed for this question counts."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import krand
from partners.mixers import Mixer, Organiser, Request, fetching, identity, keys, requests

OWN = identity.Identity(keys.generate_signing_key())
THERE = identity.Identity(keys.generate_signing_key())
HASH = "5a" * 32
HEARD_OUT: list[str] = []
Answer = Callable[[BaseHTTPRequestHandler], None]


@contextmanager
def serving(answer: Answer) -> Iterator[fetching.Partner]:
    """A partner that answers like this on this machine, which is hurried after half a second."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    rules = fetching.Rules(local=True, seconds=0.5)
    url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield fetching.Partner(OWN, THERE.public, url, rules)
    finally:
        server.shutdown()
        server.server_close()


def says(status: int, content: bytes = b"", **headers: str) -> Answer:
    def answer(asked: BaseHTTPRequestHandler) -> None:
        asked.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            asked.send_header(name.replace("_", "-"), value)
        asked.end_headers()
        asked.wfile.write(content)

    return answer


def endless(asked: BaseHTTPRequestHandler) -> None:
    """As fast as it can, far more than anybody asked for."""
    asked.send_response(200)
    asked.end_headers()
    for _ in range(2**10):
        asked.wfile.write(bytes(2**16))
    HEARD_OUT.append(asked.path)


def slow_body(asked: BaseHTTPRequestHandler) -> None:
    """A byte now and then, so that no single read takes long."""
    asked.send_response(200)
    asked.end_headers()
    slowly(asked, b" ")


def slow_head(asked: BaseHTTPRequestHandler) -> None:
    slowly(asked, b"X")


def slowly(asked: BaseHTTPRequestHandler, part: bytes) -> None:
    """It says if it was heard to the end."""
    for _ in range(400):
        asked.wfile.write(part)
        time.sleep(0.05)
    HEARD_OUT.append(asked.path)


def cut(asked: BaseHTTPRequestHandler) -> None:
    says(200, b"{}", Content_Length="1000")(asked)


@pytest.mark.parametrize(
    "url",
    [
        "https://localhost",
        "https://127.0.0.1",
        "https://[::1]",
        "https://10.0.0.1",
        "https://169.254.169.254",
        "https://2130706433",
        "https://0x7f000001",
        "https://127.1",
        "https://server",
        "https://a.example.1",
        "http://mix.example.org",
        "https://mix.example.org:8443",
        "https://mix.example.org:22",
        "https://user@mix.example.org",
        "https://mix.example.org/?a",
        "ftp://mix.example.org",
        "file:///etc/passwd",
    ],
)
def test_hostile_addresses(url: str) -> None:
    """No link, and no plan, leads to a host's number, another port, or without TLS."""
    with pytest.raises(krand.InvalidInput):
        identity.parse_link(f"{url}#{HASH}")
    with pytest.raises(krand.Unavailable):
        fetching.Partner(OWN, THERE.public, url).chain(HASH, 1)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1"),
        *("::1", "::", "fe80::1%eth0", "fc00::1", "ff02::1", "::ffff:127.0.0.1", "2001:db8::1"),
        *("64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2001:0:1::", "::7f00:1"),
    ],
)
def test_names_that_lead_inside(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """One address among public ones is enough, and nothing is connected."""
    found = [(socket.AF_INET, 1, 6, "", (each, 443)) for each in ("8.8.8.8", address)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("connected"))
    with pytest.raises(krand.Unavailable, match="not public"):
        fetching.Partner(OWN, THERE.public, "https://mix.example.org").chain(HASH, 1)


def test_the_connection_goes_to_the_address_that_was_checked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A name that leads elsewhere the second time is asked for once."""
    names = iter(["8.8.8.8", "127.0.0.1"])
    connected: list[str] = []

    def look_up(*_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, 1, 6, "", (next(names), 443))]

    def connect(place: tuple[str, int], *_: object) -> socket.socket:
        connected.append(place[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with pytest.raises(krand.Unavailable):
        fetching.Partner(OWN, THERE.public, "https://mix.example.org").chain(HASH, 1)
    assert connected == ["8.8.8.8"]


def test_what_the_operator_wrote_may_be_anywhere() -> None:
    with serving(says(404)) as there:
        rules = fetching.Rules({THERE.public: there.url}, seconds=5)
        elsewhere = fetching.Partner(OWN, THERE.public, "https://mix.example.org", rules)
        assert elsewhere.chain(HASH, 1) is None


@pytest.mark.parametrize(
    "answer",
    [
        *(endless, slow_body, slow_head, cut),
        *(says(302, Location="http://127.0.0.1:9/"), says(500), says(204), says(200, b"[" * 9999)),
        *(says(200, b"not JSON"), says(200, b"{}"), says(403), says(200, b'{"links":[]}')),
    ],
)
def test_what_is_no_answer(answer: Answer) -> None:
    """All of it may pass, and nobody is listened to for ever."""
    HEARD_OUT.clear()
    with serving(answer) as there:
        for ask in (lambda: there.chain(HASH, 1), lambda: there.held(HASH, 1, 1)):
            with pytest.raises(krand.Unavailable):
                ask()
    assert HEARD_OUT == []


def test_a_request_is_signed_for_its_recipient_path_and_body() -> None:
    """Whoever captures it can send it again within the hour, and change nothing."""
    heard: list[tuple[str, str, bytes, str]] = []

    def listen(asked: BaseHTTPRequestHandler) -> None:
        body = asked.rfile.read(int(asked.headers.get("Content-Length", 0)))
        heard.append((asked.command, asked.path, body, asked.headers["Authorization"]))
        says(404)(asked)

    with serving(listen) as there:
        there.chain(HASH, 7)
    ((method, path, body, header),) = heard
    now = time.time()
    signed = (THERE.public, method, path, body)
    assert requests.asker(header, *signed, now) == OWN.public
    for late in (-3700, 3700):
        assert requests.asker(header, *signed, now + late) is None
    for changed in (
        (OWN.public, *signed[1:]),
        (signed[0], "POST", *signed[2:]),
        (*signed[:2], path + "?", body),
        (*signed[:3], b"{}"),
    ):
        assert requests.asker(header, *changed, now) is None
    other = header.replace(OWN.public, THERE.public)
    assert requests.asker(other, *signed, now) is None
    for broken in ("", "Krand", header.upper(), header + " ", header.replace("Krand", "Basic")):
        assert requests.asker(broken, *signed, now) is None


def test_clocks_that_differ_are_named() -> None:
    said = json.dumps({"field": "authorization", "rule": "…", "time": int(time.time()) + 9999})
    with serving(says(401, said.encode())) as there, pytest.raises(krand.Unavailable, match="hour"):
        there.chain(HASH, 1)


def test_a_batch_is_fetched_from_where_it_ended(tmp_path: Path) -> None:
    """And never beyond its size, whatever the partner sends."""
    content, asked_for = bytes(range(256)) * 100, list[str]()
    ends = [1000, 0]

    def give(asked: BaseHTTPRequestHandler) -> None:
        span = asked.headers["Range"]
        asked_for.append(span)
        first, last = map(int, span.removeprefix("bytes=").split("-"))
        part = content[first : last + 1]
        whole = {"Content-Length": str(len(part)), "Content-Range": f"{span}/{len(content)}"}
        if (cut_at := ends.pop(0)) == 0:
            return says(206, part, **whole)(asked)
        return says(206, part[:cut_at], **whole)(asked)

    part = tmp_path / "part"
    with serving(give) as there:
        with pytest.raises(krand.Unavailable):
            there.batch(HASH, 1, part, len(content))
        assert part.stat().st_size == 1000
        there.batch(HASH, 1, part, len(content))
    assert part.read_bytes() == content
    assert asked_for == [f"bytes=0-{len(content) - 1}", f"bytes=1000-{len(content) - 1}"]
    for answer in (says(200, content), says(206, content + b"x"), endless, says(404)):
        part.unlink()
        with serving(answer) as there, pytest.raises(krand.Unavailable):
            there.batch(HASH, 1, part, len(content))
        assert part.stat().st_size <= len(content)


def test_none_counts_only_if_it_is_signed_for_this_question(tmp_path: Path) -> None:
    """Whoever ends TLS, or has taken over a listener, cannot deny that a round was mixed."""
    university, asked_for = Mixer(tmp_path / "university"), list[str]()
    council = Organiser()
    plan = council.plan()

    class Held:
        def links(self) -> dict[int, Any]:
            return {}

    university.plans[plan.hash] = plan
    university.worker.rounds[plan.hash, 1] = Held()
    forged: list[Callable[[dict[str, Any]], dict[str, Any]]] = []

    def answer(asked: BaseHTTPRequestHandler) -> None:
        path = asked.path
        asked_for.append(path)
        kept = Request("GET", path, by=council.identity)
        status, values = university.asked(kept)
        for forge in forged:
            values = forge(values)
        says(status, json.dumps(values).encode())(asked)

    with serving(answer) as there:
        partner = fetching.Partner(
            council.identity, university.identity.public, there.url, there.rules
        )
        assert partner.held(plan.hash, 1, 1) is None
        first = university.asked(Request("GET", asked_for[0], by=council.identity))
        for forge in (
            lambda _: first[1],
            lambda said: said | {"signature": "00" * 64},
            lambda said: said | {"place": 2},
            lambda said: said | {"signature": first[1]["signature"]},
            lambda said: {"link": None, "nonce": said["nonce"]},
        ):
            forged[:] = [forge]
            with pytest.raises(krand.Unavailable):
                partner.held(plan.hash, 1, 1)
    stranger = Request("GET", asked_for[0], by=Organiser().identity)
    assert university.asked(stranger)[0] == 404
