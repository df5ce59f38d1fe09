"""One machine: counting in this process, opening sealed messages in as many as there are cores."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

from krand.analysis.engines import Options
from krand.analysis.engines.partition import Work, tally_part
from krand.analysis.engines.source import Source, chunks_of
from krand.analysis.tally import Tally, merged
from krand.processes import Workers

COUNTED_AT_A_TIME = 2**20
OPENED_AT_A_TIME = 2**12
"""Messages that a process opens in about a second."""


def count(source: Source, work: Work, options: Options) -> Tally:
    """Count a source."""
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
    with Workers(workers, _take_up, work) as shared:
        yield from shared.in_order(_opened, chunks)


_work: Work
"""Of a process that opens: it is sent once, because a plan can be large."""


def _take_up(work: Work) -> None:
    global _work
    _work = work


def _opened(chunk: pa.RecordBatch) -> tuple[int, Tally]:
    return len(chunk), tally_part(_work, [chunk])
