"""`krand verify`: check everything that can be checked about krand's files."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.exit_codes import CHECK_FAILED
from krand.cli.options import FILE, output_options
from krand.cli.plans import checked_plan
from krand.terminal.output import Output

__all__ = ["verify"]


@click.command(short_help="Check a plan, a tally, results or a batch.")
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--plan", "plan_file", type=FILE, help="The plan that the files must belong to.")
@click.option("--collector-key", type=FILE, help="The public key of the collector that signed.")
@output_options
@click.pass_context
def verify(
    context: click.Context,
    as_json: bool,
    no_color: bool,
    files: tuple[Path, ...],
    plan_file: Path | None,
    collector_key: Path | None,
) -> None:
    """Check everything that can be checked about plans, tallies, results and batches.

    krand recognizes the type of each file. It recomputes promises from the exact noise, and every
    number of the results from their counts. If files are given together, results are also compared
    with their tally, and everything with the plan. A tally needs its plan. A manifest needs the
    plan, the collector's key and its batch in the same folder. The chain of a batch needs the plan,
    which names the mixers, and its batch in the same folder.

    Exit code 0: all checks passed. 1: a check failed. 2: a file is of none of these types, or
    something is missing.

    \b
    Examples:
      krand verify plan.json
      krand verify results.json --plan plan.json
      krand verify plan.json tally.json results.json
      krand verify batch-000001.manifest.json --plan plan.json --collector-key collector.pub.pem
      krand verify mixed.chain.json --plan plan.json
    """
    from krand.analysis.verification.files import verify_files
    from krand.cli.verifying import checks_table, checks_values, summary

    out = Output(as_json, no_color)
    plan = None if plan_file is None else checked_plan(plan_file, out)
    key = None
    if collector_key is not None:
        from krand.wire.keys import load_verifying_key

        key = load_verifying_key(collector_key)
    with out.progress("checking") as progress:
        found = verify_files(files, plan, key, progress)
    if as_json:
        out.json(checks_values(found))
    else:
        console = out.console()
        for file in found:
            console.print(checks_table(file))
        for line in summary(found):
            console.print(line, markup=False, soft_wrap=True)
    if not all(file.holds for file in found):
        context.exit(CHECK_FAILED)
