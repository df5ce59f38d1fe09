"""What each test costs, when KRAND_DURATIONS names a file for it (`make durations`).

Processor seconds do not depend on what else the machine does. They are those of the test's own
process and of every process that it started and waited for. What is made before a test and ended
after it is counted for its file: whichever test comes first or last begins and ends the servers.
"""

from __future__ import annotations

import os
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
