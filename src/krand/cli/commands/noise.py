"""`krand noise`: find the smallest noise that keeps a policy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from krand.cli.numbers import Counts, Real
from krand.cli.options import (
    crowd_options,
    linkage_option,
    output_options,
    responses_from,
    shape_options,
)
from krand.errors import InvalidInput
from krand.terminal.output import Output

if TYPE_CHECKING:
    from krand.policy import Policy
    from krand.promise import NoisePlan, ResponseFormat


@click.command(short_help="Find the smallest noise that keeps a promise.")
@crowd_options
@click.option("--eta", type=Real(), help="η: the probability that the ratio may exceed e^ε.")
@click.option("--delta", type=Real(), help="δ of (ε, δ)-differential privacy.")
@click.option(
    "--max-local-epsilon", type=Real(), help="Limit for ε₀ if collector and analyst collude."
)
@click.option(
    "--copies",
    type=Counts(),
    default="1",
    show_default=True,
    help="Noisy copies per person; for several numbers, what each costs and gains.",
)
@linkage_option
@shape_options
@output_options
def noise(out: Output, copies: tuple[int, ...], **options: Any) -> None:
    """Find the smallest noise that keeps a promise, and the precision that remains.

    Give ε with either δ or η. Numbers may be written 10M, 1e7 or 10_000_000.

    \b
    Examples:
      krand noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6
      krand noise --crowd 10M --bits 40 --epsilon 2 --eta 0.003 \\
          --linkage record --copies 16 --json
      krand noise --crowd 10M --bits 40 --epsilon 2 --delta 1e-6 \\
          --linkage record --copies 1,4,16,64
    """
    from krand.accounting.baselines import curator
    from krand.accounting.promises import plan_noise

    policy, responses = _policy(options), responses_from(options | {"copies": copies[0]})
    if len(copies) > 1:
        _compare(out, policy, [replace(responses, copies=k) for k in copies])
        return
    with out.progress("planning"):
        plan = plan_noise(policy, responses)
    trusted = curator(policy, responses)
    if out.as_json:
        from krand.cli.values import plan_values

        out.json(plan_values(plan, trusted))
        return
    from krand.cli.tables import plan_panel

    out.console().print(plan_panel(plan, trusted))


def _policy(options: dict[str, Any]) -> Policy:
    """The promise, as the options describe it."""
    from krand.policy import Policy
    from krand.promise import check_crowd

    eta, delta = options["eta"], options["delta"]
    if (eta is None) == (delta is None):
        raise InvalidInput(
            "delta/eta",
            "exactly one of the two must be given",
            "neither" if eta is None else "both",
            "add --delta 1e-6, or --eta 0.003" if eta is None else "keep --delta or --eta",
        )
    check_crowd(options["crowd"])
    return Policy(
        epsilon=options["epsilon"],
        minimum_crowd=options["crowd"],
        delta=delta,
        eta=eta,
        max_local_epsilon=options["max_local_epsilon"],
    )


def _compare(out: Output, policy: Policy, formats: list[ResponseFormat]) -> None:
    """A row for each number of copies; an empty one where the promise cannot be kept."""
    from krand.accounting.promises import plan_noise
    from krand.errors import CannotMeet

    plans: dict[int, NoisePlan | None] = {}
    refused: CannotMeet | None = None
    with out.progress("planning", len(formats)) as progress:
        for responses in formats:
            try:
                plans[responses.copies] = plan_noise(policy, responses, suggestions=False)
            except CannotMeet as error:
                plans[responses.copies], refused = None, refused or error
            if progress is not None:
                progress(f"{responses.copies:,}")
    if refused is not None and not any(plans.values()):
        raise refused
    if out.as_json:
        from krand.cli.values import copies_values

        out.json({"rows": [copies_values(copies, plan) for copies, plan in plans.items()]})
        return
    from krand.cli.tables import copies_table

    out.console().print(copies_table(plans))
