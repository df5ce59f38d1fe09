"""What a spool knows about itself, stored so that a flipped bit is noticed.

SQLite checks the shape of its pages, not what is in them. A number of people that grew by a flipped
bit would seal a batch too early. So every such row carries a digest of itself, and a batch knows
what all its messages and all its people's ids add up to (by exclusive or, so that no order is
kept). This tells damage, not malice: whoever can write the file can compute digests too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import xor
from typing import Any, Self

from krand.collector.arranging import MESSAGES, SEEN
from krand.collector.disk import Damage
from krand.collector.states import State, check_change
from krand.wire.submissions import SubmissionFormat

__all__ = [
    "DIGEST_BYTES",
    "TABLES",
    "Batch",
    "Entry",
    "SpoolConfig",
    "added_up",
    "digest_of",
    "message_table",
    "tables_of",
    "tag_of",
]

VERSION = 3
DIGEST_BYTES, TAG_BYTES = 16, 8
TABLES = {
    "setting": "CREATE TABLE setting (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID",
    "batches": """CREATE TABLE batches (
        number INTEGER PRIMARY KEY,
        state TEXT NOT NULL,
        population INTEGER NOT NULL, -- of the plan: never changes
        people INTEGER NOT NULL,
        messages INTEGER NOT NULL,
        rows BLOB NOT NULL,          -- the tags of its messages, added up
        ids BLOB NOT NULL,           -- the digests of its people's ids, added up
        sha256 TEXT,                 -- of the released file
        id TEXT NOT NULL,            -- random, drawn when the batch began
        tag BLOB NOT NULL            -- of this row
    )""",
    "seen": SEEN.format("seen"),
    "recent": SEEN.format("recent"),
    "pool": """CREATE TABLE pool (
        name TEXT PRIMARY KEY, content BLOB NOT NULL, tag BLOB NOT NULL
    ) WITHOUT ROWID""",
}


@dataclass(frozen=True, slots=True)
class SpoolConfig:
    """What a spool is for; it cannot be changed afterwards."""

    plan_hash: str
    population: int
    shape: SubmissionFormat

    def entries(self) -> dict[str, bytes]:
        """As they are stored."""
        numbers = (self.population, self.shape.round, self.shape.message_length)
        values = (VERSION, self.plan_hash, *numbers, self.shape.messages)
        names = ("version", "plan", "population", "round", "message_length", "messages")
        return {n: str(v).encode() for n, v in zip(names, values, strict=True)}


@dataclass(frozen=True, slots=True)
class Batch:
    """One batch and how far it is."""

    number: int
    state: State
    population: int
    people: int
    messages: int
    sha256: str | None
    id: str
    """Random, drawn when it began: whatever is released of it, from whichever copy, has this id."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A batch as it is stored: with what its messages and its people's ids add up to."""

    batch: Batch
    rows: int = 0
    ids: int = 0

    def with_more(self, people: int, messages: int, rows: int, ids: int) -> Self:
        """The same after some more people, sealed if they complete the crowd."""
        old = self.batch
        batch = replace(old, people=old.people + people, messages=old.messages + messages)
        more = replace(self, batch=batch, rows=self.rows ^ rows, ids=self.ids ^ ids)
        return more.moved(State.SEALED) if batch.people >= batch.population else more

    def moved(self, state: State, sha256: str | None = None) -> Self:
        """The same in the next state, if it may go there."""
        check_change(self.batch.state, state, self.batch.people, self.batch.population)
        return replace(self, batch=replace(self.batch, state=state, sha256=sha256))

    def values(self) -> tuple[Any, ...]:
        """The row of the table."""
        batch = self.batch
        values = (
            *(batch.number, batch.state.value, batch.population, batch.people, batch.messages),
            *(self.rows.to_bytes(TAG_BYTES), self.ids.to_bytes(DIGEST_BYTES)),
            *(batch.sha256, batch.id),
        )
        return (*values, tag_of(repr(values).encode()))

    @classmethod
    def read(cls, row: Sequence[Any], setting: SpoolConfig) -> Self:
        """The entry in a row, or Damage; a batch of another crowd than planned is damaged."""
        *values, tag = row
        if tag != tag_of(repr(tuple(values)).encode()):
            raise Damage("the row of a batch was changed")
        number, state, population, people, messages, rows, ids, sha256, batch_id = values
        batch = Batch(number, State(state), population, people, messages, sha256, batch_id)
        _check(batch, setting)
        return cls(batch, int.from_bytes(rows), int.from_bytes(ids))


def _check(batch: Batch, setting: SpoolConfig) -> None:
    """What holds for every batch, whoever wrote its row."""
    complete = batch.people == setting.population
    if batch.population != setting.population:
        raise Damage(f"batch {batch.number} is not of the planned crowd")
    if complete is (batch.state is State.OPEN) or not 0 <= batch.people <= setting.population:
        raise Damage(f"batch {batch.number} is {batch.state} with {batch.people:,} people")
    if batch.messages != batch.people * setting.shape.messages:
        raise Damage(f"batch {batch.number} has {batch.messages:,} messages")


def added_up(values: Iterable[int]) -> int:
    """Their exclusive or: the same in whatever order they came."""
    return reduce(xor, values, 0)


def tag_of(content: bytes) -> bytes:
    """Tells damage, not malice: SQLite itself does not notice a flipped bit."""
    return hashlib.blake2b(content, digest_size=TAG_BYTES).digest()


def digest_of(values: Mapping[str, bytes]) -> bytes:
    """Of a whole setting, so that none of it can change alone."""
    return hashlib.blake2b(repr(sorted(values.items())).encode(), digest_size=16).digest()


def message_table(number: int) -> str:
    """Every batch has a table of its own, so that it can be dropped whole."""
    return f"messages_{number}"


def tables_of(batches: Sequence[Batch]) -> dict[str, str]:
    """Every table that there must be, as it was made; there must be no other."""
    kept = [message_table(b.number) for b in batches if b.state is not State.RELEASED]
    return TABLES | {name: MESSAGES.format(name) for name in kept}
