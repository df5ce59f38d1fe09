"""On which line of a TOML file a value stands; tomllib does not tell.

Only text that tomllib has accepted is scanned, so nothing is checked here: the scanner only has to
find its way. Comments, strings of all four kinds, dotted keys, inline tables and arrays over many
lines are understood, because a line number that is sometimes wrong is worse than none.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping
from contextlib import suppress

from krand.survey.rules import Path

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_SPACE = re.compile(r"[ \t]*")
_BARE = re.compile(r"[A-Za-z0-9_-]+")
STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}'  # up to two quotes may stand just before the closing three
    r"|'''.*?'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_SCALAR = re.compile(r".[^,\]}#\r\n]*", re.DOTALL)  # always a step forward, so it ends


class Lines:
    """The line of every table, key and array element of a file."""

    def __init__(self, known: Mapping[Path, int]) -> None:
        self.known = known

    def of(self, path: Path) -> int:
        """The line of the value, or of the nearest thing around it that is there."""
        while path and path not in self.known:
            path = path[:-1]
        return self.known.get(path, 1)


def locate(text: str) -> Lines:
    """The lines of a TOML document that is known to be well formed."""
    scanner = _Scanner(text)
    with suppress(RecursionError):  # absurdly nested: what was found until then is still right
        scanner.document()
    return Lines(scanner.known)


class _Scanner:
    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.ends = [match.start() for match in re.finditer("\n", text)]
        self.known: dict[Path, int] = {}
        self.lengths: dict[Path, int] = {}
        """How many elements each array of tables has so far."""

    def document(self) -> None:
        table: Path = ()
        while self._skip(_BLANK):
            if self.text.startswith("[[", self.at):
                table = self._header(2)
            elif self.text[self.at] == "[":
                table = self._header(1)
            else:
                self._pair(table)

    def _line(self) -> int:
        return bisect_left(self.ends, self.at) + 1

    def _skip(self, pattern: re.Pattern[str]) -> bool:
        """Move over the pattern; is there anything left?"""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at < len(self.text)

    def _header(self, brackets: int) -> Path:
        line = self._line()
        self.at += brackets
        *outer, last = self._key()
        self.at += brackets
        parent = self._inside(outer, line)
        path = (*parent, last)
        if brackets == 2:
            self.known.setdefault(path, line)
            self.lengths[path] = self.lengths.get(path, 0) + 1
            path = (*path, self.lengths[path] - 1)
        self.known[path] = line
        return path

    def _inside(self, keys: list[str], line: int) -> Path:
        """The table that a header's outer keys lead to: in an array of tables, its last element."""
        path: Path = ()
        for key in keys:
            path = (*path, key)
            self.known.setdefault(path, line)
            if path in self.lengths:
                path = (*path, self.lengths[path] - 1)
        return path

    def _pair(self, table: Path) -> None:
        line = self._line()
        path = table
        for key in self._key():
            path = (*path, key)
            self.known.setdefault(path, line)
        self.at += 1  # the equals sign
        self._skip(_SPACE)
        self._value(path)

    def _key(self) -> list[str]:
        """The parts of a dotted key."""
        parts = []
        while True:
            self._skip(_SPACE)
            if self.text[self.at] in "\"'":
                begin = self.at
                self._skip(STRING)
                parts.append(str(tomllib.loads(f"k = {self.text[begin : self.at]}")["k"]))
            else:
                begin = self.at
                self._skip(_BARE)
                parts.append(self.text[begin : self.at])
            self._skip(_SPACE)
            if self.text[self.at] != ".":
                return parts
            self.at += 1

    def _value(self, path: Path) -> None:
        match self.text[self.at]:
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                self._skip(STRING)
            case _:
                self._skip(_SCALAR)

    def _array(self, path: Path) -> None:
        index = 0
        self.at += 1
        while self._skip(_BLANK) and self.text[self.at] != "]":
            self.known[(*path, index)] = self._line()
            self._value((*path, index))
            index += 1
            self._skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _inline_table(self, path: Path) -> None:
        self.at += 1
        while self._skip(_BLANK) and self.text[self.at] != "}":
            self._pair(path)
            self._skip(_BLANK)
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1
