"""`krand randomize`: turn a data holder's table into noisy responses without order."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import (
    FILE,
    checked_plan,
    force_option,
    output_option,
    output_options,
    plan_option,
    round_option,
)
from krand.promise import Linkage
from krand.showing import some
from krand.terminal.output import Output

if TYPE_CHECKING:
    from krand.tables.randomizing import Randomized

MOST_SHOWN = 10


@click.command(short_help="Turn a table of answers into noisy responses.")
@click.argument("answers", type=FILE)
@plan_option
@output_option("The file of responses to write, in Parquet format.")
@force_option
@round_option
@click.option(
    "--skip-bad-rows",
    is_flag=True,
    help="Skip invalid rows and list them, instead of stopping at the first.",
)
@click.option(
    "--separator",
    default=";",
    show_default=True,
    help="Separator between the answers of a list written as one text.",
)
@click.option(
    "--language",
    show_default="the survey's own",
    help="Language of the choices in the table, one of the survey's, by its tag.",
)
@click.option(
    "--again",
    is_flag=True,
    help="Declare that the earlier file was destroyed before anybody saw it.",
)
@output_options
def randomize(
    out: Output,
    answers: Path,
    plan_file: Path,
    output: Path,
    force: bool,
    round_number: int,
    skip_bad_rows: bool,
    separator: str,
    language: str | None,
    again: bool,
) -> None:
    """Randomize a table of answers as each person's own device would do.

    The table is a Parquet file, or a CSV file in UTF-8. Each row is a person, each column a
    question; an empty field means no answer. The responses carry no order: positions are sorted,
    records are shuffled. Nothing is written for a crowd smaller than planned. Randomizing the same
    answers twice reveals more, so a second run for the same plan and round is refused.

    \b
    Examples:
      krand randomize answers.parquet --plan plan.json -o responses.parquet
      krand randomize answers.csv --plan plan.json -o responses.parquet --skip-bad-rows
    """
    from krand.tables.answers import read_answers
    from krand.tables.randomizing import randomize_table

    plan = checked_plan(plan_file, out)
    if language is not None:
        plan = plan.in_language(language)
    table = read_answers(answers, plan.layout, separator=separator)
    if table.ignored:
        out.warn(f"ignored columns, which are not in the survey: {', '.join(table.ignored)}")
    with out.counting("randomizing", table.rows, "people") as progress:
        done = randomize_table(
            plan,
            table,
            output,
            round_number=round_number,
            again=again,
            skip_bad_rows=skip_bad_rows,
            overwrite=force,
            progress=progress,
        )
    if out.as_json:
        out.json({"plan": plan.hash, "round": round_number, **_values(done)})
        return
    if done.skipped:
        rows = (
            "1 row was invalid and was"
            if done.skipped == 1
            else (f"{done.skipped:,} rows were invalid and were")
        )
        out.warn(f"{rows} skipped")
        for mistake in done.mistakes[:MOST_SHOWN]:
            error = mistake.error
            out.warn(f"row {mistake.row:,}, {error.field}: {error.rule}, found {error.value!r}")
    if done.not_asked:
        dropped = ", ".join(f"{name} {count:,}" for name, count in done.not_asked.items())
        out.warn(f"answers to questions that were not asked, dropped unread: {dropped}")
    whole = plan.survey.linkage is Linkage.RECORD
    what = "noisy records" if whole else "positions reported as 1"
    console = out.console()
    console.print(f"{some(done.people, 'person')}, {done.rows:,} {what}.")
    if done.unanswered:
        unanswered = ", ".join(f"{name} {count:,}" for name, count in done.unanswered.items())
        console.print(f"No answer (empty or NaN): {unanswered}.")
    console.print(f"Plan {plan.hash}", soft_wrap=True)
    console.print(f"Written: {output}", soft_wrap=True)


def _values(done: Randomized) -> dict[str, Any]:
    return {
        "output": str(done.output),
        "run": done.run,
        "people": done.people,
        "rows": done.rows,
        "skipped": done.skipped,
        "unanswered": dict(done.unanswered),
        "not_asked": dict(done.not_asked),
        "mistakes": [
            {
                "row": mistake.row,
                "column": mistake.error.field,
                "rule": mistake.error.rule,
                "value": str(mistake.error.value),
            }
            for mistake in done.mistakes
        ],
    }
