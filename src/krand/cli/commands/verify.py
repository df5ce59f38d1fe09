"""`krand verify`: check everything that can be checked about krand's files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.exit_codes import CHECK_FAILED, NOT_CHECKED
from krand.cli.options import FILE, checked_plan, output_options
from krand.terminal.output import Output

if TYPE_CHECKING:
    from rich.table import Table

    from krand.analysis.verification.files import Verified

MARKS = {
    "passed": ("✓", "green"),
    "failed": ("✗ failed", "bold red"),
    "not_checked": ("– not checked", "yellow"),
}


@click.command(short_help="Check a plan, a tally, results or a batch.")
@click.argument("files", nargs=-1, required=True, type=FILE)
@click.option("--plan", "plan_file", type=FILE, help="The plan that the files must belong to.")
@click.option(
    "--strict", is_flag=True, help=f"Exit with {NOT_CHECKED} if a check could not be made."
)
@output_options
@click.pass_context
def verify(
    context: click.Context,
    out: Output,
    files: tuple[Path, ...],
    plan_file: Path | None,
    strict: bool,
) -> None:
    """Check everything that can be checked about plans, tallies, results and batches.

    krand recognizes the type of each file. It recomputes promises from the exact noise, and every
    number of the results from their counts. Files that are given together must belong together:
    results are estimated again from their tally, and batches must be those that were counted. A
    tally and a chain need their plan, and a chain its batch in the same folder.

    Every check has one of three states: passed (✓), failed (✗), or not checked (–), with what is
    needed to check it. The keys of mixers are in the plan. Whether messages were counted right can
    be checked by nobody but a holder of the analyst's key, who counts again and gets the same
    tally.

    Exit code 0: no check failed. 1: a check failed. 2: a file is of none of these types, or its
    plan is missing. 5, with --strict: no check failed, but some could not be made.

    \b
    Examples:
      krand verify plan.json
      krand verify results.json --plan plan.json
      krand verify plan.json tally.json results.json
      krand verify tally.json results.json --plan plan.json
      krand verify round-1-3.chain.json --plan plan.json
    """
    from krand.analysis.checks import State, state_of
    from krand.analysis.verification.files import verify_files

    plan = None if plan_file is None else checked_plan(plan_file, out)
    with out.progress("checking") as progress:
        found = verify_files(files, plan, progress)
    if out.as_json:
        out.json(_checks_values(found))
    else:
        for file in found:
            out.console().print(_checks_table(file))
        out.lines(*_summary(found))
    state = state_of(file.state for file in found)
    if state is State.FAILED:
        context.exit(CHECK_FAILED)
    if strict and state is State.NOT_CHECKED:
        context.exit(NOT_CHECKED)


def _checks_table(verified: Verified) -> Table:
    """The checks of one file, with a mark and a word, so that colour is not needed."""
    from rich.table import Table
    from rich.text import Text

    title = Text(f"{verified.path} ({verified.kind})")
    table = Table(title=title, title_justify="left", box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for entry in verified.checks:
        table.add_row(Text(*MARKS[entry.state]), Text(entry.name), Text(entry.says))
    return table


def _summary(verified: Sequence[Verified]) -> Iterator[str]:
    """A line for each file of which not all checks passed, then one line for all files."""
    from krand.analysis.checks import State

    for state, said in ((State.FAILED, "failed"), (State.NOT_CHECKED, "not checked")):
        for file in verified:
            names = [entry.name for entry in file.checks if entry.state is state]
            if names:
                yield f"{file.path}: {said}: {', '.join(names)}"
    states = [entry.state for file in verified for entry in file.checks]
    counts = {state: states.count(state) for state in State}
    if counts[State.PASSED] == len(states):
        yield f"All {len(states):,} checks passed."
        return
    yield (
        f"Of {len(states):,} checks, {counts[State.PASSED]:,} passed, {counts[State.FAILED]:,}"
        f" failed, and {counts[State.NOT_CHECKED]:,} could not be made."
    )


def _checks_values(verified: Sequence[Verified]) -> dict[str, Any]:
    """The same for programs."""
    from krand.analysis.checks import state_of

    files = [
        {
            "file": str(file.path),
            "kind": file.kind,
            "state": file.state.value,
            "checks": [
                {"name": entry.name, "state": entry.state.value, "says": entry.says}
                for entry in file.checks
            ],
        }
        for file in verified
    ]
    return {"state": state_of(file.state for file in verified).value, "files": files}
