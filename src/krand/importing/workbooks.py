"""Excel workbooks, read row by row as they stand: nothing in them is computed, run or fetched."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import date, datetime, time
from importlib import import_module
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from krand.errors import InvalidInput, KrandError, MissingComponent
from krand.files import unreadable
from krand.importing.questionnaire import FIELD

MOST_ROWS, MOST_COLUMNS = 2**20, 2**14
"""Of a sheet, as Excel has them."""
MACROS = "vbaproject.bin"
SAVE = "open it in a spreadsheet program and save it as .xlsx"
LARGEST = 2**26
"""Bytes when it is unpacked."""
LONGEST_REASON = 200

Row = tuple[str | None, ...]


@contextmanager
def open_workbook(path: str | Path) -> Iterator[Any]:
    """The workbook of a file.

    Whatever a broken or hostile file makes the reader of workbooks do, inside the block as well,
    becomes one sentence.
    """
    openpyxl = _reader()
    try:
        _check_archive(path)
        book = openpyxl.load_workbook(path, read_only=True, keep_links=False)
        try:
            yield book
        finally:
            book.close()
    except KrandError:
        raise
    except OSError as error:
        raise unreadable(FIELD, path, error) from None
    except Exception as error:  # of XML, of ZIP, of numbers: whatever the file does not hold to
        cause = error.__cause__ or error  # openpyxl names the file, and not what is wrong with it
        reason = (str(cause).splitlines() or [""])[0][:LONGEST_REASON] or type(cause).__name__
        hint = f"{SAVE} ({reason})"
        raise InvalidInput(FIELD, "must be an Excel workbook", str(path), hint) from None


def head_of(sheet: Any) -> tuple[str, ...]:
    """The names of the columns, in the first row; empty where there is none."""
    names = [""]
    for _, row in sheet_rows(sheet, MOST_COLUMNS, 1):
        names = [(name or "").strip() for name in row]
    width = max((place for place, name in enumerate(names, 1) if name), default=0)
    return tuple(names[:width])


def sheet_rows(
    sheet: Any, columns: int, rows: int = MOST_ROWS, read: Collection[int] | None = None
) -> Iterator[tuple[int, Row]]:
    """The rows of a sheet with their numbers, each cell as text; empty rows are left out.

    `read` are the places of the columns that matter: no formula may stand there.
    """
    empty = None
    for number, cells in enumerate(sheet.iter_rows(max_row=rows, max_col=columns), 1):
        if cells is empty:  # one of a million rows that the file leaves out
            continue
        found = tuple(
            _text(sheet, cell, read is None or place in read) for place, cell in enumerate(cells)
        )
        if any(found):
            yield number, found
        else:
            empty = cells


def _text(sheet: Any, cell: Any, is_read: bool) -> str | None:
    """What a cell holds, as a CSV file would have it; a formula is an error."""
    value = cell.value
    if value is None or value == "":
        return None
    if cell.data_type == "f" and is_read:
        place = f"sheet {sheet.title}, cell {cell.coordinate}"
        hint = "copy the cells and paste them as values: what was computed last may be out of date"
        raise InvalidInput(place, "must be a value, not a formula", str(value), hint)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(value)


def _check_archive(path: str | Path) -> None:
    """A workbook is a ZIP file; how much is in it stands in its directory, and is believed."""
    try:
        with ZipFile(path) as archive:
            entries = archive.infolist()
    except BadZipFile:
        hint = f"it is no ZIP file, as workbooks are: {SAVE}"
        raise InvalidInput(FIELD, "must be an Excel workbook", str(path), hint) from None
    if any(entry.filename.lower().endswith(MACROS) for entry in entries):
        hint = f"krand runs none, and reads no file that has some: {SAVE}, without macros"
        raise InvalidInput(FIELD, "must not contain macros", str(path), hint)
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > LARGEST:
        rule = f"must have at most {LARGEST:,} bytes when it is unpacked"
        hint = "remove sheets, rows and formatting that are not needed"
        raise InvalidInput(FIELD, rule, f"{unpacked:,} bytes", hint)


def _reader() -> Any:
    """openpyxl, which needs defusedxml to refuse XML that grows while it is read."""
    for name in ("defusedxml", "openpyxl"):
        try:
            module = import_module(name)
        except ModuleNotFoundError as error:
            if error.name != name:
                raise
            raise MissingComponent(name, "excel") from None
    return module
