"""How far some dishonest clients could have moved an estimate."""

from __future__ import annotations

from krand.analysis.mechanisms import part_of
from krand.analysis.tally import Tally
from krand.errors import InvalidInput
from krand.survey.plan import Plan, WorstShift

__all__ = ["WorstShift", "worst_shifts"]


def worst_shifts(plan: Plan, tally: Tally, corrupted: int) -> tuple[WorstShift, ...]:
    """For every block of the survey: what so many clients together could have done."""
    if not 0 <= corrupted <= tally.people:
        rule = f"must be from 0 to the crowd of {tally.people:,}"
        raise InvalidInput("corrupted", rule, corrupted)
    part = part_of(plan.mechanism)
    return tuple(part.worst_shift(block, corrupted) for block in plan.blocks)
