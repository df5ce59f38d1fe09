"""Over HTTP: whatever arrives is answered below 500, and only a whole submission counts."""

from __future__ import annotations

import gzip
import hashlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from chaos import Clock, Fate, FlakyNetwork, no_file_grows_beyond, quick_folder, until
from components import require
from rounds import ACCEPTED, CLOSED, KNOWN, OCTETS, Answer, Collector, Round

require("starlette")
require("uvicorn")

FORM = "https://form.example"


@contextmanager
def collecting(**given: Any) -> Iterator[Collector]:
    with quick_folder() as folder, Round.begun(folder).served(**given) as found:
        yield found


@pytest.fixture(scope="module")
def collector() -> Iterator[Collector]:
    """Somebody has submitted to it; another origin than its own may ask."""
    with collecting(origins=(FORM,)) as found:
        assert found.send([0]) == [ACCEPTED]
        yield found


BOTH = {**OCTETS, "Content-Length": "397", "Transfer-Encoding": "chunked"}
"""Two lengths of one body: what is in pieces could go on for ever."""


def nothing(_: bytes) -> bytes:
    return b""


REFUSED: list[tuple[str, str, dict[str, str], Callable[[bytes], Any], tuple[int, str]]] = [
    ("POST", f"/v1/plans/{'00' * 32}/submissions", OCTETS, bytes, (404, "plan")),
    ("POST", "/v1/plans/UPPER/submissions", OCTETS, bytes, (404, "plan")),
    ("POST", "/v1/plans/../submissions", OCTETS, bytes, (404, "plan")),
    ("POST", "/v1/plans/%00%ff%c3%28/submissions", OCTETS, bytes, (404, "plan")),
    ("POST", "ROOT/submissions/", OCTETS, bytes, (404, "request")),
    ("POST", "/ROOT/submissions", OCTETS, bytes, (404, "request")),
    ("GET", "ROOT/submissions", {}, nothing, (405, "request")),
    ("GET", "ROOT/rounds/1", {}, nothing, (401, "authorization")),
    ("GET", "ROOT/rounds/1/batch", {}, nothing, (401, "authorization")),
    ("GET", "ROOT/rounds/1/link/1?nonce=00", {}, nothing, (401, "authorization")),
    ("GET", "ROOT/rounds/-1", {}, nothing, (404, "request")),
    ("GET", "ROOT/status?nonce=00", {}, nothing, (401, "authorization")),
    ("POST", "/v1/keys", {}, nothing, (401, "authorization")),
    ("POST", "/v1/keys", {}, lambda _: bytes(256_001), (413, "body")),
    ("POST", "/v1/plans", {}, lambda _: iter([b"{}"]), (411, "content-length")),
    ("POST", "/v1/plans", {"Authorization": "Krand 1 2 3"}, bytes, (401, "authorization")),
    ("GET", "FORM/about.json", {}, nothing, (404, "request")),
    ("GET", "FORM/..%2fplans.json", {}, nothing, (404, "request")),
    ("GET", "FORM/1.batch", {}, nothing, (404, "request")),
    ("GET", "FORM/plan.json", {"Range": "bytes=0-1,5-6"}, nothing, (416, "range")),
    ("GET", "/../../etc/passwd", {}, nothing, (404, "request")),
    ("POST", "ROOT/submissions", {}, bytes, (415, "content-type")),
    ("POST", "ROOT/submissions", {"Content-Type": "text/plain"}, bytes, (415, "content-type")),
    ("POST", "ROOT/submissions", {"Content-Type": "\xfe\xff;;;"}, bytes, (415, "content-type")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: b"\x02" + b[1:], (400, "submission")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: b[:1] + b"\0\2" + b[3:], (400, "submission")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: b[:1] + b"\0\0" + b[3:], (400, "submission")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: iter([b]), (411, "content-length")),
    ("POST", "ROOT/submissions", BOTH, lambda b: iter([b]), (411, "content-length")),
    ("POST", "ROOT/submissions", OCTETS, nothing, (413, "body")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: b[:18], (413, "body")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: b[:-1], (413, "body")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: b + b"\0", (413, "body")),
    ("POST", "ROOT/submissions", OCTETS, lambda b: b * 2000, (413, "body")),
    ("POST", "ROOT/invitation", OCTETS, lambda b: b[:16], (404, "invitation")),
    *(
        (method, "ROOT/submissions", OCTETS, bytes, (405, "request"))
        for method in ("PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
    ),
    *(("POST", f"ROOT{name}", OCTETS, bytes, (405, "request")) for name in ("", "/open")),
]
"""Method, path, headers, what becomes of a good body; the answer."""


def test_what_is_wrong_is_refused_by_name_and_not_repeated(collector: Collector) -> None:
    """Wrong plan, path, method, type or body: the answer names it, with nothing that was sent."""
    body = collector.round.body(0, id_of=999)
    for method, place, headers, change, expected in REFUSED:
        path = place.replace("ROOT", collector.root).replace(
            "FORM", f"/{collector.round.plan.hash}"
        )
        path = path.replace("UPPER", collector.round.plan.hash.upper())
        found = collector.ask(method, path, change(body), headers)
        case = f"{method} {path} {headers}: {found}"
        assert found.said == expected, case
        more = {"time"} if found.status == 401 else set()
        assert set(json.loads(found.content)) == {"field", "rule", *more}, case
        assert found.headers["connection"] == "close", case
        assert collector.round.id(999) not in found.content, case
    assert collector.post(body) == ACCEPTED, "nothing of it was stored before"


def test_a_submission_counts_once_however_it_comes(collector: Collector) -> None:
    """In one piece or in several, with its type in other letters; its id decides, not its bytes."""
    body = collector.round.body(1)
    parts = iter([body[:5], body[5:40], body[40:]])
    kind = {"Content-Type": "Application/Octet-Stream; charset=binary"}
    whole = {**OCTETS, "Content-Length": str(len(body))}
    assert collector.ask("POST", collector.way_in, parts, whole).said == ACCEPTED
    assert collector.ask("POST", collector.way_in, body, kind).said == KNOWN
    assert collector.post(collector.round.body(2, id_of=1)) == KNOWN
    headers = {*collector.ask("POST", collector.way_in, body, OCTETS).headers}
    assert headers <= {"content-length", "content-type", "vary"}, "no server, time or cookie"


def test_many_at_once_are_all_stored() -> None:
    """Eighty people in eight threads, one of them eight times at the same moment."""
    with collecting() as collector:
        assert collector.send(range(80), at_once=8) == [ACCEPTED] * 80
        said = collector.send([80] * 8, at_once=8)
        assert sorted(said) == [ACCEPTED, *[KNOWN] * 7]
        collector.round.close()
        collector.round.check_released(range(81))


def head(length: object, *more: str, path: str = "/v1/plans/x/submissions") -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", f"Content-Length: {length}", *more]
    lines.append("Content-Type: application/octet-stream")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


PAGE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
GARBAGE = (
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    b"\0" * 500,
    b"POST\r\n\r\n",
    b"GET / HTTP/9.9\r\n\r\n",
    b"CONNECT example.org:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    "POST /v1/plans/é/submissions HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n".encode(),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    head("-1"),
    head("1e3"),
    head("12", "Content-Length: 13") + b"x" * 13,
    head("12", "Transfer-Encoding: chunked") + b"5\r\nhello\r\n0\r\n\r\n",
    head("5").replace(b"Content-Length: 5", b"Transfer-Encoding: chunked") + b"zz\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: " + b"x" * 2**19,
    b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a: b\r\n" * 50_000,
    head(2**40) + b"x" * 2**16,
    head("9").replace(b"Content-Length: 9", b"Transfer-Encoding: chunked") + b"400\r\n" * 900,
)


def test_what_is_no_request_gets_no_more_than_a_400(collector: Collector) -> None:
    """TLS, zeros, contradicting lengths, endless heads and bodies: refused, and nothing fails."""
    for content in GARBAGE:
        statuses = [int(part[:3]) for part in collector.say(content).split(b"HTTP/1.1 ")[1:]]
        assert all(200 <= status < 500 for status in statuses), f"{content[:60]!r}: {statuses}"
    body = collector.round.body(20)
    whole = head(len(body), path=collector.way_in) + body
    for cut in (1, 30, 120, -30, -1):  # politely, and without a word
        collector.say(whole[:cut])
        with collector.connect() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.sendall(whole[:cut])
    assert collector.send([20]) == [ACCEPTED], "nothing of it was stored before"


def test_requests_in_a_row_are_answered_in_order(collector: Collector) -> None:
    """On one connection, each its own answer; a refusal is the last."""
    good, next_one = (collector.round.body(number) for number in (30, 31))
    one, two, bad, other = (
        head(len(b), path=collector.way_in) + b for b in (good, good, b"\x05" + good[1:], next_one)
    )
    said = collector.say(one + two + bad, ends=False)
    assert [part[:3] for part in said.split(b"HTTP/1.1 ")[1:]] == [b"202", b"202", b"400"]
    collector.say(bad + other, ends=False)
    assert collector.post(next_one) == ACCEPTED, "what comes behind a refusal is not read"


def test_whoever_sends_on_before_they_are_answered_is_cut_off() -> None:
    """Otherwise a client that sends ahead would fill the memory; others are served meanwhile."""
    with collecting() as collector, collector.connect() as client:
        body = collector.round.body(1)
        ahead = (head(len(body), path=collector.way_in) + body) * 50
        with pytest.raises(ConnectionError):
            client.sendall(ahead * 10_000)
        assert collector.send([1, 2]) == [KNOWN, ACCEPTED]


def test_what_clients_ask_for_is_what_the_organiser_published(collector: Collector) -> None:
    """The plan to the byte, its signatures, whether the round is open; HEAD tells the length."""
    for name in ("", "/open", "/signatures"):
        answer = collector.ask("GET", f"{collector.root}{name}")
        assert answer.status == 200
        nothing = collector.ask("HEAD", f"{collector.root}{name}")
        assert (nothing.content, nothing.headers["content-length"]) == (
            b"",
            str(len(answer.content)),
        )
        other = collector.ask("GET", f"/v1/plans/{'00' * 32}{name}")
        assert other.said == (404, "plan")
    assert collector.ask("GET", collector.root).content == collector.round.plan.bytes
    assert collector.told() == {"open": True, "round": 1}, "and no number of people"
    (listed,) = json.loads(collector.ask("GET", "/v1/plans").content)["plans"]
    assert (listed["plan"], listed["state"]) == (collector.round.plan.hash, "signed")


def test_the_form_is_served_with_its_plan(collector: Collector) -> None:
    """Whole or zipped, with what a browser is to know; a link without its last stroke leads on."""
    form = f"/{collector.round.plan.hash}"
    page = collector.ask("GET", f"{form}/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert collector.ask("GET", f"{form}/plan.json").content == collector.round.plan.bytes
    script = collector.ask("GET", f"{form}/form.js")
    zipped = collector.ask("GET", f"{form}/form.js", headers={"Accept-Encoding": "gzip"})
    assert zipped.headers["content-encoding"] == "gzip"
    assert gzip.decompress(zipped.content) == script.content
    part = collector.ask("GET", f"{form}/form.js", headers={"Range": "bytes=5-9"})
    assert (part.status, part.content) == (206, script.content[5:10])
    led = collector.ask("GET", form)
    assert (led.status, led.headers["location"]) == (307, f"{form[1:]}/")


def signed(
    key: Ed25519PrivateKey, to: str, path: str, *, method: str = "GET", at: float = 0.0
) -> dict[str, str]:
    """The header of a request, as the reference describes it; `at` seconds from now."""
    when, body = int(time.time() + at), hashlib.sha256(b"").hexdigest()
    values = {"body": body, "method": method, "path": path, "recipient": to, "time": when}
    said = b"krand request\0" + json.dumps(values, separators=(",", ":")).encode()
    public = key.public_key().public_bytes_raw().hex()
    return {"Authorization": f"Krand {public} {when} {key.sign(said).hex()}"}


def test_partners_fetch_what_is_theirs_and_sign_for_it() -> None:
    """Every party has the chain, the next one the batch, whole or in part; strangers nothing."""
    with collecting() as collector:
        assert collector.send(range(30)) == [ACCEPTED] * 30
        collector.round.close()
        own, analyst = (each.identity for each in collector.round.chain.parties)
        chain, batch = f"{collector.root}/rounds/1", f"{collector.root}/rounds/1/batch"
        files = collector.round.released()

        def get(path: str, **headers: str) -> Answer:
            return collector.ask("GET", path, headers=headers)

        for party in (own, analyst):
            said = get(chain, **signed(party.key, own.public, chain))
            assert said.content == files["1.chain"]
        whole = get(batch, **signed(analyst.key, own.public, batch))
        assert (whole.status, whole.content) == (200, files["1.batch"])
        part = get(batch, Range="bytes=100-199", **signed(analyst.key, own.public, batch))
        assert (part.status, part.content) == (206, files["1.batch"][100:200])
        rest = {"Range": f"bytes={len(files['1.batch'])}-"}
        assert get(batch, **rest, **signed(analyst.key, own.public, batch)).status == 416
        assert get(batch, **signed(own.key, own.public, batch)).said == (403, "authorization")
        other = f"{collector.root}/rounds/2"
        assert get(other, **signed(own.key, own.public, other)).said == (404, "request")
        for header in (
            signed(Ed25519PrivateKey.generate(), own.public, batch),
            signed(analyst.key, own.public, chain),
            signed(analyst.key, analyst.public, batch),
            signed(analyst.key, own.public, batch, method="POST"),
            signed(analyst.key, own.public, batch, at=-3700),
            signed(analyst.key, own.public, batch, at=3700),
        ):
            said = get(batch, **header)
            assert said.said == (401, "authorization"), header
            assert abs(json.loads(said.content)["time"] - time.time()) < 60
        assert get(batch, **signed(analyst.key, own.public, batch, at=3500)).status == 200


def preflight(origin: str) -> dict[str, str]:
    return {"Origin": origin, "Access-Control-Request-Method": "POST"}


@pytest.mark.parametrize(
    "origin",
    ["https://other.example", "null", f"{FORM}.evil", "*", f"{FORM}, injected", "injected" * 900],
)
def test_only_the_operators_origin_is_allowed(collector: Collector, origin: str) -> None:
    """Whatever the header contains, at most what the operator wrote comes back."""
    good = collector.ask("OPTIONS", collector.way_in, headers=preflight(FORM))
    assert good.headers["access-control-allow-origin"] == FORM
    asked = collector.ask(
        "POST", collector.way_in, collector.round.body(0), {"Origin": FORM, **OCTETS}
    )
    assert asked.headers["access-control-allow-origin"] == FORM
    for method, path, headers in (
        ("OPTIONS", collector.way_in, preflight(origin)),
        ("GET", f"{collector.root}/open", {"Origin": origin}),
    ):
        answer = collector.ask(method, path, headers=headers)
        assert "access-control-allow-origin" not in answer.headers, answer
        assert b"injected" not in answer.content


def test_pages_of_mixers_may_ask_and_no_others() -> None:
    """All of them serve the form, and it sends to the first one."""
    with collecting() as collector:
        for origin in (FORM, "null"):
            found = collector.ask("OPTIONS", collector.way_in, headers=preflight(origin))
            assert "access-control-allow-origin" not in found.headers, found
        where = urlsplit(collector.round.plan.mixers[0].url)
        own = f"{where.scheme}://{where.netloc}"
        found = collector.ask("OPTIONS", collector.way_in, headers=preflight(own))
        assert found.headers["access-control-allow-origin"] == own


def test_after_the_last_day_only_retries_are_answered(tmp_path: Path) -> None:
    """The day belongs to the survey to its end, in UTC."""
    closes = datetime(2099, 3, 31, tzinfo=UTC)
    round = Round.begun(tmp_path / "study", closes=closes.date())
    end = (closes + timedelta(days=1)).timestamp()
    with Clock(tmp_path, end - 1) as clock, round.served() as collector:
        assert collector.send([0]) == [ACCEPTED]
        clock.set(end)
        assert collector.send([1, 0]) == [CLOSED, KNOWN]
        until(lambda: not collector.told()["open"])


def test_a_disk_without_room_acknowledges_nobody_until_there_is_some() -> None:
    """503, with a time to come back; whoever comes again is counted once."""
    with collecting() as collector:
        before = collector.send(range(10))
        with no_file_grows_beyond(4096):
            answer = collector.ask("POST", collector.way_in, collector.round.body(10), OCTETS)
            assert (answer.said, answer.headers["retry-after"]) == ((503, "server"), "5")
            assert collector.told()["open"], "it is only late"
        assert [*before, *collector.send([10, 3, 11])] == [ACCEPTED] * 11 + [KNOWN, ACCEPTED]
        collector.round.close()
        collector.round.check_released(range(12))


def test_whoever_is_cut_off_and_comes_again_is_counted_once() -> None:
    """The connection breaks in the question, behind it, and in the answer."""
    with collecting() as collector:
        fates = [Fate(asked=50), Fate(asked=300), Fate(answered=0), Fate(answered=20)] * 3
        with FlakyNetwork(collector.port, *fates) as network:
            flaky = Collector(collector.round, network.port)
            for number, _ in enumerate(fates):
                with suppress(OSError, HTTPException, ValueError):
                    flaky.send([number])
            assert network.connections == len(fates)
            said = flaky.send(range(len(fates)))
        assert said == [ACCEPTED, ACCEPTED, KNOWN, KNOWN] * 3
        collector.round.close()
        collector.round.check_released(range(len(fates)))
