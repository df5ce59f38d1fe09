"""A plan as people read it, compared with its alternatives."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from krand.accounting.baselines import rappor_noise, rappor_sigma
from krand.accounting.curator import curator
from krand.errors import KrandError
from krand.planning.expected import as_expected, asked_margin, counts_asked, people_shown
from krand.planning.groups import ByGroup, Offer
from krand.planning.making import make_plan
from krand.planning.noise_sources import SourceOption
from krand.planning.periods import PeriodOption
from krand.planning.record import record_reports
from krand.promise import READABLE, Z95, Linkage, cells_drown
from krand.survey.kinds.yes_no import COUNTED, YesNo
from krand.survey.questions import Kind
from krand.wording.mechanisms import words_of
from krand.wording.parties import one_hand_text
from krand.wording.phrases import at_most, between, number, people, percent, some_people, whole
from krand.wording.plan_texts import PLANS
from krand.wording.promises import factor, guess_sentence, in_rounds, slack_of
from krand.wording.surveys import survey_name
from krand.wording.texts import SPOKEN

if TYPE_CHECKING:
    from krand.planning.successors import Succession
    from krand.promise import Policy, Precision, ResponseFormat
    from krand.survey.layout import Block
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey


COPIES = 16
"""How many copies of a record the planner tries beside one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another method with the same promise; `best` and `worst` are half-widths (95 %) in people,
    of the most and the least precise question."""

    name: str
    best: float
    worst: float
    local_epsilon: float | None
    messages: int | None
    note: str = ""


def alternatives(
    plan: Plan, progress: Callable[[str], None] | None = None
) -> tuple[Alternative, ...]:
    """This plan, its variants (linkage, copies), and the baselines at the same ε."""
    survey = plan.survey
    found = [_planned(PLANS.this_plan, plan)]
    for name, changes in _variants(survey):
        if progress is not None:
            progress(name)
        try:
            found.append(_planned(name, make_plan(replace(survey, **changes))))
        except KrandError as refusal:  # the counts would be nothing but noise
            found.append(
                Alternative(
                    name=name,
                    best=math.nan,
                    worst=math.nan,
                    local_epsilon=None,
                    messages=None,
                    note=str(refusal),
                )
            )
    return (*found, *_baselines(plan))


def _variants(survey: Survey) -> list[tuple[str, dict[str, Any]]]:
    """Variants of the survey, as changes to it; mixers' noise is compared elsewhere."""
    counted = list(_other_counts(survey))
    if survey.trust.chain:
        return counted
    alike = tuple(replace(question, weight=1.0) for question in survey.questions)
    record = {"questions": alike, "together": (), "linkage": Linkage.RECORD}
    variants: list[tuple[str, dict[str, Any]]] = [
        *counted,
        (PLANS.one_copy, {**record, "copies": 1}),
        (PLANS.several_copies.format(copies=COPIES), {**record, "copies": COPIES}),
    ]
    bits: dict[str, Any] = {"linkage": Linkage.BIT, "copies": 1}
    if replace(survey, **bits) != survey:
        variants.append((PLANS.bits, bits))
    return variants


def _other_counts(survey: Survey) -> Iterator[tuple[str, dict[str, Any]]]:
    """What it costs to count "no" as well, or what it saves not to; groups count both anyway."""
    grouped = {name for group in survey.together for name in group.questions}
    alone = [q for q in survey.questions if isinstance(q, YesNo) and q.name not in grouped]
    for counts in COUNTED:
        if any(question.counts != counts for question in alone):
            changed = {question.name: replace(question, counts=counts) for question in alone}
            asked = tuple(changed.get(question.name, question) for question in survey.questions)
            yield PLANS.other_counts[counts], {"questions": asked}


def _planned(name: str, plan: Plan) -> Alternative:
    names = plan.layout.question_names
    widths = [plan.precision_of(name).half_width_95 for name in names]
    local = plan.promise.local_epsilon  # infinite where a response has no noise of its own
    return Alternative(
        name=name,
        best=min(widths),
        worst=max(widths),
        local_epsilon=local if math.isfinite(local) else None,
        messages=plan.messages,
    )


def _baselines(plan: Plan) -> tuple[Alternative, ...]:
    """RAPPOR's noise grows with the crowd, which nobody knows where mixers add the noise."""
    policy = plan.survey.policy
    found = other_methods(policy, single_records(plan))
    planned = plan.mechanism.planned_crowd(policy.minimum_crowd)
    return found[1:] if planned is None else found


def single_records(plan: Plan) -> ResponseFormat:
    """All answers of a person as one record, which other methods would send or see."""
    return replace(record_reports(plan.survey, plan.layout), copies=1)


def other_methods(policy: Policy, responses: ResponseFormat) -> tuple[Alternative, Alternative]:
    """What RAPPOR and a trusted curator would give for the same promise."""
    rappor, trusted = Z95 * rappor_sigma(policy, responses), curator(policy, responses)
    width = Z95 * trusted.sigma
    return (
        Alternative(
            name=PLANS.rappor,
            best=rappor,
            worst=rappor,
            local_epsilon=policy.epsilon,
            messages=1,
            note=PLANS.rappor_note.format(noise=number(rappor_noise(policy, responses))),
        ),
        Alternative(
            name=PLANS.curator,
            best=width,
            worst=width,
            local_epsilon=None,
            messages=None,
            note=PLANS.curator_notes[trusted.noise],
        ),
    )


def survey_table(plan: Plan) -> Table:
    """One row for each question or group: how precise its counts will be."""
    words = words_of(plan.mechanism)
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
        said.append(words_of(plan.mechanism).margins(whole(expected)))
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
    promise, in_one_hand = plan.promise, plan.survey.trust.in_one_hand
    rounds = in_rounds(plan.survey, promise)
    return guess_sentence(promise.epsilon, promise.delta, rounds, in_one_hand=in_one_hand)


def promise_sentence(plan: Plan) -> str:
    """What the survey promises to each participant."""
    if plan.survey.trust.in_one_hand:
        return _promise_to_readers(plan)
    return words_of(plan.mechanism).promise(plan)


def _promise_to_readers(plan: Plan) -> str:
    """What is promised where the organiser can look at each person's messages."""
    promise = plan.promise
    condition, others = words_of(plan.mechanism).to_readers(plan)
    return PLANS.promise_to_readers.format(
        one_hand=one_hand_text(plan),
        condition=condition,
        rounds=in_rounds(plan.survey, promise),
        factor=factor(promise.epsilon),
        slack=slack_of(plan, promise),
        how_known=PLANS.how_known,
        others=others,
    )


def mixers_sentence(plan: Plan) -> str:
    """Who mixes, the collector first, each party once, and that all are needed; may be empty."""
    if not plan.survey.trust.chain:
        return ""
    names = Counter(mixer.name for mixer in plan.mixing.mixers)
    shown = (
        name if number == 1 else PLANS.same_party.format(name=name, number=number)
        for name, number in names.items()
    )
    said = [PLANS.mixers.format(names=", ".join(shown)) if names else PLANS.no_mixers]
    if plan.survey.trust.mixers > 1:
        said.append(PLANS.all_needed.format(number=plan.survey.trust.mixers))
    return " ".join(said)


def edited_text(after: Succession) -> str:
    """That a plan has the survey id of an earlier one and other content; empty if it has not."""
    if not after.same_survey or not after.changed:
        return ""
    changed = ", ".join(after.changed)
    return PLANS.edited.format(plan=after.plan, survey=after.survey, changed=changed)


def spent_text(after: Succession) -> str:
    """Who would spend twice, and how much."""
    if not after.changed:
        return PLANS.same_plan.format(plan=after.plan)
    said = PLANS.spent_up if after.refused else PLANS.spent_twice
    return said.format(
        plan=after.plan,
        survey=after.survey,
        epsilon=at_most(after.epsilon),
        delta=at_most(after.delta),
    )


def division_sentence(plan: Plan) -> str:
    """How the noise is divided among questions."""
    return words_of(plan.mechanism).division


def alternatives_table(found: tuple[Alternative, ...]) -> Table:
    """The alternatives, one row each."""
    method_name, width, local, messages, note = PLANS.methods_columns
    table = Table(title=PLANS.methods_title, title_justify="left")
    table.add_column(method_name)
    table.add_column(width, justify="right")
    table.add_column(local, justify="right")
    table.add_column(messages, justify="right")
    table.add_column(note)
    for method in found:
        table.add_row(
            method.name,
            _widths(method),
            "" if method.local_epsilon is None else at_most(method.local_epsilon),
            "" if method.messages is None else whole(method.messages),
            Text(method.note),
        )
    return table


def sources_table(options: tuple[SourceOption, ...], plan: Plan) -> Table:
    """Devices' and mixers' noise, one row each."""
    table = Table(title=PLANS.sources_title, title_justify="left")
    first, *figures, last = PLANS.sources_columns
    table.add_column(first)
    for column in figures:
        table.add_column(column, justify="right")
    table.add_column(last)
    for option in options:
        words = words_of(option.noise)
        name = words.source(option.mixers)
        table.add_row(
            PLANS.this_one.format(option=name) if option.chosen else name,
            between(option.best, option.worst),
            whole(option.messages),
            whole(option.bytes),
            f"{option.dummies:,.0f}" if option.dummies else "",
            words.rests_on(option.mixers, plan.survey.policy.honest),
        )
    return table


def periods_table(options: tuple[PeriodOption, ...]) -> Table:
    """What a promise for more rounds costs, one row each."""
    table = Table(title=PLANS.periods_title, title_justify="left")
    first, *figures = PLANS.periods_columns
    table.add_column(first)
    for column in figures:
        table.add_column(column, justify="right")
    for row in period_rows(options):
        table.add_row(*row)
    return table


def period_rows(options: tuple[PeriodOption, ...]) -> tuple[tuple[str, ...], ...]:
    """The cells of that table."""
    names = [whole(option.rounds) for option in options]
    return tuple(
        (
            PLANS.this_one.format(option=name) if option.chosen else name,
            between(option.best, option.worst),
            whole(option.promises),
            at_most(option.epsilon),
        )
        for name, option in zip(names, options, strict=True)
    )


def mixers_instead(options: tuple[SourceOption, ...]) -> str:
    """What mixers' noise would give, for a survey with devices' noise; empty for others."""
    said = {words_of(option.noise).instead(option): option.chosen for option in options}
    said.pop("", None)
    if not said or any(said.values()):
        return ""
    return PLANS.instead.format(options=", ".join(said))


def _widths(method: Alternative) -> str:
    if math.isnan(method.best):
        return PLANS.not_possible
    return between(method.best, method.worst)


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
    if known.offers:
        offers = PLANS.either.join(_offered(known, offer) for offer in known.offers)
        parts.append(PLANS.group_offers.format(offers=offers))
    return parts


def _offered(known: ByGroup, offer: Offer) -> str:
    width = some_people(offer.half_width)
    if offer.left_out is not None:
        before = len(known.asked)
        asked = before - offer.left_out
        return PLANS.fewer_by_group.format(asked=asked, before=before, width=width)
    return PLANS.larger_epsilon.format(epsilon=number(offer.epsilon or 0.0), width=width)
