"""`krand rake`: weight a question to known margins."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from krand.cli.options import FILE, confidence_option, output_options
from krand.terminal.output import Output


@click.command(short_help="Weight a question to known margins.")
@click.argument("results", type=FILE)
@click.option("--question", required=True, help="Question to weight.")
@click.option(
    "--margins",
    type=FILE,
    required=True,
    help="What is known: a CSV file with the columns question, answer, people.",
)
@confidence_option
@output_options
def rake(out: Output, results: Path, question: str, margins: Path, confidence: float) -> None:
    """Weight a question so that other questions have the shares that a population has.

    krand has no individual data, so the questions must have been declared together in the survey:
    then their joint table is scaled to the margins (iterative proportional fitting, or raking).
    People who left one of the questions unanswered are not part of it. The intervals include the
    noise, of the weights too, and sampling if the results were made with --sample-of.

    \b
    Example:
      krand rake results.json --question search_engine --margins census.csv
    """
    from krand.analysis.raking import rake as weighted
    from krand.analysis.results_file import read_results

    found = weighted(read_results(results), question, margins, confidence)
    if out.as_json:
        out.json(asdict(found))
        return
    from krand.cli.result_tables import raked_tables

    for table in raked_tables(found):
        out.console().print(table)
