"""All commands with their groups and short help, so that help need not load them.

A test compares each line with the command's own short help.
"""

from __future__ import annotations

MENU = {
    "plan": {
        "noise": "Find the smallest noise that keeps a promise.",
        "privacy": "Compute the promise that a noise keeps.",
        "import": "Turn an XLSForm into a survey.",
        "plan": "Turn a survey file into a plan with its noise.",
        "verify": "Check a plan, a tally, results or a batch.",
    },
    "ask": {
        "run": "Run surveys: form, collector, counting, report.",
        "invite": "Make one-time links to a survey, and send them.",
        "keygen": "Make an analyst's key, and the line that names it.",
    },
    "partners": {
        "pair": "Publish a survey with partners, who mix.",
        "mix": "Mix for partners.",
    },
    "analyze": {
        "randomize": "Turn a table of answers into noisy responses.",
        "tally": "Open and count responses.",
        "estimate": "Turn a tally into estimates with their promise.",
        "report": "Turn results into a readable report.",
        "export": "Turn results into a table for other programs.",
        "compare": "Compare several results.",
        "trend": "Follow every answer over rounds.",
    },
    "try": {
        "demo": "Run a whole survey with simulated people.",
        "completion": "Set up shell completion.",
    },
}
"""The short help of each command, for each part of the work, in order of use."""

NAMES = tuple(name for commands in MENU.values() for name in commands)
"""Every command once, in the order of use."""


CLAIM = "ask a crowd; learn the totals, and next to nothing about any one person"
FLOW = """\
  survey.toml ──run──▶ form, answers, batch ──▶ results.json, report.html
       │
       └─plan──▶ plan.json ──randomize──▶ responses ──tally──▶ tally.json
                                                                   │
                     report.html ◀──report── results.json ◀──estimate"""
"""Each arrow with a name is a command; what stands between arrows are files."""


def overview() -> str:
    """What `krand` prints without a command: the flow, all commands, where to start."""
    wide, name_width = max(map(len, MENU)), max(map(len, NAMES))
    lines = [f"krand: {CLAIM}", "", FLOW, ""]
    for title, commands in MENU.items():
        for place, (name, short_help) in enumerate(commands.items()):
            heading = "" if place else title
            lines.append(f"{heading:<{wide}}  {name:<{name_width}}  {short_help}")
    return "\n".join([*lines, "", *_ENDING])


_ENDING = (
    "Get started:  krand demo",
    "              krand run survey.toml",
    "              krand noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6",
    "Get help:     krand COMMAND --help (with examples), krand --help (exit codes)",
    "All commands: --json, --quiet, --no-color",
)
