"""What taking submissions in costs: `krand run` beside the bare framework, in one run.

    python benchmarks/collector.py            # writes benchmarks/collector.md; about 5 minutes
    python benchmarks/collector.py --quick    # a smoke run: to the terminal only

Worker and listener together have one core, the load generator (wrk) the other. Needs krand[serve].
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
from urllib.request import urlopen

from krand.survey.plan_file import parse_plan
from krand.wire.submissions import SubmissionFormat, format_of
from running import conditions, progress, run_benchmark, table, verdict

RESULTS = Path(__file__).with_suffix(".md")
HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "browser.toml"
LIMIT_SHARE, LEAST_RATE = 0.5, 1_000
CONNECTIONS = (64, 256, 1_000)

BARE = """
import sys, uvicorn
from pathlib import Path
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
plan = Path(sys.argv[2])
async def taken(request):
    await request.body()
    return JSONResponse({"status": "accepted"}, 202)
async def plans(request):
    return JSONResponse({"plans": [{"plan": plan.parent.name}]})
async def content(request):
    return Response(plan.read_bytes())
app = Starlette(routes=[
    Route("/v1/plans/{plan}/submissions", taken, methods=["POST"]),
    Route("/v1/plans", plans),
    Route("/v1/plans/{plan}", content),
])
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
def server(command: list[str], port: int) -> Iterator[int]:
    """A server on the first core with all that it starts, ready to be asked; its process."""
    pinned = ["taskset", "-c", "0", *command]
    child = subprocess.Popen(pinned, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            try:
                with urlopen(f"http://127.0.0.1:{port}/v1/plans", timeout=5) as answer:
                    if json.load(answer)["plans"]:
                        break
            except OSError:
                pass
            time.sleep(0.1)
        yield child.pid
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


def processor_seconds(process: int) -> float:
    """Of a process and its children since their start."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(encoding="ascii").rpartition(")")[2].split()
        except OSError:
            continue
        if process in (int(path.parent.name), int(fields[1])):
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure_all(command: list[str], port: int, seconds: int, runs: Runs) -> SubmissionFormat:
    """Every number of connections once, on a server of its own; the submissions' format."""
    with server(command, port) as process:
        url = f"http://127.0.0.1:{port}/v1/plans"
        (plan,) = json.load(urlopen(url))["plans"]
        shape = format_of(parse_plan(urlopen(f"{url}/{plan['plan']}").read()))
        path = f"/v1/plans/{plan['plan']}/submissions"
        load_by_wrk(port, path, shape, 16, 1)
        for connections in CONNECTIONS:
            before = processor_seconds(process)
            found = load_by_wrk(port, path, shape, connections, seconds)
            spent = processor_seconds(process) - before
            runs[connections].append(Measured(found, spent / found.count))
            progress(f"{connections} connections: {found.rate:,.0f}/s")
    return shape


def intake_section(quick: bool, place: Path) -> str:
    if not has_wrk():
        return "## Intake\n\nSkipped: it is measured with wrk and taskset, which are not installed."
    seconds, repeats = (2, 1) if quick else (10, 3)
    bare: Runs = {number: [] for number in CONNECTIONS}
    full: Runs = {number: [] for number in CONNECTIONS}
    for repeat in range(repeats):  # one after the other: an idle collector tidies its spool
        port, survey = free_port(), place / f"survey-{repeat}.toml"
        shutil.copy(EXAMPLE, survey)
        progress("krand run")
        command = [sys.executable, "-m", "krand", "run", str(survey), "--yes", "--no-console"]
        shape = measure_all([*command, "--port", str(port)], port, seconds, full)
        plan = next(survey.with_suffix(".krand").glob("public/*/plan.json"))
        port = free_port()
        progress("bare framework")
        measure_all([sys.executable, "-c", BARE, str(port), str(plan)], port, seconds, bare)
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
        rows.append([f"krand run, every one on the disk{where}", *_figures(ours), goal, busy])
    columns = ["one core", "submissions per second", "p50", "p99", "processor", "failed"]
    return (
        f"{CONNECTIONS[0]} connections where nothing else is said.\n\n"
        + table([*columns, "share of the limit", "by processor"], rows)
        + "\n\n*processor* is the processor time of the server for each submission, and *by"
        " processor* the share of the limit in that time, without waiting for the disk. If other"
        " programs use the same core, it is the better figure of the two: krand has two processes,"
        " so it gets more of a busy core than the bare framework. *failed* counts answers of 400"
        " or more and broken connections."
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
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        intake = intake_section(quick, Path(folder))
    about = conditions(
        "python benchmarks/collector.py",
        quick,
        ("krand", "starlette", "uvicorn", "h11"),
        "The server has one core, the load generator another; every submission is new.",
    )
    note = "<!-- Written by benchmarks/collector.py; do not edit. -->"
    head = ["# What taking submissions in costs", note, about]
    return "\n\n".join([*head, intake]) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, (RESULTS, report))
