"""The `krand-lab` command, which fails as `krand` does."""

from __future__ import annotations

import click

from krand import __version__
from krand.cli.main import FailingClearly
from krand_lab.commands.drafts import drafts
from krand_lab.commands.observe import observe
from krand_lab.commands.simulate import simulate


@click.group(
    cls=FailingClearly,
    commands=[drafts, observe, simulate],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="krand-lab")
def lab() -> None:
    """Research around krand: its drafts, what outcomes reveal, promises by simulation."""


def main() -> None:
    """Entry point of the console script."""
    lab(prog_name="krand-lab")
