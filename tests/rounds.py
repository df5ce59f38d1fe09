"""One round at a collector, as others touch it: by HTTP, by its files, by its operator.

What people send has random bytes where sealed messages would be. A collector cannot tell, and a
test finds each of them again: in its folder, and in what leaves.
"""

from __future__ import annotations

import asyncio
import hashlib
import http.client
import json
import shutil
import signal
import socket
import threading
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from chaos import PATIENCE, files_in
from parties import Chain, Party
from parties import until as until_it

T = TypeVar("T")

OCTETS = {"Content-Type": "application/octet-stream"}
HEAD = 1 + 2 + 16
"""A submission begins with version, round and id; the rest are messages of one length."""


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
    """A round of a party's only plan, and what people send to it."""

    def __init__(self, at: Path, chain: Chain) -> None:
        self.at, self.chain, self.plan = at, chain, chain.plan
        self.party = chain.parties[0]
        self.spool = self.party.at
        self.root = f"/v1/plans/{self.plan.hash}"
        self.way_in = f"{self.root}/submissions"
        self._serving: tuple[asyncio.AbstractEventLoop, Any] | None = None

    @classmethod
    def begun(cls, folder: Path, survey: str = "tiny", **changes: Any) -> Round:
        """A new one in a folder; `changes` are those of the survey."""
        return cls(folder, Chain.made(folder, survey, **changes))

    def copied(self, folder: Path) -> Round:
        """The same as it is now, in another folder."""
        shutil.copytree(self.at, folder, ignore=lambda _, names: {"control"} & {*names})
        parties = [Party(folder / each.at.name, each.port) for each in self.chain.parties]
        return Round(folder, Chain(folder, self.plan, parties))

    @cached_property
    def _sample(self) -> bytes:
        return self.chain.body()

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
        """The collector, in a thread of this process; `given` are settings of a party."""
        begun, ended, failed = threading.Event(), list[asyncio.Event](), list[BaseException]()

        async def live() -> None:
            ended.append(asyncio.Event())
            try:
                async with self.party.running({}, **given) as worker:
                    self._serving = asyncio.get_running_loop(), worker
                    await until_it(lambda: self._has_begun(worker))
                    begun.set()
                    await ended[0].wait()
            except BaseException as error:
                failed.append(error)
            finally:
                begun.set()

        thread = threading.Thread(target=asyncio.run, args=(live(),))
        thread.start()
        begun.wait()
        try:
            if failed:
                raise failed[0]
            yield Collector(self, self.party.port or 0)
        finally:
            if self._serving is not None:
                self._serving[0].call_soon_threadsafe(ended[0].set)
            thread.join()
            self._serving = None
        if failed:
            raise failed[0]

    def _has_begun(self, worker: Any) -> bool:
        """Whether it answers, and the round is as it was left."""
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", self.party.port or 0), PATIENCE).close()
            current = worker.rounds[self.plan.hash, 1]
            return bool(current.spool) or current.row.state != "WAITING"
        return False

    def close(self, *, erase: bool = False) -> dict[str, Any]:
        """Close the round, and wait until its batch has left or it was erased."""
        if self._serving is None:
            with self.served():
                return self.close(erase=erase)
        loop, worker = self._serving

        async def close() -> dict[str, Any]:
            closed: dict[str, Any] = worker.close(erase=erase)
            current = worker.rounds[self.plan.hash, 1]
            await until_it(lambda: current.left.is_set() or current.trouble, lambda: current.state)
            return {"people": current.people, "state": current.state, **closed}

        return self._in(loop, close())

    @staticmethod
    def _in(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, loop).result(PATIENCE)

    @property
    def public(self) -> Path:
        """What others may fetch."""
        return self.party.at / "public" / self.plan.hash

    def released(self) -> dict[str, bytes]:
        """The files that have left."""
        found = (self.public / name for name in ("1.batch", "1.chain"))
        return {path.name: path.read_bytes() for path in found if path.exists()}

    def check_released(self, people: Iterable[int], perhaps: Iterable[int] = ()) -> None:
        """All messages of these people have left once, and nobody else's, but perhaps of some."""
        content, wanted, others = self.released()["1.batch"], [*people], [*perhaps]
        found = {n: [content.count(one) for one in self.messages(n)] for n in (*wanted, *others)}
        each = self.plan.messages
        wrong = {n: found[n] for n in wanted if found[n] != [1] * each}
        assert not wrong, f"how often messages of people have left: {wrong}"
        more = sum(found[n] == [1] * each for n in others)
        (link,) = json.loads(self.released()["1.chain"])["links"]
        said = link["people"], sum(lane["came"] for lane in link["lanes"])
        assert said == (len(wanted) + more, each * (len(wanted) + more)), f"signed: {said}"

    def left_in_spool(self, people: Iterable[int]) -> int:
        """How many of these people's messages are somewhere beside what has left."""
        content = b"\0".join(files_in(self.party.at / "rounds").values())
        return sum(message[:24] in content for n in people for message in self.messages(n))


def serve(at: str, port: int) -> None:
    """Collect until somebody ends this process."""

    async def live() -> None:
        ended = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
        async with Party(Path(at), port).running({}):
            await ended.wait()

    asyncio.run(live())


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
