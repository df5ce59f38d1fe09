"""`krand release`: write complete batches."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import (
    FILE,
    folder_option,
    output_options,
    passphrase_from,
    passphrase_options,
    plan_option,
    round_option,
    spool_option,
)
from krand.cli.plans import checked_plan
from krand.terminal.output import Output

__all__ = ["release"]


@click.command(short_help="Write the batches that are complete.")
@plan_option
@spool_option
@round_option
@click.option(
    "--key",
    type=FILE,
    required=True,
    help="The collector's private key, made by krand keygen --signing.",
)
@passphrase_options
@folder_option("The folder for batches and manifests.")
@output_options
def release(
    as_json: bool,
    no_color: bool,
    plan_file: Path,
    spool: Path,
    round_number: int,
    key: Path,
    passphrase_env: str | None,
    passphrase: bool,
    output: Path,
) -> None:
    """Write each sealed batch, shuffled, with a signed manifest; then erase it from the spool.

    A batch below the planned crowd is never released; no option changes that. If interrupted, run
    the same command again: it writes the same bytes. A running collector need not be stopped.

    \b
    Example:
      krand release --plan plan.json --spool spool --key collector.pem -o batches
    """
    from krand.collector.opening import open_spool
    from krand.collector.release import release_sealed
    from krand.wire.keys import load_signing_key

    out = Output(as_json, no_color)
    signer = load_signing_key(key, passphrase_from(passphrase_env, passphrase))
    plan = checked_plan(plan_file, out)
    with open_spool(plan, spool, round_number, create=False) as opened:
        with out.progress("releasing"):
            done = release_sealed(opened, output, signer)
        waiting = opened.batches()[-1]
    if as_json:
        batches = [
            {
                "number": entry.batch.number,
                "people": entry.batch.people,
                "messages": entry.batch.messages,
                "batch": str(entry.data),
                "manifest": str(entry.manifest),
            }
            for entry in done
        ]
        out.json({"plan": plan.hash, "round": round_number, "released": batches})
        return
    console = out.console()
    if not done:
        line = f"Nothing new: the open batch waits for its crowd of {waiting.crowd:,} people."
        console.print(line, markup=False)
    for entry in done:
        line = f"batch {entry.batch.number}: {entry.batch.people:,} people"
        console.print(f"{line}, {entry.batch.messages:,} messages", markup=False)
        console.print(f"Written: {entry.data}", markup=False, soft_wrap=True)
        console.print(f"Written: {entry.manifest}", markup=False, soft_wrap=True)
