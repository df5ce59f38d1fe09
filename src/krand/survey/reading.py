"""From a TOML file to a Survey, or to a list of everything that is wrong with the file.

Tables are checked one by one, so that a mistake in one does not hide those of the others; the rules
about the whole are then put to whatever could be read.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any

from krand.errors import InvalidInput
from krand.survey.assembling import assemble
from krand.survey.lines import STRING, Lines, locate
from krand.survey.problems import Problem, SurveyErrors
from krand.survey.rules import Broken, path_text
from krand.survey.survey import Survey

MAX_FILE_BYTES = 2**26
MAX_KEY_PARTS = 16
"""A survey needs two."""
_PART = rf"(?:[A-Za-z0-9_-]++|{STRING.pattern})"
_TOKEN = re.compile(
    rf"(?P<deep>{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS},}})"
    rf"|{STRING.pattern}|\#[^\n]*+|[A-Za-z0-9_-]++|[\"'][^\n]*+",
    re.DOTALL,
)
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


def read_survey(path: str | FilePath) -> Survey:
    """The survey of a TOML file; lists of choices are looked for beside it.

    >>> from pathlib import Path
    >>> from krand import read_survey
    >>> from krand.testing import SMALL_SURVEY
    >>> _ = Path("survey.toml").write_text(SMALL_SURVEY, encoding="utf-8")
    >>> read_survey("survey.toml").id
    'pets'
    """
    file = FilePath(path)
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidInput("survey", "must be a readable file", str(path), reason) from None
    if len(content) > MAX_FILE_BYTES:
        hint = "put long lists of choices into files of their own: choices_file"
        raise InvalidInput("survey", f"must be at most {MAX_FILE_BYTES:,} bytes", str(path), hint)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wrong = Problem(
            path="", line=line, rule="must be UTF-8 text", value=None, hint="save the file as UTF-8"
        )
        raise SurveyErrors(file.name, [wrong]) from None
    return parse_survey(text, file.parent, file.name)


def survey_files(path: str | FilePath) -> list[str]:
    """The lists of choices that a survey file, which can be read, names."""
    questions = toml_document(FilePath(path).read_text(encoding="utf-8-sig"))["question"]
    return [question["choices_file"] for question in questions if "choices_file" in question]


def parse_survey(text: str, directory: str | FilePath = ".", source: str = "survey") -> Survey:
    """The survey of a TOML text; `directory` is where lists of choices are looked for.

    >>> from krand import parse_survey
    >>> from krand.testing import SMALL_SURVEY
    >>> parse_survey(SMALL_SURVEY).policy.minimum_crowd
    100
    """
    try:
        document = toml_document(text)
    except (ValueError, RecursionError) as error:
        raise SurveyErrors(source, [_syntax(text, error)]) from None
    survey, broken = assemble(document, FilePath(directory))
    if survey is None:
        raise SurveyErrors(source, _problems(broken, locate(text)))
    return survey


def toml_document(text: str) -> dict[str, Any]:
    """The tables of a TOML text; tomllib takes hours for a key of very many parts."""
    for found in _TOKEN.finditer(text):
        if found["deep"] is not None:
            raise _LongKey(text.count("\n", 0, found.start()) + 1)
    return tomllib.loads(text)


def survey_from_document(document: Mapping[str, Any], source: str = "survey") -> Survey:
    """The survey of a document already read, as `document_of` writes it: no file is looked for."""
    survey, broken = assemble(dict(document), None)
    if survey is None:
        raise SurveyErrors(source, _problems(broken, None))
    return survey


def _problems(broken: Iterable[Broken], lines: Lines | None) -> list[Problem]:
    """In the order of the file, as it is corrected from top to bottom."""
    found = []
    for entry in broken:
        line = None if lines is None else lines.of(entry.where)
        found.append(
            Problem(
                path=path_text(entry.where),
                line=line,
                rule=entry.rule,
                value=entry.value,
                hint=entry.hint,
            )
        )
    return sorted(found, key=lambda problem: problem.line or 0)


class _LongKey(ValueError):
    """A key of more parts than any survey needs; its argument is the line."""


def _syntax(text: str, error: Exception) -> Problem:
    """Where TOML itself was left; tomllib says so in its message only."""
    flat = "no key of a survey is nested deeper than question.name"
    if isinstance(error, RecursionError):
        return Problem(path="", line=1, rule="must not be nested so deeply", value=None, hint=flat)
    if isinstance(error, _LongKey):
        rule = f"a key must not have more than {MAX_KEY_PARTS} parts between dots"
        return Problem(path="", line=error.args[0], rule=rule, value=None, hint=flat)
    message = str(error)
    place = _PLACE.search(message)
    last = text.rstrip().count("\n") + 1
    line = int(place[1]) if place and place[1] else last
    reason = _PLACE.sub("", message)
    hint = "text stands between quotes; a key and its value on one line"
    return Problem(
        path="",
        line=line,
        rule=f"is not TOML: {reason[:1].lower()}{reason[1:]}",
        value=None,
        hint=hint,
    )
