"""XLSForms, made for tests in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from components import require

Row = Mapping[str, object]
YES_NO = [("yn", "1", "Yes"), ("yn", "2", "No")]
FRUIT = [("fruit", "a", "Apple"), ("fruit", "b", "Pear"), ("fruit", "c", "Plum")]
CHOICES = [*YES_NO, *FRUIT]
ENGLISH = {"default_language": "en"}


def xlsform(
    folder: Path,
    survey: Sequence[Row],
    choices: Iterable[Sequence[object]] = CHOICES,
    settings: Row = ENGLISH,
    head: Sequence[str] = ("list_name", "name", "label"),
) -> Path:
    """A workbook; each row of the survey has the columns that it needs."""
    book = require("openpyxl").Workbook()
    sheet = book.active
    sheet.title = "survey"
    columns = list(
        dict.fromkeys(["type", "name", "label", *(key for row in survey for key in row)])
    )
    sheet.append(columns)
    for row in survey:
        sheet.append([row.get(column) for column in columns])
    sheet = book.create_sheet("choices")
    sheet.append(list(head))
    for choice in choices:
        sheet.append(list(choice))
    if settings:
        sheet = book.create_sheet("settings")
        sheet.append(list(settings))
        sheet.append(list(settings.values()))
    path = folder / "form.xlsx"
    book.save(path)
    return path


def asked(kind: str, name: str, **more: object) -> Row:
    """A row of a survey sheet."""
    return {"type": kind, "name": name, "label": f"Label of {name}", **more}
