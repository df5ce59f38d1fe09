"""A data holder's table of answers: Parquet, CSV or any Arrow table, chunk by chunk."""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from krand.errors import InvalidInput
from krand.files import unreadable
from krand.survey.layout import Layout
from krand.tables.arrow_columns import SEPARATOR, from_arrow
from krand.tables.columns import Column

CHUNK = 2**16
"""Rows at a time."""
CSV_BLOCK = 2**22
"""Bytes of text at a time."""
HEAD = 2**16
SAVE = "save the table as CSV in UTF-8, with commas between the columns"

MOST_NAMES, LONGEST_NAME, LONGEST_REASON = 20, 64, 200


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
    """The number of rows, if the file states it."""
    ignored: tuple[str, ...]
    """Columns that do not belong to any question."""
    torn: list[Torn] = field(default_factory=list)
    """Rows with a wrong number of fields; the list grows while a text file is read."""


def open_answers(
    path: str | Path,
    layout: Layout,
    *,
    separator: str = SEPARATOR,
    skip_torn: bool = False,
) -> Answers:
    """The answers in a Parquet or CSV file; its ending says which."""
    where = Path(path)
    ending = where.suffix.lower()
    if ending not in (".parquet", ".csv"):
        rule = "must be a file that ends in .parquet or .csv"
        raise InvalidInput("answers", rule, str(path), f"{SAVE}; in Python any Arrow table works")
    _check_separator(separator)
    try:
        if ending == ".csv":
            return _csv(where, layout, separator, skip_torn)
        return _parquet(where, layout, separator)
    except OSError as error:
        raise unreadable("answers", path, error) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise _malformed(path, error) from None


def answers_in(table: Any, layout: Layout, *, separator: str = SEPARATOR) -> Answers:
    """The answers in any Arrow data: a table, a reader, a data frame."""
    _check_separator(separator)
    rows = None
    try:
        if isinstance(table, pa.Table):
            reader, rows = table.to_reader(CHUNK), table.num_rows
        elif isinstance(table, pa.RecordBatchReader):
            reader = table
        elif hasattr(table, "__arrow_c_stream__"):
            reader = pa.RecordBatchReader.from_stream(table)
        else:
            rule = "must be an Arrow table, or convertible to one"
            raise InvalidInput("answers", rule, type(table).__name__)
    except (pa.ArrowException, TypeError) as error:  # columns of several types at once
        raise _malformed(type(table).__name__, error) from None
    ignored = _check_columns(reader.schema.names, layout)
    batches = _readable(reader, type(table).__name__)
    return Answers(_chunks(batches, layout, separator), rows, ignored)


def _check_separator(separator: str) -> None:
    if not separator:
        raise InvalidInput("separator", "must not be empty", separator)


def _parquet(path: Path, layout: Layout, separator: str) -> Answers:
    file = pq.ParquetFile(path, pre_buffer=False)  # it would keep what it has read
    ignored = _check_columns(file.schema_arrow.names, layout)
    batches = file.iter_batches(batch_size=CHUNK, columns=list(layout.question_names))
    rows = file.metadata.num_rows
    whole = _as_many_as_declared(batches, rows)
    return Answers(_chunks(_readable(whole, str(path)), layout, separator), rows, ignored)


def _as_many_as_declared(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """Raise an error if there are fewer rows than the file states; Arrow does not."""
    left = rows
    for batch in batches:
        left -= batch.num_rows
        yield batch
    if left:
        raise pa.ArrowInvalid(f"it states {rows:,} rows, but has {rows - left:,}")


def _csv(path: Path, layout: Layout, separator: str, skip_torn: bool) -> Answers:
    """Read all columns as text, so that an invalid answer is reported with its row."""
    names = _header_of(path)
    try:
        ignored = _check_columns(names, layout)
    except InvalidInput as error:
        if len(names) == 1 and any(mark in names[0] for mark in ";\t|"):
            raise InvalidInput(error.field, error.rule, error.value, SAVE) from None
        raise
    torn: list[Torn] = []

    def on_torn_row(row: Any) -> str:
        torn.append(Torn(row.number - 1, row.actual_columns, row.expected_columns))
        return "skip" if skip_torn else "error"

    word = f"end-{secrets.token_hex(16)}"

    def batches() -> Iterator[pa.RecordBatch]:  # opened late, because opening already reads
        yield from pyarrow.csv.open_csv(
            TextTable(path, ending=",".join([word] * len(names))),
            read_options=pyarrow.csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK),
            parse_options=pyarrow.csv.ParseOptions(
                newlines_in_values=True,
                invalid_row_handler=on_torn_row,
                ignore_empty_lines=len(names) > 1,  # in a single column it means no answer
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=dict.fromkeys(layout.question_names, pa.string()),
                include_columns=list(layout.question_names),
                strings_can_be_null=True,
                null_values=[""],
            ),
        )

    read = _to_the_end(_readable(batches(), str(path), torn), word, path)
    return Answers(_chunks(read, layout, separator), None, ignored, torn)


def _header_of(path: Path) -> list[str]:
    """The names in the first row that is not empty.

    Arrow would go on reading in a thread, which ends the process if krand stops meanwhile.
    """
    with io.TextIOWrapper(io.BufferedReader(TextTable(path)), "utf-8-sig", newline="") as text:
        try:
            return next(filter(None, csv.reader(text)))
        except (StopIteration, csv.Error) as error:
            raise pa.ArrowInvalid(str(error) or "it is empty") from None


class TextTable(io.RawIOBase):
    """The bytes of a CSV file as a stream for pyarrow, checked while they are read.

    Arrow's reader swallows everything after a quotation mark that is never closed. Therefore a last
    row with unique content is added: if it is missing at the end, rows before it were lost.
    """

    def __init__(self, path: Path, ending: str = "") -> None:
        super().__init__()
        self._path, self._ending = path, ending
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._file = path.open("rb")
        self._buffer, self._lines, self._is_done, self._last = b"", 0, False, b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        found = self.read(len(buffer))
        buffer[: len(found)] = found
        return len(found)

    def read(self, size: int | None = -1) -> bytes:
        wanted = HEAD if size is None or size < 0 else size
        while len(self._buffer) < wanted and not self._is_done:
            self._buffer += self._more(max(wanted, HEAD))
        found, self._buffer = self._buffer[:wanted], self._buffer[wanted:]
        return found

    def _more(self, size: int) -> bytes:
        raw = self._file.read(size)
        self._is_done = not raw
        try:
            self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            line = self._lines + raw.count(b"\n", 0, error.start) + 1
            rule = f"must be text in UTF-8, but line {line:,} is not"
            raise InvalidInput("answers", rule, str(self._path), SAVE) from None
        if b"\0" in raw:
            raise InvalidInput("answers", "must be text, not binary data", str(self._path), SAVE)
        self._lines += raw.count(b"\n")
        self._last = raw[-1:] or self._last
        if self._is_done and self._ending:
            return (b"" if self._last in (b"\n", b"\r") else b"\n") + self._ending.encode()
        return raw


def _readable(
    batches: Iterable[pa.RecordBatch], source: str, torn: list[Torn] | None = None
) -> Iterator[pa.RecordBatch]:
    try:
        yield from batches
    except OSError as error:
        raise unreadable("answers", source, error) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if not torn:
            raise _malformed(source, error) from None
        first = torn[0]
        rule, hint = f"must have {first.wanted} fields", "correct the row or remove it"
        raise InvalidInput(f"row {first.row:,}", rule, f"{first.found} fields", hint) from None


def _to_the_end(
    batches: Iterable[pa.RecordBatch], word: str, path: Path
) -> Iterator[pa.RecordBatch]:
    """All rows except the last, which must be the row that was added."""
    rows, last = 0, None
    for batch in batches:
        if not batch.num_rows:
            continue
        if last is not None:
            yield last
        rows, last = rows + batch.num_rows, batch
    if last is None or last.column(0)[-1].as_py() != word:
        rule = "must close every quotation mark that it opens"
        hint = f"see row {rows:,}, which continues to the end of the file"
        raise InvalidInput("answers", rule, str(path), hint)
    yield last.slice(0, last.num_rows - 1)


def _chunks(batches: Iterable[pa.RecordBatch], layout: Layout, separator: str) -> Iterator[Chunk]:
    asked = [question for block in layout.blocks for question in block.questions]
    row = 1
    for batch in batches:
        for start in range(0, batch.num_rows, CHUNK):
            part = batch.slice(start, CHUNK)
            columns = {q.name: from_arrow(q, part.column(q.name), separator) for q in asked}
            yield Chunk(row, part.num_rows, columns)
            row += part.num_rows


def _check_columns(names: list[str], layout: Layout) -> tuple[str, ...]:
    """Check that each question has exactly one column; returns the other columns."""
    there = Counter(names)
    missing = [question for question in layout.question_names if question not in there]
    twice = [question for question in layout.question_names if there[question] > 1]
    if missing:
        raise InvalidInput(
            "answers",
            f"must have a column for every question; missing: {', '.join(missing)}",
            f"the columns {_few(names)}",
            "; ".join([*_similar(missing, names), "leave a column empty if nobody was asked"]),
        )
    if twice:
        rule = f"must have one column for every question; there are several for {', '.join(twice)}"
        raise InvalidInput("answers", rule, f"the columns {_few(names)}", "rename or remove them")
    asked = {*layout.question_names}
    return tuple(name for name in names if name not in asked)


def _similar(missing: list[str], names: list[str]) -> Iterator[str]:
    """For each misspelt column the question that was probably meant."""
    plain = {name.strip().casefold(): name for name in names}
    for question in missing:
        near = difflib.get_close_matches(question.casefold(), plain, 1, 0.7)
        if near:
            yield f"is {plain[near[0]]!r} meant to be {question}?"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(name[:LONGEST_NAME] for name in names[:MOST_NAMES]) + more


def _malformed(source: str | Path, error: Exception) -> InvalidInput:
    reason = (str(error).splitlines() or [""])[0][:LONGEST_REASON]
    return InvalidInput("answers", "must be a table", str(source), reason)
