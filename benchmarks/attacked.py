"""A collector under attack: its memory over time, and whether honest people are still served.

    python benchmarks/attacked.py            # writes benchmarks/attacked.md; about 10 minutes
    python benchmarks/attacked.py --quick    # a smoke run of 20 seconds: to the terminal only

The collector has one core, all clients share the other. Needs krand[serve] and Linux.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from collector import EXAMPLE, free_port, resident, serve_command, server, version_of
from krand.collector.opening import config_of
from krand.planning.making import make_plan
from krand.survey.plan import Plan
from krand.survey.reading import read_survey
from krand.wire.keys import generate_private_key
from running import processor, progress, run_benchmark, table

RESULTS = Path(__file__).with_suffix(".md")
CLIENTS = Path(__file__).with_name("attackers.py")
ATTACKS = ("slow readers", "slow writers", "pipelining")
CONNECTIONS = (500, 2_000, 5_000)
HONEST = 16
SECONDS, QUICK_SECONDS = 600.0, 20.0
FILES = 12_000
MOST_MORE_MEGABYTES = 300.0
"""A goal: the memory at its peak, beyond that at the start."""


@dataclass(frozen=True, slots=True)
class Phase:
    """One attack, and what honest clients saw meanwhile."""

    attack: str
    connections: int
    seconds: float
    memory: tuple[float, ...]
    """Megabytes, several times a second."""
    honest: dict[str, Any]
    attackers: dict[str, Any]

    @property
    def served(self) -> float:
        """Honest submissions that were stored, per second."""
        return float(self.honest["statuses"].get("202", 0) / self.seconds)


def allow_many_files() -> int:
    """For us and all processes that we start; how many there may be."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return most


@contextmanager
def clients(kind: str, connections: int, **options: Any) -> Iterator[subprocess.Popen[bytes]]:
    """Clients of one kind in a process of their own, on the second core."""
    told = json.dumps({"kind": kind, "connections": connections, **options})
    child = subprocess.Popen([sys.executable, str(CLIENTS), told], stdout=subprocess.PIPE)
    os.sched_setaffinity(child.pid, {1})
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def phase(
    child: subprocess.Popen[bytes], attack: str, connections: int, options: dict[str, Any]
) -> Phase:
    seconds: float = options["seconds"]
    with (
        clients(attack, connections, **options) as attackers,
        clients("honest", HONEST, **options) as honest,
    ):
        memory, end = [resident(child)], time.monotonic() + seconds
        while time.monotonic() < end:
            time.sleep(0.2)
            memory.append(resident(child))
        seen = [json.loads(each.communicate()[0]) for each in (honest, attackers)]
    found = Phase(attack, connections, seconds, tuple(memory), seen[0], seen[1])
    progress(f"{connections:,} {attack}: {found.served:.0f}/s, {max(memory):.0f} MB")
    return found


def measure(plan: Plan, quick: bool, place: Path, connections: tuple[int, ...]) -> list[Phase]:
    port, shape = free_port(), config_of(plan).format
    options = {"port": port, "path": f"/v1/{plan.hash}/submissions", "length": shape.length}
    options["seconds"] = (QUICK_SECONDS if quick else SECONDS) / (1 + len(ATTACKS) * 3)
    with server(serve_command(place, plan, port, "spool"), port) as child:
        found = [phase(child, "honest", 1, options)]
        found += [phase(child, kind, n, options) for n in connections for kind in ATTACKS]
    return found


def row_of(found: Phase) -> list[str]:
    quiet = found.attack == "honest"
    return [
        "no attack" if quiet else f"{found.connections:,} {found.attack}",
        f"{found.memory[0]:.0f} MB",
        f"{max(found.memory):.0f} MB",
        f"{found.served:.0f}",
        f"{found.honest['p50']:.2f} s",
        f"{found.honest['p99']:.2f} s",
        _statuses(Counter(found.honest["statuses"])),
        "" if quiet else f"{found.attackers['opened']:,}",
    ]


def _statuses(counted: Counter[str]) -> str:
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(counted.items()))


def goals(found: list[Phase]) -> str:
    start, peak = found[0].memory[0], max(max(each.memory) for each in found)
    seen = {status for each in found for status in each.honest["statuses"]}
    wrong = sorted(status for status in seen if status.startswith("5") and status != "503")
    answers = f"**missed**: {', '.join(wrong)}" if wrong else "met"
    memory = "met" if peak - start < MOST_MORE_MEGABYTES else "**missed**"
    return (
        f"- Memory: {start:.0f} MB at the start, {peak:.0f} MB at its peak;"
        f" at most {MOST_MORE_MEGABYTES:.0f} MB more: {memory}.\n"
        f"- No answer of 500 or above other than 503: {answers}."
    )


LEGEND = (
    "*Slow readers* ask for pages in a row and read no answer. *Slow writers* send the head of a"
    " submission, then a byte a second. *Pipelining* sends submissions and pages in a row, as many"
    " as are taken. Whoever is closed comes back at once; *opened* counts these connections."
    " *Served*, times and answers are those of honest clients. A collector takes 4,096 connections;"
    " beyond that the one that was served longest ago is closed. Requests sent in a row take turns,"
    " one every 5 ms."
)


def report(quick: bool) -> str:
    busy, files = os.getloadavg()[0], allow_many_files()
    connections = tuple(number for number in CONNECTIONS if number + 500 < files)
    plan = make_plan(read_survey(EXAMPLE)).sealed_for(generate_private_key().public_key())
    with tempfile.TemporaryDirectory(dir=RESULTS.parent) as folder:
        found = measure(plan, quick, Path(folder), connections)
    versions = ", ".join(map(version_of, ("krand", "starlette", "uvicorn", "uvloop", "httptools")))
    columns = ["attack", "memory, start", "peak", "served per second", "p50", "p99", "answers"]
    about = (
        f"{'A smoke run' if quick else 'A full run'} by `python benchmarks/attacked.py` on"
        f" {datetime.now(UTC):%Y-%m-%d}.\n\n- Machine: {processor()} ({platform.machine()}),"
        f" {os.cpu_count()} cores, {platform.system()}; load average at the start {busy:.1f}.\n"
        f"- Versions: Python {platform.python_version()}, {versions}.\n"
        f"- The collector runs on one core; all clients share another. {HONEST} honest clients"
        f" submit all the time, each submission on a new connection;"
        f" {found[0].seconds:.0f} seconds a row."
    )
    rows = table([*columns, "opened"], [row_of(each) for each in found])
    note = "<!-- Written by benchmarks/attacked.py; do not edit. -->"
    parts = ["# A collector under attack", note, about, goals(found), rows, LEGEND]
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report)
