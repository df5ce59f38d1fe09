"""A survey file in a form: it is saved byte for byte as it was loaded.

A browser sends each line end of a text field as CR LF and cannot hold a byte order mark. Hidden
fields keep what the file had.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from krand.errors import InvalidInput
from krand.survey.layout import layout_of
from krand.survey.lines import locate
from krand.survey.problems import Problem, SurveyErrors
from krand.survey.reading import parse_survey
from krand.survey.rules import path_text
from krand.survey.survey import Survey
from krand.survey.toml_file import toml_document
from krand.web.limits import MOST_BITS, MOST_COPIES, MOST_SURVEY_BYTES

SOURCE = "survey.toml"
KEY = "choices_file"
EXAMPLES = {
    "browser": "Browser telemetry",
    "health": "A health survey",
}
PLACES = {"browser": "krand.demo", "health": "krand.web"}
"""The packages that contain the examples."""
UNEVEN = re.compile("\r(?!\n)|(?<!\r)\n")
"""A line end that is not CR LF."""


@dataclass(frozen=True, slots=True)
class SurveyText:
    """The text with LF line ends, and what the file had."""

    text: str
    windows_lines: bool = False
    byte_order_mark: bool = False

    @property
    def bytes(self) -> bytes:
        """The file."""
        text = self.text.replace("\n", "\r\n") if self.windows_lines else self.text
        return text.encode("utf-8-sig" if self.byte_order_mark else "utf-8")


def text_from_file(content: bytes) -> SurveyText:
    """A file that was loaded; SurveyErrors if it is not text."""
    _check_size(len(content))
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wrong = Problem(
            path="", line=line, rule="must be UTF-8 text", value=None, hint="save the file as UTF-8"
        )
        raise SurveyErrors(SOURCE, [wrong]) from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        wrong = Problem(
            path="", line=line, rule="must be text without null characters", value=None, hint=""
        )
        raise SurveyErrors(SOURCE, [wrong])
    mark = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    windows = "\r\n" in text and UNEVEN.search(text) is None
    return SurveyText(_plain_lines(text), windows, mark)


def text_from_field(text: str, windows_lines: bool, byte_order_mark: bool) -> SurveyText:
    """The content of the form's text field."""
    _check_size(len(text.encode(errors="replace")))
    return SurveyText(_plain_lines(text), windows_lines, byte_order_mark)


def example(name: str) -> SurveyText:
    """A survey to start from."""
    if name not in EXAMPLES:
        raise InvalidInput("example", f"must be one of {', '.join(EXAMPLES)}", name)
    return text_from_file(files(PLACES[name]).joinpath(f"{name}.toml").read_bytes())


def survey_from(text: str) -> Survey:
    """The survey in a form: of limited size, and without files on this machine."""
    try:
        document = toml_document(text)
    except (ValueError, RecursionError):
        document = {}  # parse_survey reports the mistakes
    foreign = list(_files(document, text))
    if foreign:
        raise SurveyErrors(SOURCE, foreign)
    survey = parse_survey(text, "", SOURCE)
    for name, found, most in (
        ("positions", layout_of(survey).positions, MOST_BITS),
        ("copies", survey.copies, MOST_COPIES),
    ):
        if found > most:
            rule, hint = f"must be at most {most:,} on this page", "krand plan takes more"
            raise InvalidInput(name, rule, found, hint)
    return survey


def _files(document: dict[str, Any], text: str) -> Iterator[Problem]:
    """A page must not read files for the sender of a form."""
    asked = document.get("question")
    questions = enumerate(asked if isinstance(asked, list) else ())
    for place, question in ((i, q) for i, q in questions if isinstance(q, dict)):
        if KEY in question:
            where = ("question", place, KEY)
            line, rule = locate(text).of(where), "must not be used on this page: it reads no files"
            hint = "write the choices in the survey, or use krand plan"
            yield Problem(
                path=path_text(where), line=line, rule=rule, value=question[KEY], hint=hint
            )


def _plain_lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_size(size: int) -> None:
    if size > MOST_SURVEY_BYTES:
        rule = f"must be at most {MOST_SURVEY_BYTES:,} bytes on this page"
        raise InvalidInput("survey", rule, size, "krand plan takes more")
