"""What each test costs, when KRAND_DURATIONS names a file for it; `make durations` sums it up.

Processor seconds do not depend on what else the machine does. They are those of the test's own
process and of every process that it started and waited for. What is made before a test and ended
after it is counted for its file: whichever test comes first or last begins and ends the servers.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

FIXTURES = "(what its tests share)"
"""Stands for a test's name where the file is billed."""


class Costs:
    """A plugin that appends one line for each part of a test: processor seconds, whose they are."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        yield from self._billed(_file_of(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        yield from self._billed(item.nodeid)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Iterator[None]:
        yield from self._billed(_file_of(item))

    def _billed(self, name: str) -> Iterator[None]:
        before = _processor_seconds()
        try:
            yield
        finally:
            # One short write in append mode: the lines of parallel workers do not mix.
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(f"{_processor_seconds() - before:.2f}\t{name}\n")


def _file_of(item: pytest.Item) -> str:
    return f"{item.nodeid.partition('::')[0]}::{FIXTURES}"


def _processor_seconds() -> float:
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system


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
