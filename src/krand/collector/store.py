"""What a collector needs from a store: the interface, its values and its error.

A store keeps the submissions of one plan and round until they are released. Intake, release,
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
    """People that a round needs: with fewer nothing of it is released."""
    format: SubmissionFormat
    lanes: tuple[int, ...] = ()
    """Messages of a submission in each lane, in order; empty where all are in lane 0."""

    @property
    def lane_messages(self) -> tuple[int, ...]:
        """Messages of a submission in each lane."""
        return self.lanes or (self.format.messages,)


class State(StrEnum):
    """The state of a round.

    open ──(the crowd came)──▶ closed ──(its files are written)──▶ released
      └──(too few came)──▶ erased

    There is no other change. What is closed takes nobody any more: two files that differ by a few
    people show exactly those.
    """

    OPEN = "open"
    """Takes submissions."""
    CLOSED = "closed"
    """Takes no more; some of it may be written."""
    RELEASED = "released"
    """Its files are written and its messages wiped."""
    ERASED = "erased"
    """Too few came, and their messages are wiped."""

    @property
    def has_messages(self) -> bool:
        """Whether the store still holds the messages of such a round."""
        return self in (State.OPEN, State.CLOSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """A round, and how many people came."""

    state: State
    people: int

    @property
    def is_open(self) -> bool:
        """Whether it takes submissions."""
        return self.state is State.OPEN


class Store(Protocol):
    """Submissions of one plan and round, which is one batch: open until the operator closes it.

    A store keeps the lane of every message. Nothing else that it keeps tells which messages belong
    together, who sent them, when they came or in which order.

    Every method raises StoreUnavailable for a failure that may pass, such as a full disk, and
    InvalidInput for one that does not, such as damage.
    """

    @property
    def config(self) -> SpoolConfig:
        """What the store is for."""

    def add(self, submissions: Sequence[Submitted]) -> list[bool]:
        """Store them durably, all or none. For each: whether it is new.

        A submission whose id was counted before is not stored again. Any new submission after the
        round was closed raises RoundClosed; `known` tells which ones are not new.
        """

    def known(self, submissions: Sequence[Submitted]) -> list[bool]:
        """For each: whether it was counted before. Nothing is stored."""

    def close_round(self, *, erase: bool = False) -> Round:
        """Close the round, in one transaction: nobody who was acknowledged is left out of it.

        With fewer people than the crowd their messages are erased, but only if `erase` is set;
        otherwise CrowdTooSmall, and nothing changes.
        """

    def round(self) -> Round:
        """Its state, and how many people came."""

    def lane_messages(self, scratch: Path) -> Iterator[tuple[LaneNumbers, Messages]]:
        """All messages of the closed round, in random order, each with its lane.

        The order is drawn once: every call gives the same one, so that a release that was
        interrupted writes the same bytes again. `scratch` is a folder for temporary files. A round
        in another state is InvalidInput.
        """

    def mark_released(self) -> None:
        """Record that the files of the closed round are written, and forget its messages for good.

        A second call changes nothing.
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


CHANGES = {
    State.OPEN: (State.CLOSED, State.ERASED),
    State.CLOSED: (State.RELEASED,),
}
"""The only changes from each state."""


def check_change(now: State, then: State, people: int, crowd: int) -> None:
    """Raise an error unless this change is allowed. Any other is a bug in krand."""
    if then not in CHANGES.get(now, ()):
        raise InternalError(f"a round cannot change from {now} to {then}")
    if then is State.ERASED and people >= crowd:
        raise InternalError(f"a round of {people} people, at least {crowd}, must not be erased")
    if then is not State.ERASED and people < crowd:
        raise InternalError(f"a round of {people} people, fewer than {crowd}, must stay open")
