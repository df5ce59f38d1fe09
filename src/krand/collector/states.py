"""The states of a batch.

    open ──(as many people as planned)──▶ sealed ──(files are written)──▶ released

There is no other change, and no way around the planned crowd. Where mixers add the noise, that is
one person, and the operator seals the batch.
"""

from __future__ import annotations

from enum import StrEnum

from krand.errors import InternalError

__all__ = ["State", "check_change"]


class State(StrEnum):
    """The state of a batch."""

    OPEN = "open"
    """Takes submissions."""
    SEALED = "sealed"
    """Takes no more; may be released."""
    RELEASED = "released"
    """Its files are written and its messages wiped."""


CHANGES = {State.OPEN: State.SEALED, State.SEALED: State.RELEASED}
"""The only change from each state."""


def check_change(now: State, then: State, people: int, crowd: int) -> None:
    """Raise an error unless this change is allowed. Any other is a bug in krand."""
    if CHANGES.get(now) is not then:
        raise InternalError(f"a batch cannot change from {now} to {then}")
    if people < crowd:
        raise InternalError(f"a batch of {people} people, fewer than {crowd}, must stay open")
