"""Output of commands: one JSON object for programs, formatted text for people."""

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

QUIET = "krand.quiet"
"""The key in a command's context that holds --quiet."""

WIDTH_OF_FILES = 100
"""Width of the output if it goes to a file or a pipe, which have no width."""


def no_color_wanted(asked: bool) -> bool:
    """Whether text must be plain: --no-color was given, or NO_COLOR is set and not empty."""
    return asked or bool(os.environ.get("NO_COLOR"))


def to_json(value: dict[str, Any]) -> str:
    """Standard JSON: numbers that are not finite become null."""
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
        self._step = ""
        context = click.get_current_context(silent=True)
        self.quiet = context is not None and bool(context.meta.get(QUIET))

    def begin(self, step: int, of: int) -> None:
        """From now on progress bars say which step of how many they belong to."""
        self._step = f"step {step} of {of}, "

    def console(self, *, stderr: bool = False) -> Console:
        """A console on the current stream, so that redirection works."""
        return self._console(stderr=stderr, quiet=self.quiet)

    def _console(self, *, stderr: bool, quiet: bool) -> Console:
        from krand.terminal.plain_console import PlainConsole

        stream = sys.stderr if stderr else sys.stdout
        roomy = not stream.isatty() and "COLUMNS" not in os.environ
        return PlainConsole(
            file=stream,
            width=WIDTH_OF_FILES if roomy else None,
            # rich's own no_color keeps bold and italic; plain text must have no escape codes.
            color_system=None if self.no_color else "auto",
            highlight=False,
            emoji=False,
            soft_wrap=False,
            quiet=quiet,
        )

    def json(self, value: dict[str, Any]) -> None:
        click.echo(to_json(value))

    def lines(self, *lines: str, stderr: bool = False) -> None:
        """Lines for people that are not divided, so that paths and hashes can be copied."""
        console = self.console(stderr=stderr)
        for line in lines:
            console.print(line, soft_wrap=True)

    def tell(self, values: dict[str, Any], *lines: str) -> None:
        """The same for programs and for people: an object, or lines."""
        if self.as_json:
            self.json(values)
        else:
            self.lines(*lines)

    def pass_on(self, context: click.Context) -> None:
        """Let the options of a group apply to the command that follows it."""
        if context.invoked_subcommand is not None:
            given = {"as_json": self.as_json, "quiet": self.quiet, "no_color": self.no_color}
            context.default_map = {context.invoked_subcommand: given}

    def warn(self, message: str) -> None:
        """A warning on stderr, also with --quiet and --json."""
        from rich.text import Text

        line = Text.assemble(("warning: ", "bold yellow"), message)
        self._console(stderr=True, quiet=False).print(line, soft_wrap=True)

    def _is_unseen(self) -> bool:
        # A progress bar needs escape codes, so there is none in plain text.
        return self.as_json or self.quiet or self.no_color or not sys.stderr.isatty()

    @contextmanager
    def progress(
        self, title: str, total: int | None = None
    ) -> Iterator[Callable[[str], None] | None]:
        """A progress bar on stderr; nothing if stderr is not a terminal.

        With a total, each call is one step. Without one, the bar only shows that work continues.
        """
        if self._is_unseen():
            yield None
            return
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

        from krand.terminal.plain_console import plain_column

        count = () if total is None else (MofNCompleteColumn(),)
        columns = (plain_column("{task.description}"), BarColumn(None), *count, TimeElapsedColumn())
        with Progress(*columns, console=self.console(stderr=True), transient=True) as bar:
            task = bar.add_task(f"{self._step}{title}", total=total)
            yield lambda step: bar.update(
                task, description=f"{self._step}{title}: {step}", advance=0 if total is None else 1
            )

    @contextmanager
    def counting(self, title: str, total: int | None, unit: str) -> Iterator[Callable[[int], None]]:
        """A progress bar that is told how much more is done; nothing if stderr is no terminal."""
        if self._is_unseen():
            yield lambda _: None
            return
        from rich.progress import BarColumn, Progress, TimeElapsedColumn

        from krand.terminal.plain_console import plain_column

        amount = "{task.completed:,.0f}" + ("" if total is None else " of {task.total:,.0f}")
        columns = (
            plain_column("{task.description}"),
            BarColumn(None),
            plain_column(f"{amount} {unit}"),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=self.console(stderr=True), transient=True) as bar:
            task = bar.add_task(f"{self._step}{title}", total=total)
            yield lambda more: bar.advance(task, more)
