"""`krand demo`: the planner on a survey of ten million people."""

from __future__ import annotations

from pathlib import Path

import click

from krand.present.options import output_options
from krand.present.output import Output


@click.command(short_help="All of it for ten million people, with a report.")
@click.option(
    "--output",
    "directory",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("demo-output"),
    show_default=True,
    help="Where report, figure and numbers are written.",
)
@output_options
def demo(as_json: bool, no_color: bool, directory: Path) -> None:
    """Plan a survey: ten million people, 40 yes/no facts, ε = 2, δ = 1e-6.

    Shows the noise for three ways to ask, compares them with the alternatives, and writes a report
    that opens in any browser. Nothing is downloaded and nothing is sent.

    \b
    Example:
      krand demo --output demo-output
    """
    from krand.present.demo import demonstrate, write

    output = Output(as_json, no_color)
    with output.progress("planning") as progress:
        demonstration = demonstrate(progress)
    written = write(demonstration, directory)
    if as_json:
        from krand.present.values import frontier_values, plan_values

        output.json(
            {
                "plans": [
                    {"title": way.title, **plan_values(way.plan, way.central_gaussian_sigma)}
                    for way in demonstration.headlines
                ],
                "frontier": frontier_values(demonstration.frontier),
                "written": {kind: str(path) for kind, path in written.items()},
            }
        )
        return
    from krand.present.tables import frontier_table, plan_panel

    console = output.console()
    for way in demonstration.headlines:
        console.print(plan_panel(way.plan, way.central_gaussian_sigma, way.title))
    console.print(frontier_table(demonstration.frontier, console.width))
    if "figure" not in written:
        console.print("Figure left out: matplotlib is not installed (pip install 'krand[plots]')")
    console.print(f"Report: {written['report']}", markup=False, soft_wrap=True)
