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
from krand.present.commands.compare import compare
from krand.present.commands.demo import demo
from krand.present.commands.drafts import drafts
from krand.present.commands.estimate import estimate
from krand.present.commands.frontier import frontier
from krand.present.commands.keygen import keygen
from krand.present.commands.ledger import ledger
from krand.present.commands.noise import noise
from krand.present.commands.observe import observe
from krand.present.commands.plan import plan
from krand.present.commands.privacy import privacy
from krand.present.commands.randomize import randomize
from krand.present.commands.release import release
from krand.present.commands.serve import serve
from krand.present.commands.simulate import simulate
from krand.present.commands.status import status
from krand.present.commands.submit import submit
from krand.present.commands.tally import tally
from krand.present.failures import as_krand_error, describe, explain
from krand.present.output import to_json

__all__ = ["krand", "main"]

INTERRUPTED = 130


class FailingClearly(click.Group):
    """A group whose failures are krand's own: one message, one exit code, no traceback."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of use, not of the alphabet."""
        return list(self.commands)

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


def _report(error: Exception, arguments: Sequence[str]) -> int:
    """Say what went wrong, as JSON on stdout or as text on stderr; the exit code."""
    if os.environ.get("KRAND_DEBUG") == "1":
        traceback.print_exception(error, file=sys.stderr)
    failure = as_krand_error(error)
    if "--json" in arguments:
        click.echo(to_json(describe(failure)))
    else:
        plain = "--no-color" in arguments or bool(os.environ.get("NO_COLOR"))
        label = "error:" if plain else click.style("error:", fg="red", bold=True)
        click.echo(f"{label} {explain(failure)}", err=True)
    return failure.exit_code


SHORT_HELP = """krand: anonymous telemetry and surveys by k-randomization

  krand noise      from a promise to the smallest noise        start here
  krand privacy    from a noise to the promise it keeps
  krand frontier   what more volume buys, beside the alternatives
  krand simulate   the exact law, checked by Monte Carlo
  krand plan       from a survey file to a plan with its noise
  krand keygen     the key pair that reports are sealed for
  krand submit     one person's answers, to a collector
  krand serve      collect submissions for a plan
  krand status     how far a collector is
  krand release    write the batches that are complete
  krand randomize  a whole table of answers becomes noisy reports
  krand tally      open and count reports
  krand estimate   from a tally to estimates with a guarantee
  krand compare    the same question in two releases
  krand observe    what the outcome that was seen reveals
  krand ledger     what a device has answered, and the guarantee spent
  krand demo       all of it for ten million people, with a report
  krand drafts     the papers it comes from, reproduced and corrected

Try: krand noise --population 10M --bits 40 --epsilon 2 --delta 1e-6
Every command has --help with examples, and --json."""


@click.group(
    cls=FailingClearly,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="krand")
@click.pass_context
def krand(context: click.Context) -> None:
    """Anonymous telemetry and surveys by k-randomization.

    People flip each bit of their answer with probability q, a shuffler forgets who sent what, and
    the analyst inverts the noise.

    \b
    Example:
      krand noise --population 10M --bits 40 --epsilon 2 --delta 1e-6
    """
    if context.invoked_subcommand is None:
        click.echo(SHORT_HELP)


for command in (
    noise,
    privacy,
    frontier,
    simulate,
    plan,
    keygen,
    submit,
    serve,
    status,
    release,
    randomize,
    tally,
    estimate,
    compare,
    observe,
    ledger,
    demo,
    drafts,
):
    krand.add_command(command)


def main() -> None:
    """Entry point of the console script."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a terminal without ε shows a question mark instead
            with suppress(OSError, ValueError):
                stream.reconfigure(errors="replace")
    krand(prog_name="krand")
