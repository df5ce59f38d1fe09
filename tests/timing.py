"""What each test costs, when KRAND_DURATIONS names a file for it (`make durations`).

Processor seconds do not depend on what else the machine does. They are those of the test's own
process and of every process that it started and waited for.
"""

from __future__ import annotations

import os
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

__all__ = ["DURATIONS", "Costs", "slowest_files"]

DURATIONS = Path(__file__).with_name("durations.md")
ROW = re.compile(r"^\| `([^`:]+)::[^`]*` \| ([\d,.]+) \|$", re.MULTILINE)


class Costs:
    """A plugin that appends one line a test: processor seconds, seconds, the test's name."""

    def __init__(self, file: Path) -> None:
        self.file = file

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        began, processor = time.perf_counter(), _processor_seconds()
        answer = yield
        spent, passed = _processor_seconds() - processor, time.perf_counter() - began
        # One short write in append mode: the lines of parallel workers do not mix.
        with self.file.open("a", encoding="utf-8") as lines:
            lines.write(f"{spent:.2f}\t{passed:.2f}\t{item.nodeid}\n")
        return answer


def slowest_files(page: str) -> defaultdict[str, float]:
    """Seconds of the files that have one of the slowest tests, by what `make durations` wrote."""
    found: defaultdict[str, float] = defaultdict(float)
    for file, seconds in ROW.findall(page):
        found[file] += float(seconds.replace(",", ""))
    return found


def _processor_seconds() -> float:
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system
