"""`krand compare`: compare the same question in two results."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from krand.cli.options import FILE, confidence_option, output_options
from krand.terminal.output import Output

__all__ = ["compare"]


@click.command(short_help="Compare the same question in two results.")
@click.argument("first", type=FILE)
@click.argument("second", type=FILE)
@click.option("--question", "questions", multiple=True, help="Question to compare; all by default.")
@confidence_option
@output_options
def compare(
    as_json: bool,
    no_color: bool,
    first: Path,
    second: Path,
    questions: tuple[str, ...],
    confidence: float,
) -> None:
    """Compare two surveys or two rounds: the difference of each share, with its interval.

    The intervals include the noise of both, and sampling if the results were made with --sample-of.
    The two must have been randomized independently.

    \b
    Example:
      krand compare spring.json autumn.json --question search_engine
    """
    from krand.analysis.comparing import compare_results
    from krand.analysis.results_file import read_results

    out = Output(as_json, no_color)
    found = compare_results(read_results(first), read_results(second), questions, confidence)
    if as_json:
        values = {name: [asdict(row) for row in rows] for name, rows in found.items()}
        out.json({"first": str(first), "second": str(second), "questions": values})
        return
    from krand.cli.result_tables import comparison_table

    for name, rows in found.items():
        out.console().print(comparison_table(name, rows))
