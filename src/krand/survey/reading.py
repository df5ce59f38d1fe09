"""From a TOML file to a Survey, or to a list of everything that is wrong with the file.

Tables are checked one by one, so that a mistake in one does not hide those of the others; the rules
about the whole are then put to whatever could be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any

from krand.survey.assembling import assemble
from krand.survey.problems import SurveyErrors
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


def survey_from_document(document: Mapping[str, Any], source: str = "survey") -> Survey:
    """The survey of a document already read, as `document_of` writes it: no file is looked for."""
    survey, broken = assemble(dict(document), None)
    if survey is None:
        raise SurveyErrors(source, problems_of(broken, None))
    return survey
