"""`krand mix`: what the operator of a mixer does."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import FILE, FOLDER, folder_option, output_option, output_options
from krand.terminal.output import QUIET, Output
from krand.wording.numbers import Count, Real

if TYPE_CHECKING:
    from collections.abc import Iterator

    from krand.mixing.store import MixerStore

__all__ = ["mix"]

CHAIN_ENDING = ".chain.json"

store_option = click.option(
    "--store", type=FOLDER, required=True, help="The mixer's private folder, with its keys."
)
anchor_option = click.option(
    "--anchor",
    type=FILE,
    help="A file on another disk, replaced with every run: an older copy of the store is useless.",
)
plan_argument = click.argument("plan_file", metavar="PLAN", type=FILE)


@click.group(short_help="Run a mixer: keys, plans, batches.")
@output_options
@click.pass_context
def mix(context: click.Context, as_json: bool, no_color: bool) -> None:
    """Run a mixer, which opens its layer of a batch, adds dummies, shuffles and signs.

    A person's answers stay hidden as long as one mixer of the chain is honest. The collector is the
    first mixer; each of the others should be run by somebody else.

    \b
    Examples:
      krand mix keygen --store mixer --name university --rounds 4 -o university.json
      krand mix check plan.json --store mixer
      krand mix sign plan.json --store mixer -o university.sig.json
      krand mix run batch.parquet --plan plan.json --store mixer -o mixed
      krand mix close --round 1 --store mixer
    """
    quiet = bool(context.meta.get(QUIET))
    given = {"as_json": as_json, "quiet": quiet, "no_color": no_color}
    if context.invoked_subcommand is not None:
        context.default_map = {context.invoked_subcommand: given}


@mix.command(short_help="Create a mixer's keys and its public description.")
@store_option
@anchor_option
@click.option("--name", required=True, help="What the mixer is called in plans.")
@click.option(
    "--rounds",
    type=Count(),
    required=True,
    help="Rounds of the survey: one key for each; 0 for the collector, which opens nothing.",
)
@output_option("File for the public description, which goes into the plan.")
@output_options
def keygen(
    as_json: bool,
    no_color: bool,
    store: Path,
    anchor: Path | None,
    name: str,
    rounds: int,
    output: Path,
) -> None:
    """Create a mixer's store and its public description.

    Each round has a key of its own, which krand mix close erases. A plan lists the keys of all
    rounds, 66 bytes for each mixer and round, and a survey has at most 10,000 rounds.

    \b
    Example:
      krand mix keygen --store mixer --name university --rounds 4 -o university.json
    """
    from krand.files import Exists, complete_file
    from krand.mixing.keys import descriptor_bytes, generate_mixer_keys
    from krand.mixing.store import create_store

    if output.exists():
        raise Exists("output", "must not exist yet", str(output), "name another file")
    described = create_store(store, name, generate_mixer_keys(rounds), anchor)
    with complete_file("output", output, replace=False) as stream:
        stream.write(descriptor_bytes(described))
    _say(
        Output(as_json, no_color),
        {"store": str(store), "description": str(output), "identity": described.identity},
        f"store:       {store} (keep it secret, and make no copies)",
        f"description: {output} (for the plan)",
        f"identity:    {described.identity}",
    )


@mix.command(short_help="Check a plan before it is signed.")
@plan_argument
@store_option
@anchor_option
@output_options
def check(as_json: bool, no_color: bool, plan_file: Path, store: Path, anchor: Path | None) -> None:
    """Check that a plan names this mixer's keys and promises no more than its dummies give.

    \b
    Example:
      krand mix check plan.json --store mixer
    """
    from krand.mixing.mixer import check_plan
    from krand.survey.plan_file import read_plan

    plan = read_plan(plan_file)
    out = Output(as_json, no_color)
    with _opened(store, anchor) as opened, out.progress("checking the plan's promise"):
        hop = check_plan(opened, plan)
    line = f"This is mixer {hop} of {plan.survey.trust.mixers}. The plan keeps its promise."
    _say(out, {"plan": plan.hash, "hop": hop}, line)


@mix.command(short_help="Check a plan and sign it.")
@plan_argument
@store_option
@anchor_option
@output_option("File for the signature, for everybody who takes part.", made_again=True)
@output_options
def sign(
    as_json: bool,
    no_color: bool,
    plan_file: Path,
    store: Path,
    anchor: Path | None,
    output: Path,
) -> None:
    """Check a plan as krand mix check does, and sign it. A store signs only one plan.

    \b
    Example:
      krand mix sign plan.json --store mixer -o university.sig.json
    """
    from krand.files import write_atomically
    from krand.mixing.mixer import sign_checked_plan
    from krand.survey.plan_file import read_plan
    from krand.wire.plan_signatures import signature_bytes

    plan = read_plan(plan_file)
    out = Output(as_json, no_color)
    with _opened(store, anchor) as opened, out.progress("checking the plan's promise"):
        signature = sign_checked_plan(opened, plan)
    write_atomically("output", output, signature_bytes(signature).decode())
    _say(out, {"plan": plan.hash, "signature": str(output)}, f"Written: {output}")


@mix.command(short_help="Mix a batch of the mixer before.")
@click.argument("batch", type=FILE)
@click.option(
    "--chain",
    type=FILE,
    help="The chain of the batch; by default batch.chain.json next to batch.parquet.",
)
@click.option("--plan", "plan_file", type=FILE, required=True, help="The plan that was signed.")
@store_option
@anchor_option
@folder_option("The folder for the mixed batch and its chain.")
@click.option("--workers", type=Count(), help="Processes; by default one for each core.")
@click.option(
    "--most-refused",
    type=Real(),
    default=0.1,
    show_default=True,
    help="Write nothing if a larger part of the messages cannot be opened.",
)
@output_options
def run(
    as_json: bool,
    no_color: bool,
    batch: Path,
    chain: Path | None,
    plan_file: Path,
    store: Path,
    anchor: Path | None,
    output: Path,
    workers: int | None,
    most_refused: float,
) -> None:
    """Verify a batch and its chain, open this mixer's layer, add dummies, shuffle, sign.

    If interrupted, run the same command again: nothing leaves twice with other noise.

    \b
    Example:
      krand mix run batch.parquet --plan plan.json --store mixer -o mixed
    """
    from krand.mixing.mixer import MixOptions, mix_batch
    from krand.survey.plan_file import read_plan

    plan = read_plan(plan_file)
    beside = batch.with_suffix(CHAIN_ENDING) if chain is None else chain
    options = MixOptions(workers=workers, most_refused=most_refused)
    out = Output(as_json, no_color)
    with _opened(store, anchor) as opened, out.progress("mixing"):
        done = mix_batch(opened, plan, batch, beside, output, options)
    link = done.link
    refused = sum(link.refused.values())
    values = {
        "plan": plan.hash,
        "round": link.round,
        "hop": link.hop,
        "messages_in": link.messages_in,
        "repeats": link.repeats,
        "refused": refused,
        "dummies": link.dummies,
        "messages_out": link.messages_out,
        "batch": str(done.data),
        "chain": str(done.chain),
    }
    _say(
        out,
        values,
        f"{link.messages_in:,} messages, {link.repeats:,} repeats, {refused:,} refused,"
        f" {link.dummies:,} dummies",
        f"Written: {done.data}",
        f"Written: {done.chain}",
    )


@mix.command(short_help="Erase the key of a round.")
@click.option("--round", "round_number", type=int, required=True, help="Number of the round.")
@store_option
@anchor_option
@output_options
def close(
    as_json: bool, no_color: bool, round_number: int, store: Path, anchor: Path | None
) -> None:
    """Erase the key of a round whose batches are out. What was not mixed by then is lost.

    \b
    Example:
      krand mix close --round 1 --store mixer
    """
    with _opened(store, anchor) as opened:
        opened.close_round(round_number)
    line = f"Round {round_number} is closed; its key is erased."
    _say(Output(as_json, no_color), {"closed": round_number}, line)


@contextmanager
def _opened(store: Path, anchor: Path | None) -> Iterator[MixerStore]:
    from krand.mixing.store import MixerStore

    with MixerStore(store, anchor) as opened:
        yield opened


def _say(out: Output, values: dict[str, Any], *lines: str) -> None:
    if out.as_json:
        out.json(values)
        return
    console = out.console()
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)
