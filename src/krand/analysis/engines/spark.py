"""Spark: partitions of the batch are counted where they lie, the partial tallies are added here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from krand.analysis.engines import Options
from krand.analysis.engines.partition import Work, tally_part
from krand.analysis.engines.source import Source
from krand.analysis.tally import Tally, merged, tally_from
from krand.errors import MissingComponent

if TYPE_CHECKING:
    import pyarrow as pa

PARTITION = "spark.sql.files.maxPartitionBytes"
SEALED_BYTES, COUNTED_BYTES = 2**21, 2**26


def count(source: Source, work: Work, options: Options) -> Tally:
    """Count a source on the cluster at the given place, or on so many workers of this machine."""
    session, ours = _session(options.place or f"local[{options.workers}]")
    # Opening a message costs far more than reading it: partitions are as small as that needs.
    session.conf.set(PARTITION, SEALED_BYTES if source.sealed else COUNTED_BYTES)
    found = work.nothing
    try:
        rows = session.read.parquet(_address(source.uri))
        for row in rows.mapInArrow(_counter(work), "rows long, tally binary").toLocalIterator():
            found = merged(found, tally_from(json.loads(bytes(row.tally))))
            options.progress(row.rows)
    finally:
        if ours:
            session.stop()
    return found


def _counter(work: Work) -> Any:
    """The function that Spark runs on each partition: batches in, one partial tally out."""

    def counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        rows = 0

        def chunks() -> Iterator[pa.RecordBatch]:
            nonlocal rows
            for batch in batches:
                rows += batch.num_rows
                yield batch

        part = json.dumps(tally_part(work, chunks()).values()).encode()
        yield pa.record_batch({"rows": pa.array([rows]), "tally": pa.array([part], pa.binary())})

    return counted


def _session(master: str) -> tuple[Any, bool]:
    """The session there is, or a new one, and whether it is ours to stop."""
    # The workers must run this very Python, or they would not have krand.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingComponent("pyspark", "spark") from None
    if (active := SparkSession.getActiveSession()) is not None:
        return active, False
    builder = SparkSession.builder.master(master).appName("krand tally")
    if master.startswith("local"):
        builder = builder.config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.driver.bindAddress", "127.0.0.1")
        builder = builder.config("spark.ui.enabled", "false")
    return builder.getOrCreate(), True


def _address(uri: str) -> str:
    """Spark reads addresses; a path is one of this machine."""
    return uri if "://" in uri else Path(uri).resolve().as_uri()
