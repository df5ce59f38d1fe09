"""One batch on its way through a mixer: repeats dropped, layers opened, dummies added, shuffled.

Repeats are copies of a message. A message is known by its encapsulated key (`enc`), which no two
honest messages share. A copy that left twice would mark the person who sent it, so only the first
one is mixed.

Memory: nine bytes for each message of the batch (its digest, and whether it is a repeat), and some
hundred megabytes at most for the lane that is being shuffled; 10^8 messages need less than 1 GB.
A lane above IN_MEMORY_BYTES is shuffled by way of nameless files in the store's folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from krand.batches.chain import LaneCounts
from krand.errors import InvalidInput
from krand.mixing.crew import AT_A_TIME, Crew
from krand.mixing.dummies import draw_lane
from krand.randomness.generator import SecureRandom, secure_random
from krand.randomness.shuffling import shuffled_chunks
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.messages import ENC_BYTES

IN_MEMORY_BYTES = 2**27
"""A lane up to this size is shuffled in memory."""

BUCKETS = 256
"""Digests are compared by their first byte, so that few are in memory at a time."""
DIGEST = np.dtype("<u8")
"""How digests are kept, on every machine."""

Digests = NDArray[np.uint64]
Rows = NDArray[np.uint8]


class Source(Protocol):
    """Messages by lane, which can be read several times."""

    @property
    def counts(self) -> Sequence[int]: ...

    def chunks(self, lane: int) -> Iterator[Rows]: ...


@dataclass(frozen=True, slots=True, eq=False)
class Submissions:
    """What a collector received: the i-th message of every submission is at place i."""

    plan: Plan
    messages: NDArray[np.uint8]

    @property
    def counts(self) -> tuple[int, ...]:
        return tuple(len(self.messages) * lane.messages for lane in self.plan.lanes)

    def chunks(self, lane: int) -> Iterator[Rows]:
        first = sum(one.messages for one in self.plan.lanes[:lane])
        places = slice(first, first + self.plan.lanes[lane].messages)
        for start in range(0, len(self.messages), AT_A_TIME):
            part = self.messages[start : start + AT_A_TIME, places]
            yield np.ascontiguousarray(part).reshape(-1, self.messages.shape[2])


def digests_in(source: Source) -> Digests:
    """Of all messages, lane by lane."""
    total = sum(source.counts)
    found, end = np.empty(total, "<u8"), 0
    for lane in range(len(source.counts)):
        for rows in source.chunks(lane):
            found[end : end + len(rows)] = digests_of(rows)
            end += len(rows)
    return found


@dataclass(slots=True, eq=False, kw_only=True)
class Run:
    """The lanes of one batch on their way."""

    plan: Plan
    source: Source
    digests: Digests
    again: NDArray[np.bool_]
    """Which of the messages are repeats."""
    crew: Crew
    length: int
    """Of a message that leaves."""
    scratch: Path
    progress: Callable[[int], None]
    """Told how many messages were opened or sealed."""
    random: SecureRandom = field(default_factory=secure_random)
    counts: list[LaneCounts] = field(default_factory=list)
    """Of the lanes that have left."""
    start: int = 0
    """The place of the lane's first message in `digests`."""

    def lanes(self) -> Iterator[tuple[int, Rows]]:
        """Chunks of every lane, mixed."""
        for lane in self.plan.lanes:
            for rows in self._mixed(lane):
                yield lane.number, rows
            self.start += self.source.counts[lane.number]

    def _mixed(self, lane: Lane) -> Iterator[Rows]:
        dummies = draw_lane(self.plan, lane, self.random)
        came, refused, total = self.source.counts[lane.number], 0, dummies.total

        def everything() -> Iterator[Rows]:
            nonlocal refused
            for opened, failed in self.crew.opened(lane.number, self._first_copies(lane)):
                refused += failed
                self.progress(len(opened) + failed)
                yield opened
            for sealed in self.crew.sealed(lane.number, dummies.payloads(AT_A_TIME)):
                self.progress(len(sealed))
                yield sealed
            dummies.erase()

        yield from self._shuffled(everything(), came + total)
        repeats = int(self.again[self.start : self.start + came].sum())
        self.counts.append(
            LaneCounts(
                messages_in=came,
                repeats=repeats,
                refused=refused,
                dummies=total,
                messages_out=came - repeats - refused + total,
            )
        )

    def _first_copies(self, lane: Lane) -> Iterator[Rows]:
        """The lane's messages without repeats, as they were when their digests were taken."""
        end = self.start
        for rows in self.source.chunks(lane.number):
            start, end = end, end + len(rows)
            if not np.array_equal(digests_of(rows), self.digests[start:end]):
                raise InvalidInput("batch", "must not change while it is read", lane.number)
            yield rows[~self.again[start:end]]

    def _shuffled(self, chunks: Iterator[Rows], count: int) -> Iterator[Rows]:
        if count * self.length > IN_MEMORY_BYTES:
            yield from shuffled_chunks(chunks, self.length, self.random, self.scratch)
            return
        empty = np.empty((0, self.length), np.uint8)
        rows = self.random.shuffled(np.concatenate([empty, *chunks]))
        if len(rows):
            yield rows


def digests_of(rows: NDArray[np.uint8]) -> Digests:
    """One digest for each message, in their order, of all bytes of its encapsulated key."""
    heads = memoryview(np.ascontiguousarray(rows[:, :ENC_BYTES]).tobytes())
    places = range(0, len(heads), ENC_BYTES)
    found = (hashlib.sha256(heads[i : i + ENC_BYTES]).digest()[: DIGEST.itemsize] for i in places)
    return np.frombuffer(b"".join(found), DIGEST)


def in_bucket(digests: Digests, bucket: int) -> NDArray[np.int64]:
    """The places of the digests that begin with this byte, without a copy of them all."""
    lowest = digests.view(np.uint8)[:: DIGEST.itemsize]
    return np.flatnonzero(lowest == bucket)


def repeated(digests: Digests) -> NDArray[np.bool_]:
    """Which messages are copies of an earlier one."""
    mask = np.zeros(len(digests), np.bool_)
    for bucket in range(BUCKETS):
        own = in_bucket(digests, bucket)
        _, first = np.unique(digests[own], return_index=True)
        again = np.ones(len(own), np.bool_)
        again[first] = False
        mask[own] = again
    return mask


def content_hash(digests: Digests) -> str:
    """A name for the messages, whatever their order."""
    found = hashlib.sha256()
    for bucket in range(BUCKETS):
        found.update(np.sort(digests[in_bucket(digests, bucket)]).tobytes())
    return found.hexdigest()
