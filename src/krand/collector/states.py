"""The life of a batch, as a table.

    open ──(as many people as planned)──▶ sealed ──(files are written)──▶ released

There is no way back, and no way past the planned crowd.
"""

from __future__ import annotations

from enum import StrEnum

from krand.errors import InternalError

__all__ = ["State", "check_change"]


class State(StrEnum):
    """Where a batch is in its life."""

    OPEN = "open"
    """Takes submissions."""
    SEALED = "sealed"
    """Takes no more; may be released."""
    RELEASED = "released"
    """Its files are written, its messages wiped."""


CHANGES = {State.OPEN: State.SEALED, State.SEALED: State.RELEASED}
"""The only way from each state."""


def check_change(now: State, then: State, people: int, population: int) -> None:
    """Whether a batch may go from one state to another; anything else is a bug of ours."""
    if CHANGES.get(now) is not then:
        raise InternalError(f"a batch cannot go from {now} to {then}")
    if people < population:
        raise InternalError(f"a batch of {people} people below {population} stays open")
