"""What a collector needs from a store: the interface, its values and its error.

A store keeps the submissions of one plan and round until their batch is released. Intake, release,
the HTTP layer and the commands know this interface alone. `krand.collector.sqlite` implements it,
and `krand.collector.opening` chooses it. A store must pass `tests/collector/test_model.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from krand.errors import InternalError, InvalidInput, Unavailable
from krand.wire.submissions import SubmissionFormat, Submitted

MINIMUM_GROUP = 32
"""A copy of a store shows nobody's messages or id among fewer people than this, once so many have
submitted. A group of this size that is stored together hides its own members."""

CLOSED_RULE = "must not be closed: the organiser has closed it, and nothing more is taken"
OVER_RULE = "must be open: its last day has passed, or its time has not come"
Messages = NDArray[np.uint8]
"""One message a row."""
LaneNumbers = NDArray[np.int64]
"""The lane of each message."""


class StoreUnavailable(Unavailable):
    """The disk is full or fails. Nothing was stored, and nothing may be acknowledged."""


class RoundClosed(InvalidInput):
    """The organiser or the last day has closed the round. Nothing was stored; trying is useless."""

    def __init__(self, rule: str = CLOSED_RULE) -> None:
        super().__init__("round", rule, "closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpoolConfig:
    """What a store is for. It cannot be changed afterwards."""

    plan_hash: str
    crowd: int
    """People that a batch needs: with fewer it is never sealed."""
    format: SubmissionFormat
    lanes: tuple[int, ...] = ()
    """Messages of a submission in each lane, in order; empty where all are in lane 0."""
    release_every: int = 0
    """A batch is sealed whenever so many people have come, at least the crowd; 0 where the operator
    alone closes it."""
    closings: int = 1
    """How many batches the round may have; 0 for any number. The last one takes everybody who still
    comes."""

    def __post_init__(self) -> None:
        if 0 < self.release_every < self.crowd or not (self.closings or self.release_every):
            raise InternalError(f"a store cannot be for {self}")

    @property
    def lane_messages(self) -> tuple[int, ...]:
        """Messages of a submission in each lane."""
        return self.lanes or (self.format.messages,)

    def room_of(self, number: int) -> int:
        """How many people complete the batch of this number; 0 where the operator closes it."""
        return 0 if number == self.closings else self.release_every

    def ends_with(self, number: int) -> bool:
        """Whether closing the open batch of this number ends the round."""
        return bool(self.release_every) or number == self.closings


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One batch and its progress."""

    number: int
    state: State
    crowd: int
    """The crowd that the plan requires."""
    people: int
    messages: int
    sha256: str | None
    """Of the released file."""
    id: str
    """Random, drawn when the batch began. Every copy of the batch is released with this id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """What became of the open batch when it was closed."""

    batch: Batch
    """As it is now, sealed or erased."""
    joined: Batch | None = None
    """The sealed batch that its people joined, as it is now."""

    @property
    def lost(self) -> int:
        """People who are in no batch that can be released."""
        return self.batch.people if self.batch.state is State.ERASED else 0


class Store(Protocol):
    """Submissions of one plan and round, in batches.

    One batch is open, the last one, until the round is closed; then none is. The operator closes it
    with `close_batch`. Where the configuration says so, it is also sealed whenever so many people
    have come, and the next one opens. A store keeps the lane of every message. Nothing else that it
    keeps tells which messages belong together, who sent them, when they came or in which order.

    Every method raises StoreUnavailable for a failure that may pass, such as a full disk, and
    InvalidInput for one that does not, such as damage.
    """

    @property
    def config(self) -> SpoolConfig:
        """What the store is for."""

    def add(self, submissions: Sequence[Submitted]) -> list[bool]:
        """Store them durably, all or none. For each: whether it is new.

        A submission whose id was counted before is not stored again. Batches that become full are
        sealed. Any new submission after the round was closed raises RoundClosed; `known` tells
        which ones are not new.
        """

    def known(self, submissions: Sequence[Submitted]) -> list[bool]:
        """For each: whether it was counted before. Nothing is stored."""

    def close_batch(self, *, erase: bool = False) -> Closed:
        """Close the open batch at the operator's wish, in one transaction: nobody who was
        acknowledged is left out of it.

        A batch with its crowd is sealed. People below the crowd join the last batch that is sealed,
        of which nothing was written. Where there is none, they are erased, but only if `erase` is
        set; otherwise CrowdTooSmall, and nothing changes. In both cases the round is closed. It is
        also closed after its last batch, and wherever batches are sealed by their number of people.
        """

    def batches(self) -> tuple[Batch, ...]:
        """All batches in the order of their numbers, the open one last."""

    def mark_releasing(self, batch: Batch) -> Batch:
        """Record durably that a sealed batch may be written from now on: nobody joins it any more.

        The batch as it is now. A second call changes nothing; a batch that does not wait to be
        released is InvalidInput.
        """

    def lane_messages(self, batch: Batch, scratch: Path) -> Iterator[tuple[LaneNumbers, Messages]]:
        """All messages of a batch that is being released, in random order, each with its lane.

        The order is drawn once: every call gives the same one, so that a release that was
        interrupted writes the same bytes again. `scratch` is a folder for temporary files. A batch
        in another state is InvalidInput.
        """

    def mark_released(self, batch: Batch, sha256: str) -> None:
        """Record that the files of a batch are written, and forget its messages for good.

        A second call with the same digest changes nothing.
        """

    def tidy(self) -> None:
        """Remove traces of the order of arrival; called when nobody is waiting."""

    def probe(self) -> None:
        """Raise an error unless a submission could be stored now. Nothing is changed.

        A closed round is no error: the store can tell which submissions are known.
        """

    def check_people(self) -> None:
        """Check that everybody who was counted is still known, so that nobody is counted twice."""

    def check(self) -> None:
        """Read everything once. An error names what is damaged."""

    def close(self) -> None:
        """Tidy up if the disk allows it, then close."""

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...


class State(StrEnum):
    """The state of a batch.

    open ──(closed, or full)──▶ sealed ──(before the first byte)──▶ releasing ──▶ released
      └──(the round ends below the crowd)──▶ erased

    There is no other change, and none past open for a batch below the crowd. Whoever came too late
    for the last full batch may join it as long as it is sealed: once it is releasing, part of a
    file may be written, and two files that differ by a few people show exactly those.
    """

    OPEN = "open"
    """Takes submissions."""
    SEALED = "sealed"
    """Takes no more; nothing of it was written."""
    RELEASING = "releasing"
    """Some of it may be written; nobody joins it."""
    RELEASED = "released"
    """Its files are written and its messages wiped."""
    ERASED = "erased"
    """The round ended with it: its people joined another batch, or their messages were wiped."""

    @property
    def has_messages(self) -> bool:
        """Whether the store still holds the messages of such a batch."""
        return self not in (State.RELEASED, State.ERASED)

    @property
    def is_waiting(self) -> bool:
        """Whether such a batch is to be released."""
        return self in (State.SEALED, State.RELEASING)


CHANGES = {
    State.OPEN: (State.SEALED, State.ERASED),
    State.SEALED: (State.RELEASING,),
    State.RELEASING: (State.RELEASED,),
}
"""The only changes from each state."""


def check_change(now: State, then: State, people: int, crowd: int) -> None:
    """Raise an error unless this change is allowed. Any other is a bug in krand."""
    if then not in CHANGES.get(now, ()):
        raise InternalError(f"a batch cannot change from {now} to {then}")
    if then is State.ERASED and people >= crowd:
        raise InternalError(f"a batch of {people} people, at least {crowd}, must not be erased")
    if then is not State.ERASED and people < crowd:
        raise InternalError(f"a batch of {people} people, fewer than {crowd}, must stay open")
