"""The parts of pages about a plan: a quick bound, the promise, coalitions and a preview."""

from __future__ import annotations

import math

from krand.languages.speaking import gettext, language
from krand.planning.coalitions import coalitions_of
from krand.planning.expected import as_expected, people_shown
from krand.planning.groups import results_by_group
from krand.planning.making import quick_plan
from krand.planning.mechanisms import QuickPlan
from krand.planning.periods import period_options
from krand.promise import Policy, Precision
from krand.report.languages import language_of
from krand.report.promise import coalition_view
from krand.survey.kinds.choice import Choice
from krand.survey.kinds.yes_no import YesNo
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.web.pages import render
from krand.web.preview import WIDTH, preview_of, previewed_people
from krand.web.texts import FACTS as OWN
from krand.wording.mechanisms import words_of
from krand.wording.phrases import at_most, dishonest_can, people, percent, whole
from krand.wording.plan_texts import PLANS
from krand.wording.plans import (
    each_of,
    group_sentences,
    period_rows,
    promise_sentence,
    promised_guess,
)
from krand.wording.promises import limit_of, right_guess

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
            each_of(each.block.kind),
        )
        for each in quick.blocks
    ]
    worst = _widest(quick)
    html = render(
        "promise_quick.html",
        rows=rows,
        worst=worst,
        expected=people_shown(survey),
        proven=proven_sentence(survey.policy, quick.bound),
        people_at_most=people_at_most,
        percent_at_most=percent_at_most,
    )
    return html, OWN.said_quick.format(width=people_at_most(worst.half_width_95))


def people_at_most(half: float) -> str:
    """± 29 people, rounded up."""
    rounded = whole(math.ceil(half)) if half >= 10 else at_most(half, 2)
    return OWN.width.format(number=rounded)


def percent_at_most(value: float) -> str:
    """Two significant digits, rounded up."""
    step = 10.0 ** (math.floor(math.log10(value)) - 1)
    return percent(math.ceil(value / step) * step)


def proven_sentence(policy: Policy, bound: float) -> str:
    """What is proven for a quick plan."""
    name, limit = limit_of(policy, policy)
    return OWN.quick.format(
        epsilon=at_most(policy.epsilon), name=name, limit=at_most(limit), bound=at_most(bound)
    )


def _widest(quick: QuickPlan) -> Precision:
    alone = [margin.precision for block in quick.blocks for margin in block.margins]
    return max(
        (*(block.precision for block in quick.blocks), *alone),
        key=lambda known: known.half_width_95,
    )


def promise_part(plan: Plan) -> str:
    """The promise of a plan, and how precise its results will be."""
    shown, words = as_expected(plan), words_of(plan.mechanism)
    rows = [
        (question.text or question.name, question.name, shown.precision_of(question.name))
        for question in plan.survey.questions
    ]
    return render(
        "promise_result.html",
        plan=plan,
        rows=rows,
        worst=worst_precision(plan),
        expected=people_shown(plan.survey),
        crowd=words.crowd(plan),
        by_group=group_sentences(results_by_group(plan)),
        guess=promised_guess(plan),
        bar=guess_bar(plan.promise.epsilon, plan.promise.delta),
        promise=promise_sentence(plan),
        dishonest=dishonest_can([block.shift for block in plan.blocks]),
        people=people,
        percent=percent,
    )


def guess_bar(epsilon: float, delta: float) -> int:
    """How often a guess is right at most, in 100: the mark on the bar from 50 to 100."""
    return min(100, math.ceil(100 * right_guess(epsilon, delta)))


def _half_width(known: Precision) -> float:
    return known.half_width_95


def said_of(plan: Plan) -> str:
    """The main number, for those who listen."""
    return OWN.said.format(width=people(worst_precision(plan)))


def worst_precision(plan: Plan) -> Precision:
    """That of the least precise question, as the table shows it."""
    shown = as_expected(plan)
    known = (shown.precision_of(question.name) for question in plan.survey.questions)
    return max(known, key=_half_width)


def more_part(plan: Plan) -> str:
    """Who works together and what is left; what results will look like, and rounds cost."""
    texts = language_of(language())
    return render(
        "promise_more.html",
        promise={"coalitions": [coalition_view(row, plan, texts) for row in coalitions_of(plan)]},
        texts=texts.texts,
        previews=preview_of(plan, _labels(plan.survey)) if people_shown(plan.survey) else (),
        crowd=previewed_people(plan),
        width=WIDTH,
        periods_title=PLANS.periods_title,
        periods_columns=PLANS.periods_columns,
        periods=period_rows(period_options(plan)),
    )


def _labels(survey: Survey) -> dict[str, tuple[str, ...]]:
    """The answers of the first questions that can be shown as bars."""
    found: dict[str, tuple[str, ...]] = {}
    for question in survey.questions:
        if isinstance(question, YesNo):
            found[question.name] = (gettext("yes"), gettext("no"))[: question.positions]
        elif isinstance(question, Choice) and len(question.choices) <= MOST_BARS:
            found[question.name] = tuple(question.choices)
        if len(found) == PREVIEWED:
            break
    return found
