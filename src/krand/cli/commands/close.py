"""`krand close`: end a survey that krand run serves."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.closing import close_asked, closing_line, closing_options, closing_values
from krand.cli.options import output_options, round_option
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE_OR_FOLDER


@click.command(short_help="Close a survey that krand run serves.")
@click.argument("survey", type=FILE_OR_FOLDER)
@round_option
@closing_options
@output_options
def close(out: Output, survey: Path, round_number: int, yes: bool, erase: bool) -> None:
    """Close the open batch of a survey. Then krand run releases it and writes the report.

    SURVEY is the survey file that krand run was given, or the survey's folder. The command says
    what will happen, with a coarse number of people, and asks; --yes answers for a script. It works
    while krand run runs, and also while it does not: then the rest is done at the next start.

    \b
    Examples:
      krand close survey.toml
      krand close team.krand --yes
    """
    from krand.collector.opening import open_spool
    from krand.site.checks import published_plan
    from krand.survey.survey_folder import SurveyFolder, folder_beside

    folder = SurveyFolder(survey) if survey.is_dir() else folder_beside(survey)
    plan = published_plan(folder)
    with open_spool(plan, folder.spool(round_number), round_number, create=False) as store:
        closed = close_asked(store, out, yes=yes, erase=erase)
    line = "It was closed already." if closed is None else closing_line(closed)
    out.tell({"plan": plan.hash, "round": round_number, "closed": closing_values(closed)}, line)
