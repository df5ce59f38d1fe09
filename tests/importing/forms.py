"""Questionnaires of other tools, made for tests in a few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

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


def lss(
    folder: Path, questions: Sequence[Row], below: Iterable[Row] = (), **tables: Iterable[Row]
) -> Path:
    """A survey structure: each question has a number and a group unless it says another."""
    numbered = [
        {"qid": place, "gid": 1, "question_order": place, "question": f"Text of {row['title']}"}
        | dict(row)
        for place, row in enumerate(questions, 1)
    ]
    survey = {"sid": 7, "language": "en"}
    title = {"surveyls_language": "en", "surveyls_title": "Fruit"}
    every: dict[str, Iterable[Row]] = {
        "surveys": [survey],
        "surveys_languagesettings": [title],
        "groups": [{"gid": 1, "group_order": 1}],
        "questions": numbered,
        "subquestions": below,
        **tables,
    }
    parts = [
        f"<{name}><rows>{''.join(map(_row, rows))}</rows></{name}>" for name, rows in every.items()
    ]
    path = folder / "survey.lss"
    path.write_text(document("".join(parts)), encoding="utf-8")
    return path


def document(inside: str, kind: str = "Survey") -> str:
    """The XML around the tables."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<document>\n'
        f"<LimeSurveyDocType>{kind}</LimeSurveyDocType>\n{inside}\n</document>\n"
    )


def _row(row: Row) -> str:
    given = {key: value for key, value in row.items() if value is not None}
    fields = "".join(f"<{key}>{escape(str(value))}</{key}>" for key, value in given.items())
    return f"\n<row>{fields}</row>"
