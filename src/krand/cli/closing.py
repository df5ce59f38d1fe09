"""Closing a survey's round: what is told beforehand, asked, and told afterwards."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from krand.cli.exit_codes import INTERRUPTED
from krand.cli.options import stack
from krand.errors import InvalidInput
from krand.showing import some
from krand.terminal.output import Output

if TYPE_CHECKING:
    from krand.collector.closing import Preview
    from krand.collector.rounds import Round
    from krand.collector.spool import Spool

closing_options = stack(
    click.option("--yes", is_flag=True, help="Close without asking, for scripts."),
    click.option(
        "--erase",
        is_flag=True,
        help="If too few people came to release anything of theirs, erase it and end the round.",
    ),
)


def close_asked(spool: Spool, out: Output, *, yes: bool, erase: bool) -> Round | None:
    """Say what closing does, ask, and do it; None if the round is closed already."""
    from krand.collector.closing import preview_of

    preview = preview_of(spool.plan, spool.round())
    if preview is None:
        return None
    if not yes:
        _ask(preview, out, erase=erase)
    return spool.close_round(erase=erase)


def _ask(preview: Preview, out: Output, *, erase: bool) -> None:
    if not _can_ask():
        rule, hint = "must be given where nobody can be asked", "add --yes to close without asking"
        raise InvalidInput("yes", rule, None, hint)
    console = out.console(stderr=True)
    for line in _preview_lines(preview, erase=erase):
        console.print(line)
    if not click.confirm("Close it?", err=True):
        console.print("Nothing was closed.")
        raise click.exceptions.Exit(INTERRUPTED)


def _can_ask() -> bool:
    return sys.stdin.isatty()


def _preview_lines(preview: Preview, *, erase: bool) -> list[str]:
    """What closing would do: nothing in it depends on the exact number of people."""
    step = f"{preview.step:,}"
    about = f"About {preview.fewest:,}" if preview.fewest else f"Fewer than {step}"
    first = f"{about} people have come (told in steps of {step})."
    enough = "they are released as one batch, and the round is closed."
    if preview.surely_enough:
        return [first, f"T{enough[1:]}"]
    if erase:
        few = "WHAT THEY SENT IS ERASED, nothing of it is released, and the round ends for good"
    else:
        few = "nothing of theirs can be released, and nothing is closed (see --erase)"
    crowd = f"the crowd of {preview.crowd:,}" if preview.crowd > 1 else "one person"
    if preview.surely_too_few:
        return [first, f"They are fewer than {crowd}: {few}."]
    return [
        first,
        f"If they are fewer than {crowd}: {few}. Otherwise: {enough[0].lower()}{enough[1:]}",
    ]


def closing_line(closed: Round, crowd: int) -> str:
    from krand.collector.rounds import State

    if closed.state is State.CLOSED:
        return f"The round is closed with {some(closed.people, 'person')}."
    if not closed.people:
        return "The round is closed. Nobody had come."
    return (
        f"The round is closed. {closed.people:,} of at least {crowd:,} people had come: what they"
        " sent is erased, and none of it was released."
    )


def closing_values(closed: Round | None) -> dict[str, Any] | None:
    return None if closed is None else {"people": closed.people, "state": closed.state.value}
