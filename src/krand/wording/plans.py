"""A plan as people read it, and its alternatives."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.table import Table

from krand.planning.alternatives import Alternative
from krand.planning.margins import ByGroup, as_expected, asked_margin, counts_asked, people_shown
from krand.promise import READABLE, cells_drown
from krand.survey.questions import Kind
from krand.wording.mechanisms import words_of
from krand.wording.parties import one_hand_text
from krand.wording.phrases import at_most, between, number, people, percent, some_people, whole
from krand.wording.plan_texts import PLANS
from krand.wording.promises import factor, guess_sentence, in_rounds, slack_of
from krand.wording.surveys import survey_name
from krand.wording.texts import SPOKEN

if TYPE_CHECKING:
    from krand.promise import Precision
    from krand.survey.layout import Block
    from krand.survey.plan import Plan


def survey_table(plan: Plan) -> Table:
    """One row for each question or group: how precise its counts will be."""
    words = words_of(plan.survey.trust.noise)
    question, kind, positions, noise = words.columns
    title = PLANS.survey_title.format(survey=survey_name(plan.survey))
    table = Table(title=title, title_justify="left")
    table.add_column(question)
    table.add_column(kind)
    table.add_column(positions, justify="right")
    table.add_column(PLANS.margin, justify="right")
    table.add_column(noise, justify="right")
    for planned in as_expected(plan).blocks:
        block = planned.block
        table.add_row(
            " + ".join(block.question_names),
            block.kind.value,
            whole(block.positions),
            f"{_width(plan, planned.precision)}{each_of(block.kind)}",
            words.amount(plan, planned),
        )
        for margin in planned.margins:
            name = PLANS.alone.format(question=margin.question)
            table.add_row(name, "", "", _width(plan, margin.precision), "")
    return table


def each_of(kind: Kind) -> str:
    """What a precision refers to: the count of an answer may be the sum of several noisy counts."""
    return {Kind.TOGETHER: PLANS.each_cell, Kind.WORDS: PLANS.each_position}.get(kind, "")


def _width(plan: Plan, precision: Precision) -> str:
    """A share only where a number of people is known."""
    if people_shown(plan.survey) is None:
        return people(precision)
    return f"{people(precision)} ({percent(precision.half_width_percent)})"


def unreadable(plan: Plan) -> str:
    """A warning about questions whose counts would be too noisy to use; empty if there are none.

    Where mixers add the noise, it can be given only with the number of people who are expected.
    """
    expected = people_shown(plan.survey)
    if expected is None:
        return ""
    shown = as_expected(plan)
    names = [n for n in plan.layout.question_names if not shown.precision_of(n).readable]
    cells = [
        (planned.block, planned.precision)
        for planned in shown.blocks
        if planned.block.kind is Kind.TOGETHER
    ]
    names += [_cells_of(block) for block, precision in cells if not precision.readable]
    drowned = [
        _drowned_cells(block, precision, expected)
        for block, precision in cells
        if precision.readable and cells_drown(precision.half_width_95, expected, block.positions)
    ]
    limit = SPOKEN.numbers.percent_of(READABLE, "g")
    parts = [PLANS.above_limit.format(names=", ".join(names), limit=limit)] if names else []
    if not parts and not drowned:
        return ""
    return PLANS.unreadable.format(parts="; ".join((*parts, *drowned)))


def _cells_of(block: Block) -> str:
    return PLANS.cells_of.format(block=" + ".join(block.question_names))


def _drowned_cells(block: Block, precision: Precision, expected: int) -> str:
    average = some_people(expected / block.positions)
    return PLANS.drowned_cells.format(
        cells=_cells_of(block), margin=people(precision), average=average
    )


def margins_sentence(plan: Plan) -> str:
    """For how many people margins are told; may be empty."""
    expected, said = plan.survey.expected, []
    if expected is not None:
        said.append(words_of(plan.survey.trust.noise).margins(whole(expected)))
    elif people_shown(plan.survey) is None:
        said.append(PLANS.no_shares)
    if asked := asked_sentence(plan):
        said.append(asked)
    return " ".join(said)


def asked_sentence(plan: Plan) -> str:
    """How precise shares of those asked will be, of the worst question; empty without any."""
    shown, expected = as_expected(plan), people_shown(plan.survey)
    conditional = [q for q in plan.survey.questions if q.asked_if and counts_asked(plan, q)]
    if not conditional:
        return ""
    margins = {question.name: asked_margin(shown, question) for question in conditional}
    name = max(margins, key=lambda each: margins[each])
    limit = SPOKEN.numbers.percent_of(READABLE, "g")
    said = [PLANS.asked_least.format(question=name, least=_people_for(margins[name]), limit=limit)]
    if expected is not None:
        half = percent(100 * margins[name] / max(1.0, expected / 2))
        said.append(PLANS.asked_half.format(half=whole(expected // 2), margin=half))
    return " ".join(said)


def _people_for(margin: float) -> str:
    return whole(math.ceil(margin / READABLE))


def promised_guess(plan: Plan) -> str:
    """The same without symbols: how often somebody is right who guesses a person's answers."""
    policy, in_one_hand = plan.survey.policy, plan.survey.trust.in_one_hand
    rounds = in_rounds(plan.survey, policy)
    return guess_sentence(policy.epsilon, policy.asked, rounds, in_one_hand=in_one_hand)


def promise_sentence(plan: Plan) -> str:
    """What the survey promises to each participant."""
    if plan.survey.trust.in_one_hand:
        return _promise_to_readers(plan)
    return words_of(plan.survey.trust.noise).promise(plan)


def _promise_to_readers(plan: Plan) -> str:
    """What is promised where the organiser can look at each person's messages."""
    policy = plan.survey.policy
    condition, others = words_of(plan.survey.trust.noise).to_readers(plan)
    return PLANS.promise_to_readers.format(
        one_hand=one_hand_text(plan),
        condition=condition,
        rounds=in_rounds(plan.survey, policy),
        factor=factor(policy.epsilon),
        slack=slack_of(plan, policy),
        how_known=PLANS.how_known,
        others=others,
    )


def division_sentence(plan: Plan) -> str:
    """How the noise is divided among questions."""
    return words_of(plan.survey.trust.noise).division


def alternatives_table(found: tuple[Alternative, ...]) -> Table:
    """One row for each way to ask the survey."""
    table = Table(title=PLANS.alternatives_title, title_justify="left")
    names, rows = alternatives_rows(found)
    first, *figures, last = names
    table.add_column(first)
    for column in figures:
        table.add_column(column, justify="right")
    table.add_column(last)
    for row in rows:
        table.add_row(*row)
    return table


def alternatives_rows(
    found: tuple[Alternative, ...],
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The columns and cells of that table; rounds stand there only where there are several."""
    several = len({option.rounds for option in found}) > 1
    rows = []
    for option in found:
        name, rests_on = _by_whom(option)
        rounds = PLANS.under_one_promise.of(option.promises).format(
            rounds=whole(option.rounds),
            number=whole(option.promises),
            epsilon=at_most(option.epsilon),
        )
        rows.append(
            (
                PLANS.this_one.format(option=name) if option.chosen else name,
                *([rounds] if several else []),
                between(option.best, option.worst),
                whole(option.messages) if option.messages else "",
                whole(option.bytes) if option.bytes else "",
                whole(round(option.dummies)) if option.dummies else "",
                rests_on,
            )
        )
    first, rounds, *others = PLANS.alternatives_columns
    return (first, *([rounds] if several else []), *others), tuple(rows)


def _by_whom(option: Alternative) -> tuple[str, str]:
    """Who adds the noise, and whom the promise rests on."""
    if option.noise == "curator":
        return PLANS.curator, PLANS.rests_on_curator
    words = words_of(option.noise)
    return words.source(option.mixers), words.rests_on(option.mixers)


def group_sentences(found: Iterable[ByGroup]) -> list[str]:
    """What is said of every question that makes groups."""
    return [" ".join(_said(known)) for known in found]


def _said(known: ByGroup) -> list[str]:
    parts = [
        PLANS.by_group.format(
            question=known.question, groups=known.groups, width=some_people(known.half_width)
        )
    ]
    if known.share is not None and known.smallest is not None:
        share = percent(100 * known.share)
        parts.append(PLANS.smallest_group.format(people=whole(known.smallest), share=share))
    if known.mean_half_width is not None:
        parts.append(PLANS.group_mean.format(width=number(known.mean_half_width, 2)))
    if not known.readable or known.share is None:
        limit = SPOKEN.numbers.percent_of(READABLE, "g")
        parts.append(PLANS.groups_needed.format(people=whole(known.needed), limit=limit))
    return parts
