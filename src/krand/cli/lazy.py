"""Commands are loaded when they are used: `krand --help` loads none of them."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from importlib import import_module
from typing import TYPE_CHECKING

import click

from krand.cli.menu import MENU, NAMES
from krand.errors import InvalidInput

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["LazyCommands", "LazyGroup"]


class LazyCommands(MutableMapping[str, click.Command]):
    """Commands by name, in the order of use; `krand.cli.commands.X` holds the command X."""

    def __init__(self) -> None:
        self._loaded: dict[str, click.Command | None] = dict.fromkeys(NAMES)

    def __getitem__(self, name: str) -> click.Command:
        found = self._loaded[name]
        if found is None:
            module = import_module(f"krand.cli.commands.{name}")
            found = self._loaded[name] = getattr(module, name)
        return found

    def __setitem__(self, name: str, command: click.Command) -> None:
        self._loaded[name] = command

    def __delitem__(self, name: str) -> None:
        del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._loaded)

    def __len__(self) -> int:
        return len(self._loaded)


class LazyGroup(click.Group):
    """A group that lists its commands from the menu and loads only the requested one."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of use, not alphabetically."""
        return list(self.commands)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """A section for each group of the menu, all with the same columns."""
        width = max(map(len, NAMES))
        for group in MENU:
            with formatter.section(group.title.capitalize()):
                formatter.write_dl(
                    [(item.name.ljust(width), item.short_help) for item in group.items]
                )

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click's own, but the error for a mistyped name suggests similar ones."""
        name = args[0]
        if name not in self.commands and name[:1].isalnum() and not ctx.resilient_parsing:
            raise InvalidInput("command", "must be a krand command", name, _likely(name))
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Names from the menu, then the options of `krand` itself."""
        from click.shell_completion import CompletionItem

        own = [
            CompletionItem(item.name, help=item.short_help)
            for group in MENU
            for item in group.items
            if item.name.startswith(incomplete)
        ]
        return own + click.Command.shell_complete(self, ctx, incomplete)


def _likely(name: str) -> str:
    """The command that was probably meant."""
    from difflib import get_close_matches

    found = [name.lower()] if name.lower() in NAMES else get_close_matches(name.lower(), NAMES)
    return f"did you mean {' or '.join(found)}?" if found else "run krand to list all commands"
