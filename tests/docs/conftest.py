"""The documentation as HTML, built once in a run of all tests that read it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from components import require
from docs.pages import ROOT
from sharing import once


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of pages, built as `make docs` does it: a warning is an error."""
    for module in ("sphinx", "furo", "myst_parser"):
        require(module)
    return once(tmp_path_factory, "docs", _build) / "html"


def _build(folder: Path) -> None:
    arguments = ["-q", "-W", "--keep-going", "-c", "docs", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments, ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
