"""XLSForms in a few words: a row on a line, `type | name | column=value`.

A row has the label `Label of NAME`, if none is given. Before the rows may stand settings
(`@ key=value`), the columns of the sheet of choices (`# list_name | name | label`), and choices
(`+ list | name | label`). `<gates>` are questions that conditions are about.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components import require

CHOICES = """\
+ yn | 1 | Yes
+ yn | 2 | No
+ fruit | a | Apple
+ fruit | b | Pear
+ fruit | c | Plum
"""
GATES = """\
select_one yn | yes | required=yes
select_one fruit | one
select_multiple fruit | several
integer | age | constraint=.>=0 and .<=100
text | name
"""


def xlsform(folder: Path, text: str, name: str = "form.xlsx") -> Path:
    """A workbook."""
    lines = text.replace("<gates>\n", GATES).splitlines()
    lines = lines if any(line.startswith("+") for line in lines) else CHOICES.splitlines() + lines
    settings = dict(line[2:].split("=", 1) for line in lines if line.startswith("@ "))
    settings = settings or ({} if "@" in lines else {"default_language": "en"})
    heads = [line[2:] for line in lines if line.startswith("# ")] or ["list_name | name | label"]
    choices = [_cells(line[2:]) for line in lines if line.startswith("+ ")]
    rows = [_row(line) for line in lines if line[:1] not in ("@", "#", "+")]
    columns = list(dict.fromkeys(["type", "name", "label", *(key for row in rows for key in row)]))
    book = require("openpyxl").Workbook()
    sheets = {
        "survey": [columns, *([row.get(column) for column in columns] for row in rows)],
        "choices": [_cells(heads[0]), *choices],
        "settings": [list(settings), list(settings.values())] if settings else [],
    }
    book.remove(book.active)
    for title, content in sheets.items():
        if content:
            sheet = book.create_sheet(title)
            for row in content:
                sheet.append(row)
    path = folder / name
    book.save(path)
    return path


def _cells(line: str) -> list[str | None]:
    return [cell.strip() or None for cell in f"{line} ".split(" | ")]


def _row(line: str) -> dict[str, Any]:
    kind, name, *others = [*f"{line} ".split(" | "), *([] if " |" in line else [""])]
    found: dict[str, Any] = {"type": kind.strip() or None, "name": name.strip() or None}
    found |= dict(cell.strip().replace("\\n", "\n").split("=", 1) for cell in others)
    if name.strip() and not any(key.startswith("label") for key in found):
        found["label"] = f"Label of {name.strip()}"
    return {key: value for key, value in found.items() if value}
