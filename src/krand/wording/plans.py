"""A plan as people read it, and what the alternatives would have given."""

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
from krand.wording.phrases import at_most, number, people, percent

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


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another way to keep the promise: ± at 95 % of its most and least precise question."""

    name: str
    best: float
    worst: float
    local_epsilon: float | None
    messages: int | None
    note: str = ""


def alternatives(
    plan: Plan, progress: Callable[[str], None] | None = None
) -> tuple[Alternative, ...]:
    """This plan, weaker assurance, whole records, and what others would do at the same ε."""
    survey = plan.survey
    found = [_planned("this plan", plan)]
    for name, changes in _other_ways(survey):
        if progress is not None:
            progress(name)
        try:
            found.append(_planned(name, make_plan(replace(survey, **changes))))
        except KrandError as refusal:  # nothing but noise
            found.append(Alternative(name, math.nan, math.nan, None, None, str(refusal)))
    return (*found, *_peers(plan))


def _other_ways(survey: Survey) -> list[tuple[str, dict[str, Any]]]:
    """What else could be asked for, as changes of the survey."""
    alike = tuple(replace(question, weight=1.0) for question in survey.questions)
    record = {"questions": alike, "together": (), "linkage": Linkage.RECORD}
    ways: list[tuple[str, dict[str, Any]]] = [
        ("whole records, one copy", {**record, "copies": 1}),
        ("whole records, 16 copies", {**record, "copies": 16}),
    ]
    if survey.policy.assurance is Assurance.CERTIFIED:
        weaker = replace(survey.policy, assurance=Assurance.OUTLIER)
        ways.insert(0, ("outlier assurance", {"policy": weaker}))
    if survey.linkage is Linkage.RECORD:
        ways.append(("every bit alone", {"linkage": Linkage.BIT, "copies": 1}))
    return ways


def _planned(name: str, plan: Plan) -> Alternative:
    names = plan.layout.question_names
    widths = [plan.precision_of(name).half_width_95 for name in names]
    return Alternative(name, min(widths), max(widths), plan.promise.local_epsilon, plan.messages)


def _peers(plan: Plan) -> tuple[Alternative, ...]:
    policy = plan.survey.policy
    reports = replace(record_reports(plan.survey, plan.layout), copies=1)
    rappor = Z95 * rappor_sigma(policy, reports)
    trusted = curator(policy, reports)
    width = Z95 * trusted.sigma
    note = f"sees all raw answers, adds {trusted.noise} noise"
    return (
        Alternative(
            "RAPPOR",
            rappor,
            rappor,
            policy.epsilon,
            1,
            f"no shuffler needed, q = {number(rappor_noise(policy, reports))}",
        ),
        Alternative("trusted curator", width, width, None, None, note),
    )


def survey_table(plan: Plan) -> Table:
    """One row for each question or group: how precise its counts will be."""
    table = Table(title=f"{plan.survey.id}: what will be known", title_justify="left")
    table.add_column("question")
    table.add_column("asked as")
    table.add_column("positions", justify="right")
    table.add_column("each count, at 95 %", justify="right")
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
"""What a precision is of: an answer's count may be the sum of several noisy ones."""


def _width(precision: Precision) -> str:
    return f"{people(precision)} ({percent(precision.half_width_percent)})"


def unreadable(plan: Plan) -> str:
    """A warning about questions whose counts would say nothing; empty if there are none."""
    names = [n for n in plan.layout.question_names if not plan.precision_of(n).readable]
    names += [
        f"cells of {' + '.join(block.question_names)}"
        for block, precision in zip(plan.layout.blocks, plan.precisions, strict=True)
        if block.kind is Kind.TOGETHER and not precision.readable
    ]
    if not names:
        return ""
    return (
        f"results of {', '.join(names)} could not be read: their margin of error would be above"
        f" {100 * READABLE:g} % of the crowd; ask more people, ask fewer questions, or allow a"
        " larger epsilon or delta"
    )


def promise_sentence(plan: Plan) -> str:
    """What the survey promises, and to whom."""
    promise, policy = plan.promise, plan.survey.policy
    limit = f"e^{promise.epsilon:g} ≈ {number(math.exp(promise.epsilon))}"
    if policy.delta is not None:
        slack = f"give or take δ = {at_most(promise.delta)}"
    else:
        slack = f"except with probability η = {at_most(promise.eta)}"
    rounds = "" if plan.survey.rounds == 1 else f" in all {plan.survey.rounds:,} rounds together"
    return (
        f"To everybody who takes part in a crowd of at least {policy.population:,}: exchanging your"
        f" answers for any others changes the probability of anything the analyst can see{rounds}"
        f" by a factor of at most {limit}, {slack}"
        f" ({promise.assurance}: {how_known(policy.assurance)}).{_helpers(promise.colluding)}"
        f" {if_they_collude(promise.local_epsilon)}."
    )


def _helpers(colluding: int) -> str:
    if not colluding:
        return ""
    verb = "helps" if colluding == 1 else "help"
    return f" It holds even if {colluding:,} of them {verb} the analyst."


def alternatives_table(found: tuple[Alternative, ...]) -> Table:
    """The alternatives, one row each."""
    table = Table(title="the same promise in other ways", title_justify="left")
    table.add_column("way")
    table.add_column("± people at 95 %", justify="right")
    table.add_column("ε₀", justify="right")
    table.add_column("messages", justify="right")
    table.add_column("note")
    for way in found:
        best, worst = (f"{v:,.0f}" if v >= 10 else number(v, 2) for v in (way.best, way.worst))
        table.add_row(
            way.name,
            "cannot be had"
            if math.isnan(way.best)
            else best
            if best == worst
            else f"{best} to {worst}",
            "" if way.local_epsilon is None else at_most(way.local_epsilon),
            "" if way.messages is None else f"{way.messages:,}",
            Text(way.note),
        )
    return table
