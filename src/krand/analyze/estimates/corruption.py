"""How far some dishonest clients could have moved an estimate.

A submission has a fixed number of messages, and what is in them is sealed.

* Bit linkage: a client can put the same token into all of its messages. Nobody can tell, for after
  the shuffle messages of one submission are like any others. m clients thus add up to m·r tokens to
  one position, r the messages of a submission; and what the crowd sent beyond r for each person, in
  larger size classes, could have been theirs too. By sending nothing they take away at most m ones.
* Record linkage: a client sends k vectors, each with one bit at every position, so it moves a count
  by at most k in either direction: one person's worth, at every position at once.

A one more or less moves the estimate by 1/(p-q) people, for each copy. For a cell of b linked bits
one report moves it by up to p^(b-1)/(p-q)^b.

The shift is against what the same clients would have sent honestly, at its worst: it bounds every
case, however the flips fell.
"""

from __future__ import annotations

from dataclasses import dataclass

from krand.analyze.tally import Tally
from krand.errors import InvalidInput
from krand.privacy.guarantee import Linkage
from krand.survey.plan import Plan

__all__ = ["WorstShift", "worst_linked_shift", "worst_shifts"]


@dataclass(frozen=True, slots=True)
class WorstShift:
    """The most people by which any one count of a block could be too high, or too low."""

    name: str
    corrupted: int
    too_high: float
    too_low: float


def worst_shifts(plan: Plan, tally: Tally, corrupted: int) -> tuple[WorstShift, ...]:
    """For every block of the survey: what so many clients together could have done."""
    _check_corrupted(tally, corrupted)
    up, down = float(corrupted), float(corrupted)
    if plan.survey.linkage is Linkage.BIT:
        up = float(corrupted * plan.messages + (_oversize(plan, tally) if corrupted else 0))
    return tuple(
        WorstShift(block.name, corrupted, up / (1 - 2 * noise), down / (1 - 2 * noise))
        for block, noise in zip(plan.layout.blocks, plan.noises, strict=True)
    )


def worst_linked_shift(plan: Plan, tally: Tally, corrupted: int, bits: int) -> float:
    """For a cell of so many linked bits of whole records: the most people, either way."""
    _check_corrupted(tally, corrupted)
    noise = plan.noises[0]
    return corrupted * (1 - noise) ** (bits - 1) / (1 - 2 * noise) ** bits


def _check_corrupted(tally: Tally, corrupted: int) -> None:
    if not 0 <= corrupted <= tally.people:
        rule = f"must be from 0 to the crowd of {tally.people:,}"
        raise InvalidInput("corrupted", rule, corrupted)


def _oversize(plan: Plan, tally: Tally) -> int:
    """Messages beyond the plan's number for each person: of submissions in larger size classes."""
    messages = int(tally.counts.sum()) + tally.nulls + sum(tally.rejected.values())
    return max(0, messages - tally.people * plan.messages)
