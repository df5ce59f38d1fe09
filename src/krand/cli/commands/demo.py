"""`krand demo`: a whole survey, from file to report, with simulated people."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.numbers import Count
from krand.cli.options import FILE, FOLDER, output_options
from krand.terminal.output import Output


@click.command(short_help="Run a whole survey with simulated people.")
@click.option("--crowd", type=Count(), help="Number of people; the survey's own number by default.")
@click.option(
    "--survey",
    type=FILE,
    help="Your own survey, instead of the browser example.",
)
@click.option(
    "-o",
    "--output",
    "folder",
    type=FOLDER,
    default=Path("demo-output"),
    show_default=True,
    help="The folder for plan, responses, tally, results and report.",
)
@click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    help="Seed of the simulated people and their noise; 0: different every time.",
)
@output_options
def demo(
    out: Output,
    crowd: int | None,
    survey: Path | None,
    folder: Path,
    seed: int,
) -> None:
    """Plan a survey, let simulated people answer it, and compare the estimates with the truth.

    The demonstration uses the same code as a real survey, and each step writes its file. It shows
    what other methods would give under the same promise: the noise of devices, of one mixer and of
    three, RAPPOR and a trusted curator. Nothing is downloaded, and nothing leaves this machine.

    People and noise come from the seed, so everybody sees the same numbers. With --seed 0 the noise
    is fresh, as on real devices.

    \b
    Examples:
      krand demo
      krand demo --survey survey.toml --crowd 1M --seed 0
    """
    from krand.demo.output import demonstration_values, show, write_report
    from krand.demo.story import Asked, demonstrate

    shown = demonstrate(Asked(folder=folder, survey=survey, crowd=crowd, seed=seed), out)
    with out.progress("writing the report"):
        report = write_report(shown)
    if out.as_json:
        out.json(demonstration_values(shown, report))
        return
    show(shown, report, out.console())
