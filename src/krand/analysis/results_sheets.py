"""Flat tables as files for other programs: CSV, Parquet and Excel.

Answers may come from people, who can write anything. What a spreadsheet would run as a formula is
written as text: in CSV with an apostrophe in front, in Excel as a cell of type text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from krand.errors import InvalidInput, MissingComponent
from krand.files import complete_file

_FORMULA = r"^([=+@＝＋－＠\t\r\n]|-)"  # in some languages, wide signs as well
_NEGATIVE = r"^-\d+(\.\d+)?$"

MOST_ROWS = 2**20 - 1
"""The rows of an Excel sheet below its header."""
LONGEST = 32_767
"""The most characters of an Excel cell."""


@dataclass(frozen=True, slots=True)
class Styled:
    """A cell's value, and how a spreadsheet shows it: a format of its own, such as 0%."""

    value: str | float
    bold: bool = False
    format: str = "General"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A sheet that people read; columns are as wide as so many characters."""

    name: str
    rows: Sequence[Sequence[Styled]]
    widths: Sequence[int]


def write_table(path: Path, table: pa.Table, form: str, sheets: Sequence[Sheet] = ()) -> None:
    """Write the table as parquet, csv or xlsx; a workbook has these sheets before it."""
    with complete_file("output", path, replace=True) as stream:
        if form == "xlsx":
            _write_excel(table, stream, sheets)
        elif form == "csv":
            pyarrow.csv.write_csv(_for_spreadsheets(table), stream)
        else:
            pq.write_table(table, stream)


def _for_spreadsheets(table: pa.Table) -> pa.Table:
    """Texts that a spreadsheet would run as formulas get an apostrophe in front."""
    for place, column in enumerate(table.columns):
        if pa.types.is_string(column.type):
            risky = pc.and_not(
                pc.match_substring_regex(column, _FORMULA),
                pc.match_substring_regex(column, _NEGATIVE),
            )
            quoted = pc.binary_join_element_wise("'", column, "")
            table = table.set_column(place, table.field(place), pc.if_else(risky, quoted, column))
    return table


def _write_excel(table: pa.Table, stream: BinaryIO, sheets: Sequence[Sheet]) -> None:
    """The table as the last sheet of an Excel workbook; every text is text, never a formula."""
    try:
        import openpyxl
    except ModuleNotFoundError as error:
        if error.name != "openpyxl":
            raise
        raise MissingComponent("openpyxl", "excel") from None
    if table.num_rows > MOST_ROWS:
        rule = f"must have at most {MOST_ROWS:,} rows for Excel"
        raise InvalidInput("results", rule, table.num_rows, "write .csv or .parquet")
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = "krand"
    for each in sheets:
        _write_sheet(book.create_sheet(each.name), each)
    sheet = book.create_sheet("results")
    sheet.freeze_panes = "A2"
    sheet.append(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        sheet.append([_cell(sheet, value) for value in row])
    book.save(stream)


def _write_sheet(sheet: Any, read: Sheet) -> None:
    from openpyxl.cell import Cell, WriteOnlyCell
    from openpyxl.styles import Alignment, Font
    from openpyxl.worksheet.properties import PageSetupProperties

    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    for letter, width in zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", read.widths, strict=False):
        sheet.column_dimensions[letter].width = width
    for row in read.rows:
        cells = []
        for styled in row:
            found = _cell(sheet, styled.value)
            cell = found if isinstance(found, Cell) else WriteOnlyCell(sheet, found)
            cell.font, cell.number_format = Font(bold=styled.bold), styled.format
            cell.alignment = Alignment(vertical="top", wrap_text=len(row) > 1)
            cells.append(cell)
        sheet.append(cells)


def _cell(sheet: Any, value: object) -> object:
    """What a cell holds: a number, or text; what is not a finite number is text."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if isinstance(value, float) and not math.isfinite(value):
        value = str(value)
    if not isinstance(value, str):
        return value
    cell = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("\ufffd", value)[:LONGEST])
    cell.data_type = "s"
    return cell
