"""`krand demo`: a whole survey, from its file to its report, with simulated people."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import FILE, FOLDER, output_options
from krand.terminal.output import Output
from krand.wording.numbers import Count

__all__ = ["demo"]


@click.command(short_help="The whole story with simulated people, and a report.")
@click.option(
    "--population", type=Count(), help="How many people answer; without it, as the survey says."
)
@click.option(
    "--survey",
    type=FILE,
    help="Your own survey instead of the example about browsers.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=FOLDER,
    default=Path("demo-output"),
    show_default=True,
    help="The folder for plan, reports, tally, results and report.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Which simulated people are met, and their noise; 0: others every time.",
)
@click.option(
    "--live",
    is_flag=True,
    help="A real collector on this machine, sealed submissions over HTTP; 1,000 people.",
)
@output_options
def demo(
    as_json: bool,
    no_color: bool,
    population: int | None,
    survey: Path | None,
    folder: Path,
    seed: int,
    live: bool,
) -> None:
    """Plan a survey, let simulated people answer it, and see how near the estimates come.

    Everything is done by the parts that a real survey uses, and every step leaves its file. The
    same answers are then collected as the method's first papers did, by RAPPOR and by a trusted
    curator, at the same promise. Nothing is downloaded, and nothing leaves this machine.

    People and noise come from the seed, so that everybody sees the same numbers; with --seed 0 or
    --live the noise is that of real devices.

    \b
    Examples:
      krand demo
      krand demo --live
      krand demo --survey survey.toml --population 1M --seed 0
    """
    from krand.demo.report import write_report
    from krand.demo.story import Asked, demonstrate

    out = Output(as_json, no_color)
    shown = demonstrate(Asked(folder, survey, population, seed, live), out)
    with out.progress("writing the report"):
        report = write_report(shown)
    if as_json:
        from krand.demo.values import demonstration_values

        out.json(demonstration_values(shown, report))
        return
    from krand.demo.screen import show

    show(shown, report, out.console())
