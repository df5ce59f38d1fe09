"""A collector under attack: its memory over time, and whether honest people are still served.

    python benchmarks/attacked.py               # writes benchmarks/attacked.md; about 10 minutes
    python benchmarks/attacked.py --seconds 20  # a shorter run, 20 seconds for each attack
    python benchmarks/attacked.py --quick       # a smoke run: to the terminal only

The collector has one core, all clients share the other, on which honest ones come first: otherwise
the attackers would only keep them from running. Attackers that are programs in Python are joined by
wrk, which is many times faster. Needs krand[serve], Linux, wrk, and root to come first.
"""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from attackers import KINDS

from collector import EXAMPLE, free_port, resident, serve_command, server
from krand.collector.opening import config_of
from krand.planning.making import make_plan
from krand.survey.plan import Plan
from krand.survey.reading import read_survey
from krand.wire.keys import generate_private_key
from running import conditions, progress, run_benchmark, table
from wrk_load import has_wrk

RESULTS = Path(__file__).with_suffix(".md")
HERE = Path(__file__).parent
CLIENTS = HERE / "attackers.py"
PIPELINES = HERE / "pipelines.lua"
NO_ATTACK = "no attack"
ATTACKS = (
    *((kind, 5_000) for kind in KINDS if kind != "honest"),
    *(("wrk, 16 requests at a time", number) for number in (500, 2_000, 5_000)),
    ("wrk, 4 requests at a time", 5_000),
)
HONEST = 16
SECONDS, QUICK_SECONDS = 60.0, 4.0
FILES = 16_000
FIRST = -10
"""The priority of the collector and of honest clients."""
GATHER_SECONDS = 20.0
"""At most, until the attackers have opened their connections."""
LEAST_SHARE = 0.25
"""A goal: what is served during an attack, as a share of what is served without."""
MOST_MORE_MEGABYTES = 300.0
"""A goal: the memory at its peak, beyond that at the start."""

Attacks = tuple[tuple[str, int], ...]
"""Kinds of attackers, and how many connections they have."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One attack, and what honest clients saw meanwhile."""

    attack: str
    connections: int
    seconds: float
    memory: tuple[float, ...]
    """Megabytes, several times a second."""
    honest: dict[str, Any]

    @property
    def served(self) -> float:
        """Honest submissions that were stored, per second."""
        return float(self.honest["statuses"].get("202", 0) / self.seconds)


def _can_run(attack: str) -> bool:
    return not attack.startswith("wrk") or has_wrk()


def allow_many_files() -> int:
    """For us and all processes that we start; how many there may be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


def prefer(pid: int, priority: int) -> None:
    """Give a process and its threads a priority, if we may."""
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with suppress(PermissionError):
            os.setpriority(os.PRIO_PROCESS, int(thread.name), priority)


@contextmanager
def clients(kind: str, connections: int, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Clients of one kind in a process of their own, on the second core."""
    told = json.dumps({"kind": kind, "connections": connections, **options})
    command = [sys.executable, str(CLIENTS), told]
    if kind.startswith("wrk"):
        command = wrk_command(int(kind.split()[1]), connections, **options)
    child = subprocess.Popen(command, stdout=subprocess.PIPE)
    os.sched_setaffinity(child.pid, {1})
    if kind == "honest":
        prefer(child.pid, FIRST)
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def wrk_command(
    at_a_time: int, connections: int, *, port: int, path: str, length: int, seconds: float
) -> list[str]:
    """wrk sends so many submissions at once on each connection, and reads all answers."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{math.ceil(seconds)}s", "--timeout", "30s"]
    url = f"http://127.0.0.1:{port}"
    return [*command, "-s", str(PIPELINES), url, "--", path, str(length), str(at_a_time)]


def phase(
    child: subprocess.Popen[bytes], attack: str, connections: int, options: dict[str, Any]
) -> Phase:
    seconds: float = options["seconds"]
    with ExitStack() as stack:
        if attack != NO_ATTACK:
            longer = options | {"seconds": seconds + GATHER_SECONDS}
            stack.enter_context(clients(attack, connections, **longer))
            wait_for(child, connections)
        honest = stack.enter_context(clients("honest", HONEST, **options))
        memory, end = [resident(child)], time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.2)
            memory.append(resident(child))
        seen = json.loads(honest.communicate()[0])
    found = Phase(attack, connections, seconds, tuple(memory), seen)
    progress(f"{connections:,} {attack}: {found.served:.0f}/s, {max(memory):.0f} MB")
    return found


def wait_for(child: subprocess.Popen[bytes], connections: int) -> None:
    """Until most of the attackers' connections are open."""
    files, end = Path(f"/proc/{child.pid}/fd"), time.monotonic() + GATHER_SECONDS
    while len(os.listdir(files)) < 0.8 * connections and time.monotonic() < end:
        time.sleep(0.1)


def measure(plan: Plan, seconds: float, place: Path, attacks: Attacks) -> list[Phase]:
    """Each attack, and no attack before the first, in the middle and after the last."""
    port, shape = free_port(), config_of(plan).format
    options = {"port": port, "path": f"/v1/{plan.hash}/submissions", "length": shape.length}
    options["seconds"] = seconds
    half = len(attacks) // 2
    quiet = (NO_ATTACK, 0)
    with server(serve_command(place, plan, port, "spool"), port) as child:
        prefer(child.pid, FIRST)
        phases = (quiet, *attacks[:half], quiet, *attacks[half:], quiet)
        return [phase(child, kind, number, options) for kind, number in phases]


def undisturbed(found: list[Phase]) -> float:
    """Submissions served per second without an attack."""
    return statistics.mean(each.served for each in found if each.attack == NO_ATTACK)


def row_of(found: Phase, quiet: float) -> list[str]:
    is_quiet = found.attack == NO_ATTACK
    return [
        NO_ATTACK if is_quiet else f"{found.connections:,} {found.attack}",
        f"{found.memory[0]:.0f} MB",
        f"{max(found.memory):.0f} MB",
        f"{found.served:.0f}",
        "" if is_quiet else f"{found.served / quiet:.0%}",
        f"{found.honest['p50']:.2f} s",
        f"{found.honest['p99']:.2f} s",
        _statuses(Counter(found.honest["statuses"])),
    ]


def _statuses(counted: Counter[str]) -> str:
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(counted.items()))


def goals(found: list[Phase]) -> str:
    start, peak = found[0].memory[0], max(max(each.memory) for each in found)
    seen = {status for each in found for status in each.honest["statuses"]}
    wrong = sorted(status for status in seen if status.startswith("5") and status != "503")
    answers = f"**missed**: {', '.join(wrong)}" if wrong else "met"
    memory = "met" if peak - start < MOST_MORE_MEGABYTES else "**missed**"
    share = min(each.served for each in found) / undisturbed(found)
    served = "met" if share >= LEAST_SHARE else "**missed**"
    return (
        f"- Served: at least {share:.0%} of what is served without an attack;"
        f" at least {LEAST_SHARE:.0%}: {served}.\n"
        f"- Memory: {start:.0f} MB at the start, {peak:.0f} MB at its peak;"
        f" at most {MOST_MORE_MEGABYTES:.0f} MB more: {memory}.\n"
        f"- No answer of 500 or above other than 503: {answers}."
    )


LEGEND = (
    "*Slow readers* ask for pages in a row and read no answer. *Slow writers* send the head of a"
    " submission, then a byte a second. *Pipelining* sends submissions and pages in a row, as many"
    " as are taken; so does *wrk*, which reads all answers. Whoever is closed comes back at once."
    " *Served*, times and answers are those of honest clients."
)


def report(quick: bool, seconds: float) -> str:
    files = allow_many_files()
    seconds = QUICK_SECONDS if quick else seconds
    attacks = tuple(each for each in ATTACKS if each[1] + 500 < files and _can_run(each[0]))
    plan = make_plan(read_survey(EXAMPLE)).sealed_for(generate_private_key().public_key())
    with tempfile.TemporaryDirectory(dir=RESULTS.parent) as folder:
        found = measure(plan, seconds, Path(folder), attacks)
    columns = ["attack", "memory, start", "peak", "served per second", "share"]
    columns += ["p50", "p99", "answers"]
    about = conditions(
        "python benchmarks/attacked.py",
        quick,
        ("krand", "starlette", "uvicorn", "uvloop", "httptools"),
        "The collector runs on one core; all clients share another, where honest ones come first."
        f" {HONEST} honest clients submit all the time, each submission on a new connection;"
        f" {found[0].seconds:.0f} seconds a row.",
    )
    quiet = undisturbed(found)
    rows = table(columns, [row_of(each, quiet) for each in found])
    note = "<!-- Written by benchmarks/attacked.py; do not edit. -->"
    parts = ["# A collector under attack", note, about, goals(found), rows, LEGEND]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report, seconds=SECONDS)
