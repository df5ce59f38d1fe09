"""`krand import`: turn an XLSForm into a survey file."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from krand.cli.numbers import Count, Real
from krand.cli.options import FILE, OneOf, force_option, output_option, output_options
from krand.terminal.output import Output


@click.command("import", short_help="Turn an XLSForm into a survey.")
@click.argument("questionnaire", type=FILE)
@output_option("The survey file to write.", endings=(".toml",))
@force_option
@click.option(
    "--epsilon", type=Real(), default=1.0, show_default=True, help="ε of the survey's promise."
)
@click.option(
    "--delta", type=Real(), default=1e-6, show_default=True, help="δ of the survey's promise."
)
@click.option(
    "--noise-of",
    "noise",
    type=OneOf(["devices", "mixers"]),
    default="mixers",
    show_default=True,
    help="Who adds the noise.",
)
@click.option(
    "--crowd",
    type=Count(),
    help="minimum_crowd of the survey's promise; noise of devices needs one.",
)
@output_options
def import_(
    out: Output,
    questionnaire: Path,
    output: Path,
    force: bool,
    epsilon: float,
    delta: float,
    noise: str,
    crowd: int | None,
) -> None:
    """Write a survey file from an XLSForm (.xlsx).

    XLSForm is what ODK, KoboToolbox and SurveyCTO use; it needs krand[excel]. Questions, choices,
    tables, conditions and required answers are taken over. What has no counterpart is left out and
    named, with its row: free text, files, exact dates and places, calculations. The survey
    file lists it too. Read the file before you plan: the promise and the ranges of numbers are
    proposals.

    \b
    Examples:
      krand import questionnaire.xlsx -o survey.toml
      krand import questionnaire.xlsx -o survey.toml --epsilon 2
      krand import questionnaire.xlsx -o survey.toml --noise-of devices --crowd 20000
    """
    from krand.importing.survey_file import import_survey
    from krand.showing import some

    made = import_survey(questionnaire, epsilon=epsilon, delta=delta, noise=noise, crowd=crowd)
    made.save(output, overwrite=force)
    if out.as_json:
        out.json(
            {
                "questionnaire": str(questionnaire),
                "output": str(output),
                "questions": [question.name for question in made.survey.questions],
                "remarks": [asdict(remark) for remark in made.remarks],
            }
        )
        return
    for title, remarks in (("left out", made.left_out), ("look at", made.changed)):
        for remark in remarks:
            out.lines(f"{title}: {remark}", stderr=True)
    asked = some(len(made.survey.questions), "question")
    out.lines(f"{asked}, {len(made.left_out):,} left out, {len(made.changed):,} to look at.")
    out.lines(f"Written: {output}")
