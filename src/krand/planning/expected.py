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
from krand.survey.questions import Kind, Leveled, Question
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


def gate_of(plan: Plan, question: Question) -> Question:
    """The question that a condition looks at."""
    assert question.asked_if is not None
    name = question.asked_if.question
    return next(gate for gate in plan.survey.questions if gate.name == name)


def answers_counted(plan: Plan, question: Leveled) -> int:
    """How many of its answers are counted: all, but of a yes_no alone perhaps "yes" only."""
    grouped = plan.block_of(question.name).block.kind is Kind.TOGETHER
    return question.levels if grouped else question.positions


def counts_asked(plan: Plan, question: Question) -> bool:
    """Whether it is counted how many people a question with a condition is asked.

    It is if the gate takes one answer of each person and those of the condition are counted, or if
    the condition names one item of a list.
    """
    assert question.asked_if is not None
    gate = gate_of(plan, question)
    places = [gate.place_named(answer) for answer in question.asked_if.answers]
    if isinstance(gate, Leveled):
        return max(places) < answers_counted(plan, gate)
    return len(places) == 1


def asked_margin(plan: Plan, question: Question) -> float:
    """The margin of error (95 %) of half of those asked, in people: by the noise of both counts."""
    assert question.asked_if is not None
    top = plan.precision_of(question.name).sigma
    bottom = plan.precision_of(question.asked_if.question).sigma
    return Z95 * math.sqrt(top**2 + len(question.asked_if.answers) * bottom**2 / 4)


def _for(known: Precision, people: int, more: float) -> Precision:
    if not more:
        sigma, half = known.sigma, known.half_width_95
    else:
        sigma = math.sqrt(max(0.0, known.sigma**2 + more))
        half = Z95 * sigma
    return Precision(sigma, half, 100 * half / people)
