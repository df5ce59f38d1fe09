"""`krand tally`: open and count responses, on one machine or on many."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import (
    FILE,
    OneOf,
    force_option,
    output_option,
    output_options,
    passphrase_from,
    passphrase_options,
    plan_option,
)
from krand.cli.plans import checked_plan
from krand.errors import InvalidInput
from krand.terminal.output import Output
from krand.terminal.overwriting import PlaceOrFile

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    from krand.analysis.engines.source import Source
    from krand.analysis.tally import Tally
    from krand.survey.plan import Plan

__all__ = ["tally"]


def _files(context: click.Context, parameter: click.Parameter, begun: str) -> list[CompletionItem]:
    """Complete file names; click cannot know, because addresses are accepted too."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(begun, type="file")]


@click.command(short_help="Open and count responses.")
@click.argument("responses", nargs=-1, required=True, type=PlaceOrFile(), shell_complete=_files)
@plan_option
@click.option("--key", type=FILE, help="The analyst's private key, for sealed batches.")
@passphrase_options
@click.option(
    "--collector-key",
    type=FILE,
    help="The public key of the collector that signed the manifest; mixers' keys are in the plan.",
)
@click.option(
    "--manifest",
    "manifests",
    type=FILE,
    multiple=True,
    help="The manifest or chain of each batch; by default next to it (batch.manifest.json or"
    " batch.chain.json).",
)
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
    type=OneOf(["local", "spark", "dask"]),
    default="local",
    show_default=True,
    help="Where to count: on this machine, on Spark or on Dask.",
)
@click.option("--place", metavar="ADDRESS", help="Address of Spark's master or Dask's scheduler.")
@click.option("--workers", type=int, help="Processes on this machine; all cores by default.")
@output_options
def tally(
    as_json: bool,
    no_color: bool,
    responses: tuple[str, ...],
    plan_file: Path,
    key: Path | None,
    passphrase_env: str | None,
    passphrase: bool,
    collector_key: Path | None,
    manifests: tuple[Path, ...],
    output: Path,
    force: bool,
    different_people: bool,
    joint: tuple[str, ...],
    engine: str,
    place: str | None,
    workers: int | None,
) -> None:
    """Count responses: how often each position, or each pattern of bits, was reported.

    Reads files from krand randomize, or sealed batches from a collector or the last mixer; several
    files of one plan and round are added up. A batch is refused if it belongs to another plan, if
    its crowd is too small, or if its manifest or chain is not valid. Batches of a collector that
    share messages are refused, and so are files of several runs of krand randomize, which may be
    about the same people. A message that appears twice in a batch, or in two batches of mixers, is
    counted once, and its copies are refused. A long tally can be interrupted; the same command
    continues it.

    \b
    Examples:
      krand tally responses.parquet --plan plan.json -o tally.json
      krand tally batch.parquet --plan plan.json --key key.pem --collector-key collector.pub.pem \\
          -o tally.json
      krand tally mixed.parquet --plan plan.json --key key.pem -o tally.json
    """
    from krand.analysis.engines import Options
    from krand.analysis.engines.checkpoint import forget_checkpoint
    from krand.analysis.tally_file import write_tally
    from krand.analysis.tallying import signed_beside, tally_sources
    from krand.files import keep_inputs
    from krand.wire.keys import load_private_key

    out = Output(as_json, no_color)
    plan = checked_plan(plan_file, out)
    if key is not None:
        keep_inputs("output", output, [signed_beside(plan, file) for file in responses])
    secret = None
    if key is not None:
        secret = load_private_key(key, passphrase_from(passphrase_env, passphrase))
    sources = _sources(responses, plan, secret, collector_key, manifests)
    with out.counting("counting", sum(s.rows for s in sources), "responses") as progress:
        found = tally_sources(
            plan,
            sources,
            key=secret,
            joint=[[name.strip() for name in names.split(",")] for names in joint],
            engine=engine,
            options=Options(_workers(workers), place, progress=progress),
            checkpoint=lambda source: _checkpoint(output, source),
            different_people=different_people,
        )
    write_tally("output", output, found)
    for source in sources:
        forget_checkpoint(_checkpoint(output, source))
    _show(out, found, plan, output)


def _checkpoint(output: Path, source: Source) -> Path:
    """One file for each batch, next to the tally."""
    return output.with_name(f".{output.name}.{source.sha256[:16]}.checkpoint")


def _workers(asked: int | None) -> int:
    if asked is not None and asked < 1:
        raise InvalidInput("workers", "must be at least 1", asked)
    return asked or os.cpu_count() or 1


def _sources(
    responses: tuple[str, ...],
    plan: Plan,
    key: X25519PrivateKey | None,
    collector_key: Path | None,
    manifests: tuple[Path, ...],
) -> list[Source]:
    from krand.analysis.tallying import batches_in, responses_in
    from krand.wire.keys import load_verifying_key

    if key is None:
        return responses_in(plan, responses)
    collector = None if collector_key is None else load_verifying_key(collector_key)
    return batches_in(plan, responses, collector, manifests)


def _show(out: Output, found: Tally, plan: Plan, output: Path) -> None:
    from krand.wording.provenance import declared

    if out.as_json:
        counted = ("plan", "round", "people", "responses", "nulls", "rejected", "batches")
        keys = (*counted, "ids", "provenance", "distinct_people")
        values = found.values()
        out.json({"output": str(output), **{key: values[key] for key in keys}})
        return
    console = out.console()
    what = "tokens" if plan.survey.linkage == "bit" else "set bits"
    lines = [
        f"{found.people:,} people, {int(found.counts.sum()):,} {what} at {found.positions:,}"
        f" position{'' if found.positions == 1 else 's'}.",
        *(f"refused: {count:,} messages, {reason}" for reason, count in found.rejected.items()),
        *declared(found.distinct_people, len(found.ids)),
        f"Plan {plan.hash}",
        f"Written: {output}",
    ]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
