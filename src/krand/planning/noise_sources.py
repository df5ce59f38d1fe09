"""Devices' noise and mixers' noise for the same survey, side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.planning.mechanisms import PlanningPart, part_of, parts
from krand.promise import Assumption
from krand.survey.mechanisms import MIXERS
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.wire.messages import LAYER_BYTES

MESSAGE_BYTES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceOption:
    """One way to add the noise of a survey: what it gives, costs and rests on."""

    noise: str
    """The code of the mechanism."""
    mixers: int
    chosen: bool
    """Whether the survey asks for it."""
    best: float
    """± people (95 %) of a count of the most precise question."""
    worst: float
    messages: int
    bytes: int
    """Of all sealed messages of a person."""
    dummies: float
    """How many one mixer adds to one batch, on average."""
    assumptions: tuple[Assumption, ...]


def noise_sources(plan: Plan) -> tuple[SourceOption, ...]:
    """The options of the plan's survey, its own among them; whole records have devices' alone."""
    return () if _devices_alone(plan.survey) else tuple(_options(plan, parts()))


def mixers_sources(plan: Plan) -> tuple[SourceOption, ...]:
    """Of these options those in which mixers alone add the noise, which are found quickly."""
    return () if _devices_alone(plan.survey) else tuple(_options(plan, [part_of(MIXERS)]))


def _devices_alone(survey: Survey) -> bool:
    """Whether the rules of mixers leave no other noise."""
    return any(MIXERS.trust_rules(survey.linkage, 1))


def _options(plan: Plan, tried: Iterable[PlanningPart]) -> Iterator[SourceOption]:
    for part in tried:
        other = _variant(plan, part.variant(plan.survey))
        if other is not None:
            for mixers in part.chains(plan.survey):
                yield _option(other, mixers, plan.survey)


def _variant(plan: Plan, survey: Survey | None) -> Plan | None:
    """The plan of a survey; None if the counts would be only noise."""
    if survey is None or survey == plan.survey:
        return None if survey is None else plan
    try:
        return make_plan(survey)
    except KrandError:
        return None


def _option(plan: Plan, mixers: int, asked: Survey) -> SourceOption:
    """Laws do not depend on the number of mixers; without flips, variances are theirs alone."""
    trust = plan.survey.trust
    times = math.sqrt(mixers / trust.mixers)
    names = plan.layout.question_names
    widths = [times * plan.precision_of(name).half_width_95 for name in names]
    return SourceOption(
        noise=trust.noise.code,
        mixers=mixers,
        chosen=(trust.noise, mixers) == (asked.trust.noise, asked.trust.mixers),
        best=min(widths),
        worst=max(widths),
        messages=plan.messages,
        bytes=plan.messages * sealed_bytes(mixers),
        dummies=float(plan.expected_dummies),
        assumptions=plan.promise.assumptions,
    )


def sealed_bytes(mixers: int) -> int:
    """The length of a message: sealed for the analyst, and for every mixer but the collector."""
    return MESSAGE_BYTES + LAYER_BYTES * mixers
