"""Where results go: one JSON object for programs, rich text for people."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

__all__ = ["QUIET", "Output", "no_color_wanted", "to_json"]

QUIET = "krand.quiet"
"""Where a command's context keeps whether people want to hear anything."""

WIDTH_OF_FILES = 100
"""Columns where the output goes to a file or a pipe, which have no width of their own."""


def no_color_wanted(asked: bool) -> bool:
    """Whether text must be plain: by --no-color, or by NO_COLOR with any value but none."""
    return asked or bool(os.environ.get("NO_COLOR"))


def to_json(value: dict[str, Any]) -> str:
    """Standard JSON: what is not a finite number becomes null."""
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


class Output:
    """The two streams of a command."""

    def __init__(self, as_json: bool, no_color: bool) -> None:
        self.as_json, self.no_color = as_json, no_color_wanted(no_color)
        context = click.get_current_context(silent=True)
        self.quiet = context is not None and bool(context.meta.get(QUIET))

    def console(self, *, stderr: bool = False) -> Console:
        """A console on the stream as it is now, so that redirection works."""
        return self._console(stderr=stderr, quiet=self.quiet)

    def _console(self, *, stderr: bool, quiet: bool) -> Console:
        from krand.terminal.plain_console import PlainConsole

        stream = sys.stderr if stderr else sys.stdout
        roomy = not stream.isatty() and "COLUMNS" not in os.environ
        return PlainConsole(
            file=stream,
            width=WIDTH_OF_FILES if roomy else None,
            # rich's own no_color keeps bold and italic; plain text has no escape codes at all.
            color_system=None if self.no_color else "auto",
            highlight=False,
            emoji=False,
            soft_wrap=False,
            quiet=quiet,
        )

    def json(self, value: dict[str, Any]) -> None:
        click.echo(to_json(value))

    def warn(self, message: str) -> None:
        """A warning on stderr, whatever happens on stdout."""
        from rich.text import Text

        line = Text.assemble(("warning: ", "bold yellow"), message)
        self._console(stderr=True, quiet=False).print(line, soft_wrap=True)

    def _is_unseen(self) -> bool:
        # A bar moves by escape codes, so plain text has none.
        return self.as_json or self.quiet or self.no_color or not sys.stderr.isatty()

    @contextmanager
    def progress(
        self, title: str, total: int | None = None
    ) -> Iterator[Callable[[str], None] | None]:
        """A moving bar on stderr while work is done; nothing where no person looks.

        With a total every call is one step done; without one the bar only shows that work goes on.
        """
        if self._is_unseen():
            yield None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

        from krand.terminal.plain_console import plain_column

        count = () if total is None else (MofNCompleteColumn(),)
        columns = (plain_column("{task.description}"), BarColumn(), *count, TimeElapsedColumn())
        with Progress(*columns, console=self.console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total)
            yield lambda step: bar.update(
                task, description=f"{title}: {step}", advance=0 if total is None else 1
            )

    @contextmanager
    def counting(self, title: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        """A bar on stderr that is told how much more is done; silent where no person looks."""
        if self._is_unseen():
            yield lambda _: None
            return
        from rich.progress import BarColumn, Progress, TimeElapsedColumn

        from krand.terminal.plain_console import plain_column

        amount = "{task.completed:,.0f}" + ("" if total is None else " of {task.total:,.0f}")
        columns = (
            plain_column("{task.description}"),
            BarColumn(),
            plain_column(f"{amount} {unit}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self.console(stderr=True), transient=True) as bar:
            task = bar.add_task(title, total=total)
            yield lambda more: bar.advance(task, more)
