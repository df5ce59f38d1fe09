"""Whether ratios of a short run agree with the committed results: `make bench-check`.

Times depend on the machine, ratios hardly do. A ratio of speeds may fall to 1/SPEED of the
committed one: a short run on a busy machine is no measurement, but finds what has become several
times slower. What is computed and not measured must agree to the factor EXACT. The exit code is 1
if something does not agree.
"""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import accuracy
import randomizer

import mixing_speed

HERE = Path(__file__).parent
SPEED, EXACT = 2.5, 1.01
SHORT = replace(randomizer.FULL, repeats=3)  # the size matters: each run has a fixed cost
NUMBER = re.compile(r"-?[\d,]*\.?\d+(?:e-?\d+)?")

Rows = dict[str, dict[str, str]]
"""Cells by the name of their row and column."""


@dataclass(frozen=True, slots=True)
class Check:
    """A table of a results file, how a short run makes it again, and how far they may differ."""

    file: str
    head: str
    """How the table's first column is called."""
    run: Callable[[], str]
    factor: float
    larger_is_better: bool
    """Then only smaller values are wrong."""


def flips() -> str:
    """Krand beside naive numpy, in processor time; no other package is needed."""
    wanted = (randomizer.KRAND, *randomizer.NAIVE)
    ways = [way for way in randomizer.WAYS if way.name in wanted]
    found = randomizer.measure(ways, 40, SHORT, time.process_time)
    return randomizer.speed_section(40, found, stream=1.0)  # the limit is not compared


CHECKS = (
    Check(
        "accuracy.md",
        "counts that one person can change",
        accuracy.sensitivity_section,
        EXACT,
        larger_is_better=False,
    ),
    Check(
        "randomizer.md",
        "krand is … times as fast, L = 40",
        flips,
        SPEED,
        larger_is_better=True,
    ),
    Check("mixing.md", mixing_speed.HEAD, mixing_speed.short_shares, SPEED, larger_is_better=True),
)


def rows_of(text: str, head: str) -> Rows:
    """The Markdown table whose first column has this name."""
    lines = text.splitlines()
    start = next((n for n, line in enumerate(lines) if line.startswith(f"| {head} |")), None)
    if start is None:
        raise LookupError(f"no table with the column {head!r}")
    columns, found = _cells(lines[start]), {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        cells = dict(zip(columns, _cells(line), strict=True))
        first, *others = cells.values()
        found[", ".join([first, *(c for c in others if not NUMBER.fullmatch(c))])] = cells
    return found


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("| ").split("|")]


def differences(check: Check, committed: Rows, fresh: Rows) -> Iterator[str]:
    """What is not as committed; rows that a short run leaves out, such as limits, are not there."""
    common = [name for name in fresh if name in committed and not name.startswith("limit")]
    if not common:
        yield f"{check.file}: no row of {check.head!r} in common"
    for name in common:
        for column, cell in fresh[name].items():
            before = committed[name][column]
            if NUMBER.fullmatch(cell) and NUMBER.fullmatch(before):
                ratio = _value(cell) / _value(before)
                worst = 1 / ratio if check.larger_is_better else max(ratio, 1 / ratio)
                if worst > check.factor:
                    yield f"{check.file}: {name}, {column}: {before} committed, {cell} now"


def _value(cell: str) -> float:
    return float(cell.replace(",", ""))


def main() -> None:
    wrong: list[str] = []
    for check in CHECKS:
        committed = (HERE / check.file).read_text(encoding="utf-8")
        found = rows_of(check.run(), check.head)
        wrong += differences(check, rows_of(committed, check.head), found)
        print(f"{check.file}: {check.head}, within a factor of {check.factor:g}")
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()
