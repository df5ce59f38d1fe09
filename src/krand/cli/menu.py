"""All commands with their groups and short help, so that help need not load krand's own.

A test compares each line with the command's own short help.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import groupby

from krand.cli.plugins import Plugin, plugin_named, plugins

__all__ = ["FLOW", "MENU", "NAMES", "Group", "Item", "all_names", "menu", "overview"]


@dataclass(frozen=True, slots=True)
class Item:
    """A command and its short help."""

    name: str
    short_help: str


@dataclass(frozen=True, slots=True)
class Group:
    """Commands for one part of the work, in order of use."""

    title: str
    items: tuple[Item, ...]


MENU = (
    Group(
        "plan",
        (
            Item("noise", "Find the smallest noise that keeps a promise."),
            Item("privacy", "Compute the guarantee that a noise gives."),
            Item("frontier", "Compare precision with the data sent."),
            Item("plan", "Turn a survey file into a plan with its noise."),
            Item("verify", "Check a plan, a tally, results or a batch."),
        ),
    ),
    Group(
        "ask",
        (
            Item("keygen", "Create the key pair that responses are sealed for."),
            Item("form", "Write the survey as a page to answer in a browser."),
            Item("invite", "Make one-time links to a survey."),
            Item("submit", "Send one person's answers to a collector."),
        ),
    ),
    Group(
        "collect",
        (
            Item("serve", "Collect submissions for a plan."),
            Item("status", "Show a collector's progress."),
            Item("release", "Close a round, and write its batches."),
            Item("mix", "Run a mixer: keys, plans, batches."),
            Item("randomize", "Turn a table of answers into noisy responses."),
        ),
    ),
    Group(
        "analyze",
        (
            Item("tally", "Open and count responses."),
            Item("recount", "Count a tally again, and countersign it."),
            Item("estimate", "Turn a tally into estimates with a guarantee."),
            Item("report", "Turn results into a readable report."),
            Item("export", "Turn results into a table for other programs."),
            Item("compare", "Compare the same questions in several results."),
        ),
    ),
    Group(
        "understand",
        (Item("ledger", "Show what a device has answered and the privacy spent."),),
    ),
    Group(
        "try",
        (
            Item("web", "Show the planner and a collector's dashboard."),
            Item("demo", "Run a whole survey with simulated people."),
            Item("completion", "Set up shell completion."),
        ),
    ),
)

NAMES = tuple(item.name for group in MENU for item in group.items)
"""krand's own commands; `menu` and `all_names` also have those of other packages."""


@cache
def menu() -> tuple[Group, ...]:
    """krand's own groups, then one for each package that adds commands."""
    by_package = groupby(plugins(), key=lambda plugin: plugin.package)
    return (*MENU, *(Group(package, tuple(map(_item, of))) for package, of in by_package))


def _item(plugin: Plugin) -> Item:
    if plugin.name in NAMES or plugin_named(plugin.name) is not plugin:
        return Item(plugin.name, "not used: there is another command of this name")
    return Item(plugin.name, plugin.short_help())


def all_names() -> tuple[str, ...]:
    """Every command once, in the order of use."""
    return tuple(dict.fromkeys((*NAMES, *(plugin.name for plugin in plugins()))))


CLAIM = "ask a crowd; learn the totals, and next to nothing about any one person"
FLOW = """\
  survey.toml ──plan──▶ plan.json ──submit──▶ messages ──serve, release──▶ batch
                            │                                                │
                            └──randomize, a whole table────▶ responses ─┐    │
                                                                        ▼    ▼
  report.html ◀──report── results.json ◀──estimate── tally.json ◀────────tally"""
"""Each arrow is a command, and each name between two arrows is a file."""


def overview() -> str:
    """What `krand` prints without a command: the flow, all commands, where to start."""
    groups = menu()
    title, name = max(len(group.title) for group in groups), max(map(len, all_names()))
    lines = [f"krand: {CLAIM}", "", FLOW, ""]
    for group in groups:
        for place, item in enumerate(group.items):
            heading = "" if place else group.title
            lines.append(f"{heading:<{title}}  {item.name:<{name}}  {item.short_help}")
    return "\n".join([*lines, "", *_ENDING])


_ENDING = (
    "Get started:  krand demo",
    "              krand noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6",
    "Get help:     krand COMMAND --help (with examples), krand --help (exit codes)",
    "All commands: --json, --quiet, --no-color",
)
