"""What a notebook shows of surveys and their plans."""

from __future__ import annotations

import math

from krand.notebook.html import MOST_ROWS, html_of, table
from krand.notebook.promises import if_they_collude, policy_line
from krand.planning.promises import promise_of
from krand.promise import Promise
from krand.showing import at_most, number, some
from krand.survey.plan import Plan
from krand.survey.survey import Survey
from krand.wording.surveys import about_sentence, survey_name


@html_of.register
def _(survey: Survey) -> str:
    """What is asked."""
    head = ("question", "type", "positions", "weight")
    rows = [
        (q.name, q.kind.value, f"{q.positions:,}", f"{q.weight:g}")
        for q in survey.questions[:MOST_ROWS]
    ]
    return table(f"Survey {survey_name(survey)}", head, rows, _survey_note(survey), words=2)


def _survey_note(survey: Survey) -> str:
    """Who is promised what, and what is analysed jointly."""
    about = about_sentence(survey)
    parts = [about] if about else []
    parts += [policy_line(survey.policy), f"linkage {survey.linkage.value}"]
    if survey.copies > 1:
        parts.append(f"{survey.copies:,} copies")
    if survey.rounds > 1:
        parts.append(f"{survey.rounds:,} rounds")
    parts += [f"together: {', '.join(group.questions)}" for group in survey.together]
    return "; ".join([*parts, *_more(len(survey.questions), "questions")])


@html_of.register
def _(plan: Plan) -> str:
    """The noise of every block, and how precise its counts will be."""
    head = ("block", "type", "positions", "noise", "± people at 95 %")
    rows: list[tuple[str, ...]] = []
    for each in plan.blocks[:MOST_ROWS]:
        width = number(each.precision.half_width_95) + (" per cell" if each.margins else "")
        kind, positions = each.block.kind.value, f"{each.positions:,}"
        rows.append((each.name, kind, positions, number(each.noise), width))
        rows += [
            (f"{m.question} alone", "", "", "", number(m.precision.half_width_95))
            for m in each.margins
        ]
    return table(f"Plan of {survey_name(plan.survey)}", head, rows, _plan_note(plan), words=2)


def _plan_note(plan: Plan) -> str:
    """The promise, what is sent, and the plan's name."""
    moved = math.ceil(max(block.shift.too_high for block in plan.blocks))
    dishonest = f"one dishonest person moves a count by at most {moved:,}"
    parts = [
        promise_line(promise_of(plan)),
        f"{some(plan.messages, 'message')} a person",
        dishonest,
        f"plan {plan.hash[:16]}…",
    ]
    return "; ".join([*parts, *_more(len(plan.blocks), "blocks")])


def promise_line(promise: Promise) -> str:
    """The numbers of a promise in one line; all of them proven upper ends."""
    return (
        f"ε = {at_most(promise.epsilon)}, δ ≤ {at_most(promise.delta)},"
        f" η ≤ {at_most(promise.eta)}, proven, {promise.crowd:,} people;"
        f" {if_they_collude(promise)}"
    )


def _more(count: int, things: str) -> list[str]:
    return [f"the first {MOST_ROWS} of {count:,} {things}"] if count > MOST_ROWS else []
