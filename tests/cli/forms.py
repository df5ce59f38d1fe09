"""A questionnaire of another program, for `krand import`."""

from __future__ import annotations

from pathlib import Path

from components import require

SHEETS = {
    "survey": [
        ("type", "name", "label"),
        ("select_one yn", "smokes", "Do you smoke?"),
        ("text", "why", "Why?"),
    ],
    "choices": [("list_name", "name", "label"), ("yn", "1", "Yes"), ("yn", "2", "No")],
}


def write_form(path: Path) -> None:
    """A workbook with a question that krand has, and one that it has not."""
    book = require("openpyxl").Workbook()
    book.remove(book.active)
    for name, rows in SHEETS.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)
