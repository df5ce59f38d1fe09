"""`krand tally`: open and count reports, on one machine or on many."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.errors import InvalidInput
from krand.present.options import (
    OneOf,
    output_options,
    passphrase_from,
    passphrase_options,
    plan_option,
)
from krand.present.output import Output

if TYPE_CHECKING:
    from krand.analyze.engines.partition import Work
    from krand.analyze.engines.source import Source
    from krand.analyze.tally import Tally
    from krand.survey.plan import Plan

__all__ = ["tally"]

FILE = click.Path(dir_okay=False, path_type=Path)


@click.command(short_help="Open and count reports.")
@click.argument("reports", nargs=-1, required=True)
@plan_option
@click.option("--key", type=FILE, help="The analyzer's private key, for sealed batches.")
@passphrase_options
@click.option(
    "--collector", type=FILE, help="The collector's public key, which verifies the manifest."
)
@click.option(
    "--manifest",
    "manifests",
    type=FILE,
    multiple=True,
    help="The manifest of each batch; batch.manifest.json beside batch.parquet if not given.",
)
@click.option("-o", "--output", type=FILE, required=True, help="Where the tally is written.")
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
    collector: Path | None,
    manifests: tuple[Path, ...],
    output: Path,
    joint: tuple[str, ...],
    engine: str,
    place: str | None,
    workers: int | None,
) -> None:
    """Count what reports say: how often each position, or each pattern of bits, was reported.

    Takes files that krand randomize wrote, or sealed batches that a collector released; several
    of one plan and round are added up. A batch of another plan, of a crowd below the planned one,
    or whose manifest does not verify is refused. Long work can be interrupted: started again, it
    goes on where it was.

    \b
    Examples:
      krand tally reports.parquet --plan plan.json -o tally.json
      krand tally batch.parquet --plan plan.json --key key.pem --collector collector.pub.pem \\
          -o tally.json
    """
    from krand.analyze.tally import merged
    from krand.analyze.tally_file import write_tally
    from krand.survey.plan_file import read_plan

    out = Output(as_json, no_color)
    plan = read_plan(plan_file)
    secret = None if key is None else _secret(key, passphrase_from(passphrase_env, passphrase))
    sources = _sources(reports, plan, secret, collector, manifests)
    work = _work(plan, sources[0].round, secret, joint)
    with out.counting("counting", sum(s.rows for s in sources), "reports") as progress:
        from krand.analyze.engines import Options, tally_source

        options = Options(_workers(workers), place, progress=progress)
        parts = [
            tally_source(
                source, work, engine, replace(options, checkpoint=_checkpoint(output, source))
            )
            for source in sources
        ]
    found = reduce(merged, parts)
    write_tally("output", output, found)
    _show(out, found, plan, output)


def _secret(path: Path, passphrase: bytes | None) -> bytes:
    from krand.wire.keys import load_private_key

    return load_private_key(path, passphrase).private_bytes_raw()


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
    secret: bytes | None,
    collector: Path | None,
    manifests: tuple[Path, ...],
) -> list[Source]:
    """Every file, checked before anything is counted; none of them twice."""
    from krand.analyze.engines.source import open_batch, open_reports
    from krand.wire.keys import load_verifying_key
    from krand.wire.manifest import read_manifest

    if secret is None:
        sources = [open_reports(uri, plan) for uri in reports]
    else:
        if collector is None:
            mend = "give --collector collector.pub.pem: its signature vouches for the crowd"
            raise InvalidInput("collector", "must be given with a sealed batch", None, mend)
        signer = load_verifying_key(collector)
        if manifests and len(manifests) != len(reports):
            rule = "must be given once for each batch, or not at all"
            raise InvalidInput("manifest", rule, len(manifests))
        beside = manifests or tuple(Path(uri).with_suffix(".manifest.json") for uri in reports)
        sources = [
            open_batch(uri, plan, read_manifest(path, signer))
            for uri, path in zip(reports, beside, strict=True)
        ]
    _check_distinct(sources)
    return sources


def _check_distinct(sources: list[Source]) -> None:
    seen: dict[str, str] = {}
    for source in sources:
        if source.sha256 in seen:
            rule = "must not be given twice"
            raise InvalidInput("reports", rule, f"{seen[source.sha256]} and {source.uri}")
        seen[source.sha256] = source.uri
        if source.round != sources[0].round:
            rule = f"must all be of round {sources[0].round}"
            raise InvalidInput("reports", rule, source.uri, "tally each round apart")


def _work(plan: Plan, round_number: int, secret: bytes | None, joint: tuple[str, ...]) -> Work:
    from krand.analyze.engines.partition import Work
    from krand.analyze.joint.axes import bits_needed

    bits = {
        chosen
        for names in joint
        for chosen in bits_needed(plan, [n.strip() for n in names.split(",")])
    }
    return Work(
        plan.hash,
        plan.survey.linkage,
        plan.layout.positions,
        round_number,
        tuple(sorted(bits)),
        secret,
    )


def _show(out: Output, found: Tally, plan: Plan, output: Path) -> None:
    if out.as_json:
        keys = ("plan", "round", "people", "reports", "nulls", "rejected", "batches")
        values = found.values()
        out.json({"output": str(output), **{key: values[key] for key in keys}})
        return
    console = out.console()
    what = "tokens" if plan.survey.linkage == "bit" else "set bits"
    lines = [
        f"{found.people:,} people, {int(found.counts.sum()):,} {what} at {found.positions:,}"
        " positions.",
        *(f"refused: {count:,} messages, {reason}" for reason, count in found.rejected.items()),
        f"Plan {plan.hash}",
        f"Written: {output}",
    ]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
