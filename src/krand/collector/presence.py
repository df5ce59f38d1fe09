"""Whether the files that are open are still the ones that lie in the folder.

A file that was removed or moved can be written to as long as it is open, and everything in it is
lost when it is closed. So before anybody is told that their submission is safe, the names are
looked up again.
"""

from __future__ import annotations

import os
from pathlib import Path

from krand.collector.disk import SpoolUnavailable

__all__ = ["Presence"]


class Presence:
    """The files of a spool as they were when it was opened, and its journal since it is there."""

    def __init__(self, *files: Path) -> None:
        self._journal = Path(f"{files[0]}-wal")
        self._known = {path: _identity(path) for path in files}

    def check(self) -> None:
        """An error where a name leads elsewhere now, or nowhere."""
        if self._journal not in self._known and (found := _identity(self._journal)) is not None:
            self._known[self._journal] = found
        for path, known in self._known.items():
            if known is None or _identity(path) != known:
                raise SpoolUnavailable(
                    f"{path} was removed, moved or replaced while it was open: nothing more is"
                    " stored; put it back, or restart the collector with the spool it shall use"
                )


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
