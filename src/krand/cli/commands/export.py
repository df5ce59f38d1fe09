"""`krand export`: results as a table for other programs."""

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
from krand.showing import some
from krand.terminal.output import Output

ENDINGS = (".csv", ".parquet", ".xlsx")


@click.command(short_help="Turn results into a table for other programs.")
@click.argument("results", type=FILE)
@output_option("The table to write; its ending decides.", made_again=True, endings=ENDINGS)
@click.option(
    "--joint",
    metavar="A,B",
    help="Only the joint table of these questions, with a column for each.",
)
@invited_option
@force_option
@output_options
def export(
    out: Output,
    results: Path,
    output: Path,
    joint: str | None,
    invited: str | None,
    force: bool,
) -> None:
    """Write results as one flat table: CSV, Parquet, or an Excel workbook (needs krand[excel]).

    A workbook begins with a sheet to read and one for each question; the table is its last sheet.
    One row for each estimate, with its intervals, the promise, the provenance and the plan's
    hash: questions, joint tables, words. A text that a spreadsheet would run as a formula is
    written as text; in CSV it gets an apostrophe in front.

    \b
    Examples:
      krand export results.json -o results.csv
      krand export results.json -o results.xlsx
      krand export results.json --joint smokes,pet -o joint.parquet
    """
    from krand.analysis.results import reading_sheets
    from krand.analysis.results_file import read_results
    from krand.analysis.results_sheets import write_table
    from krand.analysis.results_table import flat_table
    from krand.errors import InvalidInput

    if not output.suffix:
        rule, hint = f"must end in {' or '.join(ENDINGS)}", f"for example {output}.csv"
        raise InvalidInput("output", rule, str(output), hint)
    found = read_results(results)
    names = None if joint is None else [name.strip() for name in joint.split(",")]
    asked, form = invited_from(invited, found.plan), output.suffix.lower().removeprefix(".")
    table = flat_table(found, names, asked)
    sheets = reading_sheets(found, asked) if form == "xlsx" and names is None else ()
    write_table(output, table, form, sheets)
    values = {"results": str(results), "output": str(output), "plan": found.plan.hash}
    size = f"{some(table.num_rows, 'row')}, {some(table.num_columns, 'column')}"
    out.tell(
        {**values, "rows": table.num_rows, "columns": table.column_names},
        f"Written: {output} ({size})",
    )
