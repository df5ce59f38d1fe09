"""The documentation as HTML, built once in a run of all tests that read it."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from components import require
from docs.pages import ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of pages, built as `make docs` does it: a warning is an error."""
    for module in ("sphinx", "furo", "myst_parser"):
        require(module)
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:  # one build for all processes of this run
        shared = shared.parent
    folder, done = shared / "docs", shared / "docs" / "done"
    with (shared / "docs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            _build(folder)
            done.touch()
    return folder / "html"


def _build(folder: Path) -> None:
    arguments = ["-q", "-W", "--keep-going", "-c", "docs", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments, ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
