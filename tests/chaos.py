"""What may go wrong around a program, when a test says so: clocks, disks, networks, kills.

Nothing here knows how krand is built. Kills between two system calls are in `halting`.

    until(lambda: file.exists())              waits for something, and never for a time
    with Clock(folder) as clock: …            sets the time, in this process and in its children
    with no_file_grows_beyond(4096): …        a full disk
    with statements_below(folder) as sql: …   the files as they are before any SQL statement
    with FlakyNetwork(port) as network: …     connections that break where a test says
    with Program("run", file) as site: …      a command as people run it; it may be killed
"""

from __future__ import annotations

import datetime
import json
import os
import resource
import shlex
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar
from urllib.parse import unquote

T = TypeVar("T")

PATIENCE = 300.0
"""Seconds until a test gives up waiting: far longer than anything takes on a busy machine."""
MEMORY = Path("/dev/shm")


def until(happened: Callable[[], T], seconds: float = PATIENCE, *, what: str = "") -> T:
    """Wait until something is true, and return it; `what` names it in the failure."""
    end = time.perf_counter() + seconds
    while not (found := happened()):
        assert time.perf_counter() < end, f"it did not happen in {seconds:g} seconds: {what}"
        time.sleep(0.005)
    return found


@contextmanager
def quick_folder() -> Iterator[Path]:
    """In memory where there is such a place: syncing it costs nothing."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


# Clocks.

_DATETIME, _TIME, _STEADY = datetime.datetime, time.time, time.monotonic
_OF_CLOCK = time.clock_gettime


class _Kind(type):
    """Every date is an instance of the class that tells another time, too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, _DATETIME)


class Clock:
    """The time as a file tells it, to this process while the block runs, and to its children.

    Children are those that are started with `environment`. The wall clock stands still until a
    test sets it; the steady clock runs, and goes on by as much as time passes.
    """

    def __init__(self, folder: Path, now: float | None = None) -> None:
        self.file = folder / "clock"
        if now is not None or not self.file.exists():
            self._write(_TIME() if now is None else now, 0.0)

    def set(self, now: float) -> None:
        """So much time passes that it is now then."""
        wall, passed = self._read()
        self._write(now, passed + max(0.0, now - wall))

    def jump(self, seconds: float) -> None:
        """Somebody sets the wall clock forward, or back; no time passes."""
        wall, passed = self._read()
        self._write(wall + seconds, passed)

    def wall(self) -> float:
        """Seconds since 1970, as programs are told; clients take it as `now`."""
        return self._read()[0]

    def steady(self) -> float:
        """Seconds that nobody can set."""
        return _STEADY() + self._read()[1]

    def environment(self) -> dict[str, str]:
        """For child processes, which then start with this clock."""
        words = f"import sys; sys.path.append({str(Path(__file__).parent)!r}); import chaos\n"
        install = f"chaos.Clock(chaos.Path({str(self.file.parent)!r})).install()\n"
        self.file.with_name("sitecustomize.py").write_text(words + install, encoding="utf-8")
        paths = [str(self.file.parent), *filter(None, sys.path)]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def __enter__(self) -> Clock:
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        time.time, time.monotonic, time.clock_gettime = _TIME, _STEADY, _OF_CLOCK
        datetime.datetime = _DATETIME  # type: ignore[misc]
        for module in _modules_with(self._dates):
            module.datetime = _DATETIME

    def install(self) -> None:
        """From now on this process has this time."""
        clock = self

        class Dates(_DATETIME, metaclass=_Kind):
            @classmethod
            def now(cls, tz: datetime.tzinfo | None = None) -> Any:
                return _DATETIME.fromtimestamp(clock.wall(), tz)

        self._dates = Dates
        for module in _modules_with(_DATETIME):
            module.datetime = Dates
        datetime.datetime = Dates  # type: ignore[misc]
        time.time, time.monotonic = self.wall, self.steady
        time.clock_gettime = self._of_clock

    def _of_clock(self, number: int) -> float:
        if number == time.CLOCK_REALTIME:
            return self.wall()
        return _OF_CLOCK(number) + self._read()[1]

    def _read(self) -> tuple[float, float]:
        wall, passed = self.file.read_text(encoding="ascii").split()
        return float(wall), float(passed)

    def _write(self, wall: float, passed: float) -> None:
        new = self.file.with_suffix(".new")
        new.write_text(f"{wall!r} {passed!r}", encoding="ascii")
        new.replace(self.file)


def _modules_with(dates: type) -> list[ModuleType]:
    """krand's modules that have taken this class from `datetime`."""
    own = [module for name, module in sys.modules.items() if name.partition(".")[0] == "krand"]
    return [module for module in own if vars(module).get("datetime") is dates]


# Disks.


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """As on a full disk, for this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def files_in(folder: Path) -> dict[str, bytes]:
    """The content of every file in a folder and below, by its path there."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


class Statements:
    """The SQL statements of this process in files below a folder, in the order in which they begin.

    Before one of them a test may look at the files: whoever is killed there leaves just these.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._lock = str(folder.resolve()), threading.RLock()
        self.begin(-1, lambda: None)

    def begin(self, moment: int, look: Callable[[], object]) -> None:
        """Count anew, and look before the statement of that number, from 0."""
        with self._lock:
            self.seen: list[str] = []
            self.before: list[str] | None = None
            """Statements that had ended when the test looked."""
            self._moment, self._look = moment, look

    def end(self) -> list[str]:
        """What had run before the look, which happens now if there were fewer statements."""
        with self._lock:
            if self.before is None:
                self._take()
            found, error = self.before or [], self._error
        self.begin(-1, lambda: None)
        if error is not None:
            raise error
        return found

    def _take(self) -> None:
        self.before, self._error = [*self.seen], None
        try:
            self._look()
        except BaseException as error:  # SQLite would swallow it
            self._error: BaseException | None = error

    def _begins(self, statement: str) -> None:
        with self._lock:
            if len(self.seen) == self._moment and self.before is None:
                self._take()
            self.seen.append(statement)

    def connect(self, database: Any, *arguments: Any, **options: Any) -> sqlite3.Connection:
        """As `sqlite3.connect`."""
        connection = _CONNECT(database, *arguments, **options)
        name = unquote(os.fsdecode(database)).removeprefix("file://").partition("?")[0]
        if os.path.realpath(name).startswith(self._folder):
            connection.set_trace_callback(self._begins)
        return connection


_CONNECT = sqlite3.connect


@contextmanager
def statements_below(folder: Path) -> Iterator[Statements]:
    """Follow whatever is connected while the block runs."""
    found = Statements(folder)
    sqlite3.connect = found.connect  # type: ignore[assignment]
    try:
        yield found
    finally:
        sqlite3.connect = _CONNECT


# Networks.


@dataclass
class Fate:
    """What becomes of one connection: it is cut behind so many bytes; None is never."""

    asked: int | None = None
    """Of what the client sends."""
    answered: int | None = None
    """Of what the server sends; 0: it does everything, and the client is not told."""


class FlakyNetwork:
    """A port of this machine that leads to another one, as well as the fates of connections allow.

    The first connection has the first fate, and so on; those after the last one are sound.
    """

    def __init__(self, port: int, *fates: Fate) -> None:
        self._server, self.fates = ("127.0.0.1", port), deque(fates)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.connections = 0

    def __enter__(self) -> FlakyNetwork:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                fate = self.fates.popleft() if self.fates else Fate()
                threading.Thread(target=self._serve, args=(client, fate), daemon=True).start()

    def _serve(self, client: socket.socket, fate: Fate) -> None:
        with client, suppress(OSError), socket.create_connection(self._server) as server:
            back = threading.Thread(target=_carry, args=(server, client, fate.answered))
            back.start()
            _carry(client, server, fate.asked)
            back.join()


def _carry(source: socket.socket, target: socket.socket, left: int | None) -> None:
    with suppress(OSError):
        while data := source.recv(65_536):
            target.sendall(data if left is None else data[:left])
            if left is not None and (left := left - len(data)) <= 0:
                source.shutdown(socket.SHUT_RDWR)
                target.shutdown(socket.SHUT_RDWR)
        target.shutdown(socket.SHUT_WR)


def free_port() -> int:
    """A port of this machine on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


# Processes.


def typed(*words: object) -> list[str]:
    """The words of a command: a text is part of a line, as a shell reads it; a path is one word."""
    parts = (shlex.split(word) if isinstance(word, str) else [str(word)] for word in words)
    return [*chain(*parts)]


class Program:
    """krand in a process of its own until the block ends, and what it has said so far."""

    def __init__(
        self, *words: object, errors: Path, at: Path | None = None, clock: Clock | None = None
    ) -> None:
        """A command as a shell reads it, in a folder; `errors` is the file for its log."""
        self._words, self.errors, self._at, self._clock = typed(*words), errors, at, clock
        self.lines: list[str] = []
        self.events: list[dict[str, Any]] = []
        """The lines that are JSON objects."""

    def __enter__(self) -> Program:
        command = [sys.executable, "-m", "krand", *self._words]
        environment = None if self._clock is None else self._clock.environment()
        with self.errors.open("ab") as stream:
            self.process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=stream,
                text=True,
                env=environment,
                cwd=self._at,
            )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end()
        self._reader.join(PATIENCE)
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with suppress(ValueError):
                if isinstance(event := json.loads(line), dict):
                    self.events.append(event)
            self.lines.append(line)

    def said(self) -> str:
        """All that it has said, the log behind the output."""
        return "".join(self.lines) + self.errors.read_text(encoding="utf-8")

    def wait_until(self, happened: Callable[[], T], what: str = "") -> T:
        """Until something is true; it fails at once when the program has ended without it."""
        until(lambda: happened() or not self._reader.is_alive(), what=what)
        found = happened()
        assert found, f"the program ended without {what}: {self.said()}"
        return found

    def wait(self, event: str, since: int = 0, **values: Any) -> dict[str, Any]:
        """The first such event from this number on."""
        wanted = {"event": event, **values}.items()
        return self.wait_until(
            lambda: next((one for one in self.events[since:] if wanted <= one.items()), {}),
            f"{dict(wanted)} in {self.events[since:]}",
        )

    def end(self, how: int = signal.SIGTERM) -> int:
        """End it; its exit code."""
        self.process.send_signal(how)
        return self.process.wait(PATIENCE)


def is_alive(process: int) -> bool:
    """Whether such a process exists and is no zombie, which nobody has waited for."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False
