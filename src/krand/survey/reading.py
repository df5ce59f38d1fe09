"""From a TOML file to a Survey, or to a list of everything that is wrong with the file.

Tables are checked one by one, so that a mistake in one does not hide those of the others; the rules
about the whole are then put to whatever could be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from krand.survey.assembling import assemble
from krand.survey.rules import SurveyErrors
from krand.survey.survey import Survey
from krand.survey.toml_file import TomlFile, problems_of, read_toml, toml_document

TOO_LONG = "put long lists of choices into files of their own: choices_file"


def read_survey(path: str | FilePath) -> Survey:
    """The survey of a TOML file; lists of choices are looked for beside it.

    >>> from pathlib import Path
    >>> from krand import read_survey
    >>> from krand.testing import SMALL_SURVEY
    >>> _ = Path("survey.toml").write_text(SMALL_SURVEY, encoding="utf-8")
    >>> read_survey("survey.toml").id
    'pets'
    """
    found = read_toml("survey", path, TOO_LONG)
    return _survey_in(found, FilePath(path).parent)


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
    return _survey_in(TomlFile(source, text), FilePath(directory))


def _survey_in(file: TomlFile, directory: FilePath) -> Survey:
    survey, broken = assemble(file.document, directory)
    if survey is None:
        raise file.errors(broken)
    return survey


def survey_from_document(document: Mapping[str, Any], directory: FilePath | None = None) -> Survey:
    """The survey of a document already read, as `document_of` writes it.

    Lists of choices are looked for in `directory`; without one, no file is looked for.
    """
    survey, broken = assemble(dict(document), directory)
    if survey is None:
        raise SurveyErrors("survey", problems_of(broken, None))
    return survey


def survey_from_values(values: Mapping[str, Any], directory: FilePath) -> Survey:
    """The survey of a dictionary that a program wrote: its tuples are the lists of a file."""
    return survey_from_document(_as_in_files(values), directory)


def _as_in_files(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _as_in_files(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_in_files(each) for each in value]
    return value
