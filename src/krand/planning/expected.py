"""How precise a plan's counts will be with the number of people who are expected.

The margins of a plan are for its crowd, which is the least. With n people instead of N, the noise
of devices adds up n times, so σ grows as √(n/N); dummies of mixers stay as many.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from krand.promise import Z95, Precision
from krand.survey.plan import Margin, Plan
from krand.survey.survey import Survey

__all__ = ["as_expected", "for_people", "people_shown", "precisions_for"]


def people_shown(survey: Survey) -> int | None:
    """For how many people margins of error are told: as expected, or the least that devices' noise
    allows. None where mixers add the noise and the survey expects no number."""
    if survey.expected is not None:
        return survey.expected
    return survey.policy.minimum_crowd if survey.trust.noise.has_flips else None


def as_expected(plan: Plan) -> Plan:
    """The plan with the margins that are told: to be shown, not to be written."""
    people = people_shown(plan.survey)
    return plan if people is None else for_people(plan, people)


def for_people(plan: Plan, people: int) -> Plan:
    """The plan with margins of error for so many people."""
    precisions, margins = precisions_for(
        plan.survey, plan.noises, plan.precisions, plan.margins, people
    )
    return replace(plan, precisions=precisions, margins=margins)


def precisions_for(
    survey: Survey,
    noises: Sequence[float],
    precisions: Sequence[Precision],
    margins: Sequence[tuple[Margin, ...]],
    people: int,
) -> tuple[tuple[Precision, ...], tuple[tuple[Margin, ...], ...]]:
    """The precisions of blocks and of their questions for so many people instead of the crowd."""
    added = [_added(survey, noise, people) for noise in noises]
    return (
        tuple(_for(known, people, more) for known, more in zip(precisions, added, strict=True)),
        tuple(
            tuple(
                Margin(m.question, m.cells, _for(m.precision, people, m.cells * more)) for m in own
            )
            for own, more in zip(margins, added, strict=True)
        ),
    )


def _added(survey: Survey, noise: float, people: int) -> float:
    """By how much the variance of a count grows, because so many people send flipped bits."""
    if not survey.trust.noise.has_flips:
        return 0.0
    each = noise * (1 - noise) / (1 - 2 * noise) ** 2 / survey.copies
    return (people - survey.policy.minimum_crowd) * each


def _for(known: Precision, people: int, more: float) -> Precision:
    if not more:
        sigma, half = known.sigma, known.half_width_95
    else:
        sigma = math.sqrt(max(0.0, known.sigma**2 + more))
        half = Z95 * sigma
    return Precision(sigma, half, 100 * half / people)
