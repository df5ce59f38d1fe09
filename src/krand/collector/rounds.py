"""How far a round is at its collector, and what can be wrong with its spool."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from krand.errors import InvalidInput, Unavailable
from krand.sqlite_files import may_pass

MINIMUM_GROUP = 32
"""A copy of a spool shows nobody's messages or id among fewer people, once so many have come."""


class State(StrEnum):
    """How far a round is."""

    OPEN = "open"
    CLOSED = "closed"
    """Nobody new is taken. What was acknowledged may leave, in one batch."""
    RELEASED = "released"
    """The batch is recorded, and its messages are gone from here."""
    ERASED = "erased"
    """Fewer came than the plan asks for: their messages are gone, and nothing leaves."""

    @property
    def has_messages(self) -> bool:
        """Whether the spool still holds the messages of such a round."""
        return self in (State.OPEN, State.CLOSED)


@dataclass(frozen=True, slots=True)
class Round:
    """A round, and how many people came."""

    state: State
    people: int

    @property
    def is_open(self) -> bool:
        """Whether it takes submissions."""
        return self.state is State.OPEN


class StoreUnavailable(Unavailable):
    """The disk is full or fails. Nothing was stored, and nothing may be acknowledged."""


class Damaged(InvalidInput):
    """The file is not what was acknowledged. Nothing leaves it."""

    def __init__(self, path: Path, why: str) -> None:
        rule, hint = f"must be undamaged ({why})", "nothing is released from it"
        super().__init__("spool", rule, str(path), hint)


@contextmanager
def errors_named(path: Path) -> Iterator[None]:
    """One line for each: a failure that may pass, or damage."""
    try:
        yield
    except sqlite3.Error as error:
        if may_pass(error):
            raise StoreUnavailable(f"{path} cannot be used now: {error}") from None
        raise Damaged(path, str(error)) from None
    except OSError as error:
        raise StoreUnavailable(f"{error.filename or path}: {error.strerror}") from None


def round_in(database: sqlite3.Connection, path: Path) -> Round:
    found = database.execute("SELECT state, people FROM round").fetchone()
    if not found or found[0] not in list(State) or not isinstance(found[1], int):
        raise Damaged(path, "the state of the round")
    return Round(State(found[0]), found[1])
