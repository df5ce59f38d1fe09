"""Closing a survey's open batch: what is told beforehand, asked, and told afterwards."""

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
    from krand.collector.store import Closed, Store

closing_options = stack(
    click.option("--yes", is_flag=True, help="Close without asking, for scripts."),
    click.option(
        "--erase",
        is_flag=True,
        help="If too few people came to release anything of theirs, erase it and end the round.",
    ),
)


def close_asked(store: Store, out: Output, *, yes: bool, erase: bool) -> Closed | None:
    """Say what closing does, ask, and do it; None if nothing is to be closed."""
    from krand.collector.closing import close_batch, preview_of

    preview = preview_of(store.config, store.batches())
    if preview is None:
        return None
    if not yes:
        _ask(preview, out, erase=erase)
    return close_batch(store, erase=erase)


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
    first = f"{about} people are in the open batch (told in steps of {step})."
    ends = "the round is closed" if preview.ends else "the next batch opens"
    enough = f"they are released as one batch, and {ends}."
    if preview.surely_enough:
        return [first, f"T{enough[1:]}"]
    if preview.join is not None:
        few = f"they join batch {preview.join:,}, of which nothing is written, and the round ends"
    elif erase:
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


def closing_line(closed: Closed) -> str:
    from krand.collector.store import State

    batch, joined = closed.batch, closed.joined
    if joined is not None:
        return (
            f"The round is closed. Those who came last have joined batch {joined.number:,}, which"
            f" now has {some(joined.people, 'person')}."
        )
    if batch.state is State.SEALED:
        return f"Batch {batch.number:,} is closed with {some(batch.people, 'person')}."
    if not closed.lost:
        return "The round is closed. Nobody was left in the open batch."
    return (
        f"The round is closed. {closed.lost:,} of at least {batch.crowd:,} people had come to batch"
        f" {batch.number:,}: what they sent is erased, and none of it was released."
    )


def closing_values(closed: Closed | None) -> dict[str, Any] | None:
    if closed is None:
        return None
    joined = None if closed.joined is None else closed.joined.number
    batch = closed.batch
    return {"number": batch.number, "people": batch.people, "state": batch.state.value} | {
        "joined": joined,
        "lost": closed.lost,
    }
