"""`krand status`: a collector's progress."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from krand.cli.options import output_options, plan_option, round_option, spool_option
from krand.cli.plans import checked_plan
from krand.terminal.output import Output

__all__ = ["status"]


@click.command(short_help="Show a collector's progress.")
@plan_option
@spool_option
@round_option
@click.option("--check", is_flag=True, help="Also read all data once, to find damage.")
@output_options
def status(
    as_json: bool, no_color: bool, plan_file: Path, spool: Path, round_number: int, check: bool
) -> None:
    """Show the batches of a spool (open, sealed, released) and the crowd so far.

    The number of people in the open batch is rounded down to coarse steps, so that watching it does
    not show when somebody took part.

    \b
    Example:
      krand status --plan plan.json --spool spool
    """
    from krand.collector.metrics import coarse, step_for
    from krand.collector.opening import open_spool
    from krand.collector.states import State

    out = Output(as_json, no_color)
    plan = checked_plan(plan_file, out)
    with open_spool(plan, spool, round_number, create=False) as opened:
        if check:
            with out.progress("checking"):
                opened.check()
        batches = opened.batches()
    step = step_for(plan.promise.crowd)
    shown = []
    for batch in batches:
        values = asdict(batch)
        if batch.state is State.OPEN:
            values |= {"people": coarse(batch.people, step), "messages": None}
        shown.append(values)
    if as_json:
        out.json({"plan": plan.hash, "round": round_number, "step": step, "batches": shown})
        return
    from rich.table import Table

    table = Table(title=f"{plan.survey.id}, round {round_number}", title_justify="left")
    for name in ("batch", "state"):
        table.add_column(name)
    for name in ("people", "of"):
        table.add_column(name, justify="right")
    for values in shown:
        about = "about " if values["state"] == State.OPEN else ""
        people, needed = f"{about}{values['people']:,}", f"{values['crowd']:,}"
        table.add_row(str(values["number"]), values["state"].value, people, needed)
    out.console().print(table)
    if check:
        out.console().print("Nothing is damaged.", markup=False)
