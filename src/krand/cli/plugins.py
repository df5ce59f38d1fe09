"""Commands of other packages, which they name in the entry point group `krand.commands`.

An entry point has the command's name and leads to a click command:

    [project.entry-points."krand.commands"]
    paint = "some_package.commands:paint"

They are looked for when a name is not one of krand's own, and when all commands are listed. A
package whose command cannot be loaded disturbs no other command.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points

import click

from krand.errors import MissingComponent

GROUP = "krand.commands"
ELSEWHERE = dict.fromkeys(("drafts", "observe", "simulate"), "krand-lab")
"""Commands of packages that belong to krand, and the package to install."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """A command of another package."""

    name: str
    package: str
    entry: EntryPoint

    def load(self) -> click.Command:
        """The command; raise MissingComponent if its package is broken."""
        try:
            found = self.entry.load()
        except (Exception, SystemExit) as error:  # whatever a module of others does when loaded
            raise self._broken(f"{type(error).__name__}: {error}") from error
        if not isinstance(found, click.Command):
            raise self._broken(f"{self.entry.value} is no click command")
        return found

    def short_help(self) -> str:
        """One line for lists, also if the command cannot be loaded."""
        try:
            return self.load().get_short_help_str(limit=60)
        except MissingComponent:
            return f"cannot be loaded; krand {self.name} says why"

    def _broken(self, reason: str) -> MissingComponent:
        return MissingComponent(
            f"krand {self.name}",
            problem=f"cannot be loaded ({' '.join(reason.split())})",
            install=f"--upgrade {self.package}",
        )


@cache
def plugins() -> tuple[Plugin, ...]:
    """All that are installed, by package and name."""
    found = [
        Plugin(entry.name, entry.dist.name if entry.dist else entry.module, entry)
        for entry in entry_points(group=GROUP)
    ]
    return tuple(sorted(found, key=lambda plugin: (plugin.package, plugin.name)))


def plugin_named(name: str) -> Plugin | None:
    """The first one of this name."""
    return next((plugin for plugin in plugins() if plugin.name == name), None)
