"""How far some dishonest clients could have moved an estimate.

For single counts this is known from the plan (`krand.planning.lying`). For a cell of b linked bits
one response moves it by up to p^(b-1)/(p-q)^b.
"""

from __future__ import annotations

from krand.analysis.mechanisms import part_of
from krand.analysis.tally import Tally
from krand.errors import InvalidInput
from krand.survey.plan import Plan, WorstShift

__all__ = ["WorstShift", "worst_linked_shift", "worst_shifts"]


def worst_shifts(plan: Plan, tally: Tally, corrupted: int) -> tuple[WorstShift, ...]:
    """For every block of the survey: what so many clients together could have done."""
    _check_corrupted(tally, corrupted)
    part = part_of(plan.mechanism)
    return tuple(part.worst_shift(block, corrupted) for block in plan.blocks)


def worst_linked_shift(plan: Plan, tally: Tally, corrupted: int, bits: int) -> float:
    """For a cell of so many linked bits of whole records: the most people, either way."""
    _check_corrupted(tally, corrupted)
    noise = plan.blocks[0].noise
    return corrupted * (1 - noise) ** (bits - 1) / (1 - 2 * noise) ** bits


def _check_corrupted(tally: Tally, corrupted: int) -> None:
    if not 0 <= corrupted <= tally.people:
        rule = f"must be from 0 to the crowd of {tally.people:,}"
        raise InvalidInput("corrupted", rule, corrupted)
