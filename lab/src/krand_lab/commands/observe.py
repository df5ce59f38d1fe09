"""`krand-lab observe`: how much an observed outcome reveals."""

from __future__ import annotations

from pathlib import Path

import click

from krand.cli.numbers import Count
from krand.cli.options import FILE, checked_plan, output_options, plan_option
from krand.terminal.output import Output


@click.command(short_help="Measure how much an observed outcome reveals.")
@click.argument("tally", type=FILE)
@plan_option
@click.option(
    "--show",
    type=Count(low=0),
    default=10,
    show_default=True,
    help="Number of positions to show, in bit linkage.",
)
@output_options
def observe(out: Output, tally: Path, plan_file: Path, show: int) -> None:
    """Compute the privacy ratio R of a tally, and where it lies in its distribution.

    R says how much more likely the counts are if one person had answered differently. It is
    computed for the two crowds that the drafts compare: all people alike, or all but one. In bit
    linkage it is also computed for a crowd with as many true ones as estimated. Real people are not
    all alike: then the first ratio means little, and the output says so.

    Where mixers add noise, R is computed from the distribution of their dummies, for the numbers of
    answers as estimated. What the dummies of one mixer alone leave is shown as well.

    \b
    Examples:
      krand-lab observe tally.json --plan plan.json
      krand-lab observe tally.json --plan plan.json --show 3 --json
    """
    from krand import read_tally
    from krand.analysis.tally_checks import check_tally
    from krand_lab.observe.outcome import BitsSeen, MixedSeen
    from krand_lab.observe.outcome import observe as look
    from krand_lab.observe.records import RecordSeen
    from krand_lab.observe.wording import mixed_table, positions_table, record_table, statements

    plan, counted = checked_plan(plan_file, out), read_tally(tally)
    check_tally(plan, counted)
    with out.progress("observing"):
        seen = look(plan, counted, most=show)
    said = statements(plan, counted, seen)
    if out.as_json:
        from dataclasses import asdict

        values, policy = asdict(seen), plan.survey.policy
        out.json(
            {
                "plan": plan.hash,
                "round": counted.round,
                "people": counted.people,
                "linkage": str(plan.survey.linkage),
                "epsilon": policy.epsilon,
                "eta": policy.eta,
                "delta": policy.delta,
                "record": values if isinstance(seen, RecordSeen) else None,
                "bits": values if isinstance(seen, BitsSeen) else None,
                "mixed": values if isinstance(seen, MixedSeen) else None,
                "statements": list(said),
            }
        )
        return
    console = out.console()
    if isinstance(seen, RecordSeen):
        console.print(record_table(plan, seen))
    elif seen.extremes:
        table = mixed_table(seen) if isinstance(seen, MixedSeen) else positions_table(seen)
        console.print(table)
    for sentence in said:
        console.print(f"• {sentence}")
    console.print(f"Plan {plan.hash}", soft_wrap=True)
