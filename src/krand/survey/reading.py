"""TOML files that people write: read, or refused with everything that is wrong, with its line.

tomllib does not tell on which line a value stands. Only text that it has accepted is scanned for
lines, so nothing is checked there: the scanner only has to find its way. Comments, strings of all
four kinds, dotted keys, inline tables and arrays over many lines are understood, because a line
number that is sometimes wrong is worse than none.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any, TypeVar

from krand.files import read_text
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
_DEEP = re.compile(
    rf"(?P<deep>{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS},}})"
    rf"|{_STRING}|\#[^\n]*+|[A-Za-z0-9_-]++|[\"'][^\n]*+",
    re.DOTALL,
)
_TOKEN = re.compile(
    rf"{_STRING}|\#[^\n]*|[\[\]{{}},=]|[^\s\[\]{{}},=#\"'][^\[\]{{}},=#\"'\n]*", re.DOTALL
)
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
    return TomlFile(file.name, read_text(field, file, MAX_FILE_BYTES, too_long))


def toml_document(text: str) -> dict[str, Any]:
    """The tables of a TOML text; tomllib takes hours for a key of very many parts."""
    for found in _DEEP.finditer(text):
        if found["deep"] is not None:
            line = text.count("\n", 0, found.start()) + 1
            fault = f"A key has more than {MAX_KEY_PARTS} parts between dots"
            raise tomllib.TOMLDecodeError(f"{fault} (at line {line}, column 1)")
    return tomllib.loads(text)


def _syntax(text: str, error: Exception) -> Problem:
    """Where TOML itself was left; tomllib says so in its message only."""
    if isinstance(error, RecursionError):
        hint = "no key is nested deeper than table.name"
        return Problem("", 1, "must not be nested so deeply", None, hint)
    message = str(error)
    place = _PLACE.search(message)
    line = int(place[1]) if place and place[1] else text.rstrip().count("\n") + 1
    found = _PLACE.sub("", message)
    hint = "text stands between quotes; a key and its value on one line"
    return Problem("", line, f"is not TOML: {found[:1].lower()}{found[1:]}", None, hint)


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    """Strings, bare words and signs, each with its line; neither blanks nor comments."""
    line, before = 1, 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", before, found.start())
        before = found.start()
        if not found[0].startswith("#"):
            yield found[0], line


class _Scanner:
    """Finds the line of every table, key and array element of a TOML text."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.known: dict[Path, int] = {}
        self.lengths: dict[Path, int] = {}
        """How many elements each array of tables has so far."""

    def document(self) -> None:
        table: Path = ()
        for word, line in self.tokens:
            if word == "[":
                table = self._header(line)
            else:
                self._pair(table, word, line)

    def _header(self, line: int) -> Path:
        word, _ = next(self.tokens)
        of_several = word == "["
        *outer, last = self._key(next(self.tokens)[0] if of_several else word, "]")
        path: Path = ()
        for key in outer:
            path = (*path, key)
            self.known.setdefault(path, line)
            if path in self.lengths:  # of an array of tables, its last element
                path = (*path, self.lengths[path] - 1)
        path = (*path, last)
        if of_several:
            next(self.tokens)  # the other bracket
            self.known.setdefault(path, line)
            self.lengths[path] = self.lengths.get(path, 0) + 1
            path = (*path, self.lengths[path] - 1)
        self.known[path] = line
        return path

    def _key(self, word: str, end: str) -> list[str]:
        """The parts of a dotted key that begins with this word."""
        said = ""
        while word != end:
            said += word
            word, _ = next(self.tokens)
        table: Any = tomllib.loads(f"{said} = 0")
        parts = []
        while table:
            ((part, table),) = table.items()
            parts.append(part)
        return parts

    def _pair(self, path: Path, word: str, line: int) -> None:
        for key in self._key(word, "="):
            path = (*path, key)
            self.known.setdefault(path, line)
        self._value(path, next(self.tokens)[0])

    def _value(self, path: Path, opening: str) -> None:
        """Passes a value that begins with this word."""
        if opening not in ("[", "{"):
            return
        index = 0
        for word, line in self.tokens:
            if word in ("]", "}"):
                return
            if word == ",":
                continue
            if opening == "{":
                self._pair(path, word, line)
            else:
                self.known[(*path, index)] = line
                self._value((*path, index), word)
                index += 1
