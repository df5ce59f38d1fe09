"""The reference of all commands, written from the commands themselves.

A page says where it wants them with the line `<!-- commands -->`. Below it the page lists what each
command does, for people who read it in the repository; `docs/write_reference.py` writes that list.
The built page has the whole text instead, made when the page is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc
from textwrap import dedent

import click
from sphinx.application import Sphinx

PLACE = re.compile(r"^(?P<place><!-- commands -->)$(?:\n\n- .*(?:\n- .*)*)?", re.MULTILINE)
SHARED = frozenset(("--json", "--quiet", "--no-color", "--help"))
"""Options that every command has: the page explains them once."""

Named = tuple[str, click.Command]


def commands_of(group: click.Group, prefix: str = "krand") -> Iterator[Named]:
    """Every command below a group with its full name, in the group's own order."""
    context = click.Context(group, info_name=prefix)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        yield f"{prefix} {name}", command
        if isinstance(command, click.Group):
            yield from commands_of(command, f"{prefix} {name}")


def reference(group: click.Group) -> str:
    """All commands as Markdown, under the titles of the menu that `krand` alone shows."""
    from krand.cli.menu import MENU

    titles = {f"krand {next(iter(part))}": title for title, part in MENU.items()}
    parts = []
    for name, command in commands_of(group):
        parts += [f"## {titles[name].capitalize()}"] if name in titles else []
        parts.append(section(name, command))
    return "\n\n".join(parts)


def section(name: str, command: click.Command) -> str:
    """One command: what it does, usage, arguments and options, examples."""
    context = _context(name, command)
    usage = " ".join(command.collect_usage_pieces(context))
    prose, examples = help_of(command)
    parts = [f"### {name}", *map(marked_up, prose), f"```text\n{name} {usage}\n```"]
    own = [entry(name, option, context) for option in options_of(command)]
    shared = ", ".join(
        f"[`{'`, `'.join(_names(option))}`](#options-of-every-command)"
        for option in command.get_params(context)
        if SHARED.intersection(option.opts)
    )
    parts += own
    parts.append(f"And {shared}." if own else f"Options: {shared}.")
    if examples:
        parts.append("```console\n" + "\n".join(examples) + "\n```")
    return "\n\n".join(parts)


def options_of(command: click.Command) -> list[click.Parameter]:
    """A command's own arguments and options, hidden ones and shared ones left out."""
    return [
        parameter
        for parameter in command.params
        if not SHARED.intersection(parameter.opts) and not getattr(parameter, "hidden", False)
    ]


def entry(command: str, parameter: click.Parameter, context: click.Context) -> str:
    """An item of a definition list, with an anchor to link to."""
    anchor = f"({command} {parameter.opts[-1]})=".replace(" ", "-")
    if isinstance(parameter, click.Argument):
        term = f"`{parameter.make_metavar(context)}`"
        return f"{anchor}\n{term}\n: {'Required.' if parameter.required else 'May be left out.'}"
    assert isinstance(parameter, click.Option)
    metavar = "" if parameter.is_flag else f" {parameter.make_metavar(context)}"
    term = ", ".join(f"`{name}{metavar}`" for name in _names(parameter))
    return f"{anchor}\n{term}\n: {marked_up(parameter.help or '')}{_facts(parameter, context)}"


def _names(parameter: click.Parameter) -> list[str]:
    names = [*parameter.opts, *parameter.secondary_opts]
    return sorted(names, key=lambda name: (name.startswith("--"), name))


def _facts(option: click.Option, context: click.Context) -> str:
    """Whether an option must be given, what it is if not, and whether it may be repeated."""
    facts = []
    if option.required:
        facts.append("Required.")
    default = option.get_default(context, call=False)
    if not option.is_flag and isinstance(default, str | int | float):
        facts.append(f"Default: `{default}`.")
    if option.multiple:
        facts.append("May be given several times.")
    if option.envvar:
        facts.append(f"Environment variable: `{option.envvar}`.")
    return "".join(f" {fact}" for fact in facts)


def help_of(command: click.Command) -> tuple[list[str], list[str]]:
    """The paragraphs of a command's help, and the lines of its examples as a console shows them."""
    prose: list[str] = []
    examples: list[str] = []
    for paragraph in re.split(r"\n\s*\n", cleandoc(command.help or "")):
        if not paragraph.startswith("\b"):
            prose.append(" ".join(paragraph.split()))
            continue
        _, *lines = paragraph.lstrip("\b\n").splitlines()
        if not any(line.lstrip().startswith("krand") for line in lines):
            prose.append("```text\n" + dedent(paragraph.lstrip("\b\n")) + "\n```")
            continue
        for line in map(str.strip, lines):
            examples.append(f"$ {line}" if line.startswith("krand") else f">     {line}")
    return prose, examples


def marked_up(text: str) -> str:
    """Help as Markdown: options and file names as code, everything else to the letter."""
    if text.startswith("```"):
        return text
    escaped = re.sub(r"([*_$\[\]<>\\|])", r"\\\1", text)
    code = re.compile(r"(?<![\w-])(--[a-z][a-z-]+|[\w./-]+\.(?:json|pem|parquet|html|toml|csv))\b")
    return code.sub(lambda found: "`" + found[0].replace("\\", "") + "`", escaped)


def _context(name: str, command: click.Command) -> click.Context:
    from krand.cli.main import krand

    settings = dict(krand.context_settings)
    return click.Context(command, info_name=name, **settings)


def insert(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the reference into the page that asks for it."""
    from krand.cli.main import krand

    source[0] = PLACE.sub(lambda _: reference(krand), source[0])


def listed(found: re.Match[str]) -> str:
    """The comment, and below it a line for each command."""
    from krand.cli.main import krand

    lines = (f"- `{name}`: {marked_up(help_of(each)[0][0])}" for name, each in commands_of(krand))
    return "\n".join([found["place"], "", *lines])


def setup(app: Sphinx) -> dict[str, bool]:
    """Listen for pages being read."""
    app.connect("source-read", insert)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
