"""`krand tally`: open and count responses, on one machine or on many."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from krand.cli.counting import counting_options, given_sources, workers_of
from krand.cli.options import OneOf, checked_plan, force_option, output_option, output_options
from krand.promise import Linkage
from krand.showing import some
from krand.terminal.output import Output


@click.command(short_help="Open and count responses.")
@counting_options
@output_option("The tally file to write.", made_again=True)
@force_option
@click.option(
    "--different-people",
    is_flag=True,
    help="Declare that nobody is in two of the files; the results will say that you did.",
)
@click.option(
    "--joint",
    multiple=True,
    metavar="A,B",
    help="Questions to count jointly, in record linkage; repeatable.",
)
@click.option(
    "--engine",
    type=OneOf(["local", "spark"]),
    default="local",
    show_default=True,
    help="Where to count: on this machine or on Spark.",
)
@click.option("--place", metavar="ADDRESS", help="Address of Spark's master.")
@output_options
def tally(
    out: Output,
    plan_file: Path,
    output: Path,
    force: bool,
    different_people: bool,
    joint: tuple[str, ...],
    engine: str,
    place: str | None,
    workers: int | None,
    **options: Any,
) -> None:
    """Count responses: how often each position, or each pattern of bits, was reported.

    Reads files from krand randomize, or sealed batches from a collector or the last mixer; several
    files of one plan and round are added up. A batch is refused if it belongs to another plan, if
    its crowd is too small, or if its manifest or chain is not valid. Batches of a collector that
    share messages are refused, and so are files of several runs of krand randomize, which may be
    about the same people. A message that appears twice in a batch, or in two batches of mixers, is
    counted once, and its copies are refused.

    \b
    Examples:
      krand tally responses.parquet --plan plan.json -o tally.json
      krand tally batch.parquet --plan plan.json --key key.pem --collector-key collector.pub.pem \\
          -o tally.json
      krand tally mixed.parquet --plan plan.json --key key.pem -o tally.json
    """
    from krand.analysis.engines import Options
    from krand.analysis.tallying import tally_sources
    from krand.wording.promises import declared

    plan = checked_plan(plan_file, out)
    sources, key = given_sources(plan, output, options)
    with out.counting("counting", sum(s.rows for s in sources), "responses") as progress:
        found = tally_sources(
            plan,
            sources,
            key=key,
            joint=[[name.strip() for name in names.split(",")] for names in joint],
            engine=engine,
            options=Options(workers_of(workers), place, progress=progress),
            different_people=different_people,
        )
    found.save(output)
    counted = ("plan", "round", "people", "responses", "nulls", "rejected", "batches")
    values = found.values()
    what = "set bits" if plan.survey.linkage is Linkage.RECORD else "tokens"
    out.tell(
        {
            "output": str(output),
            "sha256": found.sha256,
            **{key: values[key] for key in (*counted, "ids", "provenance", "different_people")},
        },
        f"{some(found.people, 'person')}, {int(found.counts.sum()):,} {what} at"
        f" {some(found.positions, 'position')}.",
        *(
            f"refused: {some(count, 'message')}, {reason}"
            for reason, count in found.rejected.items()
        ),
        *declared(found.different_people, len(found.ids)),
        f"Plan {plan.hash}",
        f"Tally {found.sha256}",
        f"Written: {output}",
    )
