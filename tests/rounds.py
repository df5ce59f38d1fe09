"""One round at a collector, as others touch it: by HTTP, by commands, by its files.

What people send has random bytes where sealed messages would be. A collector cannot tell, and a
test finds each of them again: in its folder, and in what it releases.
"""

from __future__ import annotations

import copy
import hashlib
import http.client
import json
import shutil
import signal
import socket
import threading
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import krand
import steps
import world
from chaos import PATIENCE, files_in, until
from command_line import refused, told

# Without a process: `krand.run_collector` has no invitations, origins, signatures or last day.
from krand.collector import intake, invitations, serving, spool
from krand.testing import FakeCollector

OCTETS = {"Content-Type": "application/octet-stream"}
HEAD = 1 + 2 + 16
"""A submission begins with version, round and id; the rest are messages of one length."""


class Recorder(FakeCollector):
    """Keeps what a device sends."""

    body = b""

    def post(self, url: str, body: bytes) -> Any:
        self.body = body
        return super().post(url, body)


class Answer(NamedTuple):
    """Status, headers in small letters, content."""

    status: int
    headers: dict[str, str]
    content: bytes

    @property
    def said(self) -> tuple[int, str]:
        """The status, and what became of it or the field of the error."""
        values = json.loads(self.content)
        return self.status, values.get("status") or values["field"]


ACCEPTED, KNOWN, CLOSED = (202, "accepted"), (202, "known"), (410, "round")


class Round:
    """The round of a study, and what people send to it."""

    def __init__(self, study: steps.Study) -> None:
        self.study, self.plan = study, study.plan
        self.spool, self.out = study.spool(), study.leaving()
        self.root = f"/v1/plans/{self.plan.hash}"
        self.way_in = f"{self.root}/submissions"

    @classmethod
    def begun(cls, folder: Path, survey: str = "tiny", **changes: Any) -> Round:
        """A new one in a folder; all have the same plan and keys, which are made once.

        `changes` of the survey make another plan.
        """
        if changes:
            return cls(steps.published(folder, survey, **changes))
        kept = world.once(f"published-{survey}", lambda at: steps.published(at, survey) and None)
        return cls(steps.Study(shutil.copytree(kept, folder, dirs_exist_ok=True)))

    def copied(self, folder: Path) -> Round:
        """The same as it is now, in another folder."""
        other = copy.copy(self)
        other.study = steps.Study(shutil.copytree(self.study.at, folder))
        other.spool, other.out = other.study.spool(), other.study.leaving()
        return other

    def sent(self, **invitation: str) -> bytes:
        """What a new device sends, in earnest."""
        device = Recorder(self.plan)
        self.study.client(url=device.url, transport=device).submit({}, **invitation)
        return device.body

    @cached_property
    def _sample(self) -> bytes:
        return self.sent()

    def body(self, number: int, id_of: int | None = None) -> bytes:
        """What the person of this number sends, the same each time; under somebody's id."""
        return self._sample[:3] + self.id(number if id_of is None else id_of) + self._sent(number)

    def id(self, number: int) -> bytes:
        return hashlib.shake_256(b"id %d" % number).digest(HEAD - 3)

    def _sent(self, number: int) -> bytes:
        return hashlib.shake_256(b"sent %d" % number).digest(len(self._sample) - HEAD)

    def messages(self, number: int) -> list[bytes]:
        """The messages of a person; nobody else has any of them."""
        content = self._sent(number)
        length = len(content) // self.plan.messages
        return [content[at : at + length] for at in range(0, len(content), length)]

    @contextmanager
    def served(self, **given: Any) -> Iterator[Collector]:
        """The collector, in a thread of this process; `given` are options of the command."""
        invited = given.pop("invitations", None)
        known = invitations.check_invitations(self.plan, invited, 1)
        with closing(serving.listen("127.0.0.1", 0)) as listener:
            kept = spool.Spool(self.spool, self.plan)
            taking = intake.Serving(intake.Intake(kept, known), **given)
            server = serving.make_server(taking.application)
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
            thread.start()
            try:
                until(lambda: server.started or not thread.is_alive())
                yield Collector(self, listener.getsockname()[1])
            finally:
                server.should_exit = True
                thread.join()

    def close(self, *more: object) -> dict[str, Any]:
        """Close the round and release it: what the command told."""
        return told(*self.study.release(), "--close --yes", *more, at=self.study.at)

    def release(self) -> dict[str, Any]:
        """Go on with a release that was interrupted."""
        return told(*self.study.release(), at=self.study.at)

    def refusal(self, *more: object, code: int = 2) -> dict[str, Any]:
        """The error of a closing that must be refused."""
        words = (*self.study.release(), "--close --yes", *more)
        return refused(*words, at=self.study.at, code=code)

    def released(self) -> dict[str, bytes]:
        """The files that have left."""
        return files_in(self.out) if self.out.exists() else {}

    def check_released(self, people: Iterable[int], perhaps: Iterable[int] = ()) -> None:
        """All messages of these people have left once, and nobody else's, but perhaps of some."""
        content, wanted, others = b"\0".join(self.released().values()), [*people], [*perhaps]
        found = {n: [content.count(one) for one in self.messages(n)] for n in (*wanted, *others)}
        each = self.plan.messages
        wrong = {n: found[n] for n in wanted if found[n] != [1] * each}
        assert not wrong, f"how often messages of people have left: {wrong}"
        more = sum(found[n] == [1] * each for n in others)
        ((count, messages),) = self.counted()
        assert (count, messages) == (len(wanted) + more, each * (len(wanted) + more)), (
            f"{count} people with {messages} messages have left"
        )

    def counted(self) -> list[tuple[int, int]]:
        """People and messages of every batch, as the collector has signed them."""
        signed = [json.loads(c) for n, c in self.released().items() if n.endswith(".json")]
        links = [link for one in signed for link in one["links"]]
        return [(one["people"], sum(lane["came"] for lane in one["lanes"])) for one in links]

    def left_in_spool(self, people: Iterable[int]) -> int:
        """How many of these people's messages are somewhere in the collector's folder."""
        content = b"\0".join(files_in(self.spool).values())
        return sum(message[:24] in content for n in people for message in self.messages(n))


def serve(folder: str, port: int) -> None:
    """Collect until somebody ends this process."""
    study = steps.Study(Path(folder))
    with krand.run_collector(study.plan, study.spool(), port=port):
        signal.pause()


class Collector:
    """A collector that runs, and whoever asks it."""

    def __init__(self, round: Round, port: int) -> None:
        self.round, self.port, self.url = round, port, f"http://127.0.0.1:{port}"
        self.root, self.way_in = round.root, round.way_in

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """One request in the proper way, on a connection of its own."""
        with closing(self._connection()) as client:
            return _asked(client, method, path, body, headers or {})

    def post(self, body: bytes) -> tuple[int, str]:
        """Send a submission; what is said."""
        return self.ask("POST", self.way_in, body, OCTETS).said

    def send(self, people: Iterable[int], at_once: int = 1) -> list[tuple[int, str]]:
        """People send, one after the other, or so many at once; what each of them is told."""
        waiting = list(people)
        with ThreadPoolExecutor(at_once) as threads:
            parts = threads.map(self._sent, [waiting[start::at_once] for start in range(at_once)])
            found = dict(zip(range(at_once), map(iter, parts), strict=True))
            return [next(found[place % at_once]) for place in range(len(waiting))]

    def _sent(self, people: list[int]) -> list[tuple[int, str]]:
        with closing(self._connection()) as client:
            way, bodies = self.way_in, map(self.round.body, people)
            return [_asked(client, "POST", way, body, OCTETS).said for body in bodies]

    def told(self) -> dict[str, Any]:
        """What everybody is told about the round."""
        found: dict[str, Any] = json.loads(self.ask("GET", f"{self.root}/open").content)
        return found

    def is_up(self) -> bool:
        """Whether anybody answers."""
        with suppress(OSError, http.client.HTTPException):
            return self.ask("GET", f"{self.root}/open").status == 200
        return False

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def say(self, content: bytes, *, ends: bool = True) -> bytes:
        """Bytes as they are; everything that comes back until the collector ends."""
        said = b""
        with self.connect() as client, suppress(ConnectionError):
            client.sendall(content)
            if ends:
                client.shutdown(socket.SHUT_WR)
            while part := client.recv(65_536):
                said += part
        return said

    def _connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)


def _asked(
    client: http.client.HTTPConnection,
    method: str,
    path: str,
    body: Any,
    headers: Mapping[str, str],
) -> Answer:
    if client.sock is None:
        client.connect()
    with suppress(ConnectionError):  # a refusal may come before the whole body was sent
        client.request(method, path, body, dict(headers))
    answer = client.getresponse()
    names = {name.lower(): value for name, value in answer.getheaders()}
    return Answer(answer.status, names, answer.read())
