"""Promises of random small crowds, each held against an enumeration of every outcome.

    python benchmarks/small_crowds.py          # 20,000 crowds; writes benchmarks/small_crowds.md
    python benchmarks/small_crowds.py --quick  # a smoke run: to the terminal only

The enumeration is that of the tests and shares no code with krand's engine. A case counts as held
where krand's upper end is at least the exact δ and its lower end at most.
"""

from __future__ import annotations

import os
import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from enumerated_crowds import Judgement, judge, random_case
from krand.errors import KrandError
from running import progress, run_benchmark, table

CASES, FEW, AT_ONCE = 20_000, 200, 50
FIRST_SEED = 1_000_000


def main() -> None:
    run_benchmark(__doc__, Path(__file__).with_suffix(".md"), _report)


def _report(quick: bool) -> str:
    count, start = FEW if quick else CASES, time.perf_counter()
    groups = [range(i, min(i + AT_ONCE, count)) for i in range(0, count, AT_ONCE)]
    found: list[tuple[str, Judgement | str]] = []
    with ProcessPoolExecutor() as pool:
        for done, judged in enumerate(pool.map(_judged, groups)):
            found += judged
            if done % 20 == 0:
                progress(f"{len(found):,} of {count:,}")
    return _page(found, time.perf_counter() - start, "smoke" if quick else "full")


def _judged(numbers: range) -> list[tuple[str, Judgement | str]]:
    """The kind of each case, and what came of it."""
    result: list[tuple[str, Judgement | str]] = []
    for number in numbers:
        chance = random.Random(FIRST_SEED + number)
        case = random_case(chance)
        try:
            judged: Judgement | str = judge(case, chance)
        except KrandError as error:
            judged = f"{case}: {error}"
        result.append((f"{case.responses.linkage}, {case.assurance}", judged))
    return result


def _page(found: Sequence[tuple[str, Judgement | str]], seconds: float, kind: str) -> str:
    kinds = Counter(name for name, _ in found)
    broken = [(n, j) for n, j in found if isinstance(j, str) or not j.holds]
    tight = {
        name: sorted(
            j.upper / j.truth[1]
            for n, j in found
            if n == name and isinstance(j, Judgement) and j.truth[0] > 1e-12
        )
        for name in kinds
    }
    rows = [
        [
            name,
            f"{kinds[name]:,}",
            f"{sum(n == name for n, _ in broken):,}",
            f"{tight[name][len(tight[name]) // 2]:.4f}",
            f"{tight[name][int(0.95 * len(tight[name]))]:.3f}",
        ]
        for name in sorted(kinds)
    ]
    lines = [
        "# Small crowds against an enumeration of every outcome",
        "<!-- Written by benchmarks/small_crowds.py; do not edit. -->",
        f"A {kind} run of {len(found):,} random crowds on {datetime.now(UTC):%Y-%m-%d}, "
        f"{seconds:,.0f} s on {os.cpu_count()} cores.",
        "Crowds of 2 to 12 people, some of them colluding; single bits and whole records of free"
        " bits, choices and lists; 1 to 3 copies, 1 or 2 rounds; noise from 1e-6 to .4999; ε from"
        " .001 to 100, a third of them near the largest loss and a third equal to a loss. All"
        " backgrounds of one answer and three mixed ones are visited, with every pair of answers.",
        table(
            [
                "linkage, assurance",
                "cases",
                "broken",
                "upper end ÷ exact δ, median",
                "95 % at most",
            ],
            rows,
        ),
        "Outlier assurance promises nothing for mixed backgrounds, so only its lower end is held"
        " against the enumeration.",
        f"Broken in all: {len(broken)}.",
    ]
    lines += [f"- {name}: {judged}" for name, judged in broken]
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
