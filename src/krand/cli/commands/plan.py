"""`krand plan`: turn a survey file into a plan."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from krand.cli.options import FILE, force_option, output_option, output_options
from krand.terminal.output import Output


def _print_schema(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from krand.survey.schema import survey_schema

        click.echo(json.dumps(survey_schema(), indent=2, ensure_ascii=False))
        context.exit()


@click.command(short_help="Turn a survey file into a plan with its noise.")
@click.argument("survey", type=FILE)
@output_option("The plan file to write; without it nothing is written.", required=False)
@force_option
@click.option(
    "--explain",
    is_flag=True,
    help="Also show how the noise was divided, what remains if others work together, and one table"
    " of alternatives.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of survey files, which editors use, and do nothing else.",
)
@output_options
def plan(
    out: Output,
    survey: Path,
    output: Path | None,
    force: bool,
    explain: bool,
) -> None:
    """Find the smallest noise that keeps a survey's promise, and write it as a plan.

    The plan holds questions and their choices, what is promised, noise and messages. It names no
    parties, so nobody can send to it: it is for a data holder's table, for simulations and for
    looking. krand run publishes a survey, with everybody's keys in its plan.
    What follows is shown: how precise counts will be, and how much one dishonest person can
    change them. A plan is identified by its SHA-256 hash (sha256sum plan.json prints it); any
    change makes a different plan.

    A published survey cannot be edited, only ended: its successor is another plan, and whoever
    answers both spends both.

    \b
    Examples:
      krand plan survey.toml -o plan.json
      krand plan survey.toml --explain
      krand plan --schema > survey.schema.json
    """
    from krand.files import keep_inputs
    from krand.planning.alternatives import alternatives
    from krand.planning.coalitions import coalitions_of
    from krand.planning.making import make_plan
    from krand.planning.margins import results_by_group
    from krand.survey.reading import read_survey
    from krand.terminal.overwriting import files_named_in

    asked = read_survey(survey)
    if output is not None:
        keep_inputs("output", output, files_named_in(survey))
    with out.progress("planning"):
        made = make_plan(asked)
        others = alternatives(made) if explain else ()
        by_group = () if out.quiet else results_by_group(made)
    if output is not None:
        made.save(output, overwrite=force)
    from krand.wording.plans import unreadable

    if warning := unreadable(made):
        out.warn(warning)
    together = coalitions_of(made) if explain else ()
    if out.as_json:
        from krand.cli.values import survey_plan_values

        found = {
            "by_group": [asdict(row) for row in by_group],
            "coalitions": [asdict(row) for row in together],
            "alternatives": [asdict(row) for row in others],
        }
        out.json({**survey_plan_values(made), **{k: v for k, v in found.items() if v}})
        return
    from krand.wording.parties import coalitions_table
    from krand.wording.phrases import dishonest_can
    from krand.wording.plans import (
        alternatives_table,
        division_sentence,
        group_sentences,
        margins_sentence,
        promise_sentence,
        survey_table,
    )
    from krand.wording.surveys import about_sentence

    console = out.console()
    if who := about_sentence(made.survey):
        console.print(who)
    console.print(survey_table(made))
    for said in filter(None, (margins_sentence(made), *group_sentences(by_group))):
        console.print(said)
    console.print(promise_sentence(made))
    sealed = "message" if made.messages == 1 else "messages"
    dishonest = dishonest_can([block.shift for block in made.blocks])
    console.print(
        f"Each submission has {made.messages:,} sealed {sealed}. {dishonest}",
    )
    console.print(
        "The plan names no parties, so nobody can send to it: it is for a data holder's table, for"
        " simulations and for looking. krand run publishes a survey."
    )
    if explain:
        console.print(division_sentence(made))
        console.print(coalitions_table(together, made))
        console.print(alternatives_table(others))
    console.print(f"Plan {made.hash}", soft_wrap=True)
    if output is not None:
        console.print(f"Written: {output}", soft_wrap=True)
