"""A collector as people run it, under attack: honest people are served, and it says little."""

from __future__ import annotations

import json
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

import pytest

from chaos import PATIENCE, Program, quick_folder, until
from components import missing, require
from rounds import ACCEPTED, Collector, Round

require("uvicorn")
require("starlette")

CONNECTIONS = 80
MEGABYTES = 120.0
"""More memory than before, at most; without limits each attack takes several hundred."""
HONEST = 25
"""People who must be served while it lasts."""


@dataclass
class Attacked:
    """A collector in a process of its own, and people who submit all the time."""

    program: Program
    collector: Collector
    said: list[tuple[int, str]] = field(default_factory=list)

    @property
    def memory(self) -> float:
        """Megabytes in memory now."""
        statm = Path(f"/proc/{self.program.process.pid}/statm").read_text(encoding="ascii")
        return int(statm.split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    def come(self) -> None:
        """One more honest person submits."""
        with suppress(OSError, HTTPException):
            self.said += self.collector.send([len(self.said)])


@pytest.fixture(scope="module")
def attacked() -> Iterator[Attacked]:
    if not Path("/proc/self/statm").exists():
        missing("/proc", "the memory of another process is read from it")
    with quick_folder() as folder:
        study = Round.begun(folder / "round").study
        with Program(*study.serving(), errors=folder / "log", at=study.at) as program:
            text = program.wait_until(
                lambda: re.search(r":(\d+)/v1/", program.said()), "an address"
            )
            found = Attacked(program, Collector(Round(study), int(text[1])))
            found.come()
            yield found


def head(collector: Collector, length: int) -> bytes:
    lines = [f"POST {collector.way_in} HTTP/1.1", "Host: x", f"Content-Length: {length}"]
    return "\r\n".join([*lines, "Content-Type: application/octet-stream", "\r\n"]).encode()


HEALTH = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
ATTACKS: dict[str, Callable[[Collector], tuple[bytes, bytes]]] = {
    "slow heads": lambda _: (b"GET /healthz HTTP/1.1\r\nX-Slow: ", b"x"),
    "slow bodies": lambda collector: (head(collector, 397) + b"\1", b"x"),
    "pages in a row that nobody reads": lambda _: (b"", HEALTH * 500),
    "submissions in a row that nobody reads": lambda collector: (
        b"",
        (head(collector, 397) + collector.round.body(10**6)) * 100,
    ),
    "bodies of ten gigabytes": lambda collector: (head(collector, 10**10), bytes(2**18)),
    "a head without end": lambda _: (HEALTH[:-2], b"a:\r\n" * 5_000),
    "a body of endless pieces": lambda collector: (
        head(collector, 1).replace(b"Content-Length: 1", b"Transfer-Encoding: chunked"),
        b"1;" + b"x" * 2**18,
    ),
    "no HTTP at all": lambda _: (b"\x16\x03\x01\x02\0 nothing\r\n\r\n", b"\0" * 2**12),
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
    collector = attacked.collector
    with ExitStack() as stack:
        clients: list[socket.socket | None] = [None] * CONNECTIONS
        while not over.wait(0.05):
            for place, client in enumerate(clients):
                with suppress(BlockingIOError):
                    try:
                        if client is None:
                            client = clients[place] = stack.enter_context(collector.connect())
                            client.sendall(beginning)
                            client.setblocking(False)
                        client.send(rest)
                    except ConnectionError:
                        clients[place] = None
            begun.set()


@pytest.mark.parametrize("attack", ATTACKS)
def test_honest_people_are_served_while_it_is_attacked(attacked: Attacked, attack: str) -> None:
    """And its memory does not grow with what is sent."""
    before, come = attacked.memory, len(attacked.said)
    begun, over, most = threading.Event(), threading.Event(), 0.0
    parts = ATTACKS[attack](attacked.collector)
    attacker = threading.Thread(target=flood, args=(attacked, *parts, begun, over))
    attacker.start()
    try:
        assert begun.wait(PATIENCE)
        for _ in range(HONEST):
            attacked.come()
            over.wait(0.04)
            most = max(most, attacked.memory)
    finally:
        over.set()
        attacker.join()
    assert attacked.said[come:] == [ACCEPTED] * HONEST, f"{attack}: {attacked.said[come:]}"
    assert most - before < MEGABYTES, f"{attack}: {before:.0f} to {most:.0f} megabytes"
    assert attacked.collector.ready() == 200


def test_whoever_says_nothing_more_is_not_waited_for(attacked: Attacked) -> None:
    """In a head or a body: the collector ends the connection, and nothing is stored."""
    collector = attacked.collector
    body = head(collector, 397) + collector.round.body(10**5)[:20]
    with collector.connect() as one, collector.connect() as other:
        one.settimeout(100)
        other.settimeout(100)
        one.sendall(b"GET /heal")
        other.sendall(body)
        assert b"".join(iter(lambda: one.recv(4096), b"")) == b""
        assert b"HTTP/1.1 408" in b"".join(iter(lambda: other.recv(4096), b""))
    assert collector.send([10**5]) == [ACCEPTED]


def test_its_log_tells_nothing_of_requests(attacked: Attacked) -> None:
    """After all of this some lines, of level and event alone: no address, no time, no traceback."""
    attacked.collector.ask("GET", "/kanarienvogel", headers={"User-Agent": "kanarienvogel"})
    until(lambda: attacked.collector.ready() == 200)
    lines = attacked.program.errors.read_text(encoding="utf-8").splitlines()
    assert len(lines) < 40, lines
    for line in lines:
        assert {*json.loads(line)} == {"level", "event"}, line
        assert not re.search(r"kanarien|\d+\.\d+\.\d+\.\d+(?!:\d+ )|20\d\d-|\d\d:\d\d", line), line
