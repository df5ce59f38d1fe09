"""`krand report`: turn results into a readable report."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import (
    FILE,
    force_option,
    invited_from,
    invited_option,
    output_option,
    output_options,
)
from krand.terminal.output import Output


@click.command(short_help="Turn results into a readable report.")
@click.argument("results", type=FILE, nargs=-1, required=True)
@output_option("Where the page is written.", made_again=True, endings=(".html", ".htm"))
@click.option(
    "--language",
    show_default="the survey's, else en",
    help="Language of the page, by its code: one of krand's or of the survey's.",
)
@invited_option
@force_option
@output_options
def report(
    out: Output,
    results: tuple[Path, ...],
    output: Path,
    language: str | None,
    invited: str | None,
    force: bool,
) -> None:
    """Write results as one HTML file: the estimates, the promise, and how to verify them.

    The file is self-contained: it needs no network and no scripts. It can be printed, read on a
    phone and passed on. It shows what the results file says; krand verify checks that file.

    Of several rounds, the report is about the last one, and shows what changed since the first as
    krand trend does.

    \b
    Examples:
      krand report results.json -o report.html
      krand report results-*.json -o report.html
    """
    from krand.analysis.results_file import read_results
    from krand.analysis.trends.trend import make_trend
    from krand.files import write_atomically
    from krand.report import report_page

    read = [(read_results(path), path) for path in results]
    found, path = max(read, key=lambda each: each[0].round)
    trend = make_trend(results) if len(results) > 1 else None
    asked = invited_from(invited, found.plan)
    page = report_page(found, language=language, invited=asked, trend=trend)
    write_atomically("output", output, page)
    if not found.kept:
        out.warn("the promise of these results is weaker than the survey's; the report says so")
    values = {"results": str(path), "output": str(output)}
    out.tell(
        {**values, "plan": found.plan.hash, "kept": found.kept},
        f"Written: {output}",
        f"Check what it says: krand verify {path}",
    )
