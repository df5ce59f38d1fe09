"""`krand verify`: check everything that can be checked about krand's files."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.exit_codes import CHECK_FAILED, NOT_CHECKED
from krand.cli.options import FILE, output_options
from krand.cli.plans import checked_plan
from krand.terminal.output import Output

__all__ = ["verify"]


@click.command(short_help="Check a plan, a tally, results or a batch.")
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--plan", "plan_file", type=FILE, help="The plan that the files must belong to.")
@click.option("--collector-key", type=FILE, help="The public key of the collector that signed.")
@click.option(
    "--signer-key",
    "signer_keys",
    type=FILE,
    multiple=True,
    help="The public key of somebody who must have signed the counts; repeatable.",
)
@click.option(
    "--strict", is_flag=True, help=f"Exit with {NOT_CHECKED} if a check could not be made."
)
@output_options
@click.pass_context
def verify(
    context: click.Context,
    as_json: bool,
    no_color: bool,
    files: tuple[Path, ...],
    plan_file: Path | None,
    collector_key: Path | None,
    signer_keys: tuple[Path, ...],
    strict: bool,
) -> None:
    """Check everything that can be checked about plans, tallies, results and batches.

    krand recognizes the type of each file. It recomputes promises from the exact noise, and every
    number of the results from their counts. Files that are given together must belong together:
    results are estimated again from their tally, and batches must be those that were counted. A
    tally, a manifest and a chain need their plan, and the last two their batch in the same folder.

    Every check has one of three states: passed (✓), failed (✗), or not checked (–), with what is
    needed to check it. Who signed a manifest or the counts is checked with the keys that you give;
    the keys of mixers are in the plan.

    Exit code 0: no check failed. 1: a check failed. 2: a file is of none of these types, or its
    plan is missing. 5, with --strict: no check failed, but some could not be made.

    \b
    Examples:
      krand verify plan.json
      krand verify results.json --plan plan.json
      krand verify plan.json tally.json results.json
      krand verify tally.json results.json --plan plan.json --signer-key council.pub.pem --strict
      krand verify batch-000001.manifest.json --plan plan.json --collector-key collector.pub.pem
      krand verify mixed.chain.json --plan plan.json
    """
    from krand.analysis.checks import State, state_of
    from krand.analysis.verification.files import verify_files
    from krand.cli.verifying import checks_table, checks_values, summary
    from krand.wire.keys import read_verifying_key

    out = Output(as_json, no_color)
    plan = None if plan_file is None else checked_plan(plan_file, out)
    key = None if collector_key is None else read_verifying_key(collector_key)
    signers = [read_verifying_key(path) for path in signer_keys]
    with out.progress("checking") as progress:
        found = verify_files(files, plan, key, progress, signers)
    if as_json:
        out.json(checks_values(found))
    else:
        console = out.console()
        for file in found:
            console.print(checks_table(file))
        for line in summary(found):
            console.print(line, markup=False, soft_wrap=True)
    state = state_of(file.state for file in found)
    if state is State.FAILED:
        context.exit(CHECK_FAILED)
    if strict and state is State.NOT_CHECKED:
        context.exit(NOT_CHECKED)
