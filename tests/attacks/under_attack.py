"""A real `krand serve` under attack: its memory, its log, and whether honest people are served."""

from __future__ import annotations

import http.client
import os
import selectors
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from collecting import OCTETS, Running, asked, quick_folder, running
from collector.crowds import body_of, plan_of
from components import missing

PATIENCE_SECONDS = 60.0
MANY = 10**6
"""A crowd that is never complete here."""


@dataclass(frozen=True, slots=True)
class Attacked:
    """A collector in a process of its own, and the path of its submissions."""

    collector: Running
    path: str

    @property
    def memory(self) -> float:
        """Megabytes in memory now."""
        statm = Path(f"/proc/{self.collector.process.pid}/statm")
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    @property
    def log(self) -> list[str]:
        """The lines that it has logged."""
        return self.collector.log.read_text(encoding="utf-8").splitlines()

    def connect(self, receive_buffer: int = 0) -> socket.socket:
        """A new connection; a small buffer makes a client that does not read felt at once."""
        client = socket.socket()
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.settimeout(PATIENCE_SECONDS)
        client.connect(("127.0.0.1", self.collector.port))
        return client

    def status(self, path: str) -> int:
        """Of a page that an operator asks for."""
        return asked(self.collector.port, "GET", path).status


IMPATIENT = """
from krand.collector import connection, http
from krand.cli.main import main
connection.HEAD_SECONDS = connection.ANSWER_SECONDS = http.BODY_SECONDS = 1.0
main()
"""
"""The command, except that it waits less long for slow clients."""


@contextmanager
def attacked(
    *, impatient: bool = False, krand: Sequence[str] = (), options: Sequence[str] = ()
) -> Iterator[Attacked]:
    """A collector that has started and has served somebody."""
    if not Path("/proc/self/statm").exists():
        missing("/proc", "the memory of another process is read from it")
    plan = plan_of(MANY)
    with quick_folder() as folder:
        (folder / "plan.json").write_bytes(plan.bytes)
        files = (folder / "plan.json", folder / "spool", folder / "log")
        how = krand or (("-c", IMPATIENT) if impatient else ("-m", "krand"))
        with running(*files, how, options) as collector:
            found = Attacked(collector, f"/v1/{plan.hash}/submissions")
            assert found.status("/readyz") == 200
            yield found


def get(path: str = "/healthz") -> bytes:
    """A whole request for a page."""
    return f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode()


def post(path: str, body: bytes, length: int | None = None) -> bytes:
    """A whole submission, or the beginning of one that is longer."""
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/octet-stream"]
    lines.append(f"Content-Length: {len(body) if length is None else length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


@dataclass(slots=True)
class Honest:
    """Somebody who submits all the time, each time as a new person, and notes the answers."""

    collector: Attacked
    statuses: list[int] = field(default_factory=list)
    slowest: float = 0.0
    peak: float = 0.0
    """Megabytes of the collector, at most."""
    failure: str = ""
    _done: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Honest:
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        assert self._thread is not None
        self._thread.join()
        self.peak = max(self.peak, self.collector.memory)

    def check(self, before: float, most: float = 60.0) -> None:
        """Everybody was served, and the collector took at most so many megabytes more."""
        print(  # seen when a test fails
            f"{before:.0f} -> {self.peak:.0f} MB; slowest honest answer {self.slowest:.2f} s;"
            f" {len(self.statuses)} answers"
        )
        assert (self.failure, set(self.statuses)) == ("", {202})
        assert self.peak - before < most

    def _run(self) -> None:
        number = 0
        while not self._done.is_set():
            start = time.monotonic()
            try:
                self.statuses.append(self._submit(number))
            except (OSError, http.client.HTTPException) as error:
                self.failure = type(error).__name__
            self.slowest = max(self.slowest, time.monotonic() - start)
            self.peak = max(self.peak, self.collector.memory)
            number += 1
            self._done.wait(0.01)

    def _submit(self, number: int) -> int:
        port, path = self.collector.collector.port, self.collector.path
        return asked(port, "POST", path, body_of(number), OCTETS).status


def flood(clients: Sequence[socket.socket], content: bytes, seconds: float) -> int:
    """Write the same content on all connections, over and over, and never read; bytes taken.

    A connection that the collector has closed is left out from then on.
    """
    selector = selectors.DefaultSelector()
    places = {}
    for client in clients:
        client.setblocking(False)
        selector.register(client, selectors.EVENT_WRITE)
        places[client] = 0
    taken, end = 0, time.monotonic() + seconds
    while places and (left := end - time.monotonic()) > 0:
        for key, _ in selector.select(left):
            client = key.fileobj
            assert isinstance(client, socket.socket)
            try:
                sent = client.send(content[places[client] :])
            except BlockingIOError:
                continue
            except OSError:
                selector.unregister(client)
                del places[client]
                continue
            taken += sent
            places[client] = (places[client] + sent) % len(content)
    selector.close()
    return taken


@dataclass(frozen=True, kw_only=True)
class Flood:
    """What is written on how many connections, for how long."""

    content: bytes
    connections: int
    seconds: float
    beginning: bytes = b""
    buffer: int = 0
    megabytes: float = 60.0
    """More memory than before, at most."""


def withstands(collector: Attacked, attack: Flood) -> tuple[int, int]:
    """Memory stays within bounds and an honest client is answered, during the flood and after.

    How many bytes were taken, and how many connections were ended.
    """
    before = collector.memory
    with Honest(collector) as honest, ExitStack() as stack:
        clients = [
            stack.enter_context(collector.connect(attack.buffer)) for _ in range(attack.connections)
        ]
        for client in clients:
            with suppress(ConnectionError):
                client.sendall(attack.beginning)
        taken = flood(clients, attack.content, attack.seconds)
        ended = sum(map(is_gone, clients))
    honest.check(before, attack.megabytes)
    assert collector.status("/readyz") == 200
    return taken, ended


def is_gone(client: socket.socket) -> bool:
    """Whether the other side has ended the connection: a reset, not a full buffer."""
    client.setblocking(False)
    try:
        client.send(b"x")
    except BlockingIOError:
        return False
    except OSError:
        return True
    return False
