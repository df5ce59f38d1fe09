"""What taking submissions in costs: the collector beside the bare framework, in one run.

    python benchmarks/collector.py            # writes benchmarks/collector.md; about 5 minutes
    python benchmarks/collector.py --quick    # a smoke run: to the terminal only

The collector has one core, the load generator (wrk) the other. Needs krand[serve].
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
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

from krand import Plan, make_plan, read_survey
from krand.testing import FakeChain
from krand.wire.messages import length_at
from krand.wire.submissions import SubmissionFormat, format_of
from running import conditions, progress, run_benchmark, table, verdict

RESULTS = Path(__file__).with_suffix(".md")
HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "browser.toml"
LIMIT_SHARE, LEAST_RATE = 0.5, 1_000
CONNECTIONS = (64, 256, 1_000)

BARE = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
async def taken(request):
    await request.body()
    return JSONResponse({"status": "accepted"}, 202)
app = Starlette(routes=[Route("/v1/plans/{plan}/submissions", taken, methods=["POST"])])
limits = {"http": "h11", "loop": "asyncio", "access_log": False, "log_level": "critical"}
uvicorn.run(app, port=int(sys.argv[1]), **limits)
"""


SCRIPT = Path(__file__).with_name("submissions.lua")
TIMEOUT_SECONDS = 30


@dataclass(frozen=True, slots=True)
class Load:
    """What came of it; times in seconds."""

    count: int
    seconds: float
    p50: float
    p99: float
    other: int
    """Answers of 400 or more."""
    broken: int
    """Connections that failed."""

    @property
    def rate(self) -> float:
        """Answers per second."""
        return self.count / self.seconds


def has_wrk() -> bool:
    """Whether wrk is installed, and taskset, which gives it a core."""
    return shutil.which("wrk") is not None and shutil.which("taskset") is not None


def load_by_wrk(
    port: int, path: str, shape: SubmissionFormat, connections: int, seconds: int
) -> Load:
    """Submissions as fast as they are answered; refused ones would measure nothing."""
    command = ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{seconds}s"]
    command += ["--timeout", f"{TIMEOUT_SECONDS}s", "-s", str(SCRIPT)]
    command += [f"http://127.0.0.1:{port}", "--", path, str(shape.messages)]
    command += [str(shape.message_length), secrets.token_hex(8)]
    told = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    load = Load(**json.loads(told.strip().splitlines()[-1]))
    if load.other:
        raise RuntimeError(f"{load.other:,} of {load.count:,} submissions were not accepted")
    return load


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
    path, shape = f"/v1/plans/{plan.hash}/submissions", format_of(plan)
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
    shape = format_of(plan)
    about = (
        f"## Intake\n\nThe example browser survey: {shape.messages} messages, {shape.length} bytes"
        f" a submission. wrk sends, medians of {repeats}. The share of the limit is the median rate"
        " divided by that of the bare framework at the same number of connections."
    )
    return f"{about}\n\n{rates_table(bare, full)}"


def rates_table(bare: Runs, full: Runs) -> str:
    rows = []
    for connections in CONNECTIONS:
        limit, ours = bare[connections], full[connections]
        share = rate_of(ours) / rate_of(limit)
        goal = f"{share:.2f}"
        if connections == CONNECTIONS[0]:
            met = share >= LIMIT_SHARE and rate_of(ours) >= LEAST_RATE
            goal += f": {verdict(met)} (≥ {LIMIT_SHARE}, and {LEAST_RATE:,} a second)"
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


def report(quick: bool) -> str:
    plan = FakeChain(make_plan(read_survey(EXAMPLE))).plan
    assert length_at(plan, 1) == 54
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        intake = intake_section(plan, quick, Path(folder))
    about = conditions(
        "python benchmarks/collector.py",
        quick,
        ("krand", "starlette", "uvicorn", "h11"),
        "The server runs on one core, the load generator on another; every submission is new.",
    )
    note = "<!-- Written by benchmarks/collector.py; do not edit. -->"
    head = ["# What taking submissions in costs", note, about]
    return "\n\n".join([*head, intake]) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, (RESULTS, report))
