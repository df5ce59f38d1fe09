"""What mixing costs: a mixer beside bare HPKE opening by the same library, in one run.

    python benchmarks/mixing.py               # writes benchmarks/mixing.md; about 15 minutes
    python benchmarks/mixing.py --quick       # a smoke run: to the terminal only
    KRAND_MIXED_MESSAGES=100000 python benchmarks/mixing.py    # not a million from end to end

Processor time where one core is meant, so that other programs disturb little; time on the clock
where two processes share the work.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memory import peak_of_command

from krand.batches.chain import read_chain
from mixing_speed import (
    OPTIONS,
    Compared,
    Size,
    chain_of,
    first_mixed,
    measured,
    people,
    second_mixer,
    shares,
)
from running import conditions, progress, run_benchmark, table, verdict

RESULTS = Path(__file__).with_suffix(".md")
SCALING_GOAL, MEGABYTES_GOAL = 1.85, 1000.0
MILLION = 10**6
WHOLE = int(os.environ.get("KRAND_MIXED_MESSAGES", MILLION))
"""Fewer where a million would take too long; the results say how many."""
FULL = Size(opened=40_000, repeats=3, shared=100_000, whole=WHOLE)
QUICK = Size(opened=10_000, repeats=1, shared=12_000, whole=20_000)


def speed_section(found: list[Compared]) -> str:
    rows = [
        [
            one.name,
            f"{one.bare:,.0f}",
            f"{one.ours:,.0f}",
            "" if one.goal is None else f"{verdict(one.share >= one.goal)} (≥ {one.goal})",
        ]
        for one in found
    ]
    about = (
        "## One core\n\nMessages per second of processor time, medians. *bare* is HPKE by the same"
        " library in a loop, on the same bytes. A mixer also verifies the chain, reads, hashes,"
        " looks for repeats, seals dummies, shuffles, writes and records."
    )
    columns = ["one core", "bare, per second", "krand, per second", "goal"]
    return "\n\n".join([about, table(columns, rows), shares(found)])


@dataclass(frozen=True, slots=True)
class Shared:
    """A run: seconds on the clock, and of processors, here and in the processes that it started."""

    clock: float
    own: float
    others: float


def shared_run(work: Callable[[], object]) -> Shared:
    before = [os.times(), time.perf_counter()]
    work()
    then, now = os.times(), before[0]
    own = then.user + then.system - now.user - now.system
    others = then.children_user + then.children_system - now.children_user - now.children_system
    return Shared(time.perf_counter() - before[1], own, others)


def scaling_section(size: Size, folder: Path) -> str:
    chain = chain_of(2)
    files = first_mixed(chain, people(chain, size.shared), folder)
    taken: dict[int, list[Shared]] = {1: [], 2: []}
    for _ in range(1 if size is QUICK else 2):
        for workers, runs in taken.items():
            progress(f"{size.shared:,} messages, processes: {workers}")
            runs.append(shared_run(second_mixer(chain, files, folder, workers)))
    one, two = (min(taken[workers], key=lambda run: run.clock) for workers in (1, 2))
    alone = min(run.own for run in taken[1])
    busy = min(taken[2], key=lambda run: run.own + run.others)
    ratio = one.clock / two.clock
    least = alone / (busy.own + busy.others / 2)
    most = alone / ((busy.own + busy.others) / 2)
    rows = [
        ["1", f"{one.clock:.1f} s", f"{alone:.1f} s", "", "", ""],
        [
            "2",
            f"{two.clock:.1f} s",
            f"{busy.own:.1f} + {busy.others:.1f} s",
            f"{ratio:.2f}",
            f"{least:.2f} to {most:.2f}",
            verdict(ratio >= SCALING_GOAL),
        ],
    ]
    about = (
        f"## Two processes\n\n{size.shared:,} messages by mixer 2, the best of {len(taken[1])}."
        " Starting the processes is included. *by processor* is how many times as fast two"
        " processes are where two cores are free, from the processor time of the mixer itself and"
        " of its processes: the mixer's own work is done before theirs, or beside it. If other"
        " programs use the cores, it is the better figure."
    )
    columns = ["processes", "clock", "processor", "times as fast", "by processor"]
    return f"{about}\n\n{table([*columns, f'goal: ≥ {SCALING_GOAL}'], rows)}"


def whole_section(size: Size, folder: Path) -> str:
    """From what a collector holds to what the analyst gets."""
    chain = chain_of(2)
    progress(f"sealing {size.whole:,} messages")
    messages = people(chain, size.whole)
    plan = folder / "plan.json"
    plan.write_bytes(chain.plan.bytes)
    place, start = chain.store(folder, 1), time.perf_counter()
    files = first_mixed(chain, messages, folder, place)
    first = time.perf_counter() - start
    progress(f"first mixer: {first:.0f} s")
    store, out = chain.store(folder, 2), folder / "whole"
    words = ["mix", "run", files.data, "--plan", plan, "--store", store, "-o", out, "--quiet"]
    start = time.perf_counter()
    peak = peak_of_command([sys.executable, "-m", "krand", *map(str, words)])
    second = time.perf_counter() - start
    (chain_file,) = out.glob("*.chain.json")
    link = read_chain(chain_file)[-1].record
    assert link.submissions == size.whole
    assert link.messages_out > size.whole
    rows = [
        ["the collector: dummies, shuffle, record, write", f"{first:.1f} s", ""],
        [
            f"mixer 2, {os.cpu_count()} processes: krand mix run",
            f"{second:.1f} s",
            f"{peak:,.0f} MB: {verdict(peak < MEGABYTES_GOAL)} (< 1 GB)",
        ],
        ["both", f"{first + second:.1f} s", ""],
    ]
    about = (
        f"## {size.whole:,} messages from end to end\n\nFrom what a collector holds to what the"
        " analyst gets. Memory is the most that all processes had together, without what they"
        f" share.{fewer(size)}"
    )
    return f"{about}\n\n{table(['step', 'time', 'peak memory'], rows)}"


def fewer(size: Size) -> str:
    """Said where the run was shortened."""
    return "" if size.whole >= MILLION else " A million messages were not tried in this run."


def report(quick: bool) -> str:
    size = QUICK if quick else FULL
    about = conditions(
        "python benchmarks/mixing.py",
        quick,
        ("krand", "cryptography", "numpy", "pyarrow"),
        f"One choice of {len(OPTIONS)} options, ε = 1, δ = 10⁻⁶: one message a person.",
    )
    note = "<!-- Written by benchmarks/mixing.py; do not edit. -->"
    head = ["# What mixing costs", note, about]
    sections = [*head, speed_section(measured(size))]
    with tempfile.TemporaryDirectory() as name:
        sections.append(scaling_section(size, Path(name)))
    with tempfile.TemporaryDirectory() as name:
        sections.append(whole_section(size, Path(name)))
    return "\n\n".join(sections) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report)
