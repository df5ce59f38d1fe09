"""Spark: partitions of the batch are counted where they lie, the partial tallies are added here."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from krand.analysis.engines import Options
from krand.analysis.engines.partition import Work, tally_messages, tally_part
from krand.analysis.engines.source import Source
from krand.analysis.tally import Tally, merged, tally_from
from krand.errors import MissingComponent

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS, COUNTED_BYTES = "spark.sql.files.maxPartitionBytes", 2**26
RECORDS, OPENED_BYTES = "mapreduce.input.fileinputformat.split.maxsize", 2**21


def count(source: Source, work: Work, options: Options) -> Tally:
    """Count a source on the cluster at the given place, or on so many workers of this machine."""
    session, ours = _session(options.place or f"local[{options.workers}]")
    found = work.nothing
    try:
        for rows, tally in _parts(session, source, work):
            found = merged(found, tally_from(json.loads(tally)))
            options.progress(rows)
    finally:
        if ours:
            session.stop()
    return found


def _parts(session: Any, source: Source, work: Work) -> Iterator[tuple[int, bytes]]:
    """Partial tallies as they come, each with the number of its rows."""
    if source.batch is None:
        session.conf.set(COLUMNS, COUNTED_BYTES)
        rows = session.read.parquet(_address(source.uri))
        for row in rows.mapInArrow(_counter(work), "rows long, tally binary").toLocalIterator():
            yield row.rows, bytes(row.tally)
        return
    # Opening a message costs far more than reading it: partitions are as small as that needs.
    context = session.sparkContext
    context._jsc.hadoopConfiguration().set(RECORDS, str(OPENED_BYTES))
    records = context.binaryRecords(_address(source.uri), source.batch.length)
    yield from records.zipWithIndex().mapPartitions(_opener(work)).toLocalIterator()


def _opener(work: Work) -> Any:
    """The function that Spark runs on messages with their places in the batch."""

    def opened(records: Iterator[tuple[bytes, int]]) -> Iterator[tuple[int, bytes]]:
        found = list(records)
        if found:  # they follow each other
            joined = b"".join(bytes(record) for record, _ in found)
            rows = np.frombuffer(joined, np.uint8).reshape(len(found), -1)
            part = tally_messages(work, found[0][1], rows)
            yield len(found), json.dumps(part.values()).encode()

    return opened


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
