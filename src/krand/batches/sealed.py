"""Sealed batches: Parquet files with the lane and the bytes of every message, and the batch's id.

Lanes rise, and each lane is shuffled by itself. A reader gets one lane at a time, in chunks, so
that its memory is bounded whatever the number of messages. Row groups may hold several lanes:
machines that share the work take a group each.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from krand.errors import InvalidInput
from krand.files import unreadable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.uint8]

FORMAT = "krand-batch-1"
KEY = b"krand"
LANE = "lane"
MESSAGE = "message"
MOST_ROWS, MOST_BYTES = 2**15, 2**24
"""Of a row group. Opening this many messages takes some seconds."""
ROW_EXTRA, GROUP_EXTRA, FILE_EXTRA = 8, 2**10, 2**14
"""More than Parquet adds to the bytes of a message, of a row group and of a file."""
LONGEST_REASON = 200


def sealed_schema(length: int, batch_id: str) -> pa.Schema:
    """Two columns, messages of `length` bytes, and the batch's random id."""
    columns = [
        pa.field(LANE, pa.int32(), nullable=False),
        pa.field(MESSAGE, pa.binary(length), nullable=False),
    ]
    metadata = {KEY: json.dumps({"format": FORMAT, "id": batch_id}, sort_keys=True).encode()}
    return pa.schema(columns, metadata)


def batch_id_in(schema: pa.Schema) -> str | None:
    """The id in a batch file; None if it has another format."""
    try:
        values = json.loads((schema.metadata or {})[KEY])
        return str(values["id"]) if values["format"] == FORMAT else None
    except (KeyError, TypeError, ValueError, RecursionError):
        return None


def write_sealed(
    stream: BinaryIO, length: int, batch_id: str, lanes: Iterable[tuple[int, Rows]]
) -> int:
    """Write chunks of rows, each of one lane, in the given order; returns the number of rows.

    The bytes of the file do not depend on the size of the chunks.
    """
    schema, size, count = sealed_schema(length, batch_id), _rows_at_a_time(length), 0
    # Sealed messages look random: compression and statistics are useless.
    options: dict[str, Any] = {"compression": "none", "use_dictionary": [LANE]}
    with pq.ParquetWriter(stream, schema, write_statistics=False, **options) as writer:
        for group in _groups(lanes, size):
            numbers = np.concatenate([np.full(len(rows), lane, np.int32) for lane, rows in group])
            column = fixed_column(np.concatenate([rows for _, rows in group]), pa.binary(length))
            writer.write_batch(pa.record_batch([pa.array(numbers), column], schema=schema), size)
            count += len(numbers)
    return count


def largest_file(length: int, messages: int) -> int:
    """The most bytes that a file of so many messages may have."""
    groups = -(-messages // _rows_at_a_time(length))
    return messages * (length + ROW_EXTRA) + groups * GROUP_EXTRA + FILE_EXTRA


def _groups(lanes: Iterable[tuple[int, Rows]], size: int) -> Iterator[list[tuple[int, Rows]]]:
    """The rows in groups of `size`, and the rest."""
    group: list[tuple[int, Rows]] = []
    room = size
    for lane, chunk in lanes:
        rows = chunk
        while len(rows):
            group.append((lane, rows[:room]))
            rows, room = rows[room:], room - len(group[-1][1])
            if not room:
                yield group
                group, room = [], size
    if group:
        yield group


class SealedBatch:
    """A file of a sealed batch, open for reading, lane by lane."""

    def __init__(
        self, path: Path | pa.NativeFile, *, length: int, batch_id: str, lanes: int, name: str = ""
    ) -> None:
        self.name, self._size = name or str(path), _rows_at_a_time(length)
        with self._reading():
            self._file = pq.ParquetFile(path, pre_buffer=False)
            _check_schema(self._file.schema_arrow, length, batch_id)
            self._check_size(path, length)
            self.counts = self._counted(lanes)

    def __enter__(self) -> SealedBatch:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def chunks(self, lane: int) -> Iterator[Rows]:
        """The messages of one lane in the order of the file."""
        start = sum(self.counts[:lane])
        end = start + self.counts[lane]
        with self._reading():
            groups, first = self._groups(start, end)
            for batch in self._batches(groups, [MESSAGE]):
                rows = fixed_rows(batch.column(0))
                yield rows[max(0, start - first) : max(0, end - first)]
                first += len(rows)
        if start < end and first < end:
            rule, hint = "must have a message for every lane that it names", f"it is {self.name}"
            raise InvalidInput("batch", rule, f"{end - first:,} too few", hint)

    def _check_size(self, path: Path | pa.NativeFile, length: int) -> None:
        """Messages are stored as they are: a small file with many rows would only take time."""
        size = path.stat().st_size if isinstance(path, Path) else path.size()
        rows = sum(map(self._rows_in, range(self._file.num_row_groups)))
        if rows * length > size:
            rule = f"must have at least {length} bytes for each of its {rows:,} messages"
            hint = f"the file is {self.name}; krand never compresses sealed messages"
            raise InvalidInput("batch", rule, f"{size:,} bytes", hint)

    def _rows_in(self, group: int) -> int:
        return int(self._file.metadata.row_group(group).num_rows)

    def _counted(self, lanes: int) -> tuple[int, ...]:
        """How many messages each lane has; lanes must rise."""
        counts, last = np.zeros(lanes, np.int64), 0
        for batch in self._batches(list(range(self._file.num_row_groups)), [LANE]):
            if batch.column(0).null_count:
                raise self._out_of_order(None)
            numbers = positions_in(batch.column(0))
            if len(numbers) and (numbers[0] < last or (numbers[1:] < numbers[:-1]).any()):
                raise self._out_of_order("a lane after a higher one")
            if len(numbers) and not numbers[-1] < lanes:
                raise self._out_of_order(int(numbers[-1]))
            counts += np.bincount(numbers, minlength=lanes)
            last = int(numbers[-1]) if len(numbers) else last
        return tuple(counts.tolist())

    def _groups(self, start: int, end: int) -> tuple[list[int], int]:
        """The row groups that hold these rows, and the first row of the first of them."""
        sizes = list(map(self._rows_in, range(self._file.num_row_groups)))
        ends = np.cumsum(sizes)
        groups = [i for i, last in enumerate(ends) if last > start and last - sizes[i] < end]
        return groups, int(ends[groups[0]] - sizes[groups[0]]) if groups else 0

    def _batches(self, groups: list[int], columns: list[str]) -> Iterator[pa.RecordBatch]:
        if groups:
            yield from self._file.iter_batches(
                self._size, row_groups=groups, columns=columns, use_threads=False
            )

    def _out_of_order(self, found: object) -> InvalidInput:
        rule = "must hold the lanes of the plan in rising order"
        return InvalidInput("batch", rule, found, f"the file is {self.name}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, UnicodeDecodeError) as error:  # the latter of names in it
            reason = str(error)[:LONGEST_REASON]
            rule = f"must be a complete file of the format {FORMAT}"
            raise InvalidInput("batch", rule, self.name, reason) from None
        except OSError as error:
            raise unreadable("batch", self.name, error) from None


def _check_schema(found: pa.Schema, length: int, batch_id: str) -> None:
    if not found.equals(sealed_schema(length, batch_id)):
        rule = f"must have a column of lanes and one of messages of {length} bytes"
        raise InvalidInput("batch", rule, str(found.types), "is it of this plan, and of this hop?")
    if not found.equals(sealed_schema(length, batch_id), check_metadata=True):
        rule = f"must carry the id that was signed, {batch_id}"
        hint = "it is another batch, or of another version of krand"
        raise InvalidInput("batch", rule, batch_id_in(found), hint)


def file_sha256(path: Path) -> str:
    """The hash of a batch file, which names it."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable("batch", path, error) from None


def fixed_column(rows: NDArray[np.uint8], kind: pa.DataType) -> pa.FixedSizeBinaryArray:
    """Rows of bytes as a column."""
    buffer = pa.py_buffer(rows.tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, buffer])


def positions_in(column: pa.Int32Array) -> NDArray[np.int32]:
    """A column of positions or lanes as an array, without copying and without loading pandas."""
    return np.frombuffer(column.buffers()[1], np.int32)[column.offset :][: len(column)]


def fixed_rows(column: pa.FixedSizeBinaryArray) -> NDArray[np.uint8]:
    """A column as rows of bytes, without copying."""
    width, count = column.type.byte_width, len(column)
    data = np.frombuffer(column.buffers()[1], np.uint8)
    return data[column.offset * width : (column.offset + count) * width].reshape(count, width)


def _rows_at_a_time(length: int) -> int:
    return max(1, min(MOST_ROWS, MOST_BYTES // length))
