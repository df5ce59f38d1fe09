"""Everybody's device at work: noisy reports without order, in a file as `krand randomize` writes.

Of that command only the source of randomness differs: there it cannot be chosen, which is as it
should be.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from krand.batches.provenance import Provenance
from krand.batches.responses import ReportsHeader, ReportsWriter
from krand.demo.people import Crowd, Told, pieces
from krand.files import complete_file
from krand.promise import Linkage
from krand.randomness.generator import SecureRandom
from krand.randomness.shuffling import shuffled_chunks
from krand.survey.plan import Plan
from krand.tables.responses import add_reported_counts, reported_rows

__all__ = ["noisy_rows", "write_reports"]

TOKENS_AT_A_TIME = 2**20
BITS_AT_A_TIME = 2**24
"""Bits of records in memory, whatever the survey and the crowd."""


def write_reports(
    plan: Plan,
    crowd: Crowd,
    random: SecureRandom,
    output: Path,
    run: str,
    told: Told = lambda _: None,
) -> None:
    """The reports of all people, as they leave the shuffler; the file says that it is simulated."""
    linkage, positions = plan.survey.linkage, plan.layout.positions
    if linkage is Linkage.BIT:
        reports: Iterator[NDArray[Any]] = _tokens(_counted(plan, crowd, random, told))
    else:
        rows = noisy_rows(plan, crowd, random, told)
        reports = shuffled_chunks(rows, (positions + 7) // 8, random, output.parent)
    header = ReportsHeader(
        plan.hash, 1, crowd.people, linkage, positions, run, Provenance.SIMULATION
    )
    with (
        complete_file("output", output, replace=True) as stream,
        ReportsWriter(stream, header) as writer,
    ):
        for chunk in reports:
            writer.write(chunk)


def noisy_rows(
    plan: Plan, crowd: Crowd, random: SecureRandom, told: Told = lambda _: None
) -> Iterator[NDArray[np.uint8]]:
    """The noisy copies of everybody's record, some people at a time."""
    most = max(1, BITS_AT_A_TIME // (plan.layout.positions * plan.survey.copies))
    for encoded, height in crowd.encoded(told):
        for part, people in pieces(encoded, height, most):
            yield reported_rows(plan, part, people, random)


def _counted(plan: Plan, crowd: Crowd, random: SecureRandom, told: Told) -> NDArray[np.int64]:
    """How many people report each position as 1."""
    counts = np.zeros(plan.layout.positions, np.int64)
    for encoded, people in crowd.encoded(told):
        add_reported_counts(plan, encoded, people, random, counts)
    return counts


def _tokens(counts: NDArray[np.int64]) -> Iterator[NDArray[np.int32]]:
    """So many of each position, sorted: a multiset has no order."""
    ends = np.cumsum(counts)
    for start in range(0, int(ends[-1]), TOKENS_AT_A_TIME):
        places = np.arange(start, min(start + TOKENS_AT_A_TIME, int(ends[-1])))
        yield np.searchsorted(ends, places, side="right").astype(np.int32)
