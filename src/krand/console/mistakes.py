"""What is wrong with a survey, told by the labels of fields."""

from __future__ import annotations

import re
from dataclasses import dataclass

from krand.console.editing import tables_in
from krand.console.fields import FIELDS, HEAD, PROMISE, Table
from krand.console.folder import FILE, Place, document_in
from krand.errors import KrandError
from krand.languages.cldr import ENGLISH
from krand.languages.speaking import gettext, language, text_of
from krand.survey.problems import Problem, SurveyErrors
from krand.survey.reading import parse_survey
from krand.wording.failures import explain, explain_in
from krand.wording.refusals import Say, sayer


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
    language: str = ENGLISH
    """That of `said` and `hint`: English where the language of the page has no text for them."""


def mistakes_in(place: Place, text: str) -> list[Mistake]:
    """Everything that is wrong with a survey, by the labels of fields, or is left to be written."""
    try:
        parse_survey(text, str(place.path), FILE)
    except SurveyErrors as error:
        return [mistake_of(problem) for problem in error.problems]
    except KrandError as error:
        said = explain_in(error, language())
        spoken = language() if said else ENGLISH
        return [Mistake(gettext("The survey"), "", said or explain(error), "", None, spoken)]
    return unwritten(document_in(text) or {})


def unwritten(document: Table) -> list[Mistake]:
    """Questions without text: people would read the names of columns."""
    tables = enumerate(tables_in(document, "question"), 1)
    return [
        Mistake(
            _of_question(number, gettext("Text")),
            f"q{number}_text",
            gettext("must be written."),
            "",
            None,
            language(),
        )
        for number, table in tables
        if not str(table.get("text", "")).strip()
    ]


PLACE = re.compile(r"question\[(\d+)\](?:\.(\w+))?(.*)")


def mistake_of(problem: Problem) -> Mistake:
    """A problem of the file, told by the form."""
    where, field = _where(problem.path)
    try:
        said, spoken = _said(problem, sayer(language())), language()
    except LookupError:
        said, spoken = _said(problem, str), ENGLISH
    return Mistake(where, field, *said, problem.line, spoken)


def _said(problem: Problem, say: Say) -> tuple[str, str]:
    """The rule with what was found, and the hint."""
    found = ""
    if problem.value not in (None, ""):
        english = f" Found: {str(problem.value)[:80]}"
        found = say(english)
    return f"{say(problem.rule)}.{found}", say(problem.hint) if problem.hint else ""


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
