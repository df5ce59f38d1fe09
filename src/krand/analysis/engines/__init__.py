"""Drivers that count where the data is: one machine or Spark; both run the same function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa

from krand.analysis.engines.partition import Work, tally_part
from krand.analysis.engines.repeats import Repeats
from krand.analysis.engines.source import Source, chunks_of
from krand.analysis.shapes import tally_shape
from krand.analysis.tally import Tally, merged
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
    source: Source,
    work: Work,
    engine: str = "local",
    options: Options | None = None,
    repeats: Repeats | None = None,
) -> Tally:
    """The whole tally of a source, with its people and its name.

    What is there several times is left to this function, so that engines need not know an order.
    """
    repeats = repeats or Repeats()
    alone = replace(work, repeated=repeats.digests)
    found = engine_named(engine)(source, alone, options or Options())
    if repeats.firsts is not None:
        found = merged(found, tally_part(work, [repeats.firsts]))
    refused = Counter(found.rejected) + Counter(source.lost)
    refused[REPEATED] += repeats.surplus
    people = source.people
    return replace(
        found,
        people=people,
        crowd=people,
        responses=tally_shape(work.linkage).responses(found, people),
        rejected=dict(+refused),
        batches=(source.sha256,),
        ids=(source.id,),
        provenance=source.provenance,
        manifests=(source.manifest,) if source.manifest else (),
    )


def count_here(source: Source, work: Work, options: Options) -> Tally:
    """Count in this process, and open sealed messages in as many as there are workers."""
    found = work.nothing
    for rows, part in _parts(source, work, options.workers):
        found = merged(found, part)
        options.progress(rows)
    return found


def _parts(source: Source, work: Work, workers: int) -> Iterator[tuple[int, Tally]]:
    """Partial tallies in the order of the file, each with the number of its rows."""
    chunks = chunks_of(source.uri, OPENED_AT_A_TIME if source.sealed else COUNTED_AT_A_TIME)
    if not source.sealed or workers == 1:
        for chunk in chunks:
            yield len(chunk), tally_part(work, [chunk])
        return
    from krand.processes import Workers  # it takes a while to load

    with Workers(workers, _take_up, work) as shared:
        yield from shared.in_order(_opened, chunks)


_work: Work
"""Of a process that opens: it is sent once, because a plan can be large."""


def _take_up(work: Work) -> None:
    global _work
    _work = work


def _opened(chunk: pa.RecordBatch) -> tuple[int, Tally]:
    return len(chunk), tally_part(_work, [chunk])
