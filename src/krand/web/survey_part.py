"""The planner's survey: how precise every question will be, and what is promised."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krand.accounting.baselines import rappor_sigma
from krand.accounting.curator import curator
from krand.planning.record import record_reports
from krand.promise import Z95
from krand.web.numbers import width
from krand.web.pages import render
from krand.wire.messages import length_at
from krand.wording.collusion import protection
from krand.wording.phrases import at_most, number, people, percent, whole_people
from krand.wording.plans import EACH, promise_sentence, unreadable

if TYPE_CHECKING:
    from krand.survey.plan import Plan

__all__ = ["survey_part"]


def survey_part(plan: Plan) -> str:
    """The part of the page that a change of the survey replaces."""
    policy = plan.survey.policy
    responses = replace(record_reports(plan.survey, plan.layout), copies=1)
    return render(
        "survey_result.html",
        plan=plan,
        rows=list(zip(plan.layout.blocks, plan.noises, plan.precisions, plan.margins, strict=True)),
        unreadable=unreadable(plan),
        promise=promise_sentence(plan),
        shift=max(plan.shifts, key=lambda shift: shift.too_high),
        whole_people=whole_people,
        message_bytes=length_at(plan, 1),
        rappor=Z95 * rappor_sigma(policy, responses),
        curator=Z95 * curator(policy, responses).sigma,
        number=number,
        people=people,
        percent=percent,
        at_most=at_most,
        protection=protection,
        width=width,
        each=lambda kind: EACH.get(kind, ""),
    )
