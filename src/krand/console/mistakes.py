"""What is wrong with a survey, told by the labels of fields."""

from __future__ import annotations

import re
from dataclasses import dataclass

from krand.console.editing import tables_in
from krand.console.fields import FIELDS, HEAD, PROMISE, Table
from krand.console.folder import FILE, Place, document_in
from krand.errors import KrandError
from krand.languages.speaking import gettext, marked, text_of
from krand.survey.problems import Problem, SurveyErrors
from krand.survey.reading import parse_survey
from krand.wording.failures import explain


@dataclass(frozen=True, slots=True)
class Mistake:
    """A broken rule, where people see it."""

    where: str
    """The labels: Question 2, Options."""
    field: str
    """The id of the field; empty where only the file has it."""
    said: str
    hint: str
    line: int | None


def mistakes_in(place: Place, text: str) -> list[Mistake]:
    """Everything that is wrong with a survey, by the labels of fields, or is left to be written."""
    try:
        parse_survey(text, str(place.path), FILE)
    except SurveyErrors as error:
        return [mistake_of(problem) for problem in error.problems]
    except KrandError as error:
        return [Mistake(gettext("The survey"), "", explain(error), "", None)]
    return unwritten(document_in(text) or {})


def unwritten(document: Table) -> list[Mistake]:
    """Questions without text: people would read the names of columns."""
    tables = enumerate(tables_in(document, "question"), 1)
    return [
        Mistake(
            _of_question(number, gettext("Text")),
            f"q{number}_text",
            marked("must be written."),
            "",
            None,
        )
        for number, table in tables
        if not str(table.get("text", "")).strip()
    ]


PLACE = re.compile(r"question\[(\d+)\](?:\.(\w+))?(.*)")


def mistake_of(problem: Problem) -> Mistake:
    """A problem of the file, told by the form."""
    where, field = _where(problem.path)
    found = "" if problem.value in (None, "") else f" Found: {str(problem.value)[:80]}"
    return Mistake(where, field, f"{problem.rule}.{found}", problem.hint, problem.line)


def _where(path: str) -> tuple[str, str]:
    found = PLACE.match(path)
    if found is None:
        top = path.partition("[")[0].removeprefix("policy.").removeprefix("trust.")
        known = {field.name: field for field in (*HEAD, *PROMISE)}.get(top)
        return (text_of(known.label), known.name) if known else (path or gettext("The file"), "")
    number, key = int(found[1]) + 1, found[2] or "text"
    names = {"type": "kind", "asked_if": "asked_question", "choices_file": "choices"}
    others = {"text": gettext("Text"), "asked_if": gettext("Asked only if")}
    label = text_of(FIELDS[key].label) if key in FIELDS else others.get(key, key)
    return _of_question(number, label), f"q{number}_{names.get(key, key)}"


def _of_question(number: int, label: str) -> str:
    return gettext("Question %(number)s, %(label)s", number=number, label=label)
