"""Commands are loaded when they are used: `krand --help` loads none of them."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword
from typing import TYPE_CHECKING

import click

from krand.cli.menu import MENU, NAMES
from krand.errors import InvalidInput, KrandError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


NEAR = 0.65
"""How alike a name must be to the one that was typed."""


class LazyGroup(click.Group):
    """A group that lists its commands from the menu and loads only the requested one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of use, not alphabetically."""
        return list(NAMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """`krand.cli.commands.X` holds command X."""
        if cmd_name not in NAMES:
            return None
        own = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = getattr(import_module(f"krand.cli.commands.{own}"), own)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section for each group of the menu, all with the same columns."""
        width = max(map(len, NAMES))
        for title, commands in MENU.items():
            with formatter.section(title.capitalize()):
                formatter.write_dl([(name.ljust(width), said) for name, said in commands.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's own, but the error for an unknown name says what to do."""
        name = args[0]
        if name not in NAMES and name[:1].isalnum() and not ctx.resilient_parsing:
            raise _unknown(name)
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names from the menu, then the options of `krand` itself."""
        from click.shell_completion import CompletionItem

        own = [
            CompletionItem(name, help=short_help)
            for commands in MENU.values()
            for name, short_help in commands.items()
            if name.startswith(incomplete)
        ]
        return own + click.Command.shell_complete(self, ctx, incomplete)


def _unknown(name: str) -> KrandError:
    """Which command was probably meant."""
    from difflib import get_close_matches

    lower = name.lower()
    found = [lower] if lower in NAMES else get_close_matches(lower, NAMES, cutoff=NEAR)
    hint = f"did you mean {' or '.join(found)}?" if found else "run krand to list all commands"
    return InvalidInput("command", "must be a krand command", name, hint)
