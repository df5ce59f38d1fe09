"""`krand compare`: compare the same questions in several results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import FILE, confidence_option, output_options
from krand.terminal.output import Output

if TYPE_CHECKING:
    from krand.analysis.results_comparison import Comparison


@click.command(short_help="Compare several results.")
@click.argument("results", type=FILE, nargs=-1, required=True)
@click.option("--question", "questions", multiple=True, help="Question to compare; all by default.")
@confidence_option
@output_options
def compare(
    out: Output,
    results: tuple[Path, ...],
    questions: tuple[str, ...],
    confidence: float,
) -> None:
    """Compare surveys or rounds: the difference of each share.

    Rounds of one survey are put in order; other results are taken in the order given. Of more than
    two, each is compared with the next and the first with the last. The wider intervals hold for
    all answers in all of these comparisons together, and adjusted p-values allow for them.

    The intervals include the noise of both, and sampling if the results were made with --sample-of.
    The results must have been randomized independently. A question that was asked in another way is
    left out, and the option that differs is named.

    \b
    Example:
      krand compare spring.json autumn.json --question search_engine
    """
    from krand.analysis.results_comparison import compare_results
    from krand.analysis.results_file import read_results

    read = [read_results(path) for path in results]
    found = compare_results(read, questions, confidence)
    if out.as_json:
        out.json(_values(found, results))
        return
    from krand.analysis.estimates.share_differences import CORRECTION
    from krand.cli.result_tables import comparison_table
    from krand.report.trend_texts import people_text

    out.console().print(_order(found, results), soft_wrap=True)
    for name, changes in found.questions.items():
        out.console().print(comparison_table(name, changes))
    if any(len(changes) * len(changes[0].differences) > 1 for changes in found.questions.values()):
        out.console().print(f"Wider intervals and adjusted p-values: {CORRECTION}.", soft_wrap=True)
    people = [each.people for each in found.order.results]
    out.console().print(people_text(people[0], people[-1]))
    for name, reason in found.left_out.items():
        out.console().print(f"Left out: {name}: {reason}.", soft_wrap=True)


def _values(found: Comparison, paths: Sequence[Path]) -> dict[str, Any]:
    """Earliest first; what differs between any two is one list."""
    from krand.analysis.estimates.share_differences import CORRECTION

    files = [str(paths[place]) for place in found.order.places]
    by_name = dict(zip(found.order.names, files, strict=True))
    return {
        "results": files,
        "order": "rounds" if found.order.by_round else "given",
        "people": [each.people for each in found.order.results],
        "questions": {
            name: [
                {
                    "earlier": by_name[change.earlier],
                    "later": by_name[change.later],
                    **asdict(row),
                }
                for change in changes
                for row in change.differences
            ]
            for name, changes in found.questions.items()
        },
        "left_out": dict(found.left_out),
        "correction": CORRECTION,
    }


def _order(found: Comparison, paths: Sequence[Path]) -> str:
    order = found.order
    files = (paths[place] for place in order.places)
    listed = ", ".join(f"{name} ({file})" for name, file in zip(order.names, files, strict=True))
    how = "by round" if order.by_round else "in the order given"
    return f"Differences are later - earlier, {how}: {listed}."
