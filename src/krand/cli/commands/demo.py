"""`krand demo`: a whole survey, from file to report, with simulated people."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.options import FILE, FOLDER, output_options
from krand.survey import mechanisms
from krand.terminal.output import Output
from krand.wording.numbers import Count


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
@click.option(
    "--live",
    is_flag=True,
    help="Use real processes on this machine: a collector and two mixers; 1,000 people.",
)
@click.option(
    "--noise-of",
    "noise",
    type=click.Choice(["devices", "mixers"]),
    help="Who adds the noise with --live: mixers by default; devices with a collector alone.",
)
@output_options
def demo(
    out: Output,
    crowd: int | None,
    survey: Path | None,
    folder: Path,
    seed: int,
    live: bool,
    noise: str | None,
) -> None:
    """Plan a survey, let simulated people answer it, and compare the estimates with the truth.

    The demonstration uses the same code as a real survey, and each step writes its file. The same
    answers are then collected in other ways, under the same promise: with the noise of one mixer
    and of three, by the method of the drafts, RAPPOR and a trusted curator. Nothing is downloaded,
    and nothing leaves this machine.

    With --live a collector and two mixers run as three processes. Devices seal their answers and
    send them over HTTP. The collector closes the round, each mixer adds dummies and shuffles, and
    all files are verified.

    People and noise come from the seed, so everybody sees the same numbers. With --seed 0 or --live
    the noise is fresh, as on real devices.

    \b
    Examples:
      krand demo
      krand demo --live
      krand demo --live --noise-of devices
      krand demo --survey survey.toml --crowd 1M --seed 0
    """
    from krand.demo.report import write_report
    from krand.demo.story import Asked, demonstrate

    asked = Asked(
        folder=folder,
        survey=survey,
        crowd=crowd,
        seed=seed,
        live=live,
        noise=None if noise is None else mechanisms.mechanism_of(noise),
    )
    shown = demonstrate(asked, out)
    with out.progress("writing the report"):
        report = write_report(shown)
    if out.as_json:
        from krand.demo.values import demonstration_values

        out.json(demonstration_values(shown, report))
        return
    from krand.demo.screen import show

    show(shown, report, out.console())
