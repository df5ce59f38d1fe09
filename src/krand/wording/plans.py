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
from krand.wording.phrases import MARGIN, at_most, factor, number, people, percent

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
    found = [_planned("this plan", plan)]
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
        ("whole records, one copy", {**record, "copies": 1}),
        ("whole records, 16 copies", {**record, "copies": 16}),
    ]
    if survey.policy.assurance is Assurance.CERTIFIED:
        weaker = replace(survey.policy, assurance=Assurance.OUTLIER)
        variants.insert(0, ("outlier assurance", {"policy": weaker}))
    if survey.linkage is Linkage.RECORD:
        variants.append(("each bit separately", {"linkage": Linkage.BIT, "copies": 1}))
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
    note = f"sees all raw answers, adds {trusted.noise} noise"
    return (
        Alternative(
            name="RAPPOR",
            best=rappor,
            worst=rappor,
            local_epsilon=policy.epsilon,
            messages=1,
            note=f"no collector to trust, q = {number(rappor_noise(policy, responses))}",
        ),
        Alternative(
            name="trusted curator",
            best=width,
            worst=width,
            local_epsilon=None,
            messages=None,
            note=note,
        ),
    )


def survey_table(plan: Plan) -> Table:
    """One row for each question or group: how precise its counts will be."""
    table = Table(title=f"{plan.survey.id}: expected precision", title_justify="left")
    table.add_column("question")
    table.add_column("type")
    table.add_column("positions", justify="right")
    table.add_column(MARGIN, justify="right")
    table.add_column("noise q", justify="right")
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
            table.add_row(f"  {margin.question} alone", "", "", _width(margin.precision), "")
    return table


EACH = {Kind.TOGETHER: " per cell", Kind.WORDS: " per position"}
"""What a precision refers to: the count of an answer may be the sum of several noisy counts."""


def _width(precision: Precision) -> str:
    return f"{people(precision)} ({percent(precision.half_width_percent)})"


def unreadable(plan: Plan) -> str:
    """A warning about questions whose counts would be too noisy to use; empty if there are none."""
    names = [n for n in plan.layout.question_names if not plan.precision_of(n).readable]
    names += [
        f"cells of {' + '.join(block.question_names)}"
        for block, precision in zip(plan.layout.blocks, plan.precisions, strict=True)
        if block.kind is Kind.TOGETHER and not precision.readable
    ]
    if not names:
        return ""
    return (
        f"too noisy to use: {', '.join(names)}; the margin of error would be above"
        f" {100 * READABLE:g} % of the crowd; ask more people or fewer questions, or allow a larger"
        " epsilon or delta"
    )


def promise_sentence(plan: Plan) -> str:
    """What the survey promises to each participant."""
    promise, policy = plan.promise, plan.survey.policy
    if policy.delta is not None:
        slack = f"plus at most δ = {at_most(promise.delta)}"
    else:
        slack = f"except with probability η = {at_most(promise.eta)}"
    rounds = "" if plan.survey.rounds == 1 else f" in all {plan.survey.rounds:,} rounds together"
    return (
        f"If at least {policy.minimum_crowd:,} people take part, changing your answers changes the"
        f" probability of anything the analyst can see{rounds} by a factor of at most"
        f" {factor(promise.epsilon)}, {slack}"
        f" ({promise.assurance}: {how_known(policy.assurance)}).{_helpers(promise.colluding)}"
        f" {if_they_collude(promise.local_epsilon)}."
    )


def _helpers(colluding: int) -> str:
    if not colluding:
        return ""
    verb = "colludes" if colluding == 1 else "collude"
    return f" It holds even if {colluding:,} of them {verb} with the analyst."


def alternatives_table(found: tuple[Alternative, ...]) -> Table:
    """The alternatives, one row each."""
    table = Table(title="other methods with the same promise", title_justify="left")
    table.add_column("method")
    table.add_column("± people (95 %)", justify="right")
    table.add_column("ε₀", justify="right")
    table.add_column("messages", justify="right")
    table.add_column("note")
    for method in found:
        best, worst = (
            f"{v:,.0f}" if v >= 10 else number(v, 2) for v in (method.best, method.worst)
        )
        table.add_row(
            method.name,
            "not possible"
            if math.isnan(method.best)
            else best
            if best == worst
            else f"{best} to {worst}",
            "" if method.local_epsilon is None else at_most(method.local_epsilon),
            "" if method.messages is None else f"{method.messages:,}",
            Text(method.note),
        )
    return table
