"""Simulated devices and mixers: their noise comes from a seed, where real noise has none.

Devices write noisy responses without order, in a file like that of `krand randomize`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.analysis.tally import Tally, empty_tally
from krand.batches.provenance import Provenance
from krand.batches.responses import ResponsesHeader, ResponsesWriter
from krand.files import complete_file
from krand.mixing.dummies import draw_lane
from krand.promise import Linkage
from krand.randomness.generator import SecureRandom
from krand.randomness.shuffling import shuffled_chunks
from krand.simulation.crowd import Crowd, Told, pieces
from krand.survey.plan import Plan
from krand.tables.randomizing import add_reported_counts, reported_rows

TOKENS_AT_A_TIME = 2**20
BATCH = "0" * 64
"""Mixers pass on batches; this one was never written."""
BITS_AT_A_TIME = 2**24
"""The most bits of records in memory, for any survey and crowd."""


def write_responses(
    plan: Plan,
    crowd: Crowd,
    random: SecureRandom,
    output: Path,
    run: str,
    told: Told = lambda _: None,
) -> None:
    """Write the shuffled responses of all people; the file says that they are simulated."""
    linkage, positions = plan.survey.linkage, plan.layout.positions
    responses = RESPONSES[linkage](plan, crowd, random, output.parent, told)
    header = ResponsesHeader(
        plan=plan.hash,
        round=1,
        people=crowd.people,
        linkage=linkage,
        positions=positions,
        run=run,
        provenance=Provenance.SIMULATION,
    )
    with (
        complete_file("output", output, replace=True) as stream,
        ResponsesWriter(stream, header) as writer,
    ):
        for chunk in responses:
            writer.write(chunk)


def _token_chunks(
    plan: Plan, crowd: Crowd, random: SecureRandom, folder: Path, told: Told
) -> Iterator[NDArray[Any]]:
    return _tokens(reported_counts(plan, crowd, random, told))


def _record_chunks(
    plan: Plan, crowd: Crowd, random: SecureRandom, folder: Path, told: Told
) -> Iterator[NDArray[Any]]:
    width = plan.survey.shape.response_bytes(plan.layout.positions)
    return shuffled_chunks(noisy_rows(plan, crowd, random, told), width, random, folder)


RESPONSES = {Linkage.BIT: _token_chunks, Linkage.RECORD: _record_chunks}
"""The responses of all people without their order, by the shape of responses."""


def noisy_rows(
    plan: Plan, crowd: Crowd, random: SecureRandom, told: Told = lambda _: None
) -> Iterator[NDArray[np.uint8]]:
    """The noisy copies of all records, some people at a time."""
    most = max(1, BITS_AT_A_TIME // (plan.layout.positions * plan.survey.copies))
    for encoded, height in crowd.encoded(told):
        for part, people in pieces(encoded, height, most):
            yield reported_rows(plan, part, people, random)


def reported_counts(
    plan: Plan, crowd: Crowd, random: SecureRandom, told: Told = lambda _: None
) -> NDArray[np.int64]:
    """How many people report a 1 at each position."""
    counts = np.zeros(plan.layout.positions, np.int64)
    for encoded, people in crowd.encoded(told):
        add_reported_counts(plan, encoded, people, random, counts)
    return counts


def _tokens(counts: NDArray[np.int64]) -> Iterator[NDArray[np.int32]]:
    """Each position as often as it was reported, sorted, so that no order is left."""
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]), TOKENS_AT_A_TIME):
        places = np.arange(start, min(start + TOKENS_AT_A_TIME, int(ends[-1])))
        yield np.searchsorted(ends, places, side="right").astype(np.int32)


def mixed_tally(plan: Plan, counts: NDArray[np.int64], people: int, random: SecureRandom) -> Tally:
    """What is counted of so many people's answers and the dummies of every mixer."""
    counts, nulls = counts.copy(), []
    for lane in plan.lanes:
        tokens = counts[lane.offset : lane.offset + lane.positions]
        nulls.append(people * lane.messages - int(tokens.sum()))
        for _ in range(plan.survey.trust.mixers):
            dummies = draw_lane(plan, lane, random)
            tokens += dummies.tokens
            nulls[-1] += dummies.nulls
    return replace(
        empty_tally(plan.hash, plan.survey.linkage, plan.layout.positions),
        people=people,
        crowd=people,
        responses=people,
        counts=counts,
        nulls=sum(nulls),
        lane_nulls=np.array(nulls, np.int64),
        batches=(BATCH,),
    )
