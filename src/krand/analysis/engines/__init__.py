"""Drivers that count where the data is: one machine or Spark; both run the same function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from krand.analysis.engines.partition import PLACE, Work, tally_messages, tally_part
from krand.analysis.engines.source import Batch, Source, chunks_of
from krand.analysis.shapes import tally_shape
from krand.analysis.tally import Tally, merged
from krand.batches.batch import by_lane, digests_of, repeated
from krand.errors import InvalidInput
from krand.wire.messages import REPEATED

ENGINES = ("local", "spark")

COUNTED_AT_A_TIME = 2**20
OPENED_AT_A_TIME = 2**12
"""Messages that a process opens in about a second."""

Progress = Callable[[int], None]
"""Called with the number of responses counted since the last call."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to count; an engine ignores what it has no use for."""

    workers: int = 1
    """Processes on this machine."""
    place: str | None = None
    """The address of a cluster."""
    progress: Progress = lambda _: None


Engine = Callable[[Source, Work, Options], Tally]


def engine_named(name: str) -> Engine:
    """The engine of that name; Spark is loaded only now."""
    if name not in ENGINES:
        raise InvalidInput("engine", f"must be one of {', '.join(ENGINES)}", name)
    if name == "local":
        return count_here
    from krand.analysis.engines.spark import count

    return count


def tally_source(
    source: Source, work: Work, engine: str = "local", options: Options | None = None
) -> Tally:
    """The whole tally of a source, with its people and its name.

    Copies of messages are found here, so that engines need not know an order.
    """
    copies = _copies(source)
    counts = () if source.batch is None else source.batch.counts
    alone = replace(work, counts=counts, copies=copies.astype(PLACE).tobytes())
    found = engine_named(engine)(source, alone, options or Options())
    refused = Counter(found.rejected) + Counter(source.lost)
    refused[REPEATED] += len(copies)
    people = source.people
    return replace(
        found,
        people=people,
        crowd=people,
        responses=tally_shape(work.linkage).responses(found, people),
        rejected=dict(+refused),
        batches=(source.sha256,),
        ids=(source.run,) if source.run else (),
        provenance=source.provenance,
        chains=(source.chain,) if source.chain else (),
    )


def _copies(source: Source) -> NDArray[np.int64]:
    """The places of messages that are copies of earlier ones in their lane."""
    found, start = [np.empty(0, np.int64)], 0
    if source.batch is not None:
        for lane in by_lane(source.batch.records, source.batch.counts):
            found.append(start + np.flatnonzero(repeated(digests_of(lane))))
            start += len(lane)
    return np.concatenate(found)


def count_here(source: Source, work: Work, options: Options) -> Tally:
    """Count in this process, and open sealed messages in as many as there are workers."""
    found = work.nothing
    for rows, part in _parts(source, work, options.workers):
        found = merged(found, part)
        options.progress(rows)
    return found


def _parts(source: Source, work: Work, workers: int) -> Iterator[tuple[int, Tally]]:
    """Partial tallies in the order of the file, each with the number of its rows."""
    if source.batch is None:
        for chunk in chunks_of(source.uri, COUNTED_AT_A_TIME):
            yield len(chunk), tally_part(work, [chunk])
        return
    starts = range(0, source.rows, OPENED_AT_A_TIME)
    if workers == 1:
        yield from (_opened(work, source.batch, start) for start in starts)
        return
    from krand.processes import Workers  # it takes a while to load

    with Workers(workers, _take_up, (work, source.batch)) as shared:
        yield from shared.in_order(_opened_elsewhere, starts)


_taken_up: tuple[Work, Batch]
"""Of a process that opens: it is sent once, because a plan can be large."""


def _take_up(taken: tuple[Work, Batch]) -> None:
    global _taken_up
    _taken_up = taken


def _opened_elsewhere(start: int) -> tuple[int, Tally]:
    return _opened(*_taken_up, start)


def _opened(work: Work, batch: Batch, start: int) -> tuple[int, Tally]:
    rows = batch.records[start : start + OPENED_AT_A_TIME]
    return len(rows), tally_messages(work, start, rows)
