"""`krand close`: end a survey that krand run serves."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.closing import close_asked, closing_line, closing_options, closing_values
from krand.cli.options import output_options
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE_OR_FOLDER


@click.command(short_help="Close a survey that krand run serves.")
@click.argument("survey", type=FILE_OR_FOLDER)
@click.option("--end", is_flag=True, help="Open no further round of the schedule.")
@closing_options
@output_options
def close(out: Output, survey: Path, end: bool, yes: bool, erase: bool) -> None:
    """Close the open round of a survey. Then krand run releases it and writes the report.

    SURVEY is the survey file that krand run was given, or the survey's folder. The command says
    what will happen, with a coarse number of people, and asks; --yes answers for a script. It works
    while krand run runs, and also while it does not: then the rest is done at the next start.

    With a schedule, rounds close by themselves; this closes the open one early. --end also ends the
    schedule. What was promised for all rounds stays as it is: it is at most that.

    \b
    Examples:
      krand close survey.toml
      krand close team.krand --yes
    """
    from krand.collector.spool import Spool
    from krand.files import write_atomically
    from krand.site.rounds import open_round

    folder, plan, round_number = open_round(survey)
    if end and plan.survey.schedule is None:
        raise InvalidInput("end", "must be given only with a schedule", None, "leave it out")
    with Spool(folder.collector, plan, round_number, create=False) as spool:
        closed = close_asked(spool, out, yes=yes, erase=erase)
        if end:  # the next round opens only when its time has come
            write_atomically("ended", folder.ended, f"{round_number}\n")
    line = "It was closed already." if closed is None else closing_line(closed, plan.smallest_batch)
    out.tell({"plan": plan.hash, "round": round_number, "closed": closing_values(closed)}, line)
