"""One machine: counting in this process, opening sealed messages in as many as there are cores.

Long work is written down every few seconds, so that it goes on where it was interrupted.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import pyarrow as pa

from krand.analysis.engines import Options
from krand.analysis.engines.checkpoint import Checkpoint
from krand.analysis.engines.partition import Work, tally_part
from krand.analysis.engines.source import Source, chunks_of
from krand.analysis.tally import Tally, merged
from krand.processes import Workers

COUNTED_AT_A_TIME = 2**20
OPENED_AT_A_TIME = 2**12
"""Messages that a process opens in about a second: few, so that little is lost."""
SECONDS_BETWEEN_CHECKPOINTS = 5.0


def count(source: Source, work: Work, options: Options) -> Tally:
    """Count a source, from the beginning or from where the checkpoint says.

    The checkpoint stays: whoever keeps the tally forgets it then (`forget_checkpoint`).
    """
    kept = None if options.checkpoint is None else Checkpoint(options.checkpoint, source, work)
    done, found = (0, work.nothing) if kept is None else kept.start()
    options.progress(done)
    saved = time.monotonic()
    for rows, part in _parts(source, work, done, options.workers):
        done, found = done + rows, merged(found, part)
        options.progress(rows)
        if kept is not None and time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            kept.save(done, found)
            saved = time.monotonic()
    return found


def _parts(source: Source, work: Work, first_row: int, workers: int) -> Iterator[tuple[int, Tally]]:
    """Partial tallies in the order of the file, each with the number of its rows."""
    if not source.sealed:
        for chunk in chunks_of(source.uri, COUNTED_AT_A_TIME, first_row):
            yield len(chunk), tally_part(work, [chunk])
        return
    chunks = chunks_of(source.uri, OPENED_AT_A_TIME, first_row)
    if workers == 1:
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
