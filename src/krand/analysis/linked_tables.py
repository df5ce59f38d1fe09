"""Joint tables of results once more, with the noise that a file does not hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from krand.analysis.joint.axes import axes_of
from krand.analysis.joint.tables import JointTable, joint_table, records_table
from krand.analysis.results import Results
from krand.analysis.verification.recovering import recovered
from krand.errors import InvalidInput


def linked_table(results: Results, names: Sequence[str], confidence: float) -> JointTable:
    """The table of these questions, in this order; refused if nothing links them."""
    plan, again = results.plan, recovered(results.plan, results)
    found = (joint.table for joint in results.joint if {*names} <= {*joint.table.questions})
    table = next(found, None)
    if plan.survey.shape.token_lanes(plan) and (table is not None or not {*names} & {*again.lost}):
        return joint_table(plan, again.tally, names, confidence)  # or it says why there is none
    if table is None:
        rule = "must be in one joint table of the results: nothing else says who gave both answers"
        hint = f"estimate the tally again, with --joint {','.join(names)}"
        raise InvalidInput("questions", rule, tuple(names), hint)
    others = tuple(axis for axis, name in enumerate(table.questions) if name not in names)
    kept = [name for name in table.questions if name in names]
    counts = np.transpose(table.counts.sum(axis=others), [kept.index(name) for name in names])
    return records_table(plan, again.tally, axes_of(plan, names), counts, confidence)
