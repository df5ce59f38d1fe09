"""How precise a plan's counts will be with the number of people who are expected.

The margins of a plan are for its crowd, which is the least. With n people instead of N, the noise
of devices adds up n times, so σ grows as √(n/N); dummies of mixers stay as many.
"""

from __future__ import annotations

import math
from dataclasses import replace

from krand.promise import Z95, Precision
from krand.survey.plan import Margin, Plan

__all__ = ["as_expected", "for_people", "people_shown"]


def people_shown(plan: Plan) -> int | None:
    """For how many people margins of error are told: as expected, or the least that devices' noise
    allows. None where mixers add the noise and the survey expects no number."""
    if plan.survey.expected is not None:
        return plan.survey.expected
    return plan.survey.policy.minimum_crowd if plan.survey.trust.noise.has_flips else None


def as_expected(plan: Plan) -> Plan:
    """The plan with the margins that are told: to be shown, not to be written."""
    people = people_shown(plan)
    return plan if people is None else for_people(plan, people)


def for_people(plan: Plan, people: int) -> Plan:
    """The plan with margins of error for so many people."""
    crowd = plan.survey.policy.minimum_crowd
    if people == crowd:
        return plan
    added = [_added(plan, noise, people) for noise in plan.noises]
    return replace(
        plan,
        precisions=tuple(
            _for(known, people, more) for known, more in zip(plan.precisions, added, strict=True)
        ),
        margins=tuple(
            tuple(
                Margin(m.question, m.cells, _for(m.precision, people, m.cells * more))
                for m in margins
            )
            for margins, more in zip(plan.margins, added, strict=True)
        ),
    )


def _added(plan: Plan, noise: float, people: int) -> float:
    """By how much the variance of a count grows, because so many people send flipped bits."""
    if not plan.survey.trust.noise.has_flips:
        return 0.0
    each = noise * (1 - noise) / (1 - 2 * noise) ** 2 / plan.survey.copies
    return (people - plan.survey.policy.minimum_crowd) * each


def _for(known: Precision, people: int, more: float) -> Precision:
    sigma = math.sqrt(max(0.0, known.sigma**2 + more))
    half = Z95 * sigma
    return Precision(sigma, half, 100 * half / people)
