"""Workbooks that are damaged or hostile are refused with a remedy."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from components import require
from importing.forms import asked, xlsform
from krand import import_survey
from krand.errors import InvalidInput
from krand.importing import workbooks

require("openpyxl")
require("defusedxml")

SHEET = "xl/worksheets/sheet1.xml"
ENTITY = b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaa">]><x>&a;</x>'
DAMAGED: dict[str, tuple[str, bytes, str]] = {
    "macros": ("xl/vbaProject.bin", b"", "must not contain macros"),
    "XML with entities": (SHEET, ENTITY, "EntitiesForbidden"),
    "no XML": (SHEET, b"<", "must be an Excel workbook"),
    "a sheet that is another thing": (SHEET, b"<a/>", "must have a column named type"),
    "a cell of no column": (
        SHEET,
        b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
        b'<row r="1"><c r="!!"><v>1</v></c></row></sheetData></worksheet>',
        "must be an Excel workbook",
    ),
}


def form(folder: Path) -> Path:
    return xlsform(folder, [asked("select_one yn", "smokes")])


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_workbooks_are_refused_with_a_remedy(damage: str, tmp_path: Path) -> None:
    """Whatever the reader of workbooks makes of it."""
    part, content, message = DAMAGED[damage]
    with ZipFile(form(tmp_path)) as whole, ZipFile(tmp_path / "damaged.xlsx", "w") as damaged:
        for name in whole.namelist():
            if name != part:
                damaged.writestr(name, whole.read(name))
        damaged.writestr(part, content)
    with pytest.raises(InvalidInput, match=message):
        import_survey(tmp_path / "damaged.xlsx")


def test_a_workbook_must_not_grow_without_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A ZIP file says how large its files are; nothing is unpacked before that is looked at."""
    monkeypatch.setattr(workbooks, "LARGEST", 1_000)
    with pytest.raises(InvalidInput, match="at most 1,000 bytes when it is unpacked"):
        import_survey(form(tmp_path))
