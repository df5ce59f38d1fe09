"""The parts of pages about a plan: of the first page, and of a survey file.

A quick bound, the plan, coalitions and a preview, advice.
"""

from __future__ import annotations

import math

from krand.errors import CannotMeet
from krand.planning.expected import as_expected, people_shown
from krand.planning.groups import results_by_group
from krand.planning.making import make_plan, quick_plan
from krand.planning.mechanisms import QuickPlan
from krand.promise import Precision
from krand.survey.kinds.choice import Choice
from krand.survey.kinds.yes_no import YesNo
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.web.advice import advice_on, worst_margin
from krand.web.numbers import people_at_most, percent_at_most, proven_sentence, width
from krand.web.pages import render
from krand.web.preview import WIDTH, preview_of, previewed_people
from krand.web.survey_form import SurveyForm
from krand.web.texts import TEXTS
from krand.wire.messages import length_at
from krand.wording.coalitions import coalition_rows
from krand.wording.groups import group_sentences
from krand.wording.mechanisms import words_of
from krand.wording.phrases import at_most, dishonest_can, number, people, percent, whole_people
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

OWN = TEXTS.facts
PREVIEWED = 2
"""How many questions the preview shows."""
MOST_BARS = 12


def quick_part(survey: Survey) -> tuple[str, str] | None:
    """Precisions that the plan will keep, and the same said; None if nothing is proven at once."""
    quick = quick_plan(survey)
    if quick is None:
        return None
    names = {question.name: question.text or question.name for question in survey.questions}
    rows = [
        (
            " + ".join(names[name] for name in each.block.question_names),
            each.precision,
            EACH.get(each.block.kind, ""),
        )
        for each in quick.blocks
    ]
    worst = _widest(quick)
    html = render(
        "survey_quick.html",
        rows=rows,
        worst=worst,
        expected=people_shown(survey),
        proven=[proven_sentence(survey.policy, bound) for bound in dict.fromkeys(quick.bounds)],
        people_at_most=people_at_most,
        percent_at_most=percent_at_most,
    )
    return html, OWN.said_quick.format(width=people_at_most(worst.half_width_95))


def _widest(quick: QuickPlan) -> Precision:
    alone = [margin.precision for block in quick.blocks for margin in block.margins]
    return max(
        (*(block.precision for block in quick.blocks), *alone),
        key=lambda known: known.half_width_95,
    )


def first_part(form: SurveyForm) -> tuple[str, Plan]:
    """The numbers of the plan, and the plan."""
    plan = make_plan(form.survey(), suggestions=False)
    shown = as_expected(plan)
    rows = [
        (question.text or question.name, question.name, shown.precision_of(question.name))
        for question in plan.survey.questions
    ]
    worst = max((known for _, _, known in rows), key=lambda known: known.half_width_95)
    html = render(
        "first_result.html",
        plan=plan,
        rows=rows,
        worst=worst,
        too_small=not worst.readable,
        needed=words_of(plan.mechanism).needed(plan, form.crowd),
        guess=promised_guess(plan),
        promise=promise_sentence(plan),
        dishonest=dishonest_can([block.shift for block in plan.blocks]),
        people=people,
        percent=percent,
    )
    return html, plan


def said_of(plan: Plan) -> str:
    """The main number, for those who listen."""
    return OWN.said.format(width=worst_margin(as_expected(plan)))


def more_part(form: SurveyForm) -> str:
    """Who works together and what is left; what results will look like."""
    plan = make_plan(form.survey(), suggestions=False)
    return render(
        "first_more.html",
        coalitions=coalition_rows(plan),
        previews=preview_of(plan, _labels(plan.survey)),
        crowd=previewed_people(plan),
        width=WIDTH,
    )


def _labels(survey: Survey) -> dict[str, tuple[str, ...]]:
    """The answers of the first questions that can be shown as bars."""
    found: dict[str, tuple[str, ...]] = {}
    for question in survey.questions:
        if isinstance(question, YesNo):
            found[question.name] = (TEXTS.form.yes, TEXTS.form.no)[: question.positions]
        elif isinstance(question, Choice) and len(question.choices) <= MOST_BARS:
            found[question.name] = tuple(question.choices)
        if len(found) == PREVIEWED:
            break
    return found


def advice_part(form: SurveyForm) -> str:
    """What would help, as a table."""
    try:
        now = worst_margin(make_plan(form.survey(), suggestions=False))
    except CannotMeet:
        now = TEXTS.advice.impossible
    found = advice_on(form)
    rows = [(row, form.query(**row.fields) if row.fields else None) for row in found]
    return render("first_advice.html", now=now, rows=rows)


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
        by_group=group_sentences(results_by_group(plan)),
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
