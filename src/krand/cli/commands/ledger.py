"""`krand ledger`: what a device has answered, and the total privacy spent."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import FILE, output_options
from krand.terminal.output import Output

if TYPE_CHECKING:
    from rich.table import Table

    from krand.client.ledger import Entry, Spent

SHORT_HASH = 12
"""Enough of a plan's SHA-256 to tell it from others by eye."""
LARGEST_FACTOR = 1e9
"""A larger factor means nothing to a person."""


@click.command(short_help="Show what a device has answered and the privacy spent.")
@click.argument("ledger", metavar="FILE", type=FILE)
@output_options
def ledger(out: Output, ledger: Path) -> None:
    """Show which rounds of which surveys a device has answered, and the privacy spent.

    A round is acknowledged when the collector has stored it. Until then it waits, and is sent again
    with identical bytes. FILE is only read: it is neither created nor changed.

    \b
    Examples:
      krand ledger answers.ledger
      krand ledger answers.ledger --json
    """
    from krand.client.ledger import Ledger

    kept = Ledger(ledger, create=False)
    entries = sorted(kept.entries(), key=lambda e: (e.survey, e.plan_hash, e.round))
    spent = kept.spent()
    if out.as_json:
        out.json(
            {
                "rounds": [
                    {
                        "survey": entry.survey,
                        "plan": entry.plan_hash,
                        "round": entry.round,
                        "state": _state(entry),
                    }
                    for entry in entries
                ],
                "spent": {
                    "epsilon": spent.epsilon,
                    "delta": spent.delta,
                    "surveys": spent.surveys,
                    "meaning": _meaning(spent),
                },
            }
        )
        return
    console = out.console()
    if entries:
        console.print(_table(entries))
    console.print(_meaning(spent))


def _state(entry: Entry) -> str:
    if entry.unsent:
        return "erased unsent"
    return "acknowledged" if entry.acknowledged else "waiting"


def _table(entries: list[Entry]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(title="answered on this device", title_justify="left")
    table.add_column("survey")
    table.add_column("plan", no_wrap=True)
    table.add_column("round", justify="right")
    table.add_column("state")
    for entry in entries:
        plan = entry.plan_hash[:SHORT_HASH]
        table.add_row(Text(entry.survey), plan, f"{entry.round:,}", _state(entry))
    return table


def _meaning(spent: Spent) -> str:
    """What the total means, and what it assumes."""
    from krand.wording.phrases import at_most

    if not spent.surveys:
        return "This device has answered nothing, so no privacy is spent."
    if spent.surveys == 1:
        surveys, answers = "1 survey", "your answers to it"
    else:
        surveys, answers = f"{spent.surveys:,} surveys", "your answers to all of them"
    factor = math.exp(min(spent.epsilon, 700))  # beyond that a float has no number for it
    about = f" ≈ {at_most(factor, 3)}" if factor <= LARGEST_FACTOR else ""
    return (
        f"Spent by {surveys}: ε = {at_most(spent.epsilon)}, δ = {at_most(spent.delta)}. Changing"
        f" {answers} changes the probability of anything that all analysts together can see by a"
        f" factor of at most e^{at_most(spent.epsilon)}{about}, plus at most δ. These are the sums"
        " over all plans. A plan's promise covers all of its rounds, including those that wait,"
        " under the assumptions that krand plan states."
    )
