"""Whether joint tables follow from what was counted, as far as results can show.

Bit linkage: the cells of a group are positions, so all of its tables follow from them. Records: how
often two bits were set together is in the table alone; everything else of it follows from its own
counts, and its sums are the counts of its questions.
"""

from __future__ import annotations

from collections.abc import Iterator

from krand.analysis.checks import Check, check, first_of
from krand.analysis.joint.axes import Axis, axes_of
from krand.analysis.joint.tables import JointTable, joint_table, records_table
from krand.analysis.results import JointResult, Results, joint_result_of
from krand.analysis.verification.differences import differences
from krand.analysis.verification.recovering import Recovered
from krand.errors import KrandError
from krand.survey.plan import Plan


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
        if plan.survey.shape.token_lanes(plan):
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
