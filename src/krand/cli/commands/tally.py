"""`krand tally`: open and count responses, on one machine or on many."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.numbers import Count
from krand.cli.options import (
    FILE,
    OneOf,
    checked_plan,
    force_option,
    output_option,
    output_options,
    passphrase_from,
    passphrase_options,
    plan_option,
)
from krand.promise import Linkage
from krand.showing import some
from krand.terminal.output import Output
from krand.terminal.overwriting import PlaceOrFile

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    from krand.analysis.engines.source import Source
    from krand.survey.plan import Plan


def _files(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete file names; click cannot know, because addresses are accepted too."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(begun, type="file")]


@click.command(short_help="Open and count responses.")
@click.argument("responses", nargs=-1, required=True, type=PlaceOrFile(), shell_complete=_files)
@plan_option
@click.option("--key", type=FILE, help="The analyst's private key, for sealed batches.")
@passphrase_options
@click.option("--workers", type=Count(1), help="Processes on this machine; all cores by default.")
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

    Reads the batch of a round from the last mixer, or files from krand randomize; several of these
    are added up if nobody can be in two of them. A batch is refused if it belongs to another plan,
    if its crowd is too small, or if NAME.chain.json beside NAME.batch is not valid. Copies of a
    batch must all be the same.
    A message that appears twice in it is counted once, and its copies are refused.

    \b
    Examples:
      krand tally responses.parquet --plan plan.json -o tally.json
      krand tally round-1-3.batch --plan plan.json --key key.pem -o tally.json
    """
    from krand.analysis.engines import Options
    from krand.analysis.tallying import tally_sources
    from krand.wording.promises import declared

    plan = checked_plan(plan_file, out)
    sources, key = _given_sources(plan, output, options)
    with out.counting("counting", sum(s.rows for s in sources), "responses") as progress:
        found = tally_sources(
            plan,
            sources,
            key=key,
            joint=[[name.strip() for name in names.split(",")] for names in joint],
            engine=engine,
            options=Options(workers or os.cpu_count() or 1, place, progress=progress),
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


def _given_sources(
    plan: Plan, output: Path, options: Mapping[str, Any]
) -> tuple[list[Source], X25519PrivateKey | None]:
    """Responses, or batches with the key that opens them; none of them is the output."""
    from krand.analysis.tallying import batch_in, responses_in
    from krand.batches.batch import chain_beside
    from krand.files import keep_inputs
    from krand.wire.keys import read_private_key

    responses, key = options["responses"], options["key"]
    if key is None:
        return responses_in(plan, responses), None
    keep_inputs("output", output, [chain_beside(Path(file)) for file in responses])
    secret = read_private_key(
        key, passphrase_from(options["passphrase_env"], options["passphrase"])
    )
    return [batch_in(plan, responses)], secret
