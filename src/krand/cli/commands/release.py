"""`krand release`: close the round, and write its batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.closing import close_asked, closing_line, closing_options, closing_values
from krand.cli.options import (
    FOLDER,
    anchor_option,
    checked_plan,
    folder_option,
    output_options,
    plan_option,
    round_option,
    spool_option,
)
from krand.errors import InvalidInput
from krand.showing import some
from krand.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krand.collector.release import Released
    from krand.collector.rounds import Round
    from krand.collector.spool import Spool


@click.command(short_help="Close a round, and write its batch.")
@plan_option
@spool_option
@round_option
@click.option("--close", is_flag=True, help="Close the round first; asks before it does.")
@closing_options
@click.option(
    "--mixer-store",
    type=FOLDER,
    required=True,
    help="The collector's store as the first mixer, made by krand mix keygen.",
)
@anchor_option
@folder_option("The folder for the batch and its chain.")
@output_options
def release(
    out: Output,
    plan_file: Path,
    spool: Path,
    round_number: int,
    mixer_store: Path,
    anchor: Path | None,
    output: Path,
    **options: Any,
) -> None:
    """Write the batch of a closed round, shuffled and signed; then erase it from the spool.

    A round is one batch, open until --close closes it; everybody who came by then is in it. It
    says what will happen, with a coarse number of people, and asks; --yes answers for a script.
    Afterwards devices are told that the round is closed.

    The collector is the first mixer of every plan. Where mixers add the noise, it adds dummies.
    Beside the batch it writes the chain of signatures, which begins with its own.

    A round with fewer people than minimum_crowd is never written; no option changes that. --close
    refuses then, unless --erase says that the round is to end without them: what they sent is
    erased, and the round is never opened again.

    If interrupted, run the same command again: it writes the same bytes. A running collector need
    not be stopped.

    \b
    Examples:
      krand release --plan plan.json --spool spool --mixer-store collector --close -o batches
      krand release --plan plan.json --spool spool --mixer-store collector --close --yes -o batches
    """
    from krand.collector.release import check_releasable, release_closed
    from krand.collector.spool import Spool
    from krand.mixing.store import MixerStore

    plan = checked_plan(plan_file, out)
    with (
        MixerStore(mixer_store, anchor) as mixer,
        Spool(spool, plan, round_number, create=False) as opened,
    ):
        if options["close"]:
            check_releasable(opened, mixer)
        closed = _close(opened, out, options)
        with out.progress("releasing"):
            done = release_closed(opened, mixer, output)
        is_open = opened.round().is_open
    told = None if done is None else _values(done)
    lines = [] if closed is None else [closing_line(closed, plan.smallest_batch)]
    if done is not None:
        link = done.files.link
        dummies = f" and {link.total('dummies'):,} dummies" if plan.laws else ""
        lines += [
            f"{some(link.people, 'person')}, {some(link.total('came'), 'message')}{dummies}",
            f"Written: {done.files.data}",
            f"Written: {done.files.chain}",
        ]
    elif is_open:
        lines.append("Nothing new: the round takes submissions until --close closes it.")
    elif closed is None:
        lines.append("Nothing new: the round is closed, and its batch is written.")
    values = {"plan": plan.hash, "round": round_number, "closed": closing_values(closed)}
    out.tell({**values, "released": told}, *lines)


def _close(spool: Spool, out: Output, options: Mapping[str, Any]) -> Round | None:
    """Close the round, if --close is given."""
    for name in ("yes", "erase"):
        if options[name] and not options["close"]:
            rule = "must not be given without --close"
            raise InvalidInput(name, rule, f"--{name}", "add --close, or leave it out")
    if not options["close"]:
        return None
    return close_asked(spool, out, yes=options["yes"], erase=options["erase"])


def _values(done: Released) -> dict[str, Any]:
    link = done.files.link
    names = ("came", "repeats", "dummies", "out")
    counts = {name: link.total(name) for name in names}
    return {
        "people": link.people,
        **counts,
        "batch": str(done.files.data),
        "chain": str(done.files.chain),
    }
