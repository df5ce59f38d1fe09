"""`krand frontier`: precision versus data sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from krand.cli.options import (
    assurance_options,
    crowd_options,
    force_option,
    output_options,
    policy_from,
    promise_options,
    responses_from,
    shape_options,
)
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import OutputFile
from krand.wording.numbers import Counts


@click.command(short_help="Compare precision with the data sent.")
@crowd_options
@promise_options
@click.option(
    "--copies-list",
    type=Counts(),
    default="1,2,4,16,64,256,1024",
    show_default=True,
    help="Numbers of copies to compare.",
)
@shape_options
@assurance_options
@click.option(
    "--plot",
    type=OutputFile(made_again=True, endings=(".svg",)),
    help="Also draw a figure, as an SVG file.",
)
@force_option
@output_options
def frontier(out: Output, plot: Path | None, copies_list: tuple[int, ...], **options: Any) -> None:
    """Precision versus data sent, for all methods that keep one promise.

    Compares linkages and numbers of copies with local differential privacy and with a trusted
    curator.

    \b
    Examples:
      krand frontier --crowd 10M --bits 40 --epsilon 2 --delta 1e-6
      krand frontier --crowd 10M --bits 40 --epsilon 2 --delta 1e-6 \\
          --copies-list 1,4,16 --plot frontier.svg
    """
    policy, responses = policy_from(options), responses_from(options)
    if plot is not None:
        if plot.suffix.lower() != ".svg":
            raise InvalidInput("plot", "must be the name of an .svg file", str(plot))
        from krand.figures.draw_frontier import frontier_figure
        from krand.figures.plot import svg_document
        from krand.figures.style import require_matplotlib

        require_matplotlib()
    from krand.accounting.frontier import frontier as compute

    with out.progress("frontier") as progress:
        result = compute(policy, responses, copies_list, progress)
    if plot is not None:
        from krand.files import write_atomically

        write_atomically("plot", plot, svg_document(lambda: frontier_figure(result)))
    if out.as_json:
        from krand.cli.values import frontier_values

        values = frontier_values(result)
        out.json(values | {"plot": str(plot)} if plot is not None else values)
        return
    from krand.cli.tables import frontier_table

    console = out.console()
    console.print(frontier_table(result, console.width))
    if plot is not None:
        console.print(f"Figure: {plot}", soft_wrap=True)
