"""How long the page of numbers takes from a change to right numbers, watched for stale promises.

    python benchmarks/planner.py          # 50 changes; writes benchmarks/planner.md
    python benchmarks/planner.py --quick  # a smoke run: to the terminal only

`krand web` runs as people start it, and chromium shows its pages. A change is an input event, as
typing, a slider or a choice makes it. The first right numbers are bounds that are proven for
exactly these values, the plan itself, or the word that a value is invalid or the promise
impossible. All the while the page is looked at every 20 ms and at every event: what belongs to
other values than those of the form must be faint.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from browser.staleness import CHANGE, seen, watch
from running import processor, progress, run_benchmark, table

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHANGES, FEW = 50, 6
SEED = 1
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SETTLED = '#result:not([aria-busy="true"])'
LONGEST_REST = 1.0
"""Seconds until the next change, at most: some come before the plan of the last one."""
NUMBERS = {
    "crowd": ("5k", "50k", "1M", "10M", "200M"),
    "crowd-slider": ("300", "500", "800"),
    "epsilon": ("0.5", "1", "2", "4"),
    "epsilon-slider": ("500", "700"),
    "delta": ("1e-4", "1e-6", "1e-8"),
    "bits": ("1", "4", "10", "40", "100"),
    "max_set_bits": ("1", "", ""),
    "linkage": ("bit", "bit", "record"),
    "copies": ("1", "1", "2", "4"),
}
PAGES = {"Numbers": ("numbers", NUMBERS)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One page: milliseconds of every change, looks at it, and what was shown wrongly."""

    name: str
    first: list[float]
    exact: list[float]
    looks: int
    faults: list[str]


def main() -> None:
    run_benchmark(__doc__, Path(__file__).with_suffix(".md"), _report)


def _report(quick: bool) -> str:
    from playwright.sync_api import sync_playwright

    program = next(filter(None, map(shutil.which, PROGRAMS)), None)
    with _pages() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        found = []
        for name, (path, values) in PAGES.items():
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(url, timeout=120_000)  # with the token
            page.goto(f"{url.partition('?')[0]}{path}", timeout=120_000)
            found.append(_measured(page, name, values, FEW if quick else CHANGES))
            page.close()
        browser.close()
    return _page(found, "smoke" if quick else "full")


@contextmanager
def _pages() -> Iterator[str]:
    """`krand web` on a free port."""
    command = [sys.executable, "-m", "krand", "web", "--port", "0", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        text = ""
        while not text.rstrip().endswith("}"):
            text += process.stdout.readline()
        time.sleep(5)  # until its processes have loaded what they need
        yield json.loads(text)["console"]
    finally:
        process.terminate()
        process.wait()


def _measured(page: Page, name: str, values: dict[str, Sequence[str]], count: int) -> Measured:
    chance = random.Random(SEED)
    watch(page)
    first, exact = [], []
    for number in range(count):
        change = _change(page, values, chance)
        page.evaluate(CHANGE, change)
        page.wait_for_selector(SETTLED if number % 2 else "#result:not(.stale)", timeout=120_000)
        found = seen(page)
        assert found.first is not None, change
        first.append(found.first)
        if found.exact is not None:
            exact.append(found.exact)
        progress(f"{name} {number + 1}: {change[0]} = {change[1]!r}, {found.first:.0f} ms")
        page.wait_for_timeout(1000 * chance.uniform(0, LONGEST_REST))
    found = seen(page)
    return Measured(name=name, first=first, exact=exact, looks=found.looks, faults=found.faults)


def _change(page: Page, values: dict[str, Sequence[str]], chance: random.Random) -> tuple[str, str]:
    """A field, and a value that it does not have."""
    while True:
        name = chance.choice(list(values))
        value = chance.choice(values[name])
        now = page.evaluate(
            """name => (document.querySelector("form[data-live]").elements.namedItem(name)
                ?? document.getElementById(name)).value""",
            name,
        )
        if now != value:
            return name, value


def _quantile(times: Sequence[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def _page(found: Sequence[Measured], kind: str) -> str:
    rows = [
        [
            one.name,
            f"{len(one.first)}",
            *(f"{_quantile(one.first, share) / 1000:.2f} s" for share in (0.5, 0.95)),
            *(f"{_quantile(one.exact, share) / 1000:.2f} s" for share in (0.5, 0.95)),
            f"{one.looks:,}",
            f"{len(one.faults):,}",
        ]
        for one in found
    ]
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    lines = [
        "# From a change to right numbers in the planner",
        "<!-- Written by benchmarks/planner.py; do not edit. -->",
        f"A {kind} run on {datetime.now(UTC):%Y-%m-%d}, {processor()}, {os.cpu_count()} cores, load"
        f" average {load}.",
        "Each change is one input event in chromium: a number, a slider, a choice or the questions."
        " *First* is the time until the page shows numbers that are proven for exactly these values"
        " (mostly an upper bound that is refined), or says that there are none; *plan* is the time"
        " until the least noise is found, for changes that were not followed by another before. The"
        " page is looked at every 20 ms and at every event; a *fault* is a moment at which numbers"
        " of other values were not faint.",
        table(
            [
                *("page", "changes", "first, median", "95 % at most"),
                *("plan, median", "95 % at most", "looks", "faults"),
            ],
            rows,
        ),
        "Goals: the median of *first* below 0.3 s, 95 % below 1 s, and no fault.",
    ]
    lines += [f"- {fault}" for one in found for fault in one.faults[:10]]
    return "\n\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
