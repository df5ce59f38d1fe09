"""`krand compare`: compare the same questions in several results, or in groups of people."""

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


@click.command(short_help="Compare several results, or groups of people.")
@click.argument("results", type=FILE, nargs=-1, required=True)
@click.option("--question", "questions", multiple=True, help="Question to compare; all by default.")
@click.option("--by", help="Question whose answers are the groups to compare.")
@confidence_option
@output_options
def compare(
    out: Output,
    results: tuple[Path, ...],
    questions: tuple[str, ...],
    by: str | None,
    confidence: float,
) -> None:
    """Compare surveys, rounds or groups of people: the difference of each share.

    Rounds of one survey are put in order; other results are taken in the order given. Of more than
    two, each is compared with the next and the first with the last. The wider intervals hold for
    all answers in all of these comparisons together, and adjusted p-values allow for them.

    With --by, a question that was declared together with others: the shares of their answers among
    people who gave different answers to it. Of one results file any two groups are compared, of
    several each group with itself.

    The intervals include the noise of both, and sampling if the results were made with --sample-of.
    The results must have been randomized independently. A question that was asked in another way is
    left out, and the option that differs is named.

    \b
    Examples:
      krand compare spring.json autumn.json --question search_engine
      krand compare results.json --question search_engine --by age
    """
    from krand.analysis.results_comparison import compare_results
    from krand.analysis.results_file import read_results

    read = [read_results(path) for path in results]
    found = compare_results(read, questions, confidence, by)
    if out.as_json:
        out.json(_values(found, results))
        return
    from krand.analysis.estimates.share_differences import CORRECTION
    from krand.cli.result_tables import comparison_table
    from krand.report.trend_texts import people_text

    groups = len(results) == 1
    said = f"Differences are between people by their answer to {by}, of those who answered both."
    out.console().print(said if groups else _order(found, results), soft_wrap=True)
    for name, changes in found.questions.items():
        out.console().print(comparison_table(name, changes, groups=groups))
    if any(len(changes) * len(changes[0].differences) > 1 for changes in found.questions.values()):
        out.console().print(f"Wider intervals and adjusted p-values: {CORRECTION}.", soft_wrap=True)
    people = [each.people for each in found.order.results]
    if not groups:
        out.console().print(people_text(people[0], people[-1]))
    for name, reason in found.left_out.items():
        out.console().print(f"Left out: {name}: {reason}.", soft_wrap=True)


def _values(found: Comparison, paths: Sequence[Path]) -> dict[str, Any]:
    """Earliest first; what differs between any two is one list."""
    from krand.analysis.estimates.share_differences import CORRECTION

    sides = ("earlier", "later") if len(paths) > 1 else ("less", "group")
    files = [str(paths[place]) for place in found.order.places]
    by_name = dict(zip(found.order.names, files, strict=True))
    return {
        "results": files,
        "order": "rounds" if found.order.by_round else "given",
        "people": [each.people for each in found.order.results],
        "questions": {
            name: [
                {
                    **{
                        side: by_name.get(name, name)
                        for side, name in zip(sides, (change.earlier, change.later), strict=True)
                    },
                    **asdict(row),
                }
                for change in changes
                for row in change.differences
            ]
            for name, changes in found.questions.items()
        },
        "left_out": dict(found.left_out),
        "by": found.by,
        "correction": CORRECTION,
    }


def _order(found: Comparison, paths: Sequence[Path]) -> str:
    order = found.order
    files = (paths[place] for place in order.places)
    listed = ", ".join(f"{name} ({file})" for name, file in zip(order.names, files, strict=True))
    how = "by round" if order.by_round else "in the order given"
    return f"Differences are later - earlier, {how}: {listed}."
