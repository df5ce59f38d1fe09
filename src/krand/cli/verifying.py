"""Checks as people read them: one line for each, and whether it holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from krand.analysis.verification.files import Verified

__all__ = ["checks_table", "checks_values", "summary"]


def checks_table(verified: Verified) -> Table:
    """The checks of one file, with a mark and a word, so that colour is not needed."""
    title = Text(f"{verified.path} ({verified.kind})")
    table = Table(title=title, title_justify="left", box=None, show_header=False, padding=(0, 1))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for entry in verified.checks:
        mark = Text("✓", "green") if entry.holds else Text("✗ failed", "bold red")
        table.add_row(mark, Text(entry.name), Text(entry.says))
    return table


def summary(verified: Iterable[Verified]) -> Iterator[str]:
    """A line for each file that fails, then one line for all files."""
    total = 0
    failed = []
    for file in verified:
        total += len(file.checks)
        wrong = [entry.name for entry in file.checks if not entry.holds]
        failed += wrong
        if wrong:
            yield f"{file.path}: {', '.join(wrong)}"
    if failed:
        yield f"{len(failed):,} of {total:,} checks failed."
    else:
        yield f"All {total:,} checks passed."


def checks_values(verified: Iterable[Verified]) -> dict[str, Any]:
    """The same for programs."""
    files = [
        {
            "file": str(file.path),
            "kind": file.kind,
            "holds": file.holds,
            "checks": [
                {"name": entry.name, "holds": entry.holds, "says": entry.says}
                for entry in file.checks
            ],
        }
        for file in verified
    ]
    return {"holds": all(file["holds"] for file in files), "files": files}
