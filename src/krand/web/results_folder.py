"""The results files in a folder, with one line about each."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from krand.analysis.results_file import FORMATS
from krand.web.limits import MOST_RESULTS, MOST_RESULTS_BYTES

Stamp = tuple[int, int]
"""Time of the last change, in nanoseconds, and size: they identify a version of a file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultsFile:
    """Results, as the dashboard lists them."""

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
        """All results files by name; other files are ignored."""
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
        except OSError:  # missing or not readable: no results
            return []
        small = [entry for entry in stamped if entry[1][1] <= MOST_RESULTS_BYTES]
        return sorted(small)[:MOST_RESULTS]

    def _read(self, name: str, stamp: Stamp) -> ResultsFile | None:
        path = self._folder / name
        try:
            values = json.loads(path.read_bytes())
            if values["format"] not in FORMATS:
                return None
            survey, plan_hash = str(values["plan"]["survey"]["id"]), str(values["plan_hash"])
            return ResultsFile(
                name=name,
                path=str(path),
                stamp=stamp,
                survey=survey,
                plan_hash=plan_hash,
                people=int(values["people"]),
            )
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
