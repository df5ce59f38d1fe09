"""`krand status`: a collector's progress."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import output_options, plan_option, round_option, spool_option
from krand.cli.plans import checked_plan
from krand.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from krand.collector.store import Batch
    from krand.survey.plan import Plan

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

    Where mixers add the noise, no crowd is needed, and the last line says how many batches can
    still be closed.

    The number of people in the open batch is rounded down to coarse steps, so that watching it does
    not show when somebody took part.

    \b
    Example:
      krand status --plan plan.json --spool spool
    """
    from krand.collector.opening import open_spool
    from krand.collector.progress import coarse, step_for
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
    left = _closings_left(plan, batches)
    if as_json:
        found = {"plan": plan.hash, "round": round_number, "step": step, "batches": shown}
        out.json(found if left is None else {**found, "closings_left": left})
        return
    from rich.table import Table

    from krand.wording.surveys import survey_name

    title = f"{survey_name(plan.survey)}, round {round_number}"
    table = Table(title=title, title_justify="left")
    for name in ("batch", "state"):
        table.add_column(name)
    for name in ("people", "of"):
        table.add_column(name, justify="right")
    for values in shown:
        about = "about " if values["state"] == State.OPEN else ""
        people, needed = f"{about}{values['people']:,}", f"{values['crowd']:,}"
        needed = needed if left is None else "any"
        table.add_row(str(values["number"]), values["state"].value, people, needed)
    out.console().print(table)
    if left is not None:
        out.console().print(_closing_line(left), markup=False)
    if check:
        out.console().print("Nothing is damaged.", markup=False)


def _closings_left(plan: Plan, batches: Sequence[Batch]) -> int | None:
    """How many batches the operator can still close; None where the crowd decides."""
    from krand.collector.states import State

    if plan.mixing is None:
        return None
    closed = sum(batch.state is not State.OPEN for batch in batches)
    return plan.survey.trust.batches - closed


def _closing_line(left: int) -> str:
    if not left:
        return "The round is closed: nothing more is taken."
    batches = "1 batch" if left == 1 else f"{left:,} batches"
    return f"krand release --close can close {batches} of this round."
