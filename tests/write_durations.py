"""Sum up what tests cost: `make durations` calls it with what tests/timing.py has written."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from timing import FIXTURES

SLOWEST = 100

HEAD = f"""# What the tests cost

Processor seconds of each test, and of all processes that it started. They do not depend on what
else the machine does; seconds by the clock do. What is made before tests and ended after them is
counted for their file, as {FIXTURES}.
"""


def summary(lines: list[str]) -> str:
    """A page from lines of processor seconds and name."""
    seconds: Counter[str] = Counter()
    for line in lines:
        spent, name = line.rstrip("\n").split("\t")
        seconds[name] += float(spent)
    folders: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for name, spent in seconds.items():
        file = name.partition("::")[0]
        files[file] += spent
        folders["/".join(file.split("/")[:2])] += spent
    tests = sum(not name.endswith(FIXTURES) for name in seconds)
    return "\n".join(
        [
            HEAD,
            f"{tests:,} tests, {seconds.total():,.0f} s in all.\n",
            *_table("folder", folders.most_common()),
            "",
            *_table("file", files.most_common(SLOWEST)),
            "",
            *_table("test", seconds.most_common(SLOWEST)),
            "",
        ]
    )


def _table(what: str, rows: list[tuple[str, float]]) -> list[str]:
    return [
        f"| {what} | s |",
        "| --- | --: |",
        *(f"| `{name.replace('|', '¦')}` | {spent:,.1f} |" for name, spent in rows),
    ]


if __name__ == "__main__":
    source, page = map(Path, sys.argv[1:])
    page.write_text(summary(source.read_text(encoding="utf-8").splitlines()), encoding="utf-8")
