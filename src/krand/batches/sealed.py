"""Batch files: sealed messages of one length in a Parquet column, and the id of the batch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = [
    "MESSAGE",
    "batch_id_in",
    "batch_schema",
    "fixed_column",
    "fixed_rows",
    "positions_in",
    "write_batch",
]

FORMAT = "krand-batch-2"
KEY = b"krand"
MESSAGE = "message"
ROWS_PER_GROUP = 2**15
"""Opening this many takes some seconds; machines that share the work take a group each."""


def batch_schema(length: int, batch_id: str) -> pa.Schema:
    """The one column of a batch file, messages of `length` bytes, and the batch's random id."""
    metadata = {KEY: json.dumps({"format": FORMAT, "id": batch_id}, sort_keys=True).encode()}
    return pa.schema([pa.field(MESSAGE, pa.binary(length), nullable=False)], metadata)


def batch_id_in(schema: pa.Schema) -> str | None:
    """The id in a batch file; None if it has another format."""
    try:
        values = json.loads((schema.metadata or {})[KEY])
        return str(values["id"]) if values["format"] == FORMAT else None
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def write_batch(
    stream: BinaryIO, length: int, batch_id: str, chunks: Iterator[NDArray[np.uint8]]
) -> int:
    """Write rows of messages in the given order; returns their number."""
    schema, count = batch_schema(length, batch_id), 0
    # Sealed messages look random: compression and statistics are useless.
    options: dict[str, Any] = {"compression": "none", "use_dictionary": False}
    with pq.ParquetWriter(stream, schema, write_statistics=False, **options) as writer:
        for rows in chunks:
            column = fixed_column(rows, schema.field(0).type)
            writer.write_batch(pa.record_batch([column], schema=schema), ROWS_PER_GROUP)
            count += len(rows)
    return count


def fixed_column(rows: NDArray[np.uint8], kind: pa.DataType) -> pa.FixedSizeBinaryArray:
    """Rows of bytes as a column."""
    buffer = pa.py_buffer(rows.tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, buffer])


def positions_in(column: pa.Int32Array) -> NDArray[np.int32]:
    """A column of positions as an array, without copying and without loading pandas."""
    import numpy as np

    return np.frombuffer(column.buffers()[1], np.int32)[column.offset :][: len(column)]


def fixed_rows(column: pa.FixedSizeBinaryArray) -> NDArray[np.uint8]:
    """A column as rows of bytes, without copying."""
    import numpy as np

    width, count = column.type.byte_width, len(column)
    data = np.frombuffer(column.buffers()[1], np.uint8)
    return data[column.offset * width : (column.offset + count) * width].reshape(count, width)
