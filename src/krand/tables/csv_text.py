"""The text of a CSV file, checked while it is read: UTF-8, no binary data, complete.

Arrow's reader swallows everything after a quotation mark that is never closed. Therefore krand adds
a last row with unique content. If that row is missing at the end, rows before it were lost.
"""

from __future__ import annotations

import codecs
import io
from pathlib import Path

from krand.errors import InvalidInput

SAVE = "save the table as CSV in UTF-8, with commas between the columns"
HEAD = 2**16


class TextTable(io.RawIOBase):
    """The bytes of a file as a stream for pyarrow."""

    def __init__(self, path: Path, ending: str = "") -> None:
        super().__init__()
        self._path, self._ending = path, ending
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._file = path.open("rb")
        self._buffer, self._lines, self._is_done, self._last = b"", 0, False, b""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def read(self, size: int | None = -1) -> bytes:
        wanted = HEAD if size is None or size < 0 else size
        while len(self._buffer) < wanted and not self._is_done:
            self._buffer += self._more(max(wanted, HEAD))
        found, self._buffer = self._buffer[:wanted], self._buffer[wanted:]
        return found

    def _more(self, size: int) -> bytes:
        raw = self._file.read(size)
        self._is_done = not raw
        try:
            self._decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            line = self._lines + raw.count(b"\n", 0, error.start) + 1
            rule = f"must be text in UTF-8, but line {line:,} is not"
            raise InvalidInput("answers", rule, str(self._path), SAVE) from None
        if b"\0" in raw:
            raise InvalidInput("answers", "must be text, not binary data", str(self._path), SAVE)
        self._lines += raw.count(b"\n")
        self._last = raw[-1:] or self._last
        if self._is_done and self._ending:
            return (b"" if self._last in (b"\n", b"\r") else b"\n") + self._ending.encode()
        return raw
