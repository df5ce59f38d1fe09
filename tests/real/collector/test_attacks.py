"""A collector as people run it, under attack: honest people are served, and it says little."""

from __future__ import annotations

import http.client
import json
import os
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from chaos import PATIENCE, Program, quick_folder
from components import missing, require
from proxies import PROXIES
from rounds import ACCEPTED, OCTETS, Collector, Round

require("uvicorn")
require("starlette")

CONNECTIONS = 100
MEGABYTES = 120.0
"""More memory than before, at most; a server that reads ahead takes several hundred."""
HONEST = 40
"""People who come while it lasts, ten a second."""
SERVED, SECONDS = 0.95, 2.0
"""The part of them that must be served, and how soon: on a slow machine ten times as late as
without an attack."""


@dataclass
class Attacked:
    """A collector in a process of its own, bare or behind a proxy, and people who submit."""

    program: Program
    collector: Collector
    url: str
    """Where everybody asks."""
    numbers: Iterator[int]

    @property
    def memory(self) -> float:
        """Megabytes in memory now."""
        statm = Path(f"/proc/{self.program.process.pid}/statm").read_text(encoding="ascii")
        return int(statm.split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    def connect(self) -> socket.socket:
        """A connection on which anything can be said."""
        client = self.collector_at().connect()
        return _anybody().wrap_socket(client) if self.url.startswith("https") else client

    def collector_at(self) -> Collector:
        return Collector(self.collector.round, urlsplit(self.url).port or 0)

    def served(self, _: object) -> float:
        """How long one more honest person waits to be acknowledged; for ever if they are not."""
        body, began = self.collector.round.body(next(self.numbers)), time.monotonic()
        where = urlsplit(self.url)
        host, port = where.hostname or "", where.port
        client = http.client.HTTPConnection(host, port, timeout=PATIENCE)
        if where.scheme == "https":
            client = http.client.HTTPSConnection(host, port, timeout=PATIENCE, context=_anybody())
        with closing(client), suppress(OSError, http.client.HTTPException):
            client.request("POST", self.collector.way_in, body, OCTETS)
            if client.getresponse().status == 202:
                return time.monotonic() - began
        return float("inf")

    def come(self) -> list[float]:
        """Honest people, ten a second: how long each of them waits."""
        with ThreadPoolExecutor(HONEST) as pool:
            waits = []
            for _ in range(HONEST):
                waits.append(pool.submit(self.served, None))
                time.sleep(0.1)
            return [each.result() for each in waits]


def _anybody() -> ssl.SSLContext:
    return ssl._create_unverified_context()


@pytest.fixture(scope="module", params=["bare", "nginx"])
def attacked(request: pytest.FixtureRequest) -> Iterator[Attacked]:
    if not Path("/proc/self/statm").exists():
        missing("/proc", "the memory of another process is read from it")
    with quick_folder() as folder, ExitStack() as stack:
        study = Round.begun(folder / "round").study
        program = stack.enter_context(Program(*study.serving(), errors=folder / "log", at=study.at))
        port = program.wait_until(lambda: re.search(r":(\d+)/v1/", program.said()), "an address")[1]
        url = f"http://127.0.0.1:{port}"
        if request.param != "bare":
            url = stack.enter_context(PROXIES[request.param](int(port), folder))
        yield Attacked(program, Collector(Round(study), int(port)), url, count())


def head(collector: Collector, length: int) -> bytes:
    lines = [f"POST {collector.way_in} HTTP/1.1", "Host: x", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "Content-Type: application/octet-stream", "\r\n"]).encode()


PAGE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def good(collector: Collector, number: int) -> bytes:
    body = collector.round.body(number)
    return head(collector, len(body)) + body


ATTACKS: dict[str, Callable[[Collector], tuple[bytes, bytes]]] = {
    "slow heads": lambda _: (b"GET / HTTP/1.1\r\nX-Slow: ", b"x"),
    "slow bodies": lambda collector: (good(collector, 10**6)[:-300], b"x"),
    "submissions in a row that nobody reads": lambda collector: (
        b"",
        good(collector, 10**6) * 100,
    ),
    "bodies of ten gigabytes": lambda collector: (head(collector, 10**10), bytes(2**18)),
    "a head without end": lambda _: (PAGE[:-2], b"a:\r\n" * 5_000),
    "a body of endless pieces": lambda collector: (
        head(collector, 397)[:-2] + b"Transfer-Encoding: chunked\r\n\r\n",
        b"10000\r\n" + b"x" * 2**16 + b"\r\n",
    ),
}
"""What each of many connections begins with, and then says again and again without reading."""


def flood(
    attacked: Attacked,
    beginning: bytes,
    rest: bytes,
    begun: threading.Event,
    over: threading.Event,
) -> None:
    """Many connections at once; one that the collector ends comes again."""
    with ExitStack() as stack:
        clients: list[socket.socket | None] = [None] * CONNECTIONS
        while not over.wait(0.05):
            for place, client in enumerate(clients):
                with suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                    try:
                        if client is None:
                            client = clients[place] = stack.enter_context(attacked.connect())
                            client.sendall(beginning)
                            client.setblocking(False)
                        client.send(rest)
                    except OSError:
                        clients[place] = None
            begun.set()


@pytest.mark.parametrize("attack", ATTACKS)
def test_honest_people_are_served_while_it_is_attacked(attacked: Attacked, attack: str) -> None:
    """Nearly all of them, and soon; and its memory does not grow with what is sent."""
    usual, before = sorted(attacked.come())[HONEST // 2], attacked.memory
    begun, over = threading.Event(), threading.Event()
    parts = ATTACKS[attack](attacked.collector)
    attacker = threading.Thread(target=flood, args=(attacked, *parts, begun, over))
    attacker.start()
    try:
        assert begun.wait(PATIENCE)
        waits, most = attacked.come(), attacked.memory
    finally:
        over.set()
        attacker.join()
    limit = max(SECONDS, 10 * usual)
    in_time = sum(wait <= limit for wait in waits) / HONEST
    assert in_time >= SERVED, f"{attack}: {in_time:.0%} within {limit:.1f} s: {sorted(waits)}"
    assert most - before < MEGABYTES, f"{attack}: {before:.0f} to {most:.0f} megabytes"


def test_whoever_says_nothing_more_in_a_body_is_not_waited_for(attacked: Attacked) -> None:
    """The connection ends, and nothing is stored."""
    collector, number = attacked.collector, 10**5
    with attacked.connect() as client:
        client.settimeout(PATIENCE)
        client.sendall(good(collector, number)[:-1])
        said = b"".join(iter(lambda: client.recv(4096), b""))
    assert said == b"" or said.startswith(b"HTTP/1.1 408"), said
    assert collector.send([number]) == [ACCEPTED]


def test_its_log_tells_nothing_of_requests(attacked: Attacked) -> None:
    """After all of this some lines, of level and event alone: no address, no time, no traceback."""
    attacked.collector.ask("GET", "/kanarienvogel", headers={"User-Agent": "kanarienvogel"})
    attacked.collector.say(b"kanarienvogel\r\n\r\n")
    lines = attacked.program.errors.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 10, lines
    for line in lines:
        assert {*json.loads(line)} == {"level", "event"}, line
        assert not re.search(r"kanarien|\d+\.\d+\.\d+\.\d+(?!:\d+ )|20\d\d-|\d\d:\d\d", line), line
