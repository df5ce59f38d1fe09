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
from real.processes.team import OCTETS, Team, listener_of

require("uvicorn")
require("starlette")

CONNECTIONS = 50
MEGABYTES = 120.0
"""More memory than before, at most; a server that reads ahead takes several hundred."""
HONEST = 40
"""People who come while it lasts, ten a second."""
SERVED, SECONDS = 0.95, 2.0
"""The part of them that must be served, and how soon: on a slow machine ten times as late as
without an attack."""


@dataclass
class Attacked:
    """A collector in processes of its own, bare or behind a proxy, and people who submit."""

    program: Program
    team: Team
    url: str
    """Where everybody asks."""
    numbers: Iterator[int]

    @property
    def memory(self) -> float:
        """Megabytes of worker and listener now."""
        both = (self.program.process.pid, listener_of(self.program))
        pages = (Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1] for pid in both)
        return sum(map(int, pages)) * os.sysconf("SC_PAGESIZE") / 1e6

    def connect(self) -> socket.socket:
        """A connection on which anything can be said."""
        where = urlsplit(self.url)
        client = socket.create_connection((where.hostname or "", where.port or 0), PATIENCE)
        return _anybody().wrap_socket(client) if where.scheme == "https" else client

    def sent(self, number: int) -> tuple[int, str]:
        """The status of a submission, and what became of it; 0 if there is no answer."""
        where = urlsplit(self.url)
        host, port = where.hostname or "", where.port
        client = http.client.HTTPConnection(host, port, timeout=PATIENCE)
        if where.scheme == "https":
            client = http.client.HTTPSConnection(host, port, timeout=PATIENCE, context=_anybody())
        with closing(client), suppress(OSError, http.client.HTTPException):
            client.request("POST", self.team.way_in, self.team.body(number), OCTETS)
            answer = client.getresponse()
            return answer.status, json.loads(answer.read()).get("status", "")
        return 0, ""

    def served(self, _: object) -> float:
        """How long one more honest person waits to be acknowledged; for ever if they are not."""
        began = time.monotonic()
        said = self.sent(next(self.numbers))
        return time.monotonic() - began if said == (202, "accepted") else float("inf")

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


@pytest.fixture(scope="module", params=["bare", *PROXIES])
def attacked(request: pytest.FixtureRequest) -> Iterator[Attacked]:
    if not Path("/proc/self/statm").exists():
        missing("/proc", "the memory of another process is read from it")
    with quick_folder() as folder, ExitStack() as stack:
        team = Team(folder)
        program, url = stack.enter_context(team.running()), team.url
        if request.param != "bare":
            url = stack.enter_context(PROXIES[request.param](team.port, folder))
        yield Attacked(program, team, url, count())


def head(team: Team, length: int) -> bytes:
    lines = [f"POST {team.way_in} HTTP/1.1", "Host: x", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "Content-Type: application/octet-stream", "\r\n"]).encode()


PAGE = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


def good(team: Team, number: int) -> bytes:
    body = team.body(number)
    return head(team, len(body)) + body


ATTACKS: dict[str, Callable[[Team], tuple[bytes, bytes]]] = {
    "slow heads": lambda _: (b"GET / HTTP/1.1\r\nX-Slow: ", b"x"),
    "slow bodies": lambda team: (good(team, 10**6)[:-300], b"x"),
    "submissions in a row that nobody reads": lambda team: (
        b"",
        good(team, 10**6) * 100,
    ),
    "bodies of ten gigabytes": lambda team: (head(team, 10**10), bytes(2**18)),
    "a head without end": lambda _: (PAGE[:-2], b"a:\r\n" * 5_000),
    "a body of endless pieces": lambda team: (
        head(team, 397)[:-2] + b"Transfer-Encoding: chunked\r\n\r\n",
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
    parts = ATTACKS[attack](attacked.team)
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
    with attacked.connect() as client:
        client.settimeout(PATIENCE)
        client.sendall(good(attacked.team, 10**5)[:-1])
        said = b"".join(iter(lambda: client.recv(4096), b""))
    assert b" 202 " not in said, "only that is an acknowledgement: Caddy says 200"
    assert attacked.sent(10**5) == (202, "accepted")


def test_it_says_nothing_of_requests(attacked: Attacked) -> None:
    """After all of this: no address, nothing that was sent, and few lines."""
    with attacked.connect() as client, suppress(OSError):
        client.sendall(b"GET /kanarienvogel HTTP/1.1\r\nUser-Agent: kanarienvogel\r\n\r\n")
        client.sendall(b"kanarienvogel\r\n\r\n")
        client.recv(4096)
    lines = attacked.program.said().splitlines()
    assert len(lines) < 10, lines
    assert not re.search(r"kanarien|127\.0\.0\.1(?!:\d+)|Traceback", "\n".join(lines)), lines
