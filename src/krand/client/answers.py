"""A data holder's table of answers: Parquet, CSV or anything that speaks Arrow, chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from krand.client.arrow_columns import from_arrow, from_text
from krand.errors import InvalidInput
from krand.files import unreadable
from krand.survey.column import Column
from krand.survey.layout import Layout
from krand.survey.questions import Question

__all__ = ["CHUNK", "Answers", "Chunk", "Torn", "answers_in", "open_answers"]

CHUNK = 2**16
"""Rows at a time."""
CSV_BLOCK = 2**22
"""Bytes of text at a time."""
SEPARATOR = ";"
"""Between the answers of a list, in a text file."""

Encoder = Callable[[Question, pa.Array], Column]


@dataclass(frozen=True, slots=True)
class Chunk:
    """Some rows of the table: a column for each question."""

    first_row: int
    """Counted from 1."""
    height: int
    columns: Mapping[str, Column]


@dataclass(frozen=True, slots=True)
class Torn:
    """A row of a text file that has the wrong number of fields."""

    row: int
    found: int
    wanted: int


@dataclass(frozen=True, slots=True)
class Answers:
    """A table that is read once, from its first row to its last."""

    chunks: Iterator[Chunk]
    rows: int | None
    """How many there are, where the file knows."""
    ignored: tuple[str, ...]
    """Columns that belong to no question."""
    torn: list[Torn] = field(default_factory=list)
    """They grow while a text file is read."""


def open_answers(
    path: str | Path, layout: Layout, *, separator: str = SEPARATOR, skip_torn: bool = False
) -> Answers:
    """The answers in a Parquet or CSV file; what it is, is told by its ending."""
    where = Path(path)
    ending = where.suffix.lower()
    if ending not in (".parquet", ".csv"):
        rule = "must be a file that ends in .parquet or .csv"
        raise InvalidInput("answers", rule, str(path), "in Python any Arrow table will do")
    try:
        if ending == ".csv":
            return _csv(where, layout, separator, skip_torn)
        return _parquet(where, layout)
    except OSError as error:
        raise unreadable("answers", path, error) from None
    except pa.ArrowInvalid as error:
        raise _malformed(path, error) from None


def answers_in(table: Any, layout: Layout) -> Answers:
    """The answers in anything that speaks Arrow: a table, a reader, a data frame."""
    if isinstance(table, pa.Table):
        reader, rows = table.to_reader(CHUNK), table.num_rows
    elif isinstance(table, pa.RecordBatchReader):
        reader, rows = table, None
    elif hasattr(table, "__arrow_c_stream__"):
        reader, rows = pa.RecordBatchReader.from_stream(table), None
    else:
        rule = "must be an Arrow table, or something that can give one"
        raise InvalidInput("answers", rule, type(table).__name__)
    ignored = _check_columns(reader.schema.names, layout)
    return Answers(_chunks(reader, layout, from_arrow), rows, ignored)


def _parquet(path: Path, layout: Layout) -> Answers:
    file = pq.ParquetFile(path, pre_buffer=False)  # it would keep what it has read
    ignored = _check_columns(file.schema_arrow.names, layout)
    batches = file.iter_batches(batch_size=CHUNK, columns=list(layout.question_names))
    return Answers(_chunks(batches, layout, from_arrow), file.metadata.num_rows, ignored)


def _csv(path: Path, layout: Layout, separator: str, skip_torn: bool) -> Answers:
    """Everything is read as text, so that a wrong answer is found as one, with its row."""
    if not separator:
        raise InvalidInput("separator", "must not be empty", separator)
    names = _header_of(path)
    ignored = _check_columns(names, layout)
    torn: list[Torn] = []

    def on_torn_row(row: Any) -> str:
        torn.append(Torn(row.number - 1, row.actual_columns, row.expected_columns))
        return "skip" if skip_torn else "error"

    reader = pyarrow.csv.open_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(
            newlines_in_values=True,
            invalid_row_handler=on_torn_row,
            ignore_empty_lines=len(names) > 1,  # of a single column an empty line is silence
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(layout.question_names, pa.string()),
            include_columns=list(layout.question_names),
            strings_can_be_null=True,
            null_values=[""],
        ),
    )

    def column(question: Question, given: pa.Array) -> Column:
        return from_text(question, given, separator)

    batches = _readable(reader, path, torn)
    return Answers(_chunks(batches, layout, column), None, ignored, torn)


def _header_of(path: Path) -> list[str]:
    with pyarrow.csv.open_csv(
        path,
        read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK),
        parse_options=pyarrow.csv.ParseOptions(
            newlines_in_values=True, invalid_row_handler=lambda row: "skip"
        ),
    ) as reader:
        return list(reader.schema.names)


def _readable(reader: Any, path: Path, torn: list[Torn]) -> Iterator[pa.RecordBatch]:
    try:
        yield from reader
    except pa.ArrowInvalid as error:
        if not torn:
            raise _malformed(path, error) from None
        first = torn[0]
        rule, mend = f"must have {first.wanted} fields", "mend it, or leave it out"
        raise InvalidInput(f"row {first.row:,}", rule, f"{first.found} fields", mend) from None


def _chunks(
    batches: Iterable[pa.RecordBatch],
    layout: Layout,
    column: Callable[[Question, pa.Array], Column],
) -> Iterator[Chunk]:
    asked = [question for block in layout.blocks for question in block.questions]
    row = 1
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK):
            part = batch.slice(start, CHUNK)
            columns = {q.name: column(q, part.column(q.name)) for q in asked}
            yield Chunk(row, part.num_rows, columns)
            row += part.num_rows


def _check_columns(names: list[str], layout: Layout) -> tuple[str, ...]:
    """Every question needs its column, once; the columns that are left over."""
    for question in layout.question_names:
        if names.count(question) != 1:
            rule = f"must have one column {question}"
            mend = "leave it empty if nobody was asked" if question not in names else ""
            raise InvalidInput("answers", rule, f"{names.count(question)} in {names}", mend)
    return tuple(name for name in names if name not in layout.question_names)


def _malformed(path: str | Path, error: pa.ArrowInvalid) -> InvalidInput:
    return InvalidInput("answers", "must be a table", str(path), str(error).splitlines()[0])
