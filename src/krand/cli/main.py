"""The `krand` command: the group, and the one place where failures become exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from io import TextIOWrapper
from typing import Any

import click

from krand import __version__
from krand.cli.exit_codes import EXIT_CODES, INTERRUPTED
from krand.cli.lazy import LazyGroup
from krand.cli.menu import MENU, overview
from krand.cli.options import output_options
from krand.mistakes import visible
from krand.terminal.output import Output, no_color_wanted, to_json
from krand.wording.failures import as_krand_error, describe, explain


class FailingClearly(click.Group):
    """A group whose failures are krand's own: one message, one exit code, no traceback."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """As click's own, except for what happens to exceptions."""
        arguments = list(sys.argv[1:] if args is None else args)
        try:
            result = super().main(arguments, prog_name, complete_var, False, **extra)
        except (click.Abort, KeyboardInterrupt):
            code = INTERRUPTED
        except Exception as error:
            if not standalone_mode:
                raise
            code = _report(error, arguments)
        else:
            if not standalone_mode:
                return result
            code = result if isinstance(result, int) else 0
        sys.exit(code)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The exit codes, at the end of the help."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(f"{code:>3}", meaning) for code, meaning in EXIT_CODES.items()])


class Krand(FailingClearly, LazyGroup):
    """All commands, each loaded when it is used."""


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Say what went wrong, as JSON on stdout or as text on stderr; the exit code."""
    if os.environ.get("KRAND_DEBUG") == "1":
        traceback.print_exception(error, file=sys.stderr)
    failure = as_krand_error(error)
    if "--json" in arguments:
        click.echo(to_json(describe(failure)))
    else:
        plain = no_color_wanted("--no-color" in arguments)
        label = "error:" if plain else click.style("error:", fg="red", bold=True)
        click.echo(f"{label} {visible(explain(failure))}", err=True)
    return failure.exit_code


@click.group(
    cls=Krand,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="krand")
@output_options
@click.pass_context
def krand(context: click.Context, out: Output) -> None:
    """Anonymous telemetry and surveys by k-randomization.

    Each device flips the bits of its answers with probability q. A collector removes identities and
    shuffles the responses. The analyst corrects the counts for the noise. Run krand without a
    command for an overview.

    \b
    Example:
      krand noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6
    """
    if context.invoked_subcommand is not None:
        out.pass_on(context)
    elif out.as_json:
        out.json(_values())
    elif not out.quiet:
        click.echo(overview())


def _values() -> dict[str, Any]:
    """What krand can do, for programs."""
    return {
        "version": __version__,
        "commands": MENU,
        "exit_codes": {str(code): meaning for code, meaning in EXIT_CODES.items()},
    }


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal that lacks ε shows a question mark
            with suppress(OSError, ValueError):
                stream.reconfigure(errors="replace")
    krand(prog_name="krand")
