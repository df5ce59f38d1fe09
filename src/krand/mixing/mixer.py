"""Mixing one batch: drop repeats, open layers, add dummies, shuffle.

Only bytes decide what is refused: whether a layer opens under the mixer's key with exactly this
place, plan, round and lane. What is inside is not looked at.

Every call draws other dummies. Two outputs of one input show which messages are people's, so
whoever calls this records the output, destroys the key, and only then shows the output.

Memory: nine bytes for each message of a lane (its digest, and whether it is a repeat), and some
hundred megabytes at most for the lane that is being shuffled; 10^8 messages need less than 1 GB.
A lane above IN_MEMORY_BYTES is shuffled by way of nameless files beside the output.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from krand.batches.batch import by_lane, digests_of, records_in, repeated
from krand.batches.chain import LaneCounts
from krand.errors import InvalidInput
from krand.mixing.crew import AT_A_TIME, Crew, Layer
from krand.mixing.dummies import draw_lane
from krand.randomness.generator import secure_random
from krand.randomness.shuffling import shuffled_chunks
from krand.survey.lanes import Lane
from krand.survey.plan import Plan
from krand.wire.layers import LayerSealer
from krand.wire.messages import length_at

IN_MEMORY_BYTES = 2**27
"""A lane up to this size is shuffled in memory."""

Rows = NDArray[np.uint8]


class Mixed(NamedTuple):
    """What became of a batch."""

    lanes: tuple[LaneCounts, ...]
    output: str
    """The SHA-256 of what was written."""


def mix(
    plan: Plan,
    round_number: int,
    place: int,
    came: Sequence[int],
    batch: Path,
    output: Path,
    *,
    key: bytes | None,
    workers: int | None = None,
) -> Mixed:
    """Mix a batch with so many messages in each lane, and write what leaves.

    The collector, at place 1, has no key and opens nothing. `workers` is the number of processes;
    by default there is one for each core.
    """
    layer = Layer(plan=plan, round_number=round_number, hop=place, key=key)
    lanes = by_lane(records_in(batch, came, length_at(plan, place)), came)
    length = LayerSealer(plan, round_number, after=place).length
    counts, digest = list[LaneCounts](), hashlib.sha256()
    with Crew(layer, sum(came), workers) as crew, _new(output) as stream:
        for lane, rows in zip(plan.lanes, lanes, strict=True):
            leaving = _Leaving(plan, lane, rows, crew)
            for chunk in _shuffled(leaving.messages(), leaving.most, length, output.parent):
                content = chunk.tobytes()
                digest.update(content)
                stream.write(content)
            counts.append(leaving.counts)
        stream.flush()
        os.fsync(stream.fileno())
    tried, refused = sum(n.came - n.repeats for n in counts), sum(n.refused for n in counts)
    if tried and refused == tried:
        rule = "must open at least one message of the batch"
        hint = "is it the key of this plan and round?"
        raise InvalidInput("opening key", rule, f"{refused:,} of {tried:,} refused", hint)
    return Mixed(tuple(counts), digest.hexdigest())


class _Leaving:
    """What leaves one lane, in an order that still tells where it is from."""

    def __init__(self, plan: Plan, lane: Lane, rows: Rows, crew: Crew) -> None:
        self._lane, self._rows, self._crew = lane, rows, crew
        self._again = repeated(digests_of(rows))
        self._dummies = draw_lane(plan, lane, secure_random()) if plan.laws else None
        self._added = 0 if self._dummies is None else self._dummies.total
        self._refused = 0

    @property
    def most(self) -> int:
        """How many messages leave at most."""
        return len(self._rows) + self._added

    @property
    def counts(self) -> LaneCounts:
        """What became of the lane, once all of it has left."""
        repeats = int(self._again.sum())
        out = self.most - repeats - self._refused
        return LaneCounts(
            came=len(self._rows),
            repeats=repeats,
            refused=self._refused,
            dummies=self._added,
            out=out,
        )

    def messages(self) -> Iterator[Rows]:
        """Those that came, opened; then dummies."""
        parts = (slice(at, at + AT_A_TIME) for at in range(0, len(self._rows), AT_A_TIME))
        once = (self._rows[part][~self._again[part]] for part in parts)
        for opened, failed in self._crew.opened(self._lane.number, once):
            self._refused += failed
            yield opened
        if self._dummies is not None:
            yield from self._crew.sealed(self._lane.number, self._dummies.payloads(AT_A_TIME))
            self._dummies.erase()


def _shuffled(chunks: Iterator[Rows], most: int, length: int, scratch: Path) -> Iterator[Rows]:
    if most * length > IN_MEMORY_BYTES:
        return shuffled_chunks(chunks, length, secure_random(), scratch)
    rows = np.concatenate([np.empty((0, length), np.uint8), *chunks])
    return iter([secure_random().shuffled(rows)])


def _new(path: Path) -> BinaryIO:
    """A file for its owner alone."""
    return open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb")
