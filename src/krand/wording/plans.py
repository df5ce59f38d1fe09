"""A plan as people read it, compared with its alternatives."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from krand.accounting.baselines import rappor_noise, rappor_sigma
from krand.accounting.curator import curator
from krand.errors import KrandError
from krand.planning.making import make_plan
from krand.planning.record import record_reports
from krand.promise import READABLE, Z95, Assurance, Linkage
from krand.survey.questions import Kind
from krand.wording.collusion import if_they_collude
from krand.wording.guarantees import how_known
from krand.wording.phrases import MARGIN, at_most, factor, number, people, percent, some_people
from krand.wording.texts import ENGLISH

if TYPE_CHECKING:
    from krand.promise import Precision
    from krand.survey.plan import Plan
    from krand.survey.survey import Survey

__all__ = [
    "EACH",
    "Alternative",
    "alternatives",
    "alternatives_table",
    "promise_sentence",
    "survey_table",
    "unreadable",
]


TEXTS = ENGLISH.plans
"""The planner and the terminal speak English only; a report has none of these sentences."""
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
    """This plan, its variants (assurance, linkage, copies), and the baselines at the same ε."""
    survey = plan.survey
    found = [_planned(TEXTS.this_plan, plan)]
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
    """Variants of the survey, as changes to it."""
    alike = tuple(replace(question, weight=1.0) for question in survey.questions)
    record = {"questions": alike, "together": (), "linkage": Linkage.RECORD}
    variants: list[tuple[str, dict[str, Any]]] = [
        (TEXTS.one_copy, {**record, "copies": 1}),
        (TEXTS.several_copies.format(copies=COPIES), {**record, "copies": COPIES}),
    ]
    if survey.policy.assurance is Assurance.CERTIFIED:
        weaker = replace(survey.policy, assurance=Assurance.OUTLIER)
        variants.insert(0, (TEXTS.outlier, {"policy": weaker}))
    if survey.linkage is Linkage.RECORD:
        variants.append((TEXTS.bits, {"linkage": Linkage.BIT, "copies": 1}))
    return variants


def _planned(name: str, plan: Plan) -> Alternative:
    names = plan.layout.question_names
    widths = [plan.precision_of(name).half_width_95 for name in names]
    return Alternative(
        name=name,
        best=min(widths),
        worst=max(widths),
        local_epsilon=plan.promise.local_epsilon,
        messages=plan.messages,
    )


def _baselines(plan: Plan) -> tuple[Alternative, ...]:
    policy = plan.survey.policy
    responses = replace(record_reports(plan.survey, plan.layout), copies=1)
    rappor = Z95 * rappor_sigma(policy, responses)
    trusted = curator(policy, responses)
    width = Z95 * trusted.sigma
    return (
        Alternative(
            name=TEXTS.rappor,
            best=rappor,
            worst=rappor,
            local_epsilon=policy.epsilon,
            messages=1,
            note=TEXTS.rappor_note.format(noise=number(rappor_noise(policy, responses))),
        ),
        Alternative(
            name=TEXTS.curator,
            best=width,
            worst=width,
            local_epsilon=None,
            messages=None,
            note=TEXTS.curator_note.format(noise=trusted.noise),
        ),
    )


def survey_table(plan: Plan) -> Table:
    """One row for each question or group: how precise its counts will be."""
    question, kind, positions, noise_q = TEXTS.survey_columns
    title = TEXTS.survey_title.format(survey=plan.survey.id)
    table = Table(title=title, title_justify="left")
    table.add_column(question)
    table.add_column(kind)
    table.add_column(positions, justify="right")
    table.add_column(MARGIN, justify="right")
    table.add_column(noise_q, justify="right")
    rows = zip(plan.layout.blocks, plan.noises, plan.precisions, plan.margins, strict=True)
    for block, noise, precision, margins in rows:
        table.add_row(
            " + ".join(block.question_names),
            block.kind.value,
            f"{block.positions:,}",
            f"{_width(precision)}{EACH.get(block.kind, '')}",
            number(noise),
        )
        for margin in margins:
            name = TEXTS.alone.format(question=margin.question)
            table.add_row(name, "", "", _width(margin.precision), "")
    return table


EACH = {Kind.TOGETHER: TEXTS.each_cell, Kind.WORDS: TEXTS.each_position}
"""What a precision refers to: the count of an answer may be the sum of several noisy counts."""


def _width(precision: Precision) -> str:
    return f"{people(precision)} ({percent(precision.half_width_percent)})"


def unreadable(plan: Plan) -> str:
    """A warning about questions whose counts would be too noisy to use; empty if there are none."""
    names = [n for n in plan.layout.question_names if not plan.precision_of(n).readable]
    names += [
        TEXTS.cells_of.format(block=" + ".join(block.question_names))
        for block, precision in zip(plan.layout.blocks, plan.precisions, strict=True)
        if block.kind is Kind.TOGETHER and not precision.readable
    ]
    if not names:
        return ""
    limit = ENGLISH.numbers.percent_of(READABLE, "g")
    return TEXTS.unreadable.format(names=", ".join(names), limit=limit)


def promise_sentence(plan: Plan) -> str:
    """What the survey promises to each participant."""
    promise, policy, rounds = plan.promise, plan.survey.policy, plan.survey.rounds
    if policy.delta is not None:
        slack = TEXTS.slack_delta.format(delta=at_most(promise.delta))
    else:
        slack = TEXTS.slack_eta.format(eta=at_most(promise.eta))
    return TEXTS.promise.format(
        crowd=f"{policy.minimum_crowd:,}",
        rounds="" if rounds == 1 else TEXTS.rounds.format(rounds=f"{rounds:,}"),
        factor=factor(promise.epsilon),
        slack=slack,
        assurance=promise.assurance,
        how_known=how_known(policy.assurance),
        helpers=_helpers(promise.colluding),
        if_they_collude=if_they_collude(promise.local_epsilon),
    )


def _helpers(colluding: int) -> str:
    if not colluding:
        return ""
    return TEXTS.helpers.of(colluding).format(number=f"{colluding:,}")


def alternatives_table(found: tuple[Alternative, ...]) -> Table:
    """The alternatives, one row each."""
    method_name, width, local, messages, note = TEXTS.methods_columns
    table = Table(title=TEXTS.methods_title, title_justify="left")
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
            "" if method.messages is None else f"{method.messages:,}",
            Text(method.note),
        )
    return table


def _widths(method: Alternative) -> str:
    if math.isnan(method.best):
        return TEXTS.not_possible
    best, worst = some_people(method.best), some_people(method.worst)
    return best if best == worst else TEXTS.between.format(best=best, worst=worst)
