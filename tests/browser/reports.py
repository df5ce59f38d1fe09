"""Reports as `krand report` writes them: every kind of question, and a promise not kept."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from krand.cli.main import krand
from report.examples import (
    bit_example,
    browser_example,
    long_example,
    record_example,
    refused_example,
    small_example,
)

__all__ = ["MAKERS", "SIZES", "written_reports"]

MAKERS = {"bits": bit_example, "records": record_example, "not-kept": refused_example}
SIZES = {"browser": browser_example, "small": small_example, "long": long_example}
"""Surveys that need little room and much; only their layout is looked at."""


def written_reports(folder: Path) -> dict[str, Path]:
    """One report for each kind of results."""
    found = {}
    for name, make in {**MAKERS, **SIZES}.items():
        (folder / name).mkdir()
        make().write(folder / name)
        found[name] = folder / name / "report.html"
        files = [str(folder / name / "results.json"), "-o", str(found[name])]
        result = CliRunner().invoke(krand, ["report", *files])
        assert result.exit_code == 0, result.output
    return found
