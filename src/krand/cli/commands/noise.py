"""`krand noise`: find the smallest noise that keeps a policy."""

from __future__ import annotations

from typing import Any

import click

from krand.cli.options import (
    assurance_options,
    copies_option,
    crowd_options,
    linkage_option,
    output_options,
    policy_from,
    promise_options,
    responses_from,
    shape_options,
)
from krand.terminal.output import Output


@click.command(short_help="Find the smallest noise that keeps a promise.")
@crowd_options
@promise_options
@copies_option
@linkage_option
@shape_options
@assurance_options
@output_options
def noise(out: Output, **options: Any) -> None:
    """Find the smallest noise that keeps a promise, and the precision that remains.

    Give ε with either δ or η. Numbers may be written 10M, 1e7 or 10_000_000.

    \b
    Examples:
      krand noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6
      krand noise --crowd 10M --bits 40 --epsilon 2 --eta 0.003 \\
          --linkage record --copies 16 --json
    """
    from krand.accounting.calibration import plan_noise
    from krand.accounting.curator import curator

    policy, responses = policy_from(options), responses_from(options)
    with out.progress("planning"):
        plan = plan_noise(policy, responses)
    trusted = curator(policy, responses)
    if out.as_json:
        from krand.cli.values import plan_values

        out.json(plan_values(plan, trusted))
        return
    from krand.cli.tables import plan_panel

    out.console().print(plan_panel(plan, trusted))
