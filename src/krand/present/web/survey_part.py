"""The planner's survey: how precise every question will be, and what is promised."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from krand.client.randomizer import message_format
from krand.present.planning import EACH, promise_sentence, unreadable
from krand.present.web.numbers import width
from krand.present.web.pages import render
from krand.present.wording import at_most, number, people, percent, whole_people
from krand.privacy.collusion import protection
from krand.privacy.curator import curator
from krand.privacy.guarantee import Z95
from krand.privacy.peers import rappor_sigma
from krand.survey.record import record_reports

if TYPE_CHECKING:
    from krand.survey.plan import Plan

__all__ = ["survey_part"]


def survey_part(plan: Plan) -> str:
    """The part of the page that a change of the survey replaces."""
    policy = plan.survey.policy
    reports = replace(record_reports(plan.survey, plan.layout), copies=1)
    return render(
        "survey_result.html",
        plan=plan,
        rows=list(zip(plan.layout.blocks, plan.noises, plan.precisions, plan.margins, strict=True)),
        unreadable=unreadable(plan),
        promise=promise_sentence(plan),
        shift=max(plan.shifts, key=lambda shift: shift.too_high),
        whole_people=whole_people,
        message_bytes=message_format(plan).sealed_length,
        rappor=Z95 * rappor_sigma(policy, reports),
        curator=Z95 * curator(policy, reports).sigma,
        number=number,
        people=people,
        percent=percent,
        at_most=at_most,
        protection=protection,
        width=width,
        each=lambda kind: EACH.get(kind, ""),
    )
