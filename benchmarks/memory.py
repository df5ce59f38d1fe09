"""The memory of other processes, where Linux tells it."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path


def peak_of_command(command: list[str]) -> float:
    """Run a command; the largest sum over it and its children, shared pages divided."""
    most = 0.0
    with subprocess.Popen(command) as child:
        while child.poll() is None:
            most = max(most, family_megabytes(child.pid))
            time.sleep(0.2)
    if child.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return most


def family_megabytes(parent: int) -> float:
    """Of a process and its children now, shared pages divided."""
    return sum(map(proportional_megabytes, family(parent)))


def family(parent: int) -> list[int]:
    try:
        told = Path(f"/proc/{parent}/task/{parent}/children").read_text(encoding="ascii")
    except OSError:
        return []
    return [parent, *(n for child in told.split() for n in family(int(child)))]


def proportional_megabytes(process: int) -> float:
    try:
        told = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in told.splitlines() if line.startswith("Pss:")) / 1e3


def most_megabytes(process: int) -> float:
    """The most that one process has had by itself (VmHWM)."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6
