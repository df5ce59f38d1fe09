"""A data holder's table of answers: Parquet, CSV or any Arrow table, chunk by chunk."""

from __future__ import annotations

import codecs
import csv
import difflib
import io
import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

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
class Answers:
    """A table that is read once, from its first row to its last."""

    chunks: Iterator[Chunk]
    rows: int | None
    """The number of rows, if the file states it."""
    ignored: tuple[str, ...]
    """Columns that do not belong to any question."""


def read_answers(source: Any, layout: Layout, *, separator: str = SEPARATOR) -> Answers:
    """The answers in a Parquet or CSV file, or in Arrow data: a table, a reader, a data frame."""
    if not separator:
        raise InvalidInput("separator", "must not be empty", separator)
    name = str(source) if isinstance(source, (str, Path)) else type(source).__name__
    with _readable(name):
        table = _opened(source, layout)
    ignored = _check_columns(table.names, layout)
    return Answers(_chunks(table.batches, name, layout, separator), table.rows, ignored)


class _Table(NamedTuple):
    names: list[str]
    rows: int | None
    batches: Iterable[pa.RecordBatch]


def _opened(source: Any, layout: Layout) -> _Table:
    if isinstance(source, (str, Path)):
        path = Path(source)
        if path.suffix.lower() == ".csv":
            names = _header_of(path)
            return _Table(names, None, _csv(path, names, layout))
        if path.suffix.lower() == ".parquet":
            file = pq.ParquetFile(path, pre_buffer=False)  # it would keep what it has read
            return _Table(file.schema_arrow.names, file.metadata.num_rows, _parquet(file, layout))
        rule = "must be a file that ends in .parquet or .csv"
        raise InvalidInput("answers", rule, str(source), f"{SAVE}; in Python any Arrow table works")
    if isinstance(source, pa.Table):
        return _Table(source.schema.names, source.num_rows, source.to_batches(CHUNK))
    if not hasattr(source, "__arrow_c_stream__"):
        rule = "must be an Arrow table, or convertible to one"
        raise InvalidInput("answers", rule, type(source).__name__)
    reader = pa.RecordBatchReader.from_stream(source)
    return _Table(reader.schema.names, None, reader)


@contextmanager
def _readable(source: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise unreadable("answers", source, error) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        reason = (str(error).splitlines() or [""])[0][:LONGEST_REASON]
        raise InvalidInput("answers", "must be a table", source, reason) from None


def _chunks(
    batches: Iterable[pa.RecordBatch], source: str, layout: Layout, separator: str
) -> Iterator[Chunk]:
    asked, row = [question for block in layout.blocks for question in block.questions], 1
    with _readable(source):
        for batch in batches:
            for start in range(0, batch.num_rows, CHUNK):
                part = batch.slice(start, CHUNK)
                columns = {q.name: from_arrow(q, part.column(q.name), separator) for q in asked}
                yield Chunk(row, part.num_rows, columns)
                row += part.num_rows


def _parquet(file: pq.ParquetFile, layout: Layout) -> Iterator[pa.RecordBatch]:
    """Raise an error if there are fewer rows than the file states; Arrow does not."""
    stated = left = file.metadata.num_rows
    for batch in file.iter_batches(batch_size=CHUNK, columns=list(layout.question_names)):
        left -= batch.num_rows
        yield batch
    if left:
        raise pa.ArrowInvalid(f"it states {stated:,} rows, but has {stated - left:,}")


def _csv(path: Path, names: list[str], layout: Layout) -> Iterator[pa.RecordBatch]:
    """Read all columns as text, so that an invalid answer is reported with its row."""
    torn: list[pyarrow.csv.InvalidRow] = []

    def on_torn_row(row: pyarrow.csv.InvalidRow) -> str:
        torn.append(row)  # Arrow would print what is raised here, and go on
        return "error"

    word = f"end-{secrets.token_hex(16)}"
    rows, last = 0, None
    try:
        for batch in pyarrow.csv.open_csv(
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
        ):
            if batch.num_rows:
                if last is not None:
                    yield last
                rows, last = rows + batch.num_rows, batch
    except pa.ArrowInvalid:
        if not torn:
            raise
        rule, hint = f"must have {torn[0].expected_columns} fields", "correct the row or remove it"
        found, row = f"{torn[0].actual_columns} fields", torn[0].number - 1
        raise InvalidInput(f"row {row:,}", rule, found, hint) from None
    if last is None or last.column(0)[-1].as_py() != word:
        rule = "must close every quotation mark that it opens"
        hint = f"see row {rows:,}, which continues to the end of the file"
        raise InvalidInput("answers", rule, str(path), hint)
    yield last.slice(0, last.num_rows - 1)


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


def _check_columns(names: list[str], layout: Layout) -> tuple[str, ...]:
    """Check that each question has exactly one column; returns the other columns."""
    there = Counter(names)
    missing = [question for question in layout.question_names if question not in there]
    twice = [question for question in layout.question_names if there[question] > 1]
    if missing:
        hints = [*_similar(missing, names), "leave a column empty if nobody was asked"]
        in_one = len(names) == 1 and any(mark in names[0] for mark in ";\t|")
        raise InvalidInput(
            "answers",
            f"must have a column for every question; missing: {', '.join(missing)}",
            f"the columns {_few(names)}",
            SAVE if in_one else "; ".join(hints),
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
