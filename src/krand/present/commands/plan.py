"""`krand plan`: from a survey file to a frozen plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.present.options import FILE, force_option, output_option, output_options
from krand.present.output import Output

if TYPE_CHECKING:
    from krand.present.planning import Alternative


@click.command(short_help="From a survey file to a plan with its noise.")
@click.argument("survey", type=FILE)
@output_option("Where the plan is written; nothing is written without it.", required=False)
@force_option
@click.option(
    "--explain",
    is_flag=True,
    help="Also show how the noise was divided, and what each alternative would give.",
)
@output_options
def plan(
    as_json: bool,
    no_color: bool,
    survey: Path,
    output: Path | None,
    force: bool,
    explain: bool,
) -> None:
    """Find the smallest noise that keeps a survey's promise, and freeze it as a plan.

    The plan holds everything a client needs: positions, noise, number of messages, guarantee.
    It also says how far one person who lies can move a count.
    Its name is its SHA-256 (sha256sum plan.json prints it); changing anything makes another plan.

    \b
    Examples:
      krand plan survey.toml -o plan.json
      krand plan survey.toml --explain
    """
    from krand.files import keep_inputs
    from krand.present.guarding import files_named_in
    from krand.survey.plan import make_plan
    from krand.survey.plan_file import save_plan
    from krand.survey.reading import read_survey

    out = Output(as_json, no_color)
    asked = read_survey(survey)
    if output is not None:
        keep_inputs("output", output, files_named_in(survey))
    with out.progress("planning") as progress:
        made = make_plan(asked)
        others: tuple[Alternative, ...] = ()
        if explain:
            from krand.present.planning import alternatives

            others = alternatives(made, progress)
    if output is not None:
        save_plan(made, output, overwrite=force)
    if as_json:
        from dataclasses import asdict

        values = {"hash": made.hash, **made.values()}
        if explain:
            values["alternatives"] = [asdict(way) for way in others]
        out.json(values)
        return
    from krand.present.planning import alternatives_table, promise_sentence, survey_table
    from krand.present.wording import liars_can

    console = out.console()
    console.print(survey_table(made))
    console.print(promise_sentence(made), markup=False)
    sealed = "message" if made.messages == 1 else "messages"
    console.print(
        f"Every submission is {made.messages:,} sealed {sealed}. {liars_can(made.shifts)}",
        markup=False,
        highlight=False,
    )
    if explain:
        console.print(
            "The noise is divided so that its spread pq/(p-q)² grows with √(t/w): t bits that one"
            " person can change, w the weight of the question.",
            markup=False,
        )
        console.print(alternatives_table(others))
    console.print(f"Plan {made.hash}", markup=False, soft_wrap=True)
    if output is not None:
        console.print(f"Written: {output}", markup=False, soft_wrap=True)
