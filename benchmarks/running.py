"""What all benchmarks share: the machine's name, tables, progress, one way to be called."""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

__all__ = ["processor", "progress", "run_benchmark", "table"]


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table, its first column to the left and the others to the right."""
    lines = [columns, ["---", *["--:"] * (len(columns) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


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


def run_benchmark(
    about: str | None, results: Path, report: Callable[..., str], seconds: float | None = None
) -> None:
    """Measure, print, and write the results; a quick run writes only where it is told to.

    Where `seconds` is given, it is how long each part takes unless --seconds says otherwise.
    """
    parser = argparse.ArgumentParser(description=(about or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a smoke run, not for quoting")
    parser.add_argument("--output", type=Path, metavar="FILE", help=f"default: {results.name}")
    if seconds is not None:
        parser.add_argument("--seconds", type=float, default=seconds, help="of each part")
    asked = parser.parse_args()
    text = report(asked.quick, *(() if seconds is None else (asked.seconds,)))
    print(text)
    path = asked.output or (None if asked.quick else results)
    if path is not None:
        write(path, text)
        progress(f"written: {path.name}")
