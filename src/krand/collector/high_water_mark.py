"""How much has been acknowledged, noted beside the spool: it can never have been more.

If the end of SQLite's journal is damaged or cut off, SQLite takes the rest for the whole: people
who were told that their submission is safe would be missing, and nobody would know. The same holds
for a spool that is replaced by an older copy, or is empty. So after every change, when it is
on the disk, a line beside the spool says how far things are. It is not synced by itself: after a
power cut it may be behind, but never ahead.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from krand.collector.disk import Damage, opened_file
from krand.collector.records import tag_of

__all__ = ["Mark", "Progress"]

LOOKS = 3
LAYOUT = "krand-mark-1 people {:012d} released {:06d} "


@dataclass(frozen=True, slots=True)
class Progress:
    """Both numbers only ever grow."""

    people: int = 0
    released: int = 0

    def check_reached_by(self, found: Progress) -> None:
        """What a spool holds must not be less than what was acknowledged."""
        if found.people < self.people or found.released < self.released:
            raise Damage(
                f"{found.people:,} people and {found.released:,} released batches, though there"
                f" have been {self.people:,} and {self.released:,} according to spool.mark"
            )

    def line(self) -> bytes:
        """As it is written: always of one length, so that a write replaces the last one whole."""
        text = LAYOUT.format(self.people, self.released)
        return f"{text}{tag_of(text.encode()).hex()}\n".encode()

    @classmethod
    def read(cls, line: bytes) -> Self:
        """The progress in a line; an empty one says nothing."""
        if not line:
            return cls()
        words = line.split()
        try:
            found = cls(int(words[2]), int(words[4]))
        except (ValueError, IndexError):
            raise Damage("spool.mark was changed") from None
        if found.line() != line:
            raise Damage("spool.mark was changed")
        return found


class Mark:
    """The line beside a spool."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = opened_file(path)

    def read(self) -> Progress:
        """What has been acknowledged, at least."""
        for attempt in range(1, LOOKS + 1):
            self._file.seek(0)
            try:
                return Progress.read(self._file.read())
            except Damage:  # or a collector that is just writing
                if attempt == LOOKS:
                    raise
        raise AssertionError

    def write(self, progress: Progress) -> None:
        """Note it. Failing here loses nobody, only the means to notice a later loss."""
        with suppress(OSError):
            self._file.seek(0)
            self._file.write(progress.line())

    def sync(self) -> None:
        """Let it survive a power cut too, when there is time."""
        with suppress(OSError):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
