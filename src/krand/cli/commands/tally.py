"""`krand tally`: open and count reports, on one machine or on many."""

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
    """An address is taken too, so that click does not know by itself that files are meant."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(begun, type="file")]


@click.command(short_help="Open and count reports.")
@click.argument("reports", nargs=-1, required=True, type=PlaceOrFile(), shell_complete=_files)
@plan_option
@click.option("--key", type=FILE, help="The analyzer's private key, for sealed batches.")
@passphrase_options
@click.option(
    "--collector-key",
    type=FILE,
    help="The collector's public key, which must have signed the manifest.",
)
@click.option(
    "--manifest",
    "manifests",
    type=FILE,
    multiple=True,
    help="The manifest of each batch; batch.manifest.json beside batch.parquet if not given.",
)
@output_option("Where the tally is written.", made_again=True)
@force_option
@click.option(
    "--different-people",
    is_flag=True,
    help="You declare that nobody is in two of the files; the results will say that it was you.",
)
@click.option(
    "--joint",
    multiple=True,
    metavar="A,B",
    help="Questions to count jointly, in record linkage; may be given several times.",
)
@click.option(
    "--engine",
    type=OneOf(["local", "spark", "dask"]),
    default="local",
    show_default=True,
    help="Where to count: here, on Spark, on Dask.",
)
@click.option("--place", metavar="ADDRESS", help="Spark's master or Dask's scheduler.")
@click.option("--workers", type=int, help="Processes on this machine; all cores if not given.")
@output_options
def tally(
    as_json: bool,
    no_color: bool,
    reports: tuple[str, ...],
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
    """Count what reports say: how often each position, or each pattern of bits, was reported.

    Takes files that krand randomize wrote, or sealed batches that a collector released; several
    of one plan and round are added up. A batch of another plan, of a crowd below the planned one,
    or whose manifest does not verify is refused. So are batches that share messages, and files of
    several runs of krand randomize, which may be about the same people. A message that is there
    twice in a batch counts once, and its copies are refused. Long work can be interrupted: started
    again, it goes on where it was.

    \b
    Examples:
      krand tally reports.parquet --plan plan.json -o tally.json
      krand tally batch.parquet --plan plan.json --key key.pem --collector-key collector.pub.pem \\
          -o tally.json
    """
    from krand.analysis.engines import Options
    from krand.analysis.tally_file import write_tally
    from krand.analysis.tallying import tally_sources
    from krand.files import keep_inputs
    from krand.wire.keys import load_private_key

    out = Output(as_json, no_color)
    if key is not None:
        beside = [Path(report).with_suffix(".manifest.json") for report in reports]
        keep_inputs("output", output, beside)
    plan = checked_plan(plan_file, out)
    secret = None
    if key is not None:
        secret = load_private_key(key, passphrase_from(passphrase_env, passphrase))
    sources = _sources(reports, plan, secret, collector_key, manifests)
    with out.counting("counting", sum(s.rows for s in sources), "reports") as progress:
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
    _show(out, found, plan, output)


def _checkpoint(output: Path, source: Source) -> Path:
    """Beside the tally, one for each batch."""
    return output.with_name(f".{output.name}.{source.sha256[:16]}.checkpoint")


def _workers(asked: int | None) -> int:
    if asked is not None and asked < 1:
        raise InvalidInput("workers", "must be at least 1", asked)
    return asked or os.cpu_count() or 1


def _sources(
    reports: tuple[str, ...],
    plan: Plan,
    key: X25519PrivateKey | None,
    collector_key: Path | None,
    manifests: tuple[Path, ...],
) -> list[Source]:
    from krand.analysis.tallying import batches_in, reports_in
    from krand.wire.keys import load_verifying_key

    if key is None:
        return reports_in(plan, reports)
    if collector_key is None:
        hint = "give --collector-key collector.pub.pem: its signature vouches for the crowd"
        raise InvalidInput("collector_key", "must be given with a sealed batch", None, hint)
    return batches_in(plan, reports, load_verifying_key(collector_key), manifests)


def _show(out: Output, found: Tally, plan: Plan, output: Path) -> None:
    from krand.wording.provenance import declared

    if out.as_json:
        counted = ("plan", "round", "people", "reports", "nulls", "rejected", "batches")
        keys = (*counted, "ids", "provenance", "distinct_people")
        values = found.values()
        out.json({"output": str(output), **{key: values[key] for key in keys}})
        return
    console = out.console()
    what = "tokens" if plan.survey.linkage == "bit" else "set bits"
    lines = [
        f"{found.people:,} people, {int(found.counts.sum()):,} {what} at {found.positions:,}"
        " positions.",
        *(f"refused: {count:,} messages, {reason}" for reason, count in found.rejected.items()),
        *declared(found.distinct_people, len(found.ids)),
        f"Plan {plan.hash}",
        f"Written: {output}",
    ]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
