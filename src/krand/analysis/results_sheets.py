"""Flat tables as files for other programs: CSV, Parquet and Excel.

Answers may come from people, who can write anything. What a spreadsheet would run as a formula is
written as text: in CSV with an apostrophe in front, in Excel as a cell of type text.
"""

from __future__ import annotations

import math
from collections.abc import Callable
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


def write_table(path: Path, table: pa.Table, form: str) -> None:
    """Write the table in a form of `WRITERS`."""
    with complete_file("output", path, replace=True) as stream:
        WRITERS[form](table, stream)


def write_parquet(table: pa.Table, stream: BinaryIO) -> None:
    """The table as Parquet."""
    pq.write_table(table, stream)


def write_csv(table: pa.Table, stream: BinaryIO) -> None:
    """The table as CSV that a spreadsheet can open without running any of it."""
    pyarrow.csv.write_csv(_for_spreadsheets(table), stream)


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


def write_excel(table: pa.Table, stream: BinaryIO) -> None:
    """The table as an Excel workbook with one sheet; every text is text, never a formula."""
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
    sheet = book.create_sheet("results")
    sheet.freeze_panes = "A2"
    sheet.append(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        sheet.append([_cell(sheet, value) for value in row])
    book.save(stream)


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


WRITERS: dict[str, Callable[[pa.Table, BinaryIO], None]] = {
    "parquet": write_parquet,
    "csv": write_csv,
    "xlsx": write_excel,
}
"""By the ending of the file."""
