"""Reports as `krand report` writes them: every kind of question, and a promise not kept."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from krand.cli.main import krand
from report.examples import bit_example, record_example, refused_example

__all__ = ["MAKERS", "written_reports"]

MAKERS = {"bits": bit_example, "records": record_example, "not-kept": refused_example}


def written_reports(folder: Path) -> dict[str, Path]:
    """One report for each kind of results."""
    found = {}
    for name, make in MAKERS.items():
        (folder / name).mkdir()
        make().write(folder / name)
        found[name] = folder / name / "report.html"
        files = [str(folder / name / "results.json"), "-o", str(found[name])]
        result = CliRunner().invoke(krand, ["report", *files])
        assert result.exit_code == 0, result.output
    return found
