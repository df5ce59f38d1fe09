"""A run of `krand-lab drafts` that names no section, and so means all: made once for all tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from world import once

KRAND_LAB = (sys.executable, "-c", "from krand_lab.commands.main import main; main()")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: the work is spread over further processes."""
    environment = {**os.environ, "COLUMNS": "100"}
    command = [*KRAND_LAB, "drafts", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=3600)


@pytest.fixture(scope="session")
def written() -> Path:
    """The folder that it has written."""
    return once("drafts", _write)


@pytest.fixture(scope="session")
def values(written: Path) -> dict[str, Any]:
    """All numbers, figures and statements, as a program reads them."""
    found: dict[str, Any] = json.loads((written / "drafts.json").read_text(encoding="utf-8"))
    return found


def _write(folder: Path) -> None:
    done = run("--output", str(folder))
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(f"Report: {folder / 'drafts.html'}")
