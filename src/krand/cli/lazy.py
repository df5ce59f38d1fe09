"""Commands are loaded when they are used: `krand --help` loads none of them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
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


class LazyCommands(MutableMapping[str, click.Command]):
    """Commands by name, in the order of use; `krand.cli.commands.X` holds command X."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command] = {}

    def __getitem__(self, name: str) -> click.Command:
        if name not in self._loaded:
            self._loaded[name] = _load(name)
        return self._loaded[name]

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*NAMES, *self._loaded)))

    def __len__(self) -> int:
        return len(list(iter(self)))


def _load(name: str) -> click.Command:
    """The command; raise KeyError if there is none."""
    if name not in NAMES:
        raise KeyError(name)
    own = f"{name}_" if iskeyword(name) else name
    command: click.Command = getattr(import_module(f"krand.cli.commands.{own}"), own)
    return command


class LazyGroup(click.Group):
    """A group that lists its commands from the menu and loads only the requested one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of use, not alphabetically."""
        return list(self.commands)

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
        if name not in self.commands and name[:1].isalnum() and not ctx.resilient_parsing:
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
