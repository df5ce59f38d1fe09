"""How far some dishonest clients could have moved an estimate.

For single counts this is known from the plan (`krand.planning.lying`). For a cell of b linked bits
one response moves it by up to p^(b-1)/(p-q)^b.
"""

from __future__ import annotations

from krand.analysis.tally import Tally
from krand.errors import InvalidInput
from krand.planning import lying
from krand.survey.plan import Plan, WorstShift

__all__ = ["WorstShift", "worst_linked_shift", "worst_shifts"]


def worst_shifts(plan: Plan, tally: Tally, corrupted: int) -> tuple[WorstShift, ...]:
    """For every block of the survey: what so many clients together could have done."""
    _check_corrupted(tally, corrupted)
    if plan.mixing is not None:  # nothing is divided by: the shifts of single people add up
        return tuple(
            WorstShift(each.name, corrupted, corrupted * each.too_high, corrupted * each.too_low)
            for each in plan.shifts
        )
    rooms = plan.rooms or (1,) * len(plan.layout.blocks)
    return lying.worst_shifts(zip(plan.layout.blocks, plan.noises, rooms, strict=True), corrupted)


def worst_linked_shift(plan: Plan, tally: Tally, corrupted: int, bits: int) -> float:
    """For a cell of so many linked bits of whole records: the most people, either way."""
    _check_corrupted(tally, corrupted)
    noise = plan.noises[0]
    return corrupted * (1 - noise) ** (bits - 1) / (1 - 2 * noise) ** bits


def _check_corrupted(tally: Tally, corrupted: int) -> None:
    if not 0 <= corrupted <= tally.people:
        rule = f"must be from 0 to the crowd of {tally.people:,}"
        raise InvalidInput("corrupted", rule, corrupted)
