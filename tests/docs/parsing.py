"""krand's commands as click reads them, without running them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

import click

from krand.cli.main import krand

__all__ = ["krand_calls", "parse"]

OPERATORS = {"|", "||", "&&", ";", "&", "(", ")", "{", "}"}
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")


def krand_calls(line: str) -> Iterator[list[str]]:
    """The arguments of every call of krand in a line of shell."""
    words = shlex.shlex(line.replace("\\\n", " "), posix=True, punctuation_chars="|&;()<>")
    words.whitespace_split = True
    call: list[str] = []
    for word in [*words, ";"]:
        if word not in OPERATORS and set(word) - set("|&;()<>"):
            call.append(word)
            continue
        while call and (ASSIGNMENT.fullmatch(call[0]) or call[0] in ("exec", "time", "sudo")):
            call.pop(0)
        if call and call[0].rsplit("/", 1)[-1] == "krand":
            yield call[1:]
        call = []


def parse(arguments: list[str]) -> None:
    """Let click read the arguments: an unknown command, option or choice is an error."""
    command: click.Command = krand
    parent: click.Context | None = None
    rest = list(arguments)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        parent = click.Context(command, parent=parent, info_name=command.name)
        name, *rest = rest
        found = command.get_command(parent, name)
        if found is None:
            raise click.UsageError(f"no such command: {name}")
        command = found
    try:
        command.make_context(command.name, rest, parent=parent)
    except click.exceptions.Exit:  # --help and --version end here
        return
