"""One batch on its way through a mixer: repeats dropped, layers opened, dummies added, shuffled.

Memory: nine bytes for each message of a lane (its digest, and whether it is a repeat), and some
hundred megabytes at most for the lane that is being shuffled; 10^8 messages need less than 1 GB.
A lane above IN_MEMORY_BYTES is shuffled by way of nameless files in the store's folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from krand.batches.batch import digests_of, repeated
from krand.batches.chain import LaneCounts
from krand.errors import InvalidInput
from krand.mixing.crew import AT_A_TIME, Crew
from krand.mixing.dummies import draw_lane
from krand.randomness.generator import SecureRandom, secure_random
from krand.randomness.shuffling import shuffled_chunks
from krand.survey.lanes import Lane
from krand.survey.plan import Plan

IN_MEMORY_BYTES = 2**27
"""A lane up to this size is shuffled in memory."""

Rows = NDArray[np.uint8]


@dataclass(slots=True, eq=False, kw_only=True)
class Run:
    """The lanes of one batch on their way."""

    plan: Plan
    lanes: Sequence[Rows]
    """The messages of each lane, one in each row."""
    crew: Crew
    length: int
    """Of a message that leaves."""
    scratch: Path
    progress: Callable[[int], None]
    """Told how many messages were opened or sealed."""
    random: SecureRandom = field(default_factory=secure_random)
    counts: list[LaneCounts] = field(default_factory=list)
    """Of the lanes that have left."""

    def mixed(self) -> Iterator[Rows]:
        """Everything that leaves, lane after lane."""
        for lane, rows in zip(self.plan.lanes, self.lanes, strict=True):
            yield from self._mixed(lane, rows)

    def _mixed(self, lane: Lane, rows: Rows) -> Iterator[Rows]:
        digests = digests_of(rows)
        again = repeated(digests)
        dummies = draw_lane(self.plan, lane, self.random) if self.plan.laws else None
        refused, total = 0, 0 if dummies is None else dummies.total

        def first_copies() -> Iterator[Rows]:
            for start in range(0, len(rows), AT_A_TIME):
                part = slice(start, start + AT_A_TIME)
                chunk = np.array(rows[part])  # what is compared now is what is opened
                if not np.array_equal(digests_of(chunk), digests[part]):
                    raise InvalidInput("batch", "must not change while it is read", lane.number)
                yield chunk[~again[part]]

        def everything() -> Iterator[Rows]:
            nonlocal refused
            for opened, failed in self.crew.opened(lane.number, first_copies()):
                refused += failed
                self.progress(len(opened) + failed)
                yield opened
            if dummies is not None:
                for sealed in self.crew.sealed(lane.number, dummies.payloads(AT_A_TIME)):
                    self.progress(len(sealed))
                    yield sealed
                dummies.erase()

        yield from self._shuffled(everything(), len(rows) + total)
        repeats = int(again.sum())
        out = len(rows) - repeats - refused + total
        self.counts.append(
            LaneCounts(came=len(rows), repeats=repeats, refused=refused, dummies=total, out=out)
        )

    def _shuffled(self, chunks: Iterator[Rows], count: int) -> Iterator[Rows]:
        if count * self.length > IN_MEMORY_BYTES:
            yield from shuffled_chunks(chunks, self.length, self.random, self.scratch)
            return
        empty = np.empty((0, self.length), np.uint8)
        yield self.random.shuffled(np.concatenate([empty, *chunks]))
