"""Clients of a collector that may be dead: they send the same bytes until they are told 202."""

from __future__ import annotations

import http.client
import random
import shutil
import socket
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from collecting import OCTETS, asked
from collector.crowds import SIGNER, body_of, plan_of
from collector.halting import Held, calls_noted, require_held_calls
from collector.lives import Nursery
from krand.survey.plan import Plan
from krand.wire.keys import private_key_pem

TIMEOUT = 30.0
PAUSE = 0.003


class Collector:
    """A real `krand serve` on a free port, in the nursery's hands."""

    def __init__(self, folder: Path, crowd: int, home: Nursery) -> None:
        self.plan: Plan = plan_of(crowd)
        self.spool, self.output, self.home = folder / "spool", folder / "batches", home
        self._plan_file, self._key = folder / "plan.json", folder / "collector.pem"
        self._plan_file.write_bytes(self.plan.bytes)
        self._key.write_bytes(private_key_pem(SIGNER))
        self._key.chmod(0o600)
        self.port = _free_port()

    def start(self, **options: Any) -> int:
        """Begin to serve; the number of the process."""
        serve = ["serve", *self._common(), "--port", str(self.port)]
        return self.home.start("command", arguments=serve, **options)

    def started(self, **options: Any) -> int:
        """Begin to serve, and wait until it answers."""
        number = self.start(**options)
        self.wait()
        return number

    def wait(self) -> None:
        """Until it answers."""
        until = time.monotonic() + TIMEOUT
        while time.monotonic() < until:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT)
            try:
                connection.request("GET", "/healthz")
                connection.getresponse()
                return
            except (OSError, http.client.HTTPException):
                time.sleep(PAUSE)
            finally:
                connection.close()
        raise AssertionError("the collector does not answer")

    def release(self) -> int:
        """`krand release` in a process of its own; its exit code."""
        self.begin_release()
        return self.home.wait()

    def begin_release(self, **options: Any) -> None:
        """`krand release` as a life that may be ended."""
        self.home.start("command", arguments=self.releasing, **options)

    @property
    def releasing(self) -> list[str]:
        """The words of `krand release`, which closes the round."""
        own = ["--key", str(self._key), "-o", str(self.output), "--close", "--yes"]
        return ["release", *self._common(), *own]

    def _common(self) -> list[str]:
        return ["--plan", str(self._plan_file), "--spool", str(self.spool)]


class Repeated:
    """A command again and again, each time from the same folders, with faults where it writes."""

    def __init__(
        self, home: Nursery, folder: Path, changing: Sequence[str], words: Sequence[str]
    ) -> None:
        """`changing`: what in it is put back as it is now; `words`: the command."""
        require_held_calls()
        self._home, self._folder, self._changing, self._words = home, folder, changing, [*words]
        self._full, self._note = folder.with_name("full"), folder.with_name("note")
        shutil.copytree(folder, self._full)

    def begin_again(self) -> None:
        """As it was at first."""
        for name in self._changing:
            path, kept = self._folder / name, self._full / name
            if path.is_dir():
                shutil.rmtree(path)
            if kept.is_dir():
                shutil.copytree(kept, path)
            elif kept.exists():
                shutil.copy(kept, path)

    def run(self, changed: dict[str, Any] | None = None, **faults: Any) -> int:
        """The command, with these `halting.Faults`; how it ended."""
        self._note.unlink(missing_ok=True)
        held = {"under": str(self._folder), "note": str(self._note), **faults}
        self._home.start("command", arguments=self._words, held=held, changed=changed)
        return self._home.wait()

    def calls(self) -> list[Held]:
        """What the last run has changed."""
        return calls_noted(self._note)


class Callers:
    """Some threads that submit people one after another, each until it is acknowledged."""

    def __init__(self, collector: Collector, threads: int, seed: int) -> None:
        self._collector = collector
        self._lock = threading.Lock()
        self._next, self._last = 0, 10**9
        self.acknowledged, self.repeated, self.interrupted = 0, 0, 0
        self._threads = [
            threading.Thread(target=self._run, args=(random.Random(seed + n),), daemon=True)
            for n in range(threads)
        ]
        for thread in self._threads:
            thread.start()

    def finish(self, least: int) -> int:
        """Let everybody be acknowledged, and at least so many; how many there are."""
        with self._lock:
            self._last = max(self._next, least)
        for thread in self._threads:
            thread.join(10 * TIMEOUT)
            assert not thread.is_alive()
        assert self.acknowledged == self._last
        return self._last

    def _run(self, random: random.Random) -> None:
        caller = _Caller(self._collector)
        while (number := self._take()) is not None:
            while not caller.submitted(number):
                self._count("interrupted")
            self._count("acknowledged")
            if random.random() < 0.1:  # the answer did not reach the client, say
                self._count("repeated")
                caller.submitted(random.randrange(number + 1))

    def _take(self) -> int | None:
        with self._lock:
            if self._next >= self._last:
                return None
            self._next += 1
            return self._next - 1

    def _count(self, what: str) -> None:
        with self._lock:
            setattr(self, what, getattr(self, what) + 1)


class _Caller:
    """One client, on one connection for as long as it holds."""

    def __init__(self, collector: Collector) -> None:
        self._collector = collector
        self._connection: http.client.HTTPConnection | None = None

    def submitted(self, number: int) -> bool:
        """Whether it was acknowledged; False if the connection broke after something was sent."""
        while True:
            try:
                if self._connection is None:
                    address = ("127.0.0.1", self._collector.port)
                    self._connection = http.client.HTTPConnection(*address, timeout=TIMEOUT)
                    self._connection.connect()
            except OSError:
                self._connection = None
                time.sleep(PAUSE)
                continue
            try:
                return self._sent(body_of(number))
            except (OSError, http.client.HTTPException):
                self._connection = None
                return False

    def _sent(self, body: bytes) -> bool:
        assert self._connection is not None
        self._connection.request("POST", _path(self._collector.plan), body, OCTETS)
        answer = self._connection.getresponse()
        answer.read()
        if answer.status not in (202, 503):
            raise AssertionError(answer.status)
        if answer.status == 503:
            time.sleep(PAUSE)
        return answer.status == 202


def post(collector: Collector, numbers: Sequence[int]) -> list[tuple[int, str]]:
    """Submit people one after another; status and what it says, or the field of the error."""
    answers = [
        asked(collector.port, "POST", _path(collector.plan), body_of(number), OCTETS)
        for number in numbers
    ]
    return [(answer.status, answer.told) for answer in answers]


def _path(plan: Plan) -> str:
    return f"/v1/{plan.hash}/submissions"


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])
