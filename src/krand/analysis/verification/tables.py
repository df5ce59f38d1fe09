"""Whether joint tables follow from what was counted, as far as results can show.

Bit linkage: the cells of a group are positions, so all of its tables follow from them. Records: how
often two bits were set together is in the table alone; everything else of it follows from its own
counts, and its sums are the counts of its questions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from krand.analysis.checks import Check, check, first_of
from krand.analysis.estimates.intervals import readable
from krand.analysis.estimates.sampling import Sampling
from krand.analysis.estimates.simplex import nearest_possible
from krand.analysis.joint.axes import Axis, axes_of
from krand.analysis.joint.bit_tables import normal_bands, product_variance
from krand.analysis.joint.conditional import conditional_table
from krand.analysis.joint.independence import IndependenceTest, independence_test
from krand.analysis.joint.table_noise import LinkedCells, factor_covariance
from krand.analysis.joint.tables import JointTable, joint_table
from krand.analysis.mechanisms.devices import bit_variance
from krand.analysis.mechanisms.models import Floats
from krand.analysis.results import JointResult, Results
from krand.analysis.verification.comparing import differences
from krand.analysis.verification.recovering import Recovered
from krand.errors import InvalidInput, KrandError
from krand.survey.plan import Plan

__all__ = ["joint_check"]


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
            true = _from_own_counts(plan, found, told, axes)
    except KrandError as error:
        yield str(error)
        return
    yield from differences(told, true, scale=float(results.people))
    if len(told.questions) == 2:
        yield from _two_way_faults(joint, true, _sampling(results))


def _two_way_faults(
    joint: JointResult, true: JointTable, sampling: Sampling | None
) -> Iterator[str]:
    given = [conditional_table(true, name, sampling) for name in true.questions]
    yield from differences(joint.given, given, "given")
    yield from differences(joint.independence, _test(true), "independence")


def _test(true: JointTable) -> IndependenceTest | None:
    try:
        return independence_test(true)
    except InvalidInput:  # too few answers are left, or far too many cells
        return None


def _sampling(results: Results) -> Sampling | None:
    return results.questions[0].sampling if results.questions else None


def _from_own_counts(
    plan: Plan, found: Recovered, told: JointTable, axes: tuple[Axis, ...]
) -> JointTable:
    """What a table of records must be, given its unbiased counts."""
    counts, people = told.counts, found.tally.people
    copies, variance = found.tally.responses / people, bit_variance(plan.blocks[0].noise)
    consistent = nearest_possible(counts.ravel(), people).reshape(counts.shape)
    factors = [factor_covariance(len(axis.bits), variance) for axis in axes]
    spread = product_variance(consistent, [np.diag(factor) for factor in factors])
    errors: Floats = np.sqrt(spread / copies)
    interval, simultaneous = normal_bands(counts, consistent, errors, people, told.confidence)
    table = JointTable(
        questions=tuple(axis.name for axis in axes),
        labels=tuple(axis.labels for axis in axes),
        answers=tuple(axis.answers for axis in axes),
        people=people,
        confidence=told.confidence,
        counts=counts,
        consistent=consistent,
        standard_errors=errors,
        interval=interval,
        simultaneous=simultaneous,
        readable=readable(errors, people, told.confidence),
    )
    if len(axes) != 2:
        return table
    margins = (consistent.sum(axis=1), consistent.sum(axis=0))
    return replace(table, noise=LinkedCells(margins, (factors[0], factors[1]), people, copies))


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
