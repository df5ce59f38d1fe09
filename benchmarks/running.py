"""What all benchmarks share: conditions, clocks, memory, tables, one way to be called."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

LOAD = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
"""The load average before anything is measured."""


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, its first column to the left and the others to the right."""
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def times(ratio: float) -> str:
    if ratio >= 1e7:
        return f"{ratio:.0e}"
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.2g}"


def spent(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    work()
    return clock() - start


def peak_megabytes() -> float:
    """The most memory that this process had; Linux tells it apart from what forked it."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6


def conditions(command: str, quick: bool, packages: Sequence[str], *notes: str) -> str:
    """How figures were obtained: the run, the machine, versions, and what else must be known."""
    kind = "A smoke run, not for quoting," if quick else "A full run"
    machine = f"{processor()} ({platform.machine()}), {os.cpu_count()} cores, {platform.system()}"
    versions = ", ".join([f"Python {platform.python_version()}", *map(version_of, packages)])
    lines = [
        f"Machine: {machine}; load average at the start {LOAD}.",
        f"Versions: {versions}.",
        *notes,
    ]
    text = "\n".join(f"- {line}" for line in lines)
    return f"{kind} by `{command}` on {datetime.now(UTC):%Y-%m-%d}.\n\n{text}"


def version_of(package: str) -> str:
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return f"no {package}"


def processor() -> str:
    """The processor's name where the system tells it."""
    try:
        told = subprocess.run(
            ["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}
        ).stdout
    except OSError:
        told = ""
    names = [line.split(":")[1].strip() for line in told.splitlines() if "Model name" in line]
    return names[0] if names else platform.processor() or "processor without a name"


def write(path: Path, text: str) -> None:
    """All of the file or none of it."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).chmod(0o644)
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def run_benchmark(about: str | None, *pages: tuple[Path, Callable[[bool], str]]) -> None:
    """Measure, print, and write the results; a quick run writes only where it is told to."""
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke run, not for quoting")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="default: beside the script")
    asked = parser.parse_args()
    for results, report in pages:
        text = report(asked.quick)
        print(text)
        folder = asked.output or (None if asked.quick else results.parent)
        if folder is not None:
            write(folder / results.name, text)
            progress(f"written: {results.name}")
