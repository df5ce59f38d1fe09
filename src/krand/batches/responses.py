"""Files of responses: what a data holder randomized, not sealed, in Parquet, without order.

Bit linkage: the positions reported as 1, sorted, so that only their counts are left.
Record linkage: the noisy records as packed bytes, shuffled. The file's metadata contains the number
of people, the plan and the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from krand.batches.provenance import Provenance, is_random_id
from krand.batches.sealed import fixed_column, fixed_rows, positions_in
from krand.errors import InvalidInput
from krand.files import json_object, unreadable, whole
from krand.promise import MAX_BITS, MAX_CROWD, Linkage

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "FORMAT",
    "ResponsesHeader",
    "ResponsesWriter",
    "header_of",
    "read_header",
    "response_batches",
]

FORMAT = "krand-responses-2"
RULE = f"must be a file of the format {FORMAT}"
KEY = b"krand"
POSITION, VECTOR = "position", "vector"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponsesHeader:
    """The metadata of a file of responses."""

    plan: str
    round: int
    people: int
    linkage: Linkage
    positions: int
    run: str
    """A random id of the randomization: two files of one run are copies."""
    provenance: Provenance = Provenance.TABLE
    distinct_from: tuple[str, ...] = ()
    """Earlier runs that have no people in common with this one, as the data holder declared."""

    @property
    def schema(self) -> pa.Schema:
        """One column: positions, or packed vectors."""
        if self.linkage is Linkage.BIT:
            column = pa.field(POSITION, pa.int32(), nullable=False)
        else:
            column = pa.field(VECTOR, pa.binary((self.positions + 7) // 8), nullable=False)
        values = {"format": FORMAT, **asdict(self)}
        return pa.schema([column], {KEY: json.dumps(values, sort_keys=True).encode()})


class ResponsesWriter:
    """Writes responses to a stream, a chunk at a time."""

    def __init__(self, stream: BinaryIO, header: ResponsesHeader) -> None:
        self._schema, self._record = header.schema, header.linkage is Linkage.RECORD
        # Sorted positions become runs, which need little space; noise cannot be compressed.
        self._writer = pq.ParquetWriter(
            stream,
            self._schema,
            compression="none" if self._record else "zstd",
            use_dictionary=not self._record,
            write_statistics=not self._record,
        )

    def __enter__(self) -> ResponsesWriter:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def write(self, responses: NDArray[Any]) -> None:
        """Positions, or rows of packed bytes."""
        if not len(responses):  # Parquet would make a row group of nothing
            return
        kind = self._schema.field(0).type
        column = fixed_column(responses, kind) if self._record else pa.array(responses, kind)
        self._writer.write_batch(pa.record_batch([column], schema=self._schema))


def read_header(path: str | Path) -> ResponsesHeader:
    """The metadata; an error if this is not a file of responses."""
    return header_of(_opened(path), path)


def response_batches(path: str | Path, size: int) -> Iterator[NDArray[Any]]:
    """The responses in chunks: positions, or rows of packed bytes."""
    file = _opened(path)
    header = header_of(file, path)
    for batch in file.iter_batches(batch_size=size):
        column = batch.column(0)
        if header.linkage is Linkage.BIT:
            yield positions_in(column)
        else:
            yield fixed_rows(column)


def _opened(path: str | Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path, pre_buffer=False)  # it would keep what it has read
    except OSError as error:
        raise unreadable("responses", path, error) from None
    except pa.ArrowInvalid:
        raise _not_responses(path) from None


def header_of(file: pq.ParquetFile, path: str | Path) -> ResponsesHeader:
    """The metadata of an open file."""
    try:
        values = json_object("responses", (file.schema_arrow.metadata or {})[KEY], str(path), RULE)
        if values.pop("format") != FORMAT:
            raise _not_responses(path)
        header = ResponsesHeader(
            **{
                **values,
                "linkage": Linkage(values["linkage"]),
                "provenance": Provenance(values["provenance"]),
                "distinct_from": tuple(values["distinct_from"]),
            }
        )
        _check_types(header)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        fault = str(error) if isinstance(error, ValueError) else ""
        raise _not_responses(path, fault) from None
    if not file.schema_arrow.equals(header.schema):
        raise _not_responses(path)
    return header


def _check_types(header: ResponsesHeader) -> None:
    if not isinstance(header.plan, str):
        raise ValueError("plan must be text")
    whole("round", header.round, 1)
    whole("people", header.people, 0, MAX_CROWD)
    whole("positions", header.positions, 1, MAX_BITS)
    if header.provenance is Provenance.DEVICES:
        raise ValueError("provenance must not be devices, because they seal what they send")
    if not all(map(is_random_id, (header.run, *header.distinct_from))):
        raise ValueError("run and distinct_from must be random ids")


def _not_responses(path: str | Path, fault: str = "") -> InvalidInput:
    hint = "krand randomize writes it"
    return InvalidInput("responses", RULE, str(path), f"{fault}; {hint}" if fault else hint)
