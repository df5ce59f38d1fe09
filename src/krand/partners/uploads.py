"""Batches that arrive: in parts, resumable, hashed as they come, and never opened here.

The chain of a batch comes first. It is verified, and its last link says which hash the file will
have and how large it may become. The file then grows at its end, one chunk at a time, and a chunk
is acknowledged when it is on the disk. When the file has the signed hash, it gets its name and its
receipt, and its chain last: `round-ROUND-PLACE.batch` and its `.chain.json` make a batch. So
no batch is ever taken of which this party would say that it was not received.

Everything can be repeated: whoever is killed, on either side, goes on where the disk is. A batch
that is there is not taken again, and its receipt stays the same. An empty chunk says that the file
is at its end; a file that does not have the signed hash by then is thrown away.
"""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.batches.batch import CHAIN_ENDING, ENDING, sha256_of_file
from krand.batches.chain import (
    Link,
    chain_bytes,
    parse_chain,
    read_chain,
    verify_chain,
)
from krand.batches.provenance import is_random_id
from krand.errors import InvalidInput, Unavailable
from krand.files import (
    OWNER_FOLDER,
    OWNER_ONLY,
    Unwritable,
    read_whole,
    sync_folder,
    write_atomically,
)
from krand.partners.documents import BatchReceipt, NotReceived, batch_name
from krand.partners.identity import Identity
from krand.survey.plain_values import Count
from krand.survey.plan import Plan
from krand.wire.messages import length_at
from krand.wire.signed import Signed, parse_signed

if TYPE_CHECKING:
    from hashlib import _Hash

MOST_CHUNK = 2**23
MOST_OPEN = 4
"""Batches that may be incomplete at a time."""
STATE = "uploads"
"""The folder for what is not complete, beside the batches that are."""


class OtherBatch(InvalidInput):
    """Two batches with one id: whoever signed both has shown the same people's messages twice."""


class WrongOffset(InvalidInput):
    """A chunk that does not follow what is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """How much of a batch is there."""

    offset: Count
    """Bytes on the disk; those before it need not be sent again."""
    complete: bool
    receipt: Any
    """The signed receipt of a complete batch, as plain data; None before."""

    @property
    def values(self) -> dict[str, Any]:
        """As it is answered."""
        return {"offset": self.offset, "complete": self.complete, "receipt": self.receipt}


@dataclass
class _Part:
    """The beginning of a file, and its hash so far."""

    offset: int = 0
    hash: _Hash = field(default_factory=hashlib.sha256)


class Uploads:
    """The batches of one plan that one party receives."""

    def __init__(
        self,
        folder: Path,
        plan: Plan,
        hop: int,
        identity: Identity,
        *,
        most_open: int = MOST_OPEN,
        wanted: Callable[[Link], None] = lambda _: None,
    ) -> None:
        """`hop` is the receiver's place in the chain; 0 is the analyst.

        `wanted` refuses a new batch, by its last link, before anything of it is stored.
        """
        self._folder, self._plan, self._hop, self._identity = folder, plan, hop, identity
        self._links = (hop or len(plan.mixers) + 1) - 1
        self._wanted = wanted
        self._most_open, self._lock = most_open, threading.RLock()
        self._parts: dict[str, _Part] = {}

    @property
    def sender(self) -> str:
        """The identity of the only party that may send: the mixer before this one."""
        return self._plan.mixers[self._links - 1].identity

    def begin(self, chain: bytes) -> tuple[str, Progress]:
        """Take the chain of a batch; the batch's id, and how much of it is there already."""
        links = parse_chain(chain)
        verify_chain(self._plan, links)
        if len(links) != self._links:
            rule = f"must have {self._links} links, one of each mixer before this party"
            raise InvalidInput("chain", rule, len(links), "send it to the next party of the route")
        link, content = links[-1].record, chain_bytes(links)
        with self._lock, _disk():
            path = self._state(_name_of(link), "chain.json")
            if not path.exists():
                self._check_new(link)
                for folder in (self._folder, self._state_folder):
                    folder.mkdir(mode=OWNER_FOLDER, exist_ok=True)
                write_atomically("incoming", path, content)
            elif read_whole("chain", path) != content:
                raise self._other(link, content)
            return _name_of(link), self._progress(link)

    def append(self, batch_id: str, offset: int, chunk: bytes) -> Progress:
        """Store what follows the first `offset` bytes; an empty chunk says that nothing follows."""
        if len(chunk) > MOST_CHUNK:
            rule, hint = f"must have at most {MOST_CHUNK:,} bytes", "send smaller ones"
            raise InvalidInput("chunk", rule, len(chunk), hint)
        with self._lock, _disk():
            link = self._link(batch_id)
            before = self._progress(link)
            if before.complete:
                return before
            if offset != before.offset:
                hint = "go on there"
                raise WrongOffset("offset", f"must be {before.offset:,}", offset, hint)
            most = link.total("out") * length_at(self._plan, self._hop)
            if not chunk or offset + len(chunk) > most:
                raise self._thrown_away(link, offset + len(chunk), most)
            self._grow(batch_id, chunk)
            return self._progress(link)

    def progress(self, batch_id: str) -> Progress:
        """How much of a batch is there."""
        with self._lock, _disk():
            return self._progress(self._link(batch_id))

    def forget_unfinished(self) -> None:
        """Remove what has arrived of batches that nobody can use any more, since a key is gone."""
        with self._lock, _disk():
            for path in self._state_folder.glob("*.chain.json"):
                name = path.name.partition(".")[0]
                if self._state(name, "receipt.json").exists():
                    continue
                if not self._progress(self._link(name)).complete:
                    self._state(name, "part").unlink(missing_ok=True)
                    self._parts.pop(name)
                    path.unlink()

    def answer(self, batch_id: str, nonce: str) -> Signed[BatchReceipt] | Signed[NotReceived]:
        """Whether a batch is complete, signed, for the party that asks with this nonce."""
        for name, value in (("batch", batch_id), ("nonce", nonce)):
            if not is_random_id(value):
                rule, hint = "must be 32 hexadecimal digits", "a chain names the id of its batch"
                raise InvalidInput(name, rule, value, hint)
        with self._lock, _disk():
            if self._state(batch_id, "chain.json").exists():
                link = self._link(batch_id)
                if self._progress(link).complete:
                    return self._receipt(link)
        return self._identity.sign(
            NotReceived(
                plan=self._plan.hash,
                batch_id=batch_id,
                receiver=self._identity.public,
                nonce=nonce,
            )
        )

    @property
    def _state_folder(self) -> Path:
        return self._folder / STATE

    def _state(self, batch_id: str, ending: str) -> Path:
        return self._state_folder / f"{batch_id}.{ending}"

    def _link(self, batch_id: str) -> Link:
        """What was signed about a batch that has begun."""
        path = self._state(batch_id, "chain.json")
        if not is_random_id(batch_id) or not path.exists():
            hint = "send its chain first"
            raise InvalidInput("batch", "must be one whose chain is known", batch_id, hint)
        return read_chain(path)[-1].record

    def _check_new(self, link: Link) -> None:
        """Refuse what cannot be used, or too many at a time."""
        self._wanted(link)
        began = sum(1 for _ in self._state_folder.glob("*.chain.json"))
        waiting = began - sum(1 for _ in self._state_folder.glob("*.receipt.json"))
        if waiting >= self._most_open:
            raise Unavailable(f"{waiting} other batches are not complete yet")

    def _progress(self, link: Link) -> Progress:
        """Finish what is whole, whatever was interrupted; then say how far the batch is."""
        receipt = self._state(_name_of(link), "receipt.json")
        if not receipt.exists():
            part = self._part(_name_of(link))
            if part.hash.hexdigest() == link.output:
                self._name(link)
            elif part.offset or not self._is_named(link):
                return Progress(offset=part.offset, complete=False, receipt=None)
            write_atomically("incoming", receipt, self._receipt(link).content)
        found = parse_signed(BatchReceipt, read_whole("receipt", receipt), "receipt")
        data, chain = self._published(link, ENDING), self._published(link, CHAIN_ENDING)
        if data.exists() and not chain.exists():  # from now on others may take the batch
            announced = read_whole("chain", self._state(_name_of(link), "chain.json"))
            write_atomically("incoming", chain, announced)
        size = data.stat().st_size if data.exists() else 0
        return Progress(offset=size, complete=True, receipt=found.values)

    def _part(self, batch_id: str) -> _Part:
        """What has arrived; after a restart it is read from the disk."""
        if batch_id not in self._parts:
            part, path = _Part(), self._state(batch_id, "part")
            if path.exists():
                with path.open("rb") as stream:
                    part.hash = hashlib.file_digest(stream, "sha256")
                    part.offset = stream.tell()
            self._parts[batch_id] = part
        return self._parts[batch_id]

    def _grow(self, batch_id: str, chunk: bytes) -> None:
        """The chunk is on the disk when this returns; if it fails, what was there before is."""
        part, path = self._parts[batch_id], self._state(batch_id, "part")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT, OWNER_ONLY)
        with os.fdopen(handle, "wb") as stream:
            stream.truncate(part.offset)  # what an attempt left that failed
            stream.seek(part.offset)
            stream.write(chunk)
            stream.flush()
            os.fsync(stream.fileno())
        if not part.offset:
            sync_folder(path.parent)
        part.hash.update(chunk)
        part.offset += len(chunk)

    def _thrown_away(self, link: Link, size: int, most: int) -> InvalidInput:
        """Forget a file that cannot become the one that was signed."""
        self._state(_name_of(link), "part").unlink(missing_ok=True)
        found = self._parts.pop(_name_of(link)).hash.hexdigest()
        hint = "what was received is thrown away: send it again from the beginning"
        if size > most:
            rule = f"must have at most {most:,} bytes for {link.total('out'):,} messages"
            return InvalidInput("batch", rule, size, hint)
        rule = f"must have the SHA-256 that its chain says, {link.output}"
        return InvalidInput("batch", rule, found, hint)

    def _name(self, link: Link) -> None:
        """The file appears under its name; only its chain makes it a batch for others."""
        os.replace(self._state(_name_of(link), "part"), self._published(link, ENDING))
        del self._parts[_name_of(link)]
        sync_folder(self._folder)

    def _is_named(self, link: Link) -> bool:
        """Whether the file has its name already, because an interruption came after that."""
        path = self._published(link, ENDING)
        return path.exists() and sha256_of_file(path) == link.output

    def _other(self, link: Link, content: bytes) -> OtherBatch:
        """Keep the second chain: it shows that a mixer signed two."""
        path = self._state(_name_of(link), "other.json")
        if not path.exists():
            write_atomically("incoming", path, content)
        rule = "must have the chain with which it was announced first"
        hint = f"the mixer before this one signed two; the second is kept in {path.name}"
        return OtherBatch("batch", rule, _name_of(link), hint)

    def _receipt(self, link: Link) -> Signed[BatchReceipt]:
        return self._identity.sign(
            BatchReceipt(
                plan=self._plan.hash,
                round=link.round,
                batch_id=_name_of(link),
                sha256=link.output,
                hop=self._hop,
                receiver=self._identity.public,
            )
        )

    def _published(self, link: Link, ending: str) -> Path:
        return self._folder / f"round-{link.round}-{link.place}{ending}"


def _name_of(link: Link) -> str:
    return batch_name(link.plan, link.round)


@contextmanager
def _disk() -> Iterator[None]:
    """A disk that is full or fails: the sender tries again later, and nothing is lost.

    The sender reads the error, so it names no folder.
    """
    try:
        yield
    except (OSError, Unwritable) as error:
        reason = getattr(error, "hint", "") or getattr(error, "strerror", "") or str(error)
        raise Unavailable(f"the receiver's disk cannot be used now: {reason.lower()}") from None
