"""The text of a CSV file, checked while it is read: one encoding, no binary data, complete.

Arrow's reader swallows everything after a quotation mark that is never closed. Therefore krand adds
a last row with unique content. If that row is missing at the end, rows before it were lost.
"""

from __future__ import annotations

import codecs
import csv
import io
import secrets
from collections.abc import Iterable
from pathlib import Path

from krand.errors import InvalidInput

DELIMITERS = (",", ";", "\t", "|")
ZIP = b"PK\x03\x04"
MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
HEAD = 2**16


class TextTable(io.RawIOBase):
    """A file converted to UTF-8, as a stream for pyarrow."""

    def __init__(self, path: Path, encoding: str, ending: str = "") -> None:
        super().__init__()
        try:
            self._decoder = codecs.getincrementaldecoder(encoding)()
            "x".encode(encoding)  # rejects codecs that are not text encodings
        except (LookupError, ValueError):
            hint = "for example utf-8, utf-16, cp1252 (Windows) or latin-1"
            rule = "must be an encoding that Python knows"
            raise InvalidInput("encoding", rule, encoding, hint) from None
        self._path, self._encoding, self._ending = path, encoding, ending
        self._file = path.open("rb")
        self._buffer, self._lines, self._is_done = b"", 0, False
        self._head, self._last = b"", ""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def read(self, size: int | None = -1) -> bytes:
        wanted = HEAD if size is None or size < 0 else size
        while len(self._buffer) < wanted and not self._is_done:
            self._buffer += self._more(max(wanted, HEAD)).encode()
        found, self._buffer = self._buffer[:wanted], self._buffer[wanted:]
        return found

    def _more(self, size: int) -> str:
        raw = self._file.read(size)
        self._head = self._head or raw[:4]
        self._is_done = not raw
        try:
            text = self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            if b"\0" in raw and not self._head.startswith(MARKS):
                raise self._binary() from None
            line = self._lines + raw.count(b"\n", 0, error.start) + 1
            raise self._undecodable(line) from None
        if "\0" in text:
            raise self._binary()
        self._lines += text.count("\n")
        self._last = text[-1:] or self._last
        if self._is_done and self._ending:
            text += self._ending if self._last in ("\n", "\r") else f"\n{self._ending}"
        return text

    def _undecodable(self, line: int) -> InvalidInput:
        if self._head.startswith(ZIP):
            return self._binary()
        fitting = "utf-16" if self._head.startswith(MARKS) else "cp1252"
        whose = "with a mark of UTF-16" if fitting == "utf-16" else "as Windows and Excel write it"
        hint = f"add encoding='{fitting}', {whose}"
        if self._encoding.lower().replace("_", "-") not in ("utf-8", "utf8"):
            hint = "is it another encoding?"
        rule = f"must be text in the encoding {self._encoding}, but line {line:,} is not"
        return InvalidInput("answers", rule, str(self._path), hint)

    def _binary(self) -> InvalidInput:
        hint = "save the table as CSV; for UTF-16 without a mark add encoding='utf-16-le'"
        if self._head.startswith(ZIP):
            hint = "it is a ZIP file, as spreadsheets are: save the table as CSV, or name it .xlsx"
        return InvalidInput("answers", "must be text, not binary data", str(self._path), hint)


def secret_row(delimiter: str, columns: int) -> tuple[str, str]:
    """A unique text, and a row that consists of it."""
    word = f"end-{secrets.token_hex(16)}"
    return word, delimiter.join([word] * columns)


def delimiter_of(given: str) -> str:
    """The delimiter: one character, or the word tab."""
    found = {"tab": "\t", "\\t": "\t"}.get(given, given)
    if len(found) != 1 or found in '"\r\n' or not found.isascii():
        hint = "for example ',' or ';' or tab"
        raise InvalidInput("delimiter", "must be one character, but no quotation mark", given, hint)
    return found


def likely_delimiter(path: Path, encoding: str, wanted: Iterable[str], given: str) -> str | None:
    """Another delimiter with which the first line names more of the wanted columns."""
    names = set(wanted)
    with TextTable(path, encoding) as stream:
        head = stream.read(HEAD).decode().lstrip("\ufeff")
    counts = {
        delimiter: len(names & set(next(csv.reader(io.StringIO(head), delimiter=delimiter), [])))
        for delimiter in DELIMITERS
    }
    best = max(counts, key=lambda delimiter: counts[delimiter])
    return best if counts[best] > counts.get(given, 0) else None
