"""A store in memory: the shortest one that meets the contract. It survives no crash."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np

from krand.collector.closing import Outcome, outcome_of
from krand.collector.store import (
    Batch,
    Closed,
    LaneNumbers,
    Messages,
    RoundClosed,
    SpoolConfig,
    State,
    check_change,
)
from krand.errors import InvalidInput
from krand.randomness.generator import secure_random
from krand.wire.submissions import Submitted


@dataclass
class Contents:
    """What stays when a store is closed."""

    config: SpoolConfig | None = None
    ids: set[bytes] = field(default_factory=set)
    batches: list[Batch] = field(default_factory=list)
    messages: dict[int, list[tuple[int, bytes]]] = field(default_factory=dict)


class MemoryStore:
    """A store whose contents are Python objects."""

    def __init__(self, contents: Contents, config: SpoolConfig) -> None:
        if contents.config not in (None, config):
            rule, hint = "must be of the same plan and round", "use another folder"
            raise InvalidInput("spool", rule, str(contents.config), hint)
        contents.config = self.config = config
        self._contents = contents
        if not contents.batches:
            self._begin()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def add(self, submissions: Sequence[Submitted]) -> list[bool]:
        return [self._add_one(submission) for submission in submissions]

    def known(self, submissions: Sequence[Submitted]) -> list[bool]:
        return [submission.id in self._contents.ids for submission in submissions]

    def close_batch(self, *, erase: bool = False) -> Closed:
        last = self._contents.batches[-1]
        outcome, target = outcome_of(self.config, self.batches(), erase=erase)
        if outcome is Outcome.SEALED:
            self._seal(last, last=self.config.ends_with(last.number))
            return Closed(batch=self._now(last))
        if target is not None:
            self._join(last, target)
            last = replace(last, people=0, messages=0)
        self._move(last, State.ERASED)
        del self._contents.messages[last.number]
        return Closed(batch=self._now(last), joined=None if target is None else self._now(target))

    def mark_releasing(self, batch: Batch) -> Batch:
        now = self._now(batch)
        if not now.state.is_waiting:
            raise InvalidInput("batch", "must be sealed", now.state.value)
        if now.state is State.SEALED:
            self._move(now, State.RELEASING)
        return self._now(batch)

    def batches(self) -> tuple[Batch, ...]:
        return tuple(self._contents.batches)

    def lane_messages(self, batch: Batch, scratch: Path) -> Iterator[tuple[LaneNumbers, Messages]]:
        now = self._now(batch)
        if now.state is not State.RELEASING:
            raise InvalidInput("batch", "must be marked as releasing", now.state.value)
        lanes, messages = zip(*self._contents.messages[batch.number], strict=True)
        joined = np.frombuffer(b"".join(messages), np.uint8)
        rows = joined.reshape(-1, self.config.format.message_length)
        return iter([(np.array(lanes), rows)])

    def mark_released(self, batch: Batch, sha256: str) -> None:
        now = self._now(batch)
        if (now.state, now.sha256) == (State.RELEASED, sha256):
            return
        self._move(now, State.RELEASED, sha256)
        del self._contents.messages[batch.number]

    def tidy(self) -> None: ...

    def probe(self) -> None: ...

    def check_people(self) -> None: ...

    def check(self) -> None: ...

    def close(self) -> None: ...

    def _add_one(self, submission: Submitted) -> bool:
        if submission.id in self._contents.ids:
            return False
        if self._contents.batches[-1].state is not State.OPEN:
            raise RoundClosed
        self._contents.ids.add(submission.id)
        batch, length = self._contents.batches[-1], self.config.format.message_length
        sent = submission.messages
        counts = enumerate(self.config.lane_messages)
        lanes = [lane for lane, count in counts for _ in range(count)]
        starts = range(0, len(sent), length)
        messages = [(lane, sent[a : a + length]) for lane, a in zip(lanes, starts, strict=True)]
        self._contents.messages[batch.number] += messages
        grown = replace(batch, people=batch.people + 1, messages=batch.messages + len(messages))
        self._contents.batches[-1] = grown
        if grown.people == self.config.room_of(grown.number):
            self._seal(grown, last=False)
        return True

    def _seal(self, batch: Batch, *, last: bool) -> None:
        self._move(batch, State.SEALED)
        self._shuffle(batch)
        if not last:
            self._begin()

    def _shuffle(self, batch: Batch) -> None:
        held = self._contents.messages[batch.number]
        order = secure_random().permutation(len(held))
        self._contents.messages[batch.number] = [held[place] for place in order]

    def _join(self, last: Batch, other: Batch) -> None:
        joined = replace(
            other, people=other.people + last.people, messages=other.messages + last.messages
        )
        self._contents.batches[other.number - 1] = joined
        self._contents.messages[other.number] += self._contents.messages[last.number]
        self._shuffle(other)

    def _begin(self) -> None:
        number = len(self._contents.batches) + 1
        batch = Batch(
            number=number,
            state=State.OPEN,
            crowd=self.config.crowd,
            people=0,
            messages=0,
            sha256=None,
            id=os.urandom(16).hex(),
        )
        self._contents.batches.append(batch)
        self._contents.messages[number] = []

    def _move(self, batch: Batch, state: State, sha256: str | None = None) -> None:
        check_change(batch.state, state, batch.people, batch.crowd)
        self._contents.batches[batch.number - 1] = replace(batch, state=state, sha256=sha256)

    def _now(self, batch: Batch) -> Batch:
        return self._contents.batches[batch.number - 1]
