"""A store in memory: the shortest one that meets the contract. It survives no crash."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

import numpy as np

from krand.collector.states import State, check_change
from krand.collector.store import Batch, Messages, SpoolConfig
from krand.errors import InvalidInput
from krand.randomness.generator import secure_random
from krand.wire.submissions import Submitted

__all__ = ["Contents", "MemoryStore"]


@dataclass
class Contents:
    """What stays when a store is closed."""

    config: SpoolConfig | None = None
    ids: set[bytes] = field(default_factory=set)
    batches: list[Batch] = field(default_factory=list)
    messages: dict[int, list[bytes]] = field(default_factory=dict)


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

    def batches(self) -> tuple[Batch, ...]:
        return tuple(self._contents.batches)

    def messages(self, batch: Batch, scratch: Path) -> Iterator[Messages]:
        now = self._now(batch)
        if now.state is not State.SEALED:
            raise InvalidInput("batch", "must be sealed", now.state.value)
        joined = np.frombuffer(b"".join(self._contents.messages[batch.number]), np.uint8)
        return iter([joined.reshape(-1, self.config.format.message_length)])

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
        self._contents.ids.add(submission.id)
        batch, length = self._contents.batches[-1], self.config.format.message_length
        sent = submission.messages
        messages = [sent[at : at + length] for at in range(0, len(sent), length)]
        self._contents.messages[batch.number] += messages
        grown = replace(batch, people=batch.people + 1, messages=batch.messages + len(messages))
        self._contents.batches[-1] = grown
        if grown.people == grown.crowd:
            self._seal(grown)
        return True

    def _seal(self, batch: Batch) -> None:
        self._move(batch, State.SEALED)
        held = self._contents.messages[batch.number]
        order = secure_random().permutation(len(held))
        self._contents.messages[batch.number] = [held[place] for place in order]
        self._begin()

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
