"""What a plan allows: the crowd its promise was made for, its batches, and its rounds."""

from __future__ import annotations

from krand.errors import InvalidInput
from krand.survey.plan import Plan

__all__ = [
    "CrowdTooSmall",
    "check_crowd",
    "check_round",
    "crowd_needed",
    "release_every",
    "smallest_batch",
]


class CrowdTooSmall(InvalidInput):
    """Fewer people than the noise was planned for: each of them would be less hidden."""


def crowd_needed(plan: Plan) -> int:
    """How many people the promise needs: one, where mixers add noise."""
    return plan.mechanism.crowd_needed(plan)


def smallest_batch(plan: Plan) -> int:
    """How many people a batch of a collector must have: with fewer it is never released."""
    return plan.mechanism.smallest_batch(plan)


def release_every(plan: Plan) -> int:
    """A batch is complete whenever so many people have come; 0 where the organiser closes it."""
    return plan.mechanism.release_every(plan)


def check_crowd(plan: Plan, people: int) -> None:
    """Refuse a crowd that is smaller than the promise needs; there is no way to insist."""
    planned = crowd_needed(plan)
    if people < planned:
        raise CrowdTooSmall(
            "people",
            f"must be at least the planned crowd of {planned:,}",
            people,
            "wait for more people, or plan the survey anew for a smaller crowd",
        )


def check_round(plan: Plan, round_number: int) -> None:
    """Refuse a round that was not planned."""
    rounds = plan.survey.rounds
    if not 1 <= round_number <= rounds:
        raise InvalidInput("round", f"must be from 1 to {rounds:,}", round_number)
