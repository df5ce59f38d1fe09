"""Dask: row groups are counted by its workers, the partial tallies are added here."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from krand.analysis.engines import Options
from krand.analysis.engines.partition import Work, tally_part
from krand.analysis.engines.source import Source, group_chunks, group_sizes
from krand.analysis.tally import Tally, merged
from krand.errors import MissingComponent

ROWS_AT_A_TIME = 2**18


def count(source: Source, work: Work, options: Options) -> Tally:
    """Count a source by the scheduler at the given place, or by processes of this machine."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise MissingComponent("distributed", "dask") from None
    found, sizes = work.nothing, group_sizes(source.uri)
    where = {"address": options.place} if options.place else _own_workers(options.workers)
    with distributed.Client(**where) as client:
        tasks = {
            client.submit(_counted, work, source.uri, group, pure=False): rows
            for group, rows in enumerate(sizes)
        }
        for future in distributed.as_completed(list(tasks)):
            found = merged(found, future.result())
            options.progress(tasks[future])
    return found


def _counted(work: Work, uri: str, group: int) -> Tally:
    return tally_part(work, group_chunks(uri, group, ROWS_AT_A_TIME))


def _own_workers(workers: int) -> dict[str, Any]:
    """Processes, because opening holds the interpreter; nothing listens beyond this machine."""
    return {
        "n_workers": workers,
        "threads_per_worker": 1,
        "processes": True,
        "host": "127.0.0.1",
        "dashboard_address": "127.0.0.1:0",
    }
