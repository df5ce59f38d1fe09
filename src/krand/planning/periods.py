"""What it costs to ask again: margins of error by how many rounds one promise covers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.survey.plan import Plan
from krand.survey.schedule import Period
from krand.survey.survey import Survey

LENGTHS = (1, 4, 12, 52)
"""Rounds under one promise that are always shown, up to those of the survey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodOption:
    """One promise for so many rounds."""

    rounds: int
    chosen: bool
    """Whether the survey asks for it."""
    sigma: float
    """The standard error of a count of the most precise question."""
    best: float
    """± people (95 %) of it."""
    worst: float
    promises: int
    """How many of these all rounds need."""
    epsilon: float
    """What whoever answers in all rounds spends in all."""
    delta: float


def period_options(plan: Plan) -> tuple[PeriodOption, ...]:
    """The survey with its promise for fewer rounds at once, down to one; nothing for one round."""
    survey = plan.survey
    rounds = survey.rounds - survey.first_round + 1
    if rounds == 1:
        return ()
    lengths = sorted({*(n for n in LENGTHS if n < rounds), survey.promised_rounds, rounds})
    made = ((length, _made(plan, length)) for length in lengths)
    return tuple(_option(plan, length, other) for length, other in made if other is not None)


def _made(plan: Plan, length: int) -> Plan | None:
    """The plan with a promise for so many rounds; None if the counts would be only noise."""
    if length == plan.survey.promised_rounds:
        return plan
    try:
        return make_plan(_promised_together(plan.survey, length))
    except KrandError:
        return None


def _promised_together(survey: Survey, length: int) -> Survey:
    """The survey with so many rounds, and one promise for all of them."""
    assert survey.schedule is not None  # it has several rounds
    days = replace(survey.schedule, promise=Period.CAMPAIGN, first=1, time_zone="UTC", opens=())
    about = replace(survey.about, closes=None)
    return replace(survey, rounds=length, schedule=days, about=about)


def _option(plan: Plan, length: int, other: Plan) -> PeriodOption:
    rounds = plan.survey.rounds - plan.survey.first_round + 1
    precisions = [other.precision_of(name) for name in other.layout.question_names]
    promises = math.ceil(rounds / length)
    return PeriodOption(
        rounds=length,
        chosen=length == plan.survey.promised_rounds,
        sigma=min(each.sigma for each in precisions),
        best=min(each.half_width_95 for each in precisions),
        worst=max(each.half_width_95 for each in precisions),
        promises=promises,
        epsilon=promises * other.promise.epsilon,
        delta=promises * other.promise.delta,
    )
