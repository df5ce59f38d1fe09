"""A load by wrk on the second core: connections that stay open, submissions that are all new."""

from __future__ import annotations

import json
import secrets
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from krand.wire.submissions import SubmissionFormat

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
