"""`krand status`: a collector's progress."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import (
    checked_plan,
    invited_from,
    invited_option,
    output_options,
)
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import FILE, FILE_OR_FOLDER, FOLDER

if TYPE_CHECKING:
    from krand.survey.plan import Plan


@click.command(short_help="Show a collector's progress.")
@click.argument("survey", type=FILE_OR_FOLDER, required=False)
@click.option("--plan", "plan_file", type=FILE, help="The plan, written by krand plan.")
@click.option("--spool", type=FOLDER, help="The folder of a collector that krand serve runs.")
@click.option(
    "--round", "round_number", type=int, help="Number of the round; by default the open one."
)
@invited_option
@output_options
def status(
    out: Output,
    survey: Path | None,
    plan_file: Path | None,
    spool: Path | None,
    round_number: int | None,
    invited: str | None,
) -> None:
    """Show the state of a round (open, closed, released, erased) and its people.

    SURVEY is the survey file that krand run was given, or the survey's folder. For a collector of
    krand serve, give --plan and --spool instead.

    The last line says how the round is closed, or that it is.

    The number of people of an open round is rounded down to steps of a tenth of those expected, at
    least five: whoever watches it learns that a few people came. The rate of participation is
    computed from the same number.

    \b
    Examples:
      krand status survey.toml
      krand status --plan plan.json --spool spool
    """
    from krand.collector.progress import coarse, status_step
    from krand.collector.rounds import check_collected, read_round
    from krand.site.rounds import open_round

    if survey is not None:
        if plan_file is not None or spool is not None:
            rule = "must be given without --plan and --spool"
            raise InvalidInput("survey", rule, str(survey), "leave them out: its folder has both")
        folder, _, round_number = open_round(survey, round_number)
        plan_file, spool = folder.plan, folder.collector
    elif plan_file is None or spool is None:
        hint = "krand status survey.toml, or --plan plan.json --spool spool"
        raise InvalidInput("survey", "must be given, or --plan and --spool", None, hint)
    round_number = round_number or 1
    plan = checked_plan(plan_file, out)
    asked = invited_from(invited, plan)
    check_collected(plan, round_number)
    found = read_round(spool, plan, round_number)
    if found is None:
        hint = "krand serve makes it when it starts"
        raise InvalidInput("spool", "must be a collector's folder", str(spool), hint)
    step = status_step(plan.survey.expected or plan.survey.policy.minimum_crowd)
    closed, came = (
        not found.is_open,
        found.people if not found.is_open else coarse(found.people, step),
    )
    if out.as_json:
        values = {"plan": plan.hash, "round": round_number, "state": found.state, "step": step}
        values |= {"people": came, "crowd": plan.smallest_batch}
        values |= {"expected": plan.survey.expected, "invited": asked}
        values |= {"participation": None if asked is None else came / asked}
        out.json({**values, "rounds": plan.survey.rounds})
        return
    from rich.table import Table

    from krand.wording.surveys import survey_name

    title = f"{survey_name(plan.survey)}, round {round_number}"
    table = Table(title=title, title_justify="left")
    table.add_column("state")
    for name in ("people", "at least"):
        table.add_column(name, justify="right")
    about = "" if closed else "about "
    table.add_row(found.state.value, f"{about}{came:,}", f"{plan.smallest_batch:,}")
    out.console().print(table)
    when = "krand release --close" if survey is None else "krand close"
    if survey is not None and plan.survey.schedule is not None:  # krand run keeps to it
        closes = plan.survey.schedule.closes(round_number)
        when = f"its end ({closes:%Y-%m-%d %H:%M} UTC), or {when}"
    out.console().print(_closing_line(plan, closed, when))
    if asked is not None:
        out.console().print(_participation_line(came, asked, closed))
    if margin := _margin_line(plan, came):
        out.console().print(margin)


def _closing_line(plan: Plan, closed: bool, when: str) -> str:
    if closed:
        return "The round is closed: nothing more is taken."
    expected = plan.survey.expected
    awaited = "" if expected is None else f" {expected:,} people are expected."
    return f"The round is open until {when} closes it.{awaited}"


def _participation_line(came: int, invited: int, closed: bool) -> str:
    """Of the number that is shown, and so as coarse as that."""
    from krand.wording.phrases import percent

    at_least, rate = "" if closed else "At least ", percent(100 * came / invited)
    return f"{at_least}{came:,} of {invited:,} invited people have answered ({rate})."


def _margin_line(plan: Plan, came: int) -> str:
    """How precise the results will be: with those who came, or with as many as are expected."""
    from krand.planning.margins import for_people, people_shown
    from krand.wording.phrases import people as width
    from krand.wording.phrases import percent

    enough = came >= max(2, plan.smallest_batch)
    people = came if enough else people_shown(plan.survey)
    if people is None:
        return ""
    shown = for_people(plan, people)
    worst = max(map(shown.precision_of, plan.layout.question_names), key=lambda p: p.half_width_95)
    return (
        f"With {people:,} people the margin of error (95 %) of the least precise question is"
        f" {width(worst)} ({percent(worst.half_width_percent)})."
    )
