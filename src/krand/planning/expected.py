"""How precise a plan's counts will be with the number of people who are expected.

The margins of a plan are for its crowd, which is the least. With n people instead of N, the noise
of devices adds up n times, so σ grows as √(n/N); dummies of mixers stay as many.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from krand.planning.mechanisms import part_of
from krand.promise import Z95, Precision
from krand.survey.plan import Plan, PlannedBlock
from krand.survey.survey import Survey


def people_shown(survey: Survey) -> int | None:
    """For how many people margins of error are told: as expected, or the least that devices' noise
    allows. None where mixers add the noise and the survey expects no number."""
    if survey.expected is not None:
        return survey.expected
    return part_of(survey.trust.noise).people_shown(survey)


def as_expected(plan: Plan) -> Plan:
    """The plan with the margins that are told: to be shown, not to be written."""
    people = people_shown(plan.survey)
    return plan if people is None else for_people(plan, people)


def for_people(plan: Plan, people: int) -> Plan:
    """The plan with margins of error for so many people."""
    return replace(plan, blocks=blocks_for(plan.survey, plan.blocks, people))


def blocks_for(
    survey: Survey, blocks: Iterable[PlannedBlock], people: int
) -> tuple[PlannedBlock, ...]:
    """The blocks with precisions for so many people instead of the crowd."""
    found, part = [], part_of(survey.trust.noise)
    for planned in blocks:
        more = part.added_variance(survey, planned.noise, people)
        margins = tuple(
            replace(margin, precision=_for(margin.precision, people, margin.cells * more))
            for margin in planned.margins
        )
        precision = _for(planned.precision, people, more)
        found.append(replace(planned, precision=precision, margins=margins))
    return tuple(found)


def _for(known: Precision, people: int, more: float) -> Precision:
    if not more:
        sigma, half = known.sigma, known.half_width_95
    else:
        sigma = math.sqrt(max(0.0, known.sigma**2 + more))
        half = Z95 * sigma
    return Precision(sigma, half, 100 * half / people)
