"""How much has been acknowledged, at least, in a file beside the spool.

If the end of SQLite's journal is damaged or cut off, SQLite takes the rest for the whole. People
whose submissions were acknowledged would be missing, and nobody would notice. The same holds for a
spool that is replaced by an older copy or emptied. So after every change that is on the disk, a
line in a file beside the spool records the progress. That file is not synced each time: after a
power cut it may be behind the spool, but never ahead of it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from krand.collector.sqlite.disk import Damage, opened_file, tag_of

READ_ATTEMPTS = 3
LAYOUT = "krand-mark-1 people {:012d} released {:06d} "


@dataclass(frozen=True, slots=True)
class Progress:
    """People counted and rounds released, one at most. Neither number ever decreases."""

    people: int = 0
    released: int = 0

    def check_reached_by(self, found: Progress) -> None:
        """A spool must not hold less than what was acknowledged."""
        if found.people < self.people or found.released < self.released:
            raise Damage(
                f"{found.people:,} people and {found.released:,} released rounds, but"
                f" spool.mark records {self.people:,} and {self.released:,}"
            )

    def line(self) -> bytes:
        """The line as it is written. Its length is fixed: a write replaces all of the old one."""
        text = LAYOUT.format(self.people, self.released)
        return f"{text}{tag_of(text.encode()).hex()}\n".encode()

    @classmethod
    def read(cls, line: bytes) -> Self:
        """The progress in a line; an empty line is no progress."""
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


class HighWaterMark:
    """The file beside a spool."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = opened_file(path)

    def read(self) -> Progress:
        """What has been acknowledged, at least."""
        for attempt in range(1, READ_ATTEMPTS + 1):
            self._file.seek(0)
            try:
                return Progress.read(self._file.read())
            except Damage:  # or a collector is writing it at this moment
                if attempt == READ_ATTEMPTS:
                    raise
        raise AssertionError

    def write(self, progress: Progress) -> None:
        """Record it. A failure here loses no submission, only the means to notice a later loss."""
        with suppress(OSError):
            self._file.seek(0)
            self._file.write(progress.line())

    def sync(self) -> None:
        """Make it survive a power cut."""
        with suppress(OSError):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
