"""The states of a batch.

    open ──(closed, or full)──▶ sealed ──(before the first byte)──▶ releasing ──▶ released
      └──(the round ends below the crowd)──▶ erased

There is no other change, and none past open for a batch below the crowd. Whoever came too late for
the last full batch may join it as long as it is sealed: once it is releasing, part of a file may be
written, and two files that differ by a few people show exactly those.
"""

from __future__ import annotations

from enum import StrEnum

from krand.errors import InternalError


class State(StrEnum):
    """The state of a batch."""

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
