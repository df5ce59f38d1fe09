"""Whether every number of every question, and every joint table, follows from its counts.

Bit linkage: the cells of a group are positions, so all of its tables follow from them. Records: how
often two bits were set together is in the table alone; everything else of it follows from its own
counts, and its sums are the counts of its questions.
"""

from __future__ import annotations

from collections.abc import Iterator

from krand.analysis.checks import Check, check, differences, first_of
from krand.analysis.estimates.asked import estimate_asked
from krand.analysis.estimates.questions import estimate_question
from krand.analysis.estimates.rows import QUARTILES, EstimateOptions
from krand.analysis.estimates.values import (
    AskedEstimate,
    Distribution,
    PicksEstimate,
    QuestionEstimate,
)
from krand.analysis.joint.records import Axis, axes_of
from krand.analysis.joint.tables import JointTable, joint_table, records_table
from krand.analysis.results import JointResult, Results, joint_result_of
from krand.analysis.verification.recovering import Recovered
from krand.errors import KrandError
from krand.survey.plain_values import written_names
from krand.survey.plan import Plan
from krand.survey.questions import Kind

CHECKS = {
    "counts": "every count is possible, and sums agree",
    "standard_errors": "every standard error is that of the noise",
    "shares": "every share is its count divided by the people",
    "intervals": "every interval is that of its count, noise and confidence",
    "consistent": "consistent counts are the nearest possible ones",
    "distributions": "distribution functions, quantiles and means follow from the bins",
    "asked": "shares of those who were asked follow from the counts",
}
ROWS = {
    "count": "counts",
    "consistent": "consistent",
    "standard_error": "standard_errors",
    "share": "shares",
    "consistent_share": "shares",
    "readable": "intervals",
    "method": "intervals",
    "interval": "intervals",
    "simultaneous": "intervals",
    "share_interval": "intervals",
}
"""The check that each number of an answer belongs to."""
PICKS = {"value": "counts", **ROWS}
"""The same for the picks of a person."""
IN_PEOPLE = {"count", "consistent", "interval", "simultaneous"}
"""Of an answer: what is measured in people, not in parts of them."""


def estimate_checks(plan: Plan, results: Results, found: Recovered) -> Iterator[Check]:
    """The questions are those that were asked; their numbers are computed again and compared."""
    faults: dict[str, list[str]] = {name: [] for name in CHECKS}
    asked = list(_wrong_questions(plan, results))
    for told in results.questions if not asked else ():
        if told.name in found.lost:
            faults["counts"].append(f"{told.name}: its counts are not all there")
            continue
        levels = told.distribution.quantiles if told.distribution else ()
        quantiles = tuple(entry.level for entry in levels) or QUARTILES
        options = EstimateOptions(told.confidence, told.sampling, quantiles)
        try:
            true = estimate_question(plan, found.tally, told.name, options)
        except KrandError as error:
            faults["counts"].append(f"{told.name}: {error}")
            continue
        if _shape(told) != _shape(true):
            asked.append(f"{told.name}: its answers are not those of the survey")
            continue
        for name, fault in _differences(told, true):
            faults[name].append(fault)
    if not asked and plan.survey.has_conditions:
        faults["asked"] += _odd_asked(plan, results, found)
    yield check("questions", asked, "all questions of the survey are answered, and no other")
    for name, says in CHECKS.items():
        if name != "asked" or plan.survey.has_conditions:
            yield check(name, faults[name], says)


def _odd_asked(plan: Plan, results: Results, found: Recovered) -> Iterator[str]:
    if found.lost:
        yield "not all counts are there"
        return
    first = results.questions[0]
    options = EstimateOptions(first.confidence, first.sampling)
    try:
        true = estimate_asked(plan, found.tally, options)
    except KrandError as error:
        yield str(error)
        return
    if [each.question for each in results.asked] != [each.question for each in true]:
        yield "not every question with a condition is there"
        return
    for told, each in zip(results.asked, true, strict=True):
        for name in written_names(AskedEstimate):
            scale = results.people if name in IN_PEOPLE else 1.0
            values = getattr(told, name), getattr(each, name)
            yield from differences(*values, f"{told.question}: {name}", float(scale))


def _wrong_questions(plan: Plan, results: Results) -> Iterator[str]:
    asked = [(q.name, q.kind) for q in plan.survey.questions if q.kind is not Kind.WORDS]
    told = [(q.name, q.kind) for q in results.questions]
    if asked != told:
        yield (
            f"the survey asks {', '.join(name for name, _ in asked)}; here are"
            f" {', '.join(name for name, _ in told) or 'none'}"
        )
    for question in results.questions:
        if question.people != results.people:
            yield f"{question.name} is about {question.people:,} people, not {results.people:,}"
    levels = {q.confidence for q in results.questions} | {w.confidence for w in results.words}
    levels |= {joint.table.confidence for joint in results.joint}
    if len(levels) > 1:
        yield f"intervals have different confidences: {', '.join(map(str, sorted(levels)))}"


def _shape(question: QuestionEstimate) -> tuple[object, ...]:
    spread = question.distribution
    return (
        *(row.label for row in question.all_rows),
        question.picks is None,
        0 if spread is None else len(spread.cdf),
        0 if spread is None else len(spread.quantiles),
        *((entry.statistic, entry.answers) for entry in question.summaries),
    )


def _differences(told: QuestionEstimate, true: QuestionEstimate) -> Iterator[tuple[str, str]]:
    """Every number that is another one, with the check that it belongs to."""
    people = float(told.people)
    for claimed, found in zip(told.all_rows, true.all_rows, strict=True):
        for field, name in ROWS.items():
            scale = people if field in IN_PEOPLE else 1.0
            yield from _odd(claimed, found, field, name, f"{told.name}, {claimed.label}", scale)
    if told.picks is not None:
        for field in written_names(PicksEstimate):
            yield from _odd(told.picks, true.picks, field, PICKS[field], f"{told.name}, picks")
    yield from _odd(told, true, "summaries", "distributions", told.name)
    if told.distribution is not None:
        for field in written_names(Distribution):
            scale = people if field == "answered" else 1.0
            spreads = told.distribution, true.distribution
            yield from _odd(*spreads, field, "distributions", told.name, scale)


def _odd(
    told: object, true: object, field: str, name: str, where: str, scale: float = 1.0
) -> Iterator[tuple[str, str]]:
    values = getattr(told, field), getattr(true, field)
    return ((name, fault) for fault in differences(*values, f"{where}: {field}", scale))


def joint_check(plan: Plan, results: Results, found: Recovered) -> Check:
    """Every joint table, computed again."""
    faults = [
        f"{' × '.join(joint.table.questions)}: {fault}"
        for joint in results.joint
        if (fault := first_of(_faults(plan, results, found, joint)))
    ]
    told = {joint.table.questions for joint in results.joint}
    faults += [
        f"{' × '.join(group.questions)} was asked together and is missing"
        for group in plan.survey.together
        if group.questions not in told
    ]
    return check("joint_tables", faults, "joint tables follow from their counts")


def _faults(plan: Plan, results: Results, found: Recovered, joint: JointResult) -> Iterator[str]:
    told = joint.table
    try:
        if plan.token_lanes:
            true = joint_table(plan, found.tally, told.questions, told.confidence)
        else:  # bits of records are counted jointly, which no row of a question shows
            axes = axes_of(plan, told.questions)
            yield from _other_sums(results, told, axes)
            true = records_table(plan, found.tally, axes, told.counts, told.confidence)
    except KrandError as error:
        yield str(error)
        return
    yield from differences(told, true, scale=float(results.people))
    again = joint_result_of(true, results.sampling)
    yield from differences(joint.given, again.given, "given")
    yield from differences(joint.independence, again.independence, "independence")


def _other_sums(results: Results, told: JointTable, axes: tuple[Axis, ...]) -> Iterator[str]:
    """Added up over the other questions, a table gives what is known of each."""
    counts, people = told.counts, float(results.people)
    if counts.shape != tuple(len(axis.labels) for axis in axes):
        yield "its answers are not those of the survey"
        return
    yield from differences(float(counts.sum()), people, "the sum of all cells", people)
    rows = {(q.name, row.label): row.count for q in results.questions for row in q.rows}
    for place, axis in enumerate(axes):
        others = tuple(other for other in range(len(axes)) if other != place)
        for label, total in zip(axis.labels, counts.sum(axis=others).tolist(), strict=True):
            alone = rows.get((axis.name.partition("=")[0], label))
            if alone is not None:
                yield from differences(total, alone, f"{axis.name}, {label}: its sum", people)
