"""Sum up what tests cost: `make durations` calls it with what tests/timing.py has written."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

SLOWEST = 30

HEAD = """# What the tests cost

<!-- Written by `make durations`; do not edit. -->

Processor seconds of each test with its fixtures, and of all processes that it started. They do not
depend on what else the machine does; seconds by the clock do.
"""


def summary(lines: list[str]) -> str:
    """A page from lines of processor seconds, seconds and name."""
    seconds: Counter[str] = Counter()
    for line in lines:
        spent, _, name = line.rstrip("\n").split("\t")
        seconds[name] += float(spent)
    folders: Counter[str] = Counter()
    for name, spent in seconds.items():
        folders[_folder(name)] += spent
    return "\n".join(
        [
            HEAD,
            f"{len(seconds):,} tests, {seconds.total():,.0f} s in all.\n",
            *_table("folder", folders.most_common()),
            "",
            f"## The slowest {SLOWEST}\n",
            *_table("test", seconds.most_common(SLOWEST)),
            "",
        ]
    )


def _folder(name: str) -> str:
    """The room of a test: its folder directly below tests/, or its file."""
    return "/".join(name.split("::")[0].split("/")[:2])


def _table(what: str, rows: list[tuple[str, float]]) -> list[str]:
    return [
        f"| {what} | s |",
        "| --- | --: |",
        *(f"| `{name.replace('|', '¦')}` | {spent:,.1f} |" for name, spent in rows),
    ]


if __name__ == "__main__":
    source, page = map(Path, sys.argv[1:])
    page.write_text(summary(source.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
