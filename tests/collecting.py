"""A collector for tests: small spools, submissions that can be told apart, servers that run."""

from __future__ import annotations

import http.client
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from components import require
from krand.collector.settings import Page, Settings
from krand.collector.sqlite.spool import Spool
from krand.collector.store import SpoolConfig, Store
from krand.promise import Linkage, Policy
from krand.survey.choices import Choices
from krand.survey.layout import layout_of
from krand.survey.plan import Plan
from krand.survey.questions import Choice
from krand.survey.survey import Survey, Together
from krand.wire.submissions import SubmissionFormat, Submitted, submission_bytes
from plans import true_plan

PLAN = "5a" * 32
PATH = f"/v1/{PLAN}/submissions"
OCTETS = {"Content-Type": "application/octet-stream"}
LENGTH = 24
KEY = X25519PrivateKey.from_private_bytes(bytes(range(32)))
"""The analyst's, the same in every process: plans carry it."""
WAIT_SECONDS = 300.0


@contextmanager
def no_file_grows_beyond(size: int) -> Iterator[None]:
    """As on a full disk, for this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def spool_config(crowd: int, messages: int = 2, length: int = LENGTH) -> SpoolConfig:
    """A spool's config without any survey behind it; a batch is sealed whenever a crowd came."""
    format = SubmissionFormat(1, length, messages)
    return SpoolConfig(plan_hash=PLAN, crowd=crowd, format=format, release_every=crowd, closings=0)


def message(number: int, copy: int, length: int = LENGTH) -> bytes:
    """One that says whose it is; no byte of it could be the 127 of an address."""
    digits = b"".join(
        bytes((0x80 | value >> 4 & 15, 0x80 | value & 15)) for value in number.to_bytes(5)
    )
    return (digits + bytes((0x80 | copy,))).ljust(length, b"\xe7")


def number_of(found: bytes) -> tuple[int, int]:
    """Whose message it is, and which of theirs."""
    pairs = zip(found[0:10:2], found[1:10:2], strict=True)
    value = bytes((high & 15) << 4 | low & 15 for high, low in pairs)
    return int.from_bytes(value), found[10] & 0x7F


def submitted(number: int, submission_format: SubmissionFormat) -> Submitted:
    """Somebody's submission."""
    own = b"".join(
        message(number, copy, submission_format.message_length)
        for copy in range(submission_format.messages)
    )
    return Submitted(number.to_bytes(16), own)


def body_of(number: int, submission_format: SubmissionFormat) -> bytes:
    """The same on its way."""
    whole = submitted(number, submission_format)
    return submission_bytes(submission_format.round, whole.id, (whole.messages,))


def released(path: Path) -> list[bytes]:
    """The messages of a batch file, in its order."""
    return [bytes(value) for value in pq.read_table(path)["message"].to_pylist()]


def people_in(store: Store) -> int:
    """How many people it counts, in all batches."""
    return sum(batch.people for batch in store.batches())


def files_in(folder: Path) -> dict[str, bytes]:
    """The content of every file by its name; none if there is no such folder."""
    if not folder.exists():
        return {}
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


@contextmanager
def quick_folder() -> Iterator[Path]:
    """In memory where there is such a place: syncing it costs nothing."""
    memory = "/dev/shm"
    place = memory if os.access(memory, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


def exact_plan(crowd: int, linkage: Linkage, copies: int = 1, side: int = 3) -> Plan:
    """Next to no noise, and a position of its own for each of side² answers (see answers_of).

    Its ε is so large that the promise is true, with up to two copies; `KEY` opens what is sealed.
    """
    if linkage is Linkage.BIT:
        questions, together = (_choice("row", side), _choice("column", side)), ("row", "column")
    else:
        questions, together = (_choice("cell", side**2),), ()
    survey = Survey(
        id="cells",
        policy=Policy(epsilon=100.0, delta=1e-6, minimum_crowd=crowd),
        questions=questions,
        together=(Together(together),) if together else (),
        linkage=linkage,
        copies=copies,
    )
    plan = true_plan(survey, (1,) * len(layout_of(survey).blocks))
    return plan.sealed_for(KEY.public_key())


def answers_of(number: int, linkage: Linkage, side: int = 3) -> dict[str, object]:
    """What the person of this number says; nobody else below side² says the same."""
    if linkage is Linkage.BIT:
        return {"row": f"n{number // side}", "column": f"n{number % side}"}
    return {"cell": f"n{number}"}


def _choice(name: str, count: int) -> Choice:
    return Choice(name=name, choices=Choices([f"n{n}" for n in range(count)]))


@contextmanager
def serving(
    store: Store, settings: Settings | None = None, pages: Mapping[str, Page] | None = None
) -> Iterator[int]:
    """The server as it is, in a thread of this process; its port."""
    require("uvicorn")
    require("starlette")
    from krand.collector.serving import listen, make_server

    listener = listen("127.0.0.1", 0)
    with in_thread(make_server(store, settings, pages=pages), listener) as port:
        yield port


@contextmanager
def in_thread(server: Any, listener: socket.socket) -> Iterator[int]:
    """A server that runs until the block ends; its port."""
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        until(lambda: server.started)
        yield listener.getsockname()[1]
    finally:
        server.should_exit = True
        thread.join()


class Answer(NamedTuple):
    """Status, headers in small letters, content."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def told(self) -> str:
        """What became of it, or the field of the error."""
        values = json.loads(self.content)
        found: str = values.get("status") or values["error"]["field"]
        return found


def asked(
    port: int, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """One request, on a connection of its own."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_SECONDS)) as client:
        client.request(method, path, body, dict(headers or {}))
        answer = client.getresponse()
        names = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, names, answer.read())


@dataclass
class Served:
    """A spool that is served from this process, and whoever asks it."""

    spool: Spool
    port: int
    count: int = 0
    """How many people have submitted."""

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request in the proper way."""
        return asked(self.port, method, path, body, headers)

    def body(self, number: int) -> bytes:
        """Somebody's submission."""
        return body_of(number, self.spool.config.format)

    def submit(self) -> Answer:
        """Somebody new."""
        self.count += 1
        return self.ask("POST", PATH, self.body(self.count), OCTETS)

    def connect(self) -> socket.socket:
        """A new connection."""
        return socket.create_connection(("127.0.0.1", self.port), WAIT_SECONDS)

    def say(self, *parts: bytes, half: bool = True) -> bytes:
        """Bytes as they are; everything that comes back until the end."""
        with self.connect() as client:
            try:
                for part in parts:
                    client.sendall(part)
                if half:
                    client.shutdown(socket.SHUT_WR)
                return b"".join(iter(lambda: client.recv(65536), b""))
            except ConnectionError:
                return b""

    def people(self) -> int:
        """How many people are stored, as another process counts them."""
        with Spool(self.spool.folder, self.spool.config) as look:
            return people_in(look)


@contextmanager
def served(
    config: SpoolConfig, settings: Settings | None = None, pages: Mapping[str, Page] | None = None
) -> Iterator[Served]:
    """A new spool, and the server as it is, in a thread of this process."""
    with quick_folder() as folder:
        spool = Spool(folder / "spool", config)
        with serving(spool, settings, pages) as port:
            yield Served(spool, port)


def until(happened: object, seconds: float = WAIT_SECONDS) -> None:
    """Wait for something that will happen; give up only long after it should have."""
    assert callable(happened)
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)


@dataclass(frozen=True, slots=True)
class Running:
    """A collector as people run it: a process of its own."""

    process: subprocess.Popen[str]
    port: int
    url: str
    log: Path


def object_told(process: subprocess.Popen[str], log: Path) -> str:
    """The JSON object that a command prints when it has started; its log, if it ends instead."""
    told = ""
    while not told.endswith("\n}\n"):
        line = process.stdout.readline()
        assert line, log.read_text(encoding="utf-8")
        told += line
    return told


@contextmanager
def running(
    plan_file: Path,
    spool: Path,
    log: Path,
    krand: Sequence[str] = ("-m", "krand"),
    options: Sequence[str] = (),
) -> Iterator[Running]:
    """`krand serve` on a free port, until the block ends; what it says goes to a file."""
    require("uvicorn")
    require("starlette")
    command = [sys.executable, *krand, "serve", "--plan", plan_file, "--spool", spool]
    told = ""
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(
            [*map(str, command), *options, "--port", "0", "--json"],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            told = object_told(process, log)
            found = json.loads(told)
            url, _, _ = found["url"].partition("/v1/")
            yield Running(process, int(url.rpartition(":")[2]), url, log)
        finally:
            process.terminate()
            rest, _ = process.communicate(timeout=WAIT_SECONDS)
    with log.open("a", encoding="utf-8") as errors:
        errors.write(told + rest)
