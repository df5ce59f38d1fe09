"""Files of responses: what a data holder randomized, not sealed, in Parquet, without order.

Bit linkage: the positions reported as 1, sorted, so that only their counts are left.
Record linkage: the noisy records as packed bytes, shuffled. The file's metadata contains the number
of people, the plan and the run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from krand.batches.provenance import Provenance, RandomId
from krand.errors import InvalidInput
from krand.files import unreadable
from krand.promise import MAX_BITS, MAX_CROWD, Linkage
from krand.survey.plain_values import as_file, typed, values_in, within

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "krand-responses-1"
HINT = "krand randomize writes it"
KEY = b"krand"
POSITION, VECTOR = "position", "vector"


def fixed_column(rows: NDArray[np.uint8], kind: pa.DataType) -> pa.FixedSizeBinaryArray:
    """Rows of bytes as a column."""
    buffer = pa.py_buffer(rows.tobytes())
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, buffer])


def positions_in(column: pa.Int32Array) -> NDArray[np.int32]:
    """A column of positions as an array, without copying and without loading pandas."""
    return np.frombuffer(column.buffers()[1], np.int32)[column.offset :][: len(column)]


def fixed_rows(column: pa.FixedSizeBinaryArray) -> NDArray[np.uint8]:
    """A column as rows of bytes, without copying."""
    width, count = column.type.byte_width, len(column)
    data = np.frombuffer(column.buffers()[1], np.uint8)
    return data[column.offset * width : (column.offset + count) * width].reshape(count, width)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Column:
    """The one column of a file, by the shape of responses."""

    field: Callable[[int], pa.Field]
    """For so many positions."""
    options: Mapping[str, Any]
    """Of the Parquet writer."""
    written: Callable[[NDArray[Any], pa.DataType], pa.Array]
    read: Callable[[pa.Array], NDArray[Any]]


_COLUMNS = {
    Linkage.BIT: _Column(
        field=lambda _: pa.field(POSITION, pa.int32(), nullable=False),
        # Sorted positions become runs, which need little space.
        options={"compression": "zstd", "use_dictionary": True, "write_statistics": True},
        written=pa.array,
        read=positions_in,
    ),
    Linkage.RECORD: _Column(
        field=lambda size: pa.field(VECTOR, pa.binary((size + 7) // 8), nullable=False),
        # Noise cannot be compressed.
        options={"compression": "none", "use_dictionary": False, "write_statistics": False},
        written=fixed_column,
        read=fixed_rows,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesHeader:
    """The metadata of a file of responses."""

    plan: str
    round: Annotated[int, within(1)]
    people: Annotated[int, within(0, MAX_CROWD)]
    linkage: Linkage
    positions: Annotated[int, within(1, MAX_BITS)]
    run: RandomId
    """A random id of the randomization: two files of one run are copies."""
    provenance: Provenance = Provenance.TABLE

    def __post_init__(self) -> None:
        if self.provenance is Provenance.DEVICES:
            rule = "must not be devices, because they seal what they send"
            raise InvalidInput("provenance", rule, self.provenance.value)

    @property
    def schema(self) -> pa.Schema:
        """One column: positions, or packed vectors."""
        column = _COLUMNS[self.linkage].field(self.positions)
        values = {"format": FORMAT, **asdict(self)}
        return pa.schema([column], {KEY: json.dumps(values, sort_keys=True).encode()})


class ResponsesWriter:
    """Writes responses to a stream, a chunk at a time."""

    def __init__(self, stream: BinaryIO, header: ResponsesHeader) -> None:
        self._schema, self._column = header.schema, _COLUMNS[header.linkage]
        self._writer = pq.ParquetWriter(stream, self._schema, **self._column.options)

    def __enter__(self) -> ResponsesWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, responses: NDArray[Any]) -> None:
        """Positions, or rows of packed bytes."""
        if not len(responses):  # Parquet would make a row group of nothing
            return
        column = self._column.written(responses, self._schema.field(0).type)
        self._writer.write_batch(pa.record_batch([column], schema=self._schema))


def response_batches(path: str | Path, size: int) -> Iterator[NDArray[Any]]:
    """The responses in chunks: positions, or rows of packed bytes."""
    file = _opened(path)
    header = header_of(file, path)
    for batch in file.iter_batches(batch_size=size):
        yield _COLUMNS[header.linkage].read(batch.column(0))


def _opened(path: str | Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, pre_buffer=False)  # it would keep what it has read
    except OSError as error:
        raise unreadable("responses", path, error) from None
    except pa.ArrowInvalid:
        raise _not_responses(path) from None


def header_of(file: pq.ParquetFile, path: str | Path) -> ResponsesHeader:
    """The metadata of an open file."""
    content = (file.schema_arrow.metadata or {}).get(KEY)
    if content is None:
        raise _not_responses(path)
    values = values_in(content, "responses", FORMAT, str(path), HINT)
    with as_file("responses", FORMAT, str(path), HINT):
        header: ResponsesHeader = typed(ResponsesHeader, values)
    if not file.schema_arrow.equals(header.schema):
        raise _not_responses(path)
    return header


def _not_responses(path: str | Path) -> InvalidInput:
    return InvalidInput("responses", f"must be a file of the format {FORMAT}", str(path), HINT)
