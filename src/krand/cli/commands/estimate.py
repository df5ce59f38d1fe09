"""`krand estimate`: turn a tally into results."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.numbers import Count
from krand.cli.options import (
    FILE,
    checked_plan,
    confidence_option,
    force_option,
    output_option,
    output_options,
    plan_option,
)
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import LabelledFile


@click.command(short_help="Turn a tally into estimates with their promise.")
@click.argument("tally", type=FILE)
@plan_option
@output_option("The results file to write.", made_again=True)
@force_option
@confidence_option
@click.option(
    "--sample-of",
    metavar="PEOPLE",
    help="The crowd is a random sample of this many people, or of 'everybody' (no limit).",
)
@click.option(
    "--joint",
    multiple=True,
    metavar="A,B",
    help="Questions to show jointly, besides those declared together; repeatable.",
)
@click.option(
    "--candidates",
    type=LabelledFile(),
    multiple=True,
    metavar="QUESTION=FILE",
    help="Words to look for, one per line, for a question of type words.",
)
@click.option(
    "--raw",
    is_flag=True,
    help="Also show raw counts: unbiased, so they can be negative or exceed the crowd.",
)
@output_options
def estimate(
    out: Output,
    tally: Path,
    plan_file: Path,
    output: Path,
    force: bool,
    confidence: float,
    sample_of: str | None,
    joint: tuple[str, ...],
    candidates: tuple[str, ...],
    raw: bool,
) -> None:
    """Correct the counts for the noise: how many people gave each answer, with confidence intervals
    and the promise.

    The output is JSON with everything, or by its ending a flat table: .csv, .parquet or .xlsx. The
    promise is recomputed for the people who actually took part. The counts shown are the possible
    ones that are closest to the estimates. The raw, unbiased estimates are in the file; --raw shows
    them too.

    \b
    Examples:
      krand estimate tally.json --plan plan.json -o results.json
      krand estimate tally.json --plan plan.json -o results.csv --sample-of 80M
    """
    from krand.analysis.results import ResultsOptions, form_of, make_results
    from krand.analysis.tally import read_tally
    from krand.cli.result_tables import not_decoded, remarks, results_tables, unreadable

    form_of(output, "output")  # a wrong ending is refused before anything is computed
    plan, counted = checked_plan(plan_file, out), read_tally(tally)
    options = ResultsOptions(
        confidence=confidence,
        sample_of=_sample_of(sample_of),
        joint=tuple(tuple(name.strip() for name in names.split(",")) for names in joint),
        candidates=dict(_candidates(entry) for entry in candidates),
    )
    with out.progress("estimating") as progress:
        results = make_results(plan, counted, options, progress)
    results.save(output)
    lost = unreadable(results)
    if lost:
        out.warn(lost)
    if out.as_json:
        out.json({"output": str(output), **results.values()})
        return
    console = out.console()
    for table in results_tables(results, raw=raw):
        console.print(table)
    if results.coalitions:
        from krand.wording.parties import coalitions_table

        console.print(coalitions_table(results.coalitions, plan, crowd=results.crowd))
    for line in (*remarks(results), *not_decoded(results)):
        console.print(line)
    if not results.kept:
        out.warn("the promise of these results is weaker than the survey's: messages were refused")
    console.print(f"Plan {plan.hash}", soft_wrap=True)
    console.print(f"Written: {output}", soft_wrap=True)


def _sample_of(text: str | None) -> int | str | None:
    from krand.analysis.results import EVERYBODY

    if text is None or text == EVERYBODY:
        return text
    parameter = next(p for p in click.get_current_context().command.params if p.name == "sample_of")
    return Count().convert(text, parameter, None)


def _candidates(entry: str) -> tuple[str, list[str]]:
    question, _, path = entry.partition("=")
    if not path:
        rule, hint = "must be QUESTION=FILE", "for example --candidates tags=words.txt"
        raise InvalidInput("candidates", rule, entry, hint)
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        rule = "must be a file of text that can be read"
        raise InvalidInput("candidates", rule, path, str(error)) from None
    words = [line for line in lines if line.strip()]
    if not words:
        raise InvalidInput("candidates", "must hold at least one word", path)
    return question, words
