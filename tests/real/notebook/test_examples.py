"""The scripts in examples/ run from top to bottom, without a warning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from components import require

FOLDER = Path(__file__).parents[3] / "examples"


@pytest.mark.parametrize("name", ["first_survey", "telemetry", "method"])
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    """As a script; in a notebook each cell shows the value of its last line too."""
    require("pandas")
    command = [sys.executable, "-W", "error", FOLDER / f"{name}.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
