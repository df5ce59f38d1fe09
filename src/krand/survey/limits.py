"""What a plan allows: the crowd its promise was made for, its batches, and its rounds."""

from __future__ import annotations

from krand.errors import InvalidInput
from krand.survey.plan import Plan


class CrowdTooSmall(InvalidInput):
    """Fewer people than the noise was planned for: each of them would be less hidden."""


def check_crowd(plan: Plan, people: int) -> None:
    """Refuse a crowd that is smaller than the promise needs; there is no way to insist."""
    planned = plan.mechanism.crowd_needed(plan)
    if people < planned:
        raise CrowdTooSmall(
            "people",
            f"must be at least the planned crowd of {planned:,}",
            people,
            "wait for more people, or plan the survey anew for a smaller crowd",
        )


def check_round(plan: Plan, round_number: int) -> None:
    """Refuse a round that was not planned."""
    first, last = plan.survey.first_round, plan.survey.last_round
    if not first <= round_number <= last:
        raise InvalidInput("round", f"must be from {first:,} to {last:,}", round_number)
