"""Tallies of sealed batches: what is no token is an empty message of its lane."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from krand.analysis.tally import Tally
from krand.promise import Linkage
from krand.survey.plan import Plan


def in_lanes(plan: Plan, tally: Tally) -> Tally:
    """The tally of devices' batches with these counts; refused messages are missing somewhere."""
    refused, empty = sum(tally.rejected.values()), []
    for lane in plan.lanes if tally.linkage is Linkage.BIT else ():
        tokens = int(tally.counts[lane.offset : lane.offset + lane.positions].sum())
        room = tally.people * lane.messages - tokens
        assert room >= 0
        lost = min(refused, room)
        refused -= lost
        empty.append(room - lost)
    nulls = np.array(empty or [0] * len(plan.lanes), np.int64)
    batches = tally.batches or ("ab" * 32,)
    return replace(tally, batches=batches, nulls=int(nulls.sum()), lane_nulls=nulls)
