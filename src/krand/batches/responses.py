"""Reports files: what a data holder randomized, unsealed, in Parquet, in no order that tells.

Bit linkage: the positions reported as 1, sorted, so that nothing but their multiset is left.
Record linkage: the noisy records as packed bytes, shuffled. How many people took part, by which
plan, and in which run they were randomized stands in the file's metadata.
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
from krand.promise import MAX_BITS, MAX_POPULATION, Linkage

if TYPE_CHECKING:
    from types import TracebackType

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


@dataclass(frozen=True, slots=True)
class ResponsesHeader:
    """What a reports file says about itself."""

    plan: str
    round: int
    people: int
    linkage: Linkage
    positions: int
    run: str
    """Random, drawn for each randomization: two files of one run are copies."""
    provenance: Provenance = Provenance.TABLE
    distinct_from: tuple[str, ...] = ()
    """Earlier runs of whose people, says the data holder, nobody is in this one."""

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
    """Writes reports to a stream, a chunk at a time."""

    def __init__(self, stream: BinaryIO, header: ResponsesHeader) -> None:
        self._schema, self._record = header.schema, header.linkage is Linkage.RECORD
        # Sorted positions become runs, which take next to no room; noise cannot be compressed.
        self._writer = pq.ParquetWriter(
            stream,
            self._schema,
            compression="none" if self._record else "zstd",
            use_dictionary=not self._record,
            write_statistics=not self._record,
        )

    def __enter__(self) -> ResponsesWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._writer.close()

    def write(self, reports: NDArray[Any]) -> None:
        """Positions, or rows of packed bytes."""
        if not len(reports):  # Parquet would make a row group of nothing
            return
        kind = self._schema.field(0).type
        column = fixed_column(reports, kind) if self._record else pa.array(reports, kind)
        self._writer.write_batch(pa.record_batch([column], schema=self._schema))


def read_header(path: str | Path) -> ResponsesHeader:
    """Who randomized what, or an error that says why this is no reports file."""
    return header_of(_opened(path), path)


def response_batches(path: str | Path, size: int) -> Iterator[NDArray[Any]]:
    """The reports in chunks: positions, or rows of packed bytes."""
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
        raise unreadable("reports", path, error) from None
    except pa.ArrowInvalid:
        raise _not_responses(path) from None


def header_of(file: pq.ParquetFile, path: str | Path) -> ResponsesHeader:
    """What an open file says about itself."""
    try:
        values = json_object("reports", (file.schema_arrow.metadata or {})[KEY], str(path), RULE)
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
    whole("people", header.people, 0, MAX_POPULATION)
    whole("positions", header.positions, 1, MAX_BITS)
    if header.provenance is Provenance.DEVICES:
        raise ValueError("provenance must not be devices, which seal what they send")
    if not all(map(is_random_id, (header.run, *header.distinct_from))):
        raise ValueError("run and distinct_from must be random ids")


def _not_responses(path: str | Path, fault: str = "") -> InvalidInput:
    hint = "krand randomize writes it"
    return InvalidInput("reports", RULE, str(path), f"{fault}; {hint}" if fault else hint)
