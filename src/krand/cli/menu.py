"""All commands by name, group and short help, so that help need not load them; and their flow.

A test compares every line with the command's own short help.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FLOW", "MENU", "NAMES", "Group", "Item", "overview"]


@dataclass(frozen=True, slots=True)
class Item:
    """A command in one line."""

    name: str
    short_help: str


@dataclass(frozen=True, slots=True)
class Group:
    """Commands for one part of the work, in the order of use."""

    title: str
    items: tuple[Item, ...]


MENU = (
    Group(
        "plan",
        (
            Item("noise", "From a promise to the smallest noise."),
            Item("privacy", "From a noise to the promise it keeps."),
            Item("frontier", "What more volume buys, beside the alternatives."),
            Item("simulate", "The exact law, checked by Monte Carlo."),
            Item("plan", "From a survey file to a plan with its noise."),
            Item("verify", "Check a plan, a tally, results or a batch."),
        ),
    ),
    Group(
        "ask",
        (
            Item("keygen", "The key pair that reports are sealed for."),
            Item("submit", "One person's answers, to a collector."),
        ),
    ),
    Group(
        "collect",
        (
            Item("serve", "Collect submissions for a plan."),
            Item("status", "How far a collector is."),
            Item("release", "Write the batches that are complete."),
            Item("randomize", "A whole table of answers becomes noisy reports."),
        ),
    ),
    Group(
        "analyze",
        (
            Item("tally", "Open and count reports."),
            Item("estimate", "From a tally to estimates with a guarantee."),
            Item("report", "Turn results into a readable report."),
            Item("compare", "Compare the same questions in two results files."),
        ),
    ),
    Group(
        "understand",
        (
            Item("observe", "How much the outcome that came in gives away."),
            Item("ledger", "What a device has answered, and the guarantee spent."),
        ),
    ),
    Group(
        "try",
        (
            Item("web", "The planner and a collector's dashboard as pages."),
            Item("demo", "The whole story with simulated people, and a report."),
            Item("drafts", "The drafts of the method, reproduced and corrected."),
            Item("completion", "Let the shell complete commands, options and files."),
        ),
    ),
)

NAMES = tuple(item.name for group in MENU for item in group.items)

CLAIM = "ask a crowd; learn the totals, and next to nothing about any person"
FLOW = """\
  survey.toml ──plan──▶ plan.json ──submit──▶ messages ──serve, release──▶ batch
                            │                                                │
                            └────randomize, a whole table────▶ reports ─┐    │
                                                                        ▼    ▼
  report.html ◀──report── results.json ◀──estimate── tally.json ◀────────tally"""
"""Every arrow is a command, every thing between two of them a file."""


def overview() -> str:
    """What `krand` alone says: the flow, the commands, where to begin and where help is."""
    title, name = max(len(group.title) for group in MENU), max(map(len, NAMES))
    lines = [f"krand: {CLAIM}", "", FLOW, ""]
    for group in MENU:
        for place, item in enumerate(group.items):
            heading = "" if place else group.title
            lines.append(f"{heading:<{title}}  {item.name:<{name}}  {item.short_help}")
    return "\n".join([*lines, "", *_ENDING])


_ENDING = (
    "Begin:        krand demo",
    "              krand noise --population 10M --bits 40 --epsilon 2 --delta 1e-6",
    "Get help:     krand COMMAND --help, with examples; krand --help for exit codes",
    "Everywhere:   --json, --quiet, --no-color",
)
