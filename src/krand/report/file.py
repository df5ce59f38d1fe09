"""A release as a page in a file: what `krand report` does, from Python."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from krand.analysis.results import Release

__all__ = ["save_report"]


def save_report(release: Release, path: str | Path) -> None:
    """Write a release as one HTML file that needs nothing but itself.

    >>> from pathlib import Path
    >>> from krand import make_release, randomize_table, save_report, tally_responses
    >>> from krand.testing import simulated_table, small_plan
    >>> plan = small_plan()
    >>> _ = randomize_table(plan, simulated_table(plan.survey, 100, seed=1), "responses.parquet")
    >>> save_report(make_release(plan, tally_responses(plan, ["responses.parquet"])), "report.html")
    >>> Path("report.html").read_text(encoding="utf-8")[:15]
    '<!doctype html>'
    """
    from krand.analysis.results_file import release_values
    from krand.files import write_atomically
    from krand.report import release_page

    write_atomically("output", Path(path), release_page(release_values(release)))
