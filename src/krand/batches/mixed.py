"""Mixed batches: Parquet files with the lane and the bytes of every message.

Lanes rise, and each lane is shuffled by itself. A reader gets one lane at a time, in chunks, so
that its memory is bounded whatever the number of messages.
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

from krand.batches.sealed import MESSAGE, fixed_column, fixed_rows, positions_in
from krand.errors import InvalidInput
from krand.files import unreadable

if TYPE_CHECKING:
    from types import TracebackType

    from numpy.typing import NDArray

    Rows = NDArray[np.uint8]

__all__ = ["FORMAT", "LANE", "MixedBatch", "file_sha256", "mixed_schema", "write_mixed"]

FORMAT = "krand-mixed-1"
KEY = b"krand"
LANE = "lane"
ROWS_PER_GROUP = 2**15
READ_AT_A_TIME = 2**15
LONGEST_REASON = 200


def mixed_schema(length: int, batch_id: str) -> pa.Schema:
    """Two columns, messages of `length` bytes, and the batch's random id."""
    metadata = {KEY: json.dumps({"format": FORMAT, "id": batch_id}, sort_keys=True).encode()}
    columns = [
        pa.field(LANE, pa.int32(), nullable=False),
        pa.field(MESSAGE, pa.binary(length), nullable=False),
    ]
    return pa.schema(columns, metadata)


def write_mixed(
    stream: BinaryIO, length: int, batch_id: str, lanes: Iterable[tuple[int, Rows]]
) -> None:
    """Write chunks of rows, each of one lane, in the given order."""
    schema = mixed_schema(length, batch_id)
    # Sealed messages look random: compression and statistics are useless.
    options: dict[str, Any] = {"compression": "none", "use_dictionary": [LANE]}
    with pq.ParquetWriter(stream, schema, write_statistics=False, **options) as writer:
        for lane, rows in lanes:
            numbers = pa.array(np.full(len(rows), lane, np.int32))
            column = fixed_column(rows, schema.field(MESSAGE).type)
            batch = pa.record_batch([numbers, column], schema=schema)
            writer.write_batch(batch, ROWS_PER_GROUP)


class MixedBatch:
    """A file of a mixed batch, open for reading, lane by lane."""

    def __init__(self, path: Path, *, length: int, batch_id: str, lanes: int) -> None:
        self.path = path
        with self._reading():
            self._file = pq.ParquetFile(path, pre_buffer=False)
            if not self._file.schema_arrow.equals(mixed_schema(length, batch_id), True):
                rule = f"must hold messages of {length} bytes with their lanes, of batch {batch_id}"
                found = str(self._file.schema_arrow.metadata or self._file.schema_arrow.types)
                raise InvalidInput("batch", rule, found, "is it the batch of this chain and hop?")
            self.counts = self._counted(lanes)

    def __enter__(self) -> MixedBatch:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
        sizes = [
            self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups)
        ]
        ends = np.cumsum(sizes)
        groups = [i for i, last in enumerate(ends) if last > start and last - sizes[i] < end]
        return groups, int(ends[groups[0]] - sizes[groups[0]]) if groups else 0

    def _batches(self, groups: list[int], columns: list[str]) -> Iterator[pa.RecordBatch]:
        if groups:
            yield from self._file.iter_batches(
                READ_AT_A_TIME, row_groups=groups, columns=columns, use_threads=False
            )

    def _out_of_order(self, found: object) -> InvalidInput:
        rule = "must hold the lanes of the plan in rising order"
        return InvalidInput("batch", rule, found, f"the file is {self.path}")

    @contextmanager
    def _reading(self) -> Iterator[None]:
        try:
            yield
        except pa.ArrowException as error:
            reason = str(error)[:LONGEST_REASON]
            rule = f"must be a complete file of the format {FORMAT}"
            raise InvalidInput("batch", rule, str(self.path), reason) from None
        except OSError as error:
            raise unreadable("batch", self.path, error) from None


def file_sha256(path: Path) -> str:
    """The hash of a batch file, which names it."""
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise unreadable("batch", path, error) from None
