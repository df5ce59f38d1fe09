"""What the collector keeps: sealed messages and how many people, nothing about whom or when."""

from __future__ import annotations

import json
import logging
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from numpy.typing import NDArray

from chaos import files_in, quick_folder
from effort import EFFORT
from rounds import Collector, Round

REQUESTS = 120 * EFFORT
MARK = "kanarienvogel"
"""In every canary: one search finds them all."""
FAMILIES = ("good", "good", "good", "good", "path", "type", "round", "long", "cut", "garbage")
ADDRESSES = tuple(f"127.{a}.{b}.{c}" for a, b, c in ((201, 77, 190), (144, 230, 167), (93, 5, 251)))
"""Where requests come from; whatever is kept of each of them is found dozens of times."""
OFTEN = REQUESTS // 12


@dataclass
class Seen:
    """Everything that the collector left behind, and when."""

    files: dict[str, bytes] = field(default_factory=dict)
    statuses: list[str] = field(default_factory=list)
    ports: set[int] = field(default_factory=set)
    began: float = 0.0
    ended: float = 0.0


def request(number: int, way_in: str, body: bytes) -> bytes:
    """One that tells who sends it wherever it can."""
    family, address = FAMILIES[number % len(FAMILIES)], ADDRESSES[number % len(ADDRESSES)]
    path = f"/v1/plans/{MARK}-path-{number}/submissions" if family == "path" else way_in
    kind = f"{MARK}/{number}" if family == "type" else "application/octet-stream"
    if family == "round":
        body = body[:1] + b"\x7e\x7e" + MARK.encode()
    elif family == "long":
        body += MARK.encode() * 200
    lines = [
        f"POST {path}?who={MARK} HTTP/1.1",
        f"Host: {MARK}.example",
        f"Content-Type: {kind}",
        f"Content-Length: {len(body)}",
        f"Cookie: session={MARK}-{number}",
        f"User-Agent: {MARK} {number}",
        f"X-Forwarded-For: {address}, {MARK}",
        f"Forwarded: for={address};by={MARK}",
        f"Authorization: Bearer {MARK}{number}",
        f"Referer: http://{address}/{MARK}",
        f"Origin: https://{MARK}.example",
    ]
    if family == "garbage":
        lines.insert(1, f"{MARK}\x01 : \x02")
    head = ("\r\n".join(lines) + "\r\n\r\n").encode()
    return head + (body[:-7] if family == "cut" else body)


def ask(number: int, collector: Collector, seen: Seen) -> None:
    source = (ADDRESSES[number % len(ADDRESSES)], 0)
    body = collector.round.body(number)
    with socket.create_connection(("127.0.0.1", collector.port), 60, source) as client:
        seen.ports.add(client.getsockname()[1])
        client.sendall(request(number, collector.way_in, body))
        if FAMILIES[number % len(FAMILIES)] == "cut":
            return
        answer = client.recv(65_536)
    assert MARK.encode() not in answer
    seen.statuses.append(answer[9:12].decode() if answer else "gone")


@pytest.fixture(scope="module")
def seen() -> Seen:
    """Everything written while many people ask, at rest, and after the release."""
    try:
        socket.create_server((ADDRESSES[0], 0)).close()
    except OSError:
        pytest.skip("this system has only one loopback address")
    found, log = Seen(began=time.time()), list[str]()
    listener = logging.Handler()
    listener.emit = lambda record: log.append(f"{record.getMessage()} {record.exc_info}")  # type: ignore[method-assign]
    own = [logging.getLogger(name) for name in ("", "uvicorn", "uvicorn.error", "krand")]
    with quick_folder() as folder, pytest.MonkeyPatch.context() as patch:
        for logger in own:
            patch.setattr(logger, "level", logging.DEBUG)
            patch.setattr(logger, "handlers", [listener])
        round = Round.begun(folder)
        before = {*files_in(folder)}

        def keep(moment: str) -> None:
            left = files_in(folder).items()
            own = ((n, c) for n, c in left if n not in before and "/public/" not in n)
            found.files |= {f"{moment}/{n}": c for n, c in own}

        with round.served() as collector, ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda n: ask(n, collector, found), range(REQUESTS)))
            found.files["status"] = collector.ask("GET", f"{collector.root}/open").content
            keep("busy")
        keep("at rest")
        found.files["told"] = json.dumps(round.close()).encode()
        found.files |= {f"released/{n}": c for n, c in round.released().items()}
        keep("released")
    found.ended = time.time()
    found.files["log"] = "\n".join(log).encode()
    return found


def test_the_requests_did_what_they_should(seen: Seen) -> None:
    """Most were taken, the others refused each in its way: there was something to keep."""
    good = sum(FAMILIES[n % len(FAMILIES)] == "good" for n in range(REQUESTS))
    assert seen.statuses.count("202") == good
    assert {*seen.statuses} >= {"202", "400", "404", "413", "415"}
    assert not any(status.startswith("5") for status in seen.statuses)
    assert json.loads(seen.files["told"])["people"] == good


def test_nothing_that_was_said_is_found_anywhere(seen: Seen) -> None:
    """No header, cookie, agent, path or query, in no file, log or answer, in no encoding."""
    mark = MARK.encode()
    for name, content in seen.files.items():
        for form in (mark, mark.hex().encode(), MARK.encode("utf-16-le"), MARK.encode("utf-16-be")):
            assert form not in content.lower(), f"{form!r} is in {name}"
        for address in ADDRESSES:
            assert address.encode() not in content, f"{address} is in {name}"


def test_no_address_is_found_as_bytes(seen: Seen) -> None:
    """Not in either order; a single place may be chance."""
    for name, content in seen.files.items():
        for address in ADDRESSES:
            packed = socket.inet_aton(address)
            for form in (packed, packed[::-1]):
                assert content.count(form) < OFTEN, f"{address} is in {name}"


def test_no_port_is_found_in_what_is_told(seen: Seen) -> None:
    for name in ("log", "told", "status"):
        text = seen.files[name].decode()
        found = [port for port in seen.ports if str(port) in text]
        assert len(found) < OFTEN, f"{found} are in {name}"


def windows(content: bytes, width: int, kind: str) -> NDArray[np.float64]:
    """The numbers that begin at each byte."""
    if len(content) < width:
        return np.zeros(0)
    view = np.lib.stride_tricks.sliding_window_view(np.frombuffer(content, np.uint8), width)
    return np.ascontiguousarray(view).reshape(-1).view(kind).astype(np.float64)


SCALES = ((1, "u4", OFTEN), *((10.0**n, "u8", 1) for n in (0, 3, 6, 9)), (1, "f8", 1))
"""Of seconds, and how often it may not be found: one in four bytes may be chance."""


def test_no_time_is_found(seen: Seen) -> None:
    """No seconds, milli-, micro- or nanoseconds, as whole number, float or text."""
    low, high = seen.began - 5, seen.ended + 5
    for name, content in seen.files.items():
        for scale, kind, often in SCALES:
            for order in "<>":
                values = windows(content, int(kind[1]), order + kind)
                with np.errstate(invalid="ignore"):
                    hits = int(((values >= low * scale) & (values <= high * scale)).sum())
                assert hits < often, f"{name} has {hits} times in {order}{kind}, times {scale:g}"
        # SQLite keeps milliseconds in six bytes.
        millis = windows(b"\0\0" + content, 8, ">u8") % 2.0**48
        hits = int(((millis >= low * 1e3) & (millis <= high * 1e3)).sum())
        assert hits < OFTEN, f"{name} has {hits} times in six bytes"
        today = time.strftime("%Y-%m-%d", time.gmtime(low)).encode()
        assert today not in content, f"the day is in {name}"
        assert str(int(low))[:7].encode() not in content, f"the hour is in {name}"
