"""Checks as people read them: one line for each, with its state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from krand.analysis.checks import State, state_of

if TYPE_CHECKING:
    from krand.analysis.verification.files import Verified

__all__ = ["checks_table", "checks_values", "summary"]

MARKS = {
    State.PASSED: ("✓", "green"),
    State.FAILED: ("✗ failed", "bold red"),
    State.NOT_CHECKED: ("– not checked", "yellow"),
}


def checks_table(verified: Verified) -> Table:
    """The checks of one file, with a mark and a word, so that colour is not needed."""
    title = Text(f"{verified.path} ({verified.kind})")
    table = Table(title=title, title_justify="left", box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for entry in verified.checks:
        table.add_row(Text(*MARKS[entry.state]), Text(entry.name), Text(entry.says))
    return table


def summary(verified: Sequence[Verified]) -> Iterator[str]:
    """A line for each file of which not all checks passed, then one line for all files."""
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


def checks_values(verified: Sequence[Verified]) -> dict[str, Any]:
    """The same for programs."""
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
