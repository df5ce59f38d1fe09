"""What taking submissions in costs: the collector beside the bare framework, in one run.

    python benchmarks/collector.py            # writes benchmarks/collector.md; about 15 minutes
    python benchmarks/collector.py --quick    # a smoke run: to the terminal only

The collector has one core, the load generator (wrk) the other. Needs krand[serve,fast].
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from krand.collector.opening import config_of
from krand.collector.release import release_sealed
from krand.collector.sqlite.spool import Spool
from krand.collector.store import SpoolConfig
from krand.planning.making import make_plan
from krand.randomness.generator import secure_random
from krand.survey.plan import Plan
from krand.survey.reading import read_survey
from krand.wire.keys import generate_private_key, generate_signing_key
from krand.wire.messages import length_at
from krand.wire.submissions import SubmissionFormat, Submitted
from running import conditions, progress, run_benchmark, spent, table, verdict
from wrk_load import Load, has_wrk, load_by_wrk

RESULTS = Path(__file__).with_suffix(".md")
HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "browser.toml"
LIMIT_SHARE, SHUFFLE_GOAL = 0.75, 5.0
RELEASE_SECONDS, RELEASE_MEGABYTES = 60.0, 1000.0
CONNECTIONS = (64, 256, 1_000)

BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def taken(request):
    await request.body()
    return JSONResponse({"status": "accepted"}, 202)
app = Starlette(routes=[Route("/v1/{plan}/submissions", taken, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), access_log=False, log_level="critical")
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def server(command: list[str], port: int) -> Iterator[subprocess.Popen[bytes]]:
    """A server on the first core, ready to be asked."""
    child = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    os.sched_setaffinity(child.pid, {0})
    try:
        for _ in range(200):
            try:
                socket.create_connection(("127.0.0.1", port), 0.2).close()
                break
            except OSError:
                time.sleep(0.1)
        for thread in Path(f"/proc/{child.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {0})
        yield child
    finally:
        child.terminate()
        child.wait(60)


def load(port: int, plan: Plan, length: int, seconds: float, rate: float = 0.0) -> dict[str, Any]:
    options = {
        "port": port,
        "path": f"/v1/{plan.hash}/submissions",
        "length": length,
        "seconds": seconds,
        "connections": CONNECTIONS[0],
        "rate": rate,
    }
    command = ["taskset", "-c", "1", sys.executable, str(HERE / "load.py"), json.dumps(options)]
    found: dict[str, Any] = json.loads(
        subprocess.run(command, capture_output=True, check=True).stdout
    )
    return found


def resident(child: subprocess.Popen[bytes]) -> float:
    """Megabytes in memory now."""
    pages = int(Path(f"/proc/{child.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


@dataclass(frozen=True, slots=True)
class Measured:
    """One load, and the processor time that the server took for each submission."""

    load: Load
    processor: float
    """Seconds."""


Runs = dict[int, list[Measured]]
"""By the number of connections."""


def processor_seconds(child: subprocess.Popen[bytes]) -> float:
    """Of all its threads since its start."""
    fields = Path(f"/proc/{child.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measured(
    child: subprocess.Popen[bytes], port: int, plan: Plan, connections: int, seconds: int
) -> Measured:
    path, shape = f"/v1/{plan.hash}/submissions", config_of(plan).format
    before = processor_seconds(child)
    found = load_by_wrk(port, path, shape, connections, seconds)
    return Measured(found, (processor_seconds(child) - before) / found.count)


def measure_all(command: list[str], port: int, plan: Plan, seconds: int, runs: Runs) -> None:
    """Every number of connections once, on a server of its own."""
    with server(command, port) as child:
        measured(child, port, plan, 16, 1)
        for connections in CONNECTIONS:
            runs[connections].append(measured(child, port, plan, connections, seconds))
            progress(f"{connections} connections: {runs[connections][-1].load.rate:,.0f}/s")


def serve_command(place: Path, plan: Plan, port: int, name: str) -> list[str]:
    """`krand serve` with a spool of this name."""
    (place / "plan.json").write_bytes(plan.bytes)
    command = [sys.executable, "-m", "krand", "serve", "--plan", str(place / "plan.json")]
    return [*command, "--spool", str(place / name), "--port", str(port)]


def intake_section(plan: Plan, quick: bool, place: Path) -> str:
    if not has_wrk():
        return "## Intake\n\nSkipped: it is measured with wrk and taskset, which are not installed."
    seconds, repeats = (2, 1) if quick else (10, 3)
    bare: Runs = {number: [] for number in CONNECTIONS}
    full: Runs = {number: [] for number in CONNECTIONS}
    for repeat in range(repeats):  # one after the other: an idle collector tidies its spool
        port = free_port()
        progress("bare framework")
        measure_all([sys.executable, "-c", BARE, str(port)], port, plan, seconds, bare)
        port = free_port()
        progress("collector")
        command = serve_command(place, plan, port, f"spool-{repeat}")
        measure_all(command, port, plan, seconds, full)
    shape = config_of(plan).format
    about = (
        f"## Intake\n\nThe example browser survey: {shape.messages} messages, {shape.length} bytes"
        f" a submission. wrk sends, medians of {repeats}. The share of the limit is the median rate"
        " divided by that of the bare framework at the same number of connections."
    )
    memory = memory_section(plan, quick, place, rate_of(full[CONNECTIONS[0]]))
    return "\n\n".join([about, rates_table(bare, full), memory])


def rates_table(bare: Runs, full: Runs) -> str:
    rows = []
    for connections in CONNECTIONS:
        limit, ours = bare[connections], full[connections]
        share = rate_of(ours) / rate_of(limit)
        goal = f"{share:.2f}"
        if connections == CONNECTIONS[0]:
            goal += f": {verdict(share >= LIMIT_SHARE)} (≥ {LIMIT_SHARE})"
        where = "" if connections == CONNECTIONS[0] else f", {connections:,} connections"
        busy = f"{processor_of(limit) / processor_of(ours):.2f}"
        rows.append([f"bare framework, nothing stored{where}", *_figures(limit), "", ""])
        rows.append([f"krand serve, every one on the disk{where}", *_figures(ours), goal, busy])
    columns = ["one core", "submissions per second", "p50", "p99", "processor", "failed"]
    return (
        f"{CONNECTIONS[0]} connections where nothing else is said.\n\n"
        + table([*columns, "share of the limit", "by processor"], rows)
        + "\n\n*processor* is the processor time of the server for each submission, and *by"
        " processor* the share of the limit in that time, without waiting for the disk. If other"
        " programs use the same core, it is the better figure of the two: the collector has two"
        " threads, so it gets more of a busy core than the bare framework. *failed* counts answers"
        " of 400 or more and broken connections."
    )


def rate_of(runs: list[Measured]) -> float:
    return statistics.median(run.load.rate for run in runs)


def processor_of(runs: list[Measured]) -> float:
    return statistics.median(run.processor for run in runs)


def _figures(runs: list[Measured]) -> list[str]:
    return [
        f"{rate_of(runs):,.0f}",
        f"{1e3 * statistics.median(run.load.p50 for run in runs):.1f} ms",
        f"{1e3 * statistics.median(run.load.p99 for run in runs):.1f} ms",
        f"{1e6 * processor_of(runs):.0f} µs",
        f"{sum(run.load.other + run.load.broken for run in runs):,}",
    ]


def memory_section(plan: Plan, quick: bool, place: Path, rate: float) -> str:
    """The memory over time, at half the rate, which wrk cannot keep."""
    minutes = 0.2 if quick else 10.0
    length, port = config_of(plan).format.length, free_port()
    with server(serve_command(place, plan, port, "spool-memory"), port) as child:
        load(port, plan, length, 1.0)
        memory, start = [resident(child)], time.perf_counter()
        while time.perf_counter() - start < 60 * minutes:
            load(port, plan, length, 6.0 if quick else 58.0, 0.5 * rate)
            memory.append(resident(child))
            progress(f"memory: {memory[-1]:.0f} MB")
    told = ", ".join(f"{megabytes:.0f}" for megabytes in memory)
    return (
        "Memory of the collector in MB, at the start and after each minute of half the load,"
        f" {minutes:g} minutes in all: {told}."
    )


def shuffle_section(quick: bool) -> str:
    count = 5_000_000 if quick else 10_000_000
    rows = []
    for width, what in ((5, "40-bit reports"), (54, "sealed messages")):
        given = np.random.default_rng(1).integers(0, 256, (count, width), np.uint8)
        secure_random().shuffled(given)
        ours, theirs = [], []
        for _ in range(1 if quick else 3):
            ours.append(spent(lambda g=given: secure_random().shuffled(g)))
            random = np.random.default_rng(2)
            theirs.append(spent(lambda g=given, r=random: r.permutation(g)))
        mine, other = statistics.median(ours), statistics.median(theirs)
        goal = verdict(other / mine >= SHUFFLE_GOAL)
        rows.append([what, f"{mine:.2f} s", f"{other:.2f} s", f"{other / mine:.1f}", goal])
        del given
    columns = [
        f"{count:,} rows",
        "krand, AES",
        "numpy, PCG64",
        "÷ krand",
        f"goal: ≥ {SHUFFLE_GOAL:g}",
    ]
    return f"## Shuffle\n\n{table(columns, rows)}"


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import collector
getattr(collector, sys.argv[2])(Path(sys.argv[3]), int(sys.argv[4]))
"""
"""In a process of its own, so that its memory is its own."""


def spool_setting(messages: int) -> SpoolConfig:
    """Ten messages a person, in five lanes."""
    format = SubmissionFormat(1, 54, 10)
    crowd = messages // 10
    return SpoolConfig(plan_hash="ab" * 32, crowd=crowd, format=format, lanes=(2,) * 5)


def filled_spool(place: Path, messages: int) -> None:
    config = spool_setting(messages)
    with Spool(place / "large", config) as spool:
        for start in range(0, config.crowd, 1_000):
            some = min(1_000, config.crowd - start)
            spool.add([Submitted(os.urandom(16), os.urandom(540)) for _ in range(some)])
        spool.close_batch()


def released(place: Path, messages: int) -> None:
    start = time.perf_counter()
    with Spool(place / "large", spool_setting(messages)) as spool:
        (done,) = release_sealed(spool, place / "out", generate_signing_key())
    took = time.perf_counter() - start
    status = Path("/proc/self/status").read_text(encoding="ascii")
    (peak,) = (int(line.split()[1]) / 1e3 for line in status.splitlines() if "VmHWM" in line)
    print(json.dumps({"seconds": took, "megabytes": peak, "messages": done.batch.messages}))


def release_section(quick: bool, place: Path) -> str:
    messages = 100_000 if quick else 10_000_000
    command = [sys.executable, "-c", CHILD, str(HERE)]
    progress(f"filling a spool with {messages:,} messages")
    subprocess.run([*command, "filled_spool", str(place), str(messages)], check=True)
    progress("releasing it")
    release = [*command, "released", str(place), str(messages)]
    found = json.loads(subprocess.run(release, check=True, capture_output=True).stdout)
    row = [
        f"{found['messages']:,} messages",
        f"{found['seconds']:.1f} s",
        verdict(found["seconds"] < RELEASE_SECONDS),
        f"{found['megabytes']:.0f} MB",
        verdict(found["megabytes"] < RELEASE_MEGABYTES),
    ]
    columns = ["release", "time", f"goal: < {RELEASE_SECONDS:.0f} s", "peak memory", "goal: < 1 GB"]
    about = "Shuffled, written, hashed, signed, and the spool wiped."
    return f"## Release\n\n{about}\n\n{table(columns, [row])}"


def report(quick: bool) -> str:
    key = generate_private_key().public_key()
    plan = make_plan(read_survey(EXAMPLE)).sealed_for(key)
    assert length_at(plan, 1) == 54
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        sections = [intake_section(plan, quick, Path(folder)), shuffle_section(quick)]
        sections.append(release_section(quick, Path(folder)))
    about = conditions(
        "python benchmarks/collector.py",
        quick,
        ("krand", "starlette", "uvicorn", "uvloop", "httptools", "numpy"),
        "The server runs on one core, the load generator on another; every submission is new.",
    )
    note = "<!-- Written by benchmarks/collector.py; do not edit. -->"
    head = ["# What taking submissions in costs", note, about]
    return "\n\n".join([*head, *sections]) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report)
