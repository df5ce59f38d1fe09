"""From estimates back to what was counted.

An estimate is (M/k - Nq)/(p-q) with a whole number M of counted ones, so M can be read off it, and
everything else of a question follows from M, its count first: one that was edited is hardly ever
one that whole ones give. If it is, the numbers beside it give it away.

Where mixers add the noise, an estimate is T - nR with a whole number T of counted tokens or empty
messages. Empty messages of other lanes follow from the number of people, and nothing is estimated
from them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from krand.analysis.mechanisms import part_of
from krand.analysis.results import Results, counted_responses
from krand.analysis.tally import Tally, empty_tally
from krand.survey.layout import Block
from krand.survey.plan import Plan
from krand.survey.questions import Kind

MOST = 2**62
"""No tally counts more ones; a file may say anything."""


@dataclass(frozen=True, slots=True)
class Recovered:
    """The tally behind results; positions of words, which cannot be recovered, are 0."""

    tally: Tally
    lost: tuple[str, ...]
    """Questions that nothing can be recovered of."""


def recovered(plan: Plan, results: Results) -> Recovered:
    """What must have been counted."""
    survey, layout = plan.survey, plan.layout
    responses = counted_responses(results)
    counts = np.zeros(layout.positions, dtype=np.int64)
    lost: list[str] = []
    part = part_of(plan.survey.trust.noise)
    lanes = len(plan.lanes) if survey.trust.chain else 0
    lane_nulls = np.zeros(lanes, dtype=np.int64)
    for planned in plan.blocks:
        block = planned.block
        if block.kind is Kind.WORDS:
            continue
        estimates = _estimates(block, results)
        if estimates is None:
            lost.extend(block.question_names)
            continue
        law = part.law(plan, planned, results.people, responses)
        cells = np.clip(np.rint(law.counted(estimates)), 0, MOST).astype(np.int64)
        counts[block.offset : block.offset + block.positions] = cells[1:]
        for lane in plan.lanes:
            if lane.offset == block.offset and part.counts_nulls(lane, block):
                lane_nulls[lane.number] = cells[0]
    empty = empty_tally(plan.hash, survey.linkage, layout.positions, results.round, lanes=lanes)
    tally = replace(
        empty,
        people=results.people,
        crowd=results.crowd,
        responses=responses,
        counts=counts,
        nulls=results.nulls,
        lane_nulls=lane_nulls if lanes else None,
        rejected=results.rejected,
        batches=results.batches,
        ids=results.ids,
        provenance=results.provenance,
        different_people=results.different_people,
    )
    return Recovered(tally, tuple(lost))


def _estimates(block: Block, results: Results) -> NDArray[np.float64] | None:
    """The estimate of "nothing answered", or 0, and at every position of a block.

    None if the results do not have it.
    """
    if block.kind is not Kind.TOGETHER:
        asked = next((q for q in results.questions if q.name == block.name), None)
        if asked is None or len(asked.rows) != block.positions:
            return None
        none = 0.0 if asked.unanswered is None else asked.unanswered.count
        return np.array([none, *(row.count for row in asked.rows)], dtype=np.float64)
    for joint in results.joint:
        if joint.table.questions == block.question_names:
            cells = joint.table.counts
            # A table has "unanswered" last, a block first.
            first = np.roll(cells, 1, axis=tuple(range(cells.ndim))).ravel()
            return first if len(first) == block.positions + 1 else None
    return None
