"""`krand privacy`: compute the promise that a noise keeps."""

from __future__ import annotations

from typing import Any

import click

from krand.cli.options import (
    copies_option,
    crowd_options,
    linkage_option,
    noise_option,
    output_options,
    responses_from,
    shape_options,
)
from krand.terminal.output import Output


@click.command(short_help="Compute the promise that a noise keeps.")
@crowd_options
@noise_option
@copies_option
@linkage_option
@shape_options
@output_options
def privacy(out: Output, **options: Any) -> None:
    """Compute the promise that a given noise keeps: ε with δ and with η, for every crowd.

    \b
    Examples:
      krand privacy --crowd 10M --bits 40 --noise 2.1e-5 --epsilon 2
      krand privacy --crowd 10M --bits 40 --noise 0.350914 --epsilon 2 \\
          --linkage record --json
    """
    from krand.accounting.promises import assess, precision

    responses, q, crowd = responses_from(options), options["noise"], options["crowd"]
    with out.progress("assessing"):
        found = assess(responses, q, crowd, options["epsilon"])
    spread = precision(responses, q, crowd)
    if out.as_json:
        from krand.cli.values import privacy_values

        out.json(privacy_values(found, responses, q, spread))
        return
    from krand.cli.tables import privacy_panel

    out.console().print(privacy_panel(found, responses, q, spread))
