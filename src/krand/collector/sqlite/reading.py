"""A look at the batches of a spool that a collector has open, without disturbing it.

The file is opened for reading only, for a moment, and its journal is not touched.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from krand.collector.sqlite.batches import BatchTable, check_config
from krand.collector.sqlite.damage import Damage
from krand.collector.sqlite.disk import named
from krand.collector.sqlite.high_water_mark import READ_ATTEMPTS, Progress
from krand.collector.store import Batch, SpoolConfig
from krand.errors import Unavailable

__all__ = ["batches_in"]

WAIT_SECONDS = 2.0


def batches_in(path: Path, config: SpoolConfig) -> tuple[Batch, ...]:
    """The batches in a spool's file as they are now."""
    with named(path):
        acknowledged = _acknowledged(path.with_name("spool.mark"))  # first: the file only grows
        with closing(_connected(path)) as connection:
            connection.execute("BEGIN")
            table = BatchTable(connection, config)
            if not table.exists():
                raise Unavailable("the collector is still creating its spool")
            check_config(connection, config)
            batches = tuple(entry.batch for entry in table.all())
            acknowledged.check_reached_by(table.progress())
    return batches


def _connected(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. The collector does not have to wait for it."""
    address = f"{path.resolve().as_uri()}?mode=ro"
    return sqlite3.connect(address, WAIT_SECONDS, isolation_level=None, uri=True)


def _acknowledged(path: Path) -> Progress:
    """What has been acknowledged, at least. The collector may be writing it at this moment."""
    for _ in range(READ_ATTEMPTS - 1):
        try:
            return Progress.read(path.read_bytes())
        except Damage:
            pass
        except OSError:
            return Progress()
    return Progress.read(path.read_bytes())
