"""TOML files that people write: read, or refused with everything that is wrong, with its line.

tomllib does not tell on which line a value stands. Only text that it has accepted is scanned for
lines, so nothing is checked there: the scanner only has to find its way. Comments, strings of all
four kinds, dotted keys, inline tables and arrays over many lines are understood, because a line
number that is sometimes wrong is worse than none.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, TypeVar

from krand.errors import InvalidInput
from krand.mistakes import Path, Problem, SurveyErrors
from krand.models import Model
from krand.survey.survey import Survey

TOO_LONG = "put long lists of choices into files of their own: choices_file"
MAX_FILE_BYTES = 2**26
MAX_KEY_PARTS = 16
"""krand's own files need two."""
_STRING = (
    r'(?:"""(?:[^\\]|\\.)*?"{3,5}'  # up to two quotes may stand just before the closing three
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*')"
)
_PART = rf"(?:[A-Za-z0-9_-]++|{_STRING})"
_KEY = re.compile(rf"[ \t]*{_PART}(?:[ \t]*\.[ \t]*{_PART})*[ \t]*", re.DOTALL)
_TOKEN = re.compile(
    rf"(?P<deep>{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS},}})"
    rf"|{_STRING}|\#[^\n]*+|[A-Za-z0-9_-]++|[\"'][^\n]*+",
    re.DOTALL,
)
_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SCALAR = re.compile(rf"{_STRING}|.[^,\]}}#\r\n]*", re.DOTALL)  # always a step forward: it ends
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")
Found = TypeVar("Found", bound=Model)


@dataclass(frozen=True)
class TomlFile:
    """The text of a file, and its tables; a text that is not TOML is an error."""

    source: str
    """What errors call it."""
    text: str

    @cached_property
    def document(self) -> dict[str, Any]:
        """The tables of the file."""
        try:
            return toml_document(self.text)
        except (ValueError, RecursionError) as error:
            raise SurveyErrors(self.source, [_syntax(self.text, error)]) from None

    def read(self, model: type[Found], **context: Any) -> Found:
        """The value that the file describes, or all its mistakes, with their lines."""
        return model.read(self.document, self.source, self.line_of, **context)

    def line_of(self, path: Path) -> int:
        """The line on which a value stands."""
        while path and path not in self._lines:
            path = path[:-1]  # the nearest thing around it that is there
        return self._lines.get(path, 1)

    @cached_property
    def _lines(self) -> dict[Path, int]:
        scanner = _Scanner(self.text)
        with suppress(RecursionError):  # absurdly nested: what was found until then is still right
            scanner.document()
        return scanner.known


def read_survey(path: str | FilePath) -> Survey:
    """The survey of a TOML file; lists of choices are looked for beside it.

    >>> from pathlib import Path
    >>> from krand import read_survey
    >>> from krand.testing import SMALL_SURVEY
    >>> _ = Path("survey.toml").write_text(SMALL_SURVEY, encoding="utf-8")
    >>> read_survey("survey.toml").id
    'pets'
    """
    return read_toml("survey", path, TOO_LONG).read(Survey, directory=FilePath(path).parent)


def parse_survey(text: str, directory: str | FilePath = ".", source: str = "survey") -> Survey:
    """The survey of a TOML text; `directory` is where lists of choices are looked for.

    >>> from krand import parse_survey
    >>> from krand.testing import SMALL_SURVEY
    >>> parse_survey(SMALL_SURVEY).policy.minimum_crowd
    100
    """
    return TomlFile(source, text).read(Survey, directory=FilePath(directory))


def survey_files(path: str | FilePath) -> list[str]:
    """The lists of choices that a survey file, which can be read, names."""
    questions = toml_document(FilePath(path).read_text(encoding="utf-8-sig"))["question"]
    return [question["choices_file"] for question in questions if "choices_file" in question]


def read_toml(field: str, path: str | FilePath, too_long: str = "") -> TomlFile:
    """The file; `field` names what asked for it, and `too_long` says what to do about its size."""
    file = FilePath(path)
    try:
        with file.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", None) or str(error)).lower()
        raise InvalidInput(field, "must be a readable file", str(path), reason) from None
    if len(content) > MAX_FILE_BYTES:
        rule = f"must be at most {MAX_FILE_BYTES:,} bytes"
        raise InvalidInput(field, rule, str(path), too_long)
    try:
        return TomlFile(file.name, content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        wrong = Problem(
            path="", line=line, rule="must be UTF-8 text", value=None, hint="save the file as UTF-8"
        )
        raise SurveyErrors(file.name, [wrong]) from None


def toml_document(text: str) -> dict[str, Any]:
    """The tables of a TOML text; tomllib takes hours for a key of very many parts."""
    for found in _TOKEN.finditer(text):
        if found["deep"] is not None:
            raise _LongKey(text.count("\n", 0, found.start()) + 1)
    return tomllib.loads(text)


class _LongKey(ValueError):
    """A key of more parts than any file needs; its argument is the line."""


def _syntax(text: str, error: Exception) -> Problem:
    """Where TOML itself was left; tomllib says so in its message only."""
    flat = "no key is nested deeper than table.name"
    if isinstance(error, RecursionError):
        return Problem(path="", line=1, rule="must not be nested so deeply", value=None, hint=flat)
    if isinstance(error, _LongKey):
        rule = f"a key must not have more than {MAX_KEY_PARTS} parts between dots"
        return Problem(path="", line=error.args[0], rule=rule, value=None, hint=flat)
    message = str(error)
    place = _PLACE.search(message)
    last = text.rstrip().count("\n") + 1
    line = int(place[1]) if place and place[1] else last
    found = _PLACE.sub("", message)
    reason = found[:1].lower() + found[1:]
    hint = "text stands between quotes; a key and its value on one line"
    return Problem(path="", line=line, rule=f"is not TOML: {reason}", value=None, hint=hint)


class _Scanner:
    """Finds the line of every table, key and array element of a TOML text."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.known: dict[Path, int] = {}
        self.lengths: dict[Path, int] = {}
        """How many elements each array of tables has so far."""

    def document(self) -> None:
        table: Path = ()
        while self._rest():
            if self.text.startswith("[[", self.at):
                table = self._header(2)
            elif self.text.startswith("[", self.at):
                table = self._header(1)
            else:
                self._pair(table)

    def _line(self) -> int:
        return bisect_left(self.ends, self.at) + 1

    def _pass(self, pattern: re.Pattern[str]) -> str:
        """Move over the pattern, which may be empty."""
        found = pattern.match(self.text, self.at)
        assert found is not None
        self.at = found.end()
        return found[0]

    def _rest(self) -> str:
        """What comes next behind spaces and comments: one character, or none at the end."""
        self._pass(_BLANK)
        return self.text[self.at : self.at + 1]

    def _header(self, brackets: int) -> Path:
        line = self._line()
        self.at += brackets
        *outer, last = self._key()
        self.at += brackets
        path: Path = ()
        for key in outer:
            path = (*path, key)
            self.known.setdefault(path, line)
            if path in self.lengths:  # of an array of tables, its last element
                path = (*path, self.lengths[path] - 1)
        path = (*path, last)
        if brackets == 2:
            self.known.setdefault(path, line)
            self.lengths[path] = self.lengths.get(path, 0) + 1
            path = (*path, self.lengths[path] - 1)
        self.known[path] = line
        return path

    def _pair(self, path: Path) -> None:
        line = self._line()
        for key in self._key():
            path = (*path, key)
            self.known.setdefault(path, line)
        self.at += 1  # the equals sign
        self._value(path)

    def _key(self) -> list[str]:
        """The parts of a dotted key."""
        table: Any = tomllib.loads(f"{self._pass(_KEY)} = 0")
        parts = []
        while table:
            ((part, table),) = table.items()
            parts.append(part)
        return parts

    def _value(self, path: Path) -> None:
        opening = self._rest()
        if opening not in ("[", "{"):
            self._pass(_SCALAR)
            return
        self.at += 1
        index = 0
        while self._rest() not in ("]", "}"):
            if opening == "{":
                self._pair(path)
            else:
                self.known[(*path, index)] = self._line()
                self._value((*path, index))
                index += 1
            if self._rest() == ",":
                self.at += 1
        self.at += 1
