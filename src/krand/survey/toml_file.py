"""A TOML file that people write, and everything that is wrong with it, each with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from krand.errors import InvalidInput
from krand.survey.lines import STRING, Lines, locate
from krand.survey.rules import Broken, Problem, SurveyErrors, path_text

MAX_FILE_BYTES = 2**26
MAX_KEY_PARTS = 16
"""krand's own files need two."""
_PART = rf"(?:[A-Za-z0-9_-]++|{STRING.pattern})"
_TOKEN = re.compile(
    rf"(?P<deep>{_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{MAX_KEY_PARTS},}})"
    rf"|{STRING.pattern}|\#[^\n]*+|[A-Za-z0-9_-]++|[\"'][^\n]*+",
    re.DOTALL,
)
_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)$")


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

    def errors(self, broken: Iterable[Broken]) -> SurveyErrors:
        """All of these mistakes as one error, with their lines."""
        return SurveyErrors(self.source, problems_of(broken, locate(self.text)))


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


def problems_of(broken: Iterable[Broken], lines: Lines | None) -> list[Problem]:
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
    return Problem(
        path="",
        line=line,
        rule=f"is not TOML: {reason}",
        value=None,
        hint=hint,
    )
