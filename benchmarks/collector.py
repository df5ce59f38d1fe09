"""What taking submissions in costs: the collector beside the bare framework, in one run.

    python benchmarks/collector.py            # writes benchmarks/collector.md; about 15 minutes
    python benchmarks/collector.py --quick    # a smoke run: to the terminal only

The collector has one core, the load generator the other. Needs krand[serve,fast].
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from krand.client.randomizer import message_format
from krand.client.randomness import secure_random
from krand.client.row_order import shuffled_rows
from krand.collect.opening import setting_of
from krand.collect.release import release_sealed
from krand.collect.spool import Setting, Spool
from krand.survey.plan import Plan, make_plan
from krand.survey.reading import read_survey
from krand.wire.keys import generate_private_key, generate_signing_key
from krand.wire.submissions import HEAD_LENGTH, Shape, Submitted
from running import processor, progress, run_benchmark, table

RESULTS = Path(__file__).with_suffix(".md")
HERE = Path(__file__).parent
EXAMPLE = HERE.parent / "examples" / "browser.toml"
LIMIT_SHARE, P99_SECONDS, SHUFFLE_GOAL = 0.5, 0.1, 5.0
RELEASE_SECONDS, RELEASE_MEGABYTES = 60.0, 1000.0
CONNECTIONS = 64

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


def how(quick: bool, load: float) -> str:
    names = ("krand", "starlette", "uvicorn", "httptools", "numpy", "numba")
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in names)
    kind = "A smoke run" if quick else "A full run"
    return (
        f"{kind} by `python benchmarks/collector.py` on {datetime.now(UTC):%Y-%m-%d}.\n\n"
        f"- Machine: {processor()} ({platform.machine()}), {os.cpu_count()} cores,"
        f" {platform.system()}; load average at the start {load:.1f}.\n"
        f"- Versions: Python {platform.python_version()}, {versions}.\n"
        "- The server runs on one core, the load generator on another; every submission is new."
    )


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
        "connections": CONNECTIONS,
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


def intake_section(plan: Plan, quick: bool, place: Path) -> str:
    shape = setting_of(plan).shape
    length = HEAD_LENGTH + shape.messages * shape.message_length
    seconds, repeats = (2.0, 1) if quick else (10.0, 3)
    plan_file = place / "plan.json"
    plan_file.write_bytes(plan.bytes)
    port = free_port()
    with server([sys.executable, "-c", BARE, str(port)], port):
        load(port, plan, length, 1.0)
        bare = [load(port, plan, length, seconds) for _ in range(repeats)]
    progress(f"bare framework: {[round(b['rate']) for b in bare]}")
    port, spool = free_port(), place / "spool"
    command = [sys.executable, "-m", "krand", "serve", "--plan", str(plan_file)]
    command += ["--spool", str(spool), "--port", str(port)]
    with server(command, port) as child:
        load(port, plan, length, 1.0)
        full = [load(port, plan, length, seconds) for _ in range(repeats)]
        rate = statistics.median(run["rate"] for run in full)
        progress(f"collector: {[round(b['rate']) for b in full]}")
        eased = load(port, plan, length, seconds, 0.8 * rate)
        memory = [(0.0, resident(child))]
        minutes = 0.2 if quick else 10.0
        start = time.perf_counter()
        while time.perf_counter() - start < 60 * minutes:
            load(port, plan, length, 6.0 if quick else 58.0, 0.5 * rate)
            memory.append(((time.perf_counter() - start) / 60, resident(child)))
            progress(f"memory after {memory[-1][0]:.1f} minutes: {memory[-1][1]:.0f} MB")
    limit = statistics.median(run["rate"] for run in bare)
    other = sum(run["other"] for run in (*bare, *full, eased))
    rows = [
        ["bare framework, nothing stored", f"{limit:,.0f}", _ms(bare, "p50"), _ms(bare, "p99"), ""],
        [
            "krand serve, every one on the disk",
            f"{rate:,.0f}",
            _ms(full, "p50"),
            _ms(full, "p99"),
            f"{rate / limit:.2f}: {verdict(rate / limit >= LIMIT_SHARE)} (≥ {LIMIT_SHARE})",
        ],
        [
            "krand serve at 80 % of that",
            f"{eased['rate']:,.0f}",
            _ms([eased], "p50"),
            _ms([eased], "p99"),
            f"p99: {verdict(eased['p99'] < P99_SECONDS)} (< {1000 * P99_SECONDS:.0f} ms)",
        ],
    ]
    columns = ["one core", "submissions per second", "p50", "p99", "share of the limit, goals"]
    told = ", ".join(f"{megabytes:.0f}" for _, megabytes in memory)
    return (
        f"## Intake\n\nThe example browser survey: {shape.messages} messages,"
        f" {length} bytes a submission, {CONNECTIONS} connections. Answers other than 202: {other}."
        f"\n\n{table(columns, rows)}\n\nMemory of the collector in MB, at the start and after each"
        f" minute of half the load, {minutes:g} minutes in all: {told}."
    )


def _ms(runs: list[dict[str, Any]], name: str) -> str:
    return f"{1000 * statistics.median(run[name] for run in runs):.1f} ms"


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def shuffle_section(quick: bool) -> str:
    count = 5_000_000 if quick else 10_000_000
    rows = []
    for width, what in ((5, "40-bit reports"), (54, "sealed messages")):
        given = np.random.default_rng(1).integers(0, 256, (count, width), np.uint8)
        shuffled_rows(given, secure_random())
        ours, theirs = [], []
        for _ in range(1 if quick else 3):
            ours.append(_seconds(lambda g=given: shuffled_rows(g, secure_random())))
            random = np.random.default_rng(2)
            theirs.append(_seconds(lambda g=given, r=random: r.permutation(g)))
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


def _seconds(work: Any) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


CHILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import collector
getattr(collector, sys.argv[2])(Path(sys.argv[3]), int(sys.argv[4]))
"""
"""In a process of its own, so that its memory is its own."""


def spool_setting(messages: int) -> Setting:
    """Ten messages a person."""
    return Setting("ab" * 32, messages // 10, Shape(1, 54, 10))


def filled_spool(place: Path, messages: int) -> None:
    setting = spool_setting(messages)
    with Spool(place / "large", setting) as spool:
        for start in range(0, setting.population, 1_000):
            some = min(1_000, setting.population - start)
            spool.add([Submitted(os.urandom(16), os.urandom(540)) for _ in range(some)])


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
    busy = os.getloadavg()[0]
    key = generate_private_key().public_key()
    plan = make_plan(read_survey(EXAMPLE)).sealed_for(key)
    assert message_format(plan).sealed_length == 54
    with tempfile.TemporaryDirectory(dir=HERE) as folder:
        sections = [intake_section(plan, quick, Path(folder)), shuffle_section(quick)]
        sections.append(release_section(quick, Path(folder)))
    note = "<!-- Written by benchmarks/collector.py; do not edit. -->"
    head = ["# What taking submissions in costs", note, how(quick, busy)]
    return "\n\n".join([*head, *sections]) + "\n"


if __name__ == "__main__":
    run_benchmark(__doc__, RESULTS, report)
