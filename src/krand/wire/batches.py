"""Batch files: sealed messages in Parquet, one column of one length, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MESSAGE", "batch_schema", "fixed_column", "fixed_rows", "positions_in", "write_batch"]

MESSAGE = "message"
ROWS_PER_GROUP = 2**15
"""Opening so many takes some seconds: machines that share the work take a group each."""


def batch_schema(length: int) -> pa.Schema:
    """The one column of a batch file: messages of `length` bytes."""
    return pa.schema([pa.field(MESSAGE, pa.binary(length), nullable=False)])


def write_batch(stream: BinaryIO, length: int, chunks: Iterator[NDArray[np.uint8]]) -> int:
    """Write rows of messages in the order they come; the number of them."""
    schema, count = batch_schema(length), 0
    # Sealed messages look random: nothing to compress, and no statistics to take.
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
    """A column of positions as an array, without copying and without Arrow's loading pandas."""
    import numpy as np

    return np.frombuffer(column.buffers()[1], np.int32)[column.offset :][: len(column)]


def fixed_rows(column: pa.FixedSizeBinaryArray) -> NDArray[np.uint8]:
    """A column as rows of bytes, without copying."""
    import numpy as np

    width, count = column.type.byte_width, len(column)
    data = np.frombuffer(column.buffers()[1], np.uint8)
    return data[column.offset * width : (column.offset + count) * width].reshape(count, width)
