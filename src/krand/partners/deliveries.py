"""Batches that leave: sent in parts, and tried again for days until there is a signed receipt.

What has to be delivered, and every receipt, is in one SQLite file. How often something was tried,
and when it is tried again, is not: after a restart everything is tried at once. The receiver knows
how much it has, so a file continues there. Files are never removed here; their owner is told when
the receipt of exactly this file, by the identity that the route names, is stored.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from krand.batches.batch import sha256_of_file
from krand.batches.chain import read_chain
from krand.errors import InternalError, InvalidInput, KrandError, Unavailable
from krand.files import read_whole, unreadable
from krand.partners.documents import (
    ASK_PARTNER,
    BatchReceipt,
    Route,
    Station,
    batch_name,
    signed_by,
)
from krand.partners.identity import Address
from krand.partners.talking import Answer, Talks
from krand.partners.uploads import MOST_CHUNK, Progress
from krand.sqlite_files import (
    connected,
    has_tables,
    make_private,
    make_tables,
    may_pass,
    transaction,
)
from krand.survey.plain_values import Malformed, typed
from krand.wire.signed import Signed, parse_signed

FIRST_WAIT, LONGEST_WAIT = 1.0, 3600.0
LEAST_CHUNK = 2**16
"""After failures chunks become smaller, down to this, so that slow connections get on as well."""
MOST_AT_ONCE = 8
"""Stations that are served at a time, each by a thread."""
TABLE = """
CREATE TABLE IF NOT EXISTS deliveries (
    plan TEXT NOT NULL, batch_id TEXT NOT NULL, hop INTEGER NOT NULL,
    name TEXT NOT NULL, identity TEXT NOT NULL, url TEXT NOT NULL,
    data TEXT NOT NULL, chain TEXT NOT NULL, sha256 TEXT NOT NULL, round INTEGER NOT NULL,
    receipt BLOB, PRIMARY KEY (plan, batch_id, hop)
) WITHOUT ROWID;
"""
COLUMNS = "plan, batch_id, hop, name, identity, url, data, chain, sha256, round"
INSERT = f"INSERT INTO deliveries ({COLUMNS}) VALUES ({', '.join('?' * 10)})"
SAME = "plan = ? AND batch_id = ? AND hop = ?"
WAIT_SECONDS = 5.0
PRAGMAS = ("journal_mode = WAL", "synchronous = FULL")

Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One batch for one station."""

    plan: str
    batch_id: str
    station: Station
    data: Path
    chain: Path
    sha256: str
    round: int

    @property
    def key(self) -> Key:
        """A batch goes to a place in the chain once."""
        return self.plan, self.batch_id, self.station.hop

    @property
    def row(self) -> tuple[object, ...]:
        """As it is stored."""
        station, files = self.station, (str(self.data), str(self.chain))
        where = (station.name, station.identity, station.url)
        return *self.key, *where, *files, self.sha256, self.round

    @property
    def path(self) -> str:
        """Of the receiver's batches of this plan."""
        return f"/v1/plans/{self.plan}/batches"


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """What the owner is told: a receipt, or a new problem."""

    delivery: Delivery
    receipt: Signed[BatchReceipt] | None = None
    problem: KrandError | None = None


@dataclass
class _Tries:
    """What has become of a delivery since the start."""

    due: float
    chunk: int
    wait: float = FIRST_WAIT
    offset: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A delivery without a receipt, and why; the reason is empty before the first attempt."""

    delivery: Delivery
    problem: str


class Deliveries:
    """Everything that one party passes on."""

    def __init__(
        self,
        path: Path,
        talk: Callable[[Address], Talks],
        *,
        tell: Callable[[Told], None] = lambda _: None,
        now: Callable[[], float] = time.monotonic,
        most_chunk: int = MOST_CHUNK,
    ) -> None:
        """`talk` opens a conversation; `tell` is called in the thread that tries."""
        self._path, self._talk, self._tell, self._now = path, talk, tell, now
        self._most_chunk = most_chunk
        self._tries: dict[Key, _Tries] = {}
        self._busy: set[str] = set()
        """Identities of stations that a thread is serving."""
        self._lock, self._wake, self._stop = threading.Lock(), threading.Event(), threading.Event()
        make_private(path)
        with self._database() as database:
            if not has_tables(database, "deliveries"):
                make_tables(database, TABLE)

    def add(self, data: Path, chain: Path, station: Station) -> Delivery:
        """Pass this batch on to a station; again and again if need be. Adding it twice is one."""
        link = read_chain(chain)[-1].record
        if sha256_of_file(data) != link.output:
            rule = f"must be the file that link {link.place} of its chain vouches for"
            raise InvalidInput("batch", rule, str(data), "it was changed after it was mixed")
        added = Delivery(
            plan=link.plan,
            batch_id=batch_name(link.plan, link.round),
            station=station,
            data=data.absolute(),
            chain=chain.absolute(),
            sha256=link.output,
            round=link.round,
        )
        with self._database() as database, transaction(database):
            known = next(_rows(database, SAME, *added.key), None)
            if known is None:
                database.execute(INSERT, added.row)
            elif known.sha256 != added.sha256:
                rule = "must be the file that was to be passed on before"
                raise InvalidInput("batch", rule, added.batch_id, "nothing is passed on twice")
        self._wake.set()
        return known or added

    def reroute(self, route: Route) -> None:
        """Use the addresses of a newer route from the next try on, which is now."""
        with self._database() as database, transaction(database):
            for delivery in _rows(database, "receipt IS NULL AND plan = ?", route.plan):
                station = route.station(delivery.station.hop)
                if station.identity != delivery.station.identity:
                    rule = f"must be {delivery.station.identity} for {delivery.station.name}"
                    hint = "a route may change addresses alone"
                    raise InvalidInput("identity", rule, station.identity, hint)
                values = (station.url, *delivery.key)
                database.execute(f"UPDATE deliveries SET url = ? WHERE {SAME}", values)
                if station.url != delivery.station.url:
                    with self._lock:
                        self._tries.pop(delivery.key, None)
        self._wake.set()

    def waiting(self) -> tuple[Undelivered, ...]:
        """All without a receipt."""
        with self._database() as database:
            found = list(_rows(database, "receipt IS NULL"))
        with self._lock:
            tries = dict(self._tries)
        return tuple(
            Undelivered(each, tries[each.key].problem if each.key in tries else "")
            for each in found
        )

    def receipts(self, plan: str) -> tuple[Signed[BatchReceipt], ...]:
        """Of every batch of a plan that has arrived."""
        wanted = "SELECT receipt FROM deliveries WHERE plan = ? AND receipt IS NOT NULL"
        with self._database() as database:
            rows = database.execute(f"{wanted} ORDER BY batch_id", (plan,)).fetchall()
        return tuple(parse_signed(BatchReceipt, content, "receipt") for (content,) in rows)

    def work(self) -> None:
        """Try whatever is due, one after another."""
        for delivery in self._due():
            if not self._stop.is_set():
                self._try(delivery)

    def run(self) -> None:
        """Try again and again until stopped; a slow station keeps no other one waiting."""
        with ThreadPoolExecutor(MOST_AT_ONCE, "deliveries") as pool:
            while not self._stop.is_set():
                self._wake.clear()
                pause = FIRST_WAIT
                with suppress(Unavailable):  # a disk that is full or busy: look again soon
                    for delivery in self._due():
                        identity = delivery.station.identity
                        if identity not in self._busy:
                            self._busy.add(identity)
                            pool.submit(self._serve, delivery)
                    pause = self._pause()
                self._wake.wait(pause)

    def stop(self) -> None:
        """End after the chunk that is being sent."""
        self._stop.set()
        self._wake.set()

    def _serve(self, delivery: Delivery) -> None:
        try:
            self._try(delivery)
        finally:
            self._busy.discard(delivery.station.identity)
            self._wake.set()

    def _due(self) -> list[Delivery]:
        """What should be tried now; parties without an address take files by hand."""
        now = self._now()
        found = [each.delivery for each in self.waiting() if each.delivery.station.url]
        with self._lock:
            tries = {each.key: _Tries(now, self._most_chunk) for each in found}
            self._tries = tries | self._tries
            return [each for each in found if self._tries[each.key].due <= now]

    def _pause(self) -> float:
        """Seconds until something else is due."""
        with self._lock:
            dues = [tries.due for tries in self._tries.values()]
        until = min(dues) - self._now() if dues else LONGEST_WAIT
        return min(max(until, FIRST_WAIT), LONGEST_WAIT)

    def _try(self, delivery: Delivery) -> None:
        """One attempt; what happens is recorded, and its owner told."""
        with self._lock:
            tries = self._tries.get(delivery.key)
        if tries is None:  # its address has just changed, so it is due again
            return
        begun = tries.offset
        try:
            receipt = self._delivered(delivery, tries)
        except Exception as failure:
            problem = failure if isinstance(failure, KrandError) else _unforeseen(failure)
            tries.wait = FIRST_WAIT if tries.offset > begun else tries.wait
            tries.due = self._now() + tries.wait
            tries.wait = min(2 * tries.wait, LONGEST_WAIT)
            if tries.problem != str(problem):
                tries.problem = str(problem)
                self._tell(Told(delivery=delivery, problem=problem))
            return
        if receipt is not None:
            with self._lock:
                self._tries.pop(delivery.key, None)
            self._tell(Told(delivery=delivery, receipt=receipt))

    def _delivered(self, delivery: Delivery, tries: _Tries) -> Signed[BatchReceipt] | None:
        """The receipt, stored; None if this was stopped."""
        station = delivery.station
        with closing(self._talk(station.address)) as talk:
            chain = read_whole("chain", delivery.chain)
            progress = _progress(station, talk.post(delivery.path, chain))
            while not progress.complete:
                tries.offset = progress.offset
                if self._stop.is_set():
                    return None
                progress = self._continued(delivery, talk, tries)
        receipt = signed_by(
            station,
            "receipt",
            BatchReceipt,
            progress.receipt,
            plan=delivery.plan,
            round=delivery.round,
            batch_id=delivery.batch_id,
            sha256=delivery.sha256,
            hop=station.hop,
            receiver=station.identity,
        )
        with self._database() as database, transaction(database):
            values = (receipt.content, *delivery.key)
            database.execute(f"UPDATE deliveries SET receipt = ? WHERE {SAME}", values)
        return receipt

    def _continued(self, delivery: Delivery, talk: Talks, tries: _Tries) -> Progress:
        """Send the next chunk; an empty one where the receiver should have the whole file."""
        station, chunk = delivery.station, _chunk(delivery, tries)
        path = f"{delivery.path}/{delivery.batch_id}"
        try:
            progress = _progress(station, talk.patch(path, tries.offset, chunk))
        except Unavailable:
            tries.chunk = max(tries.chunk // 2, LEAST_CHUNK)
            raise
        tries.chunk = min(2 * tries.chunk, self._most_chunk)
        expected = tries.offset + len(chunk)
        if not progress.complete and (not chunk or progress.offset != expected):
            rule = f"must be {expected:,}, or all, after the bytes that were sent"
            raise InvalidInput(f"offset of {station.name}", rule, progress.offset, ASK_PARTNER)
        return progress

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(connected(self._path, *PRAGMAS, seconds=WAIT_SECONDS)) as database:
                yield database
        except sqlite3.Error as error:
            if may_pass(error):
                raise Unavailable(f"{self._path} cannot be used now: {error}") from None
            rule, hint = "must be a whole file of deliveries", str(error)
            raise InvalidInput("deliveries", rule, str(self._path), hint) from None


def _rows(database: sqlite3.Connection, condition: str, *values: object) -> Iterator[Delivery]:
    found = f"SELECT {COLUMNS} FROM deliveries WHERE {condition} ORDER BY plan, batch_id, hop"
    for row in database.execute(found, values).fetchall():
        plan, batch_id, hop, name, identity, url, data, chain, sha256, number = row
        yield Delivery(
            plan=plan,
            batch_id=batch_id,
            station=Station(hop=hop, name=name, identity=identity, url=url),
            data=Path(data),
            chain=Path(chain),
            sha256=sha256,
            round=number,
        )


def _chunk(delivery: Delivery, tries: _Tries) -> bytes:
    """What follows in the file."""
    try:
        with delivery.data.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            if tries.offset > size:
                rule = f"must be at most {size:,}, the size of the file"
                raise InvalidInput(
                    f"offset of {delivery.station.name}", rule, tries.offset, ASK_PARTNER
                )
            stream.seek(tries.offset)
            return stream.read(tries.chunk)
    except OSError as error:
        raise unreadable("batch", delivery.data, error) from None


def _progress(station: Station, answer: Answer) -> Progress:
    try:
        found: Progress = typed(Progress, answer.values)
    except Malformed as error:
        rule = "must say how much has arrived"
        raise InvalidInput(f"answer of {station.name}", rule, str(error), ASK_PARTNER) from None
    return found


def _unforeseen(error: Exception) -> InternalError:
    return InternalError(f"{type(error).__name__} while passing on; please report it")
