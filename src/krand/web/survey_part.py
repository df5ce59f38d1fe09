"""The planner's survey: how precise every question will be, and what is promised."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from krand.planning.expected import as_expected, people_shown
from krand.web.numbers import width
from krand.web.pages import render
from krand.wire.messages import length_at
from krand.wording.coalitions import coalition_rows
from krand.wording.mechanisms import words_of
from krand.wording.phrases import at_most, number, people, percent, whole_people
from krand.wording.plans import (
    EACH,
    margins_sentence,
    other_methods,
    promise_sentence,
    promised_guess,
    single_records,
    unreadable,
)
from krand.wording.promises import protection
from krand.wording.surveys import about_sentence, survey_name

if TYPE_CHECKING:
    from krand.survey.plan import Plan

__all__ = ["survey_part"]


def survey_part(plan: Plan) -> str:
    """The part of the page that a change of the survey replaces."""
    trust, words = plan.survey.trust, words_of(plan.mechanism)
    rappor, curator = other_methods(plan.survey.policy, single_records(plan))
    return render(
        "survey_result.html",
        plan=plan,
        survey_name=survey_name(plan.survey),
        about=about_sentence(plan.survey),
        rows=as_expected(plan).blocks,
        noises={block.name: words.noise_of(block) for block in plan.blocks},
        expected=people_shown(plan.survey),
        margins=margins_sentence(plan),
        noise_name=words.noise_name,
        trust=trust,
        crowd=words.crowd(plan),
        has_local_noise=math.isfinite(plan.promise.local_epsilon),
        dummies=float(plan.expected_dummies),
        coalitions=coalition_rows(plan) if trust.chain else (),
        unreadable=unreadable(plan),
        guess=promised_guess(plan),
        promise=promise_sentence(plan),
        shift=max((block.shift for block in plan.blocks), key=lambda shift: shift.too_high),
        whole_people=whole_people,
        message_bytes=length_at(plan, 1),
        rappor=rappor.best,
        curator=curator.best,
        number=number,
        people=people,
        percent=percent,
        at_most=at_most,
        protection=protection,
        width=width,
        each=lambda kind: EACH.get(kind, ""),
    )
