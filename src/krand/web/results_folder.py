"""The results files in a folder: which there are, and what can be said of each in one line."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from krand.analysis.results_file import FORMAT
from krand.web.limits import MOST_RESULTS, MOST_RESULTS_BYTES

__all__ = ["ResultsFile", "ResultsFolder"]

Stamp = tuple[int, int]
"""Time of the last change, in nanoseconds, and size: another version has another one."""


@dataclass(frozen=True, slots=True)
class ResultsFile:
    """A results file, as the dashboard lists it."""

    name: str
    path: str
    stamp: Stamp
    survey: str
    plan_hash: str
    people: int


class ResultsFolder:
    """The folder; a file is read again only when it has changed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._known: dict[tuple[str, Stamp], ResultsFile | None] = {}

    def files(self) -> tuple[ResultsFile, ...]:
        """All results files by name; other files are passed over."""
        found = {}
        for name, stamp in self._candidates():
            key = (name, stamp)
            found[key] = self._known[key] if key in self._known else self._read(name, stamp)
        self._known = found
        return tuple(file for file in found.values() if file is not None)

    def _candidates(self) -> list[tuple[str, Stamp]]:
        try:
            with os.scandir(self._folder) as entries:
                files = [e for e in entries if e.name.endswith(".json") and e.is_file()]
                stamped = [(e.name, (e.stat().st_mtime_ns, e.stat().st_size)) for e in files]
        except OSError:  # gone, or not ours to read: then there are none
            return []
        small = [entry for entry in stamped if entry[1][1] <= MOST_RESULTS_BYTES]
        return sorted(small)[:MOST_RESULTS]

    def _read(self, name: str, stamp: Stamp) -> ResultsFile | None:
        path = self._folder / name
        try:
            values = json.loads(path.read_bytes())
            if values["format"] != FORMAT:
                return None
            survey, plan_hash = str(values["plan"]["survey"]["id"]), str(values["plan_hash"])
            return ResultsFile(name, str(path), stamp, survey, plan_hash, int(values["people"]))
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
