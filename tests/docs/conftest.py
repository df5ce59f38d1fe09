"""The documentation is built once for all tests that read it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from components import require
from docs.pages import ROOT


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The documentation as HTML, built as `make docs` does it: a warning is an error."""
    for module in ("sphinx", "furo", "myst_parser"):
        require(module)
    folder = tmp_path_factory.mktemp("docs")
    arguments = ["-q", "-W", "--keep-going", "-c", "docs", "-d", str(folder / "doctrees")]
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", *arguments, ".", str(folder / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"
