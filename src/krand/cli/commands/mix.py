"""`krand mix`: what the operator of a mixer does."""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.exit_codes import until_stopped
from krand.cli.mixer_service import NO_ANCHOR, accept, serve
from krand.cli.numbers import Count, Real
from krand.cli.options import (
    FILE,
    FOLDER,
    folder_option,
    output_option,
    output_options,
)
from krand.errors import InvalidInput
from krand.showing import some
from krand.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from krand.batches.chain import Link
    from krand.mixing.mixer import MixedFiles
    from krand.mixing.store import MixerStore
    from krand.mixing.watching import Event
    from krand.survey.plan import Plan

store_option = click.option(
    "--store", type=FOLDER, required=True, help="The mixer's private folder, with its keys."
)
anchor_option = click.option(
    "--anchor",
    type=FILE,
    help="A file on another disk, replaced with every run: an older copy of the store is useless.",
)
plan_argument = click.argument("plan_file", type=FILE)
signed_plan_option = click.option(
    "--plan", "plan_file", type=FILE, required=True, help="The plan that was signed."
)
workers_option = click.option(
    "--workers", type=Count(1), help="Processes; by default one for each core."
)
most_refused_option = click.option(
    "--most-refused",
    type=Real(),
    default=0.1,
    show_default=True,
    help="Write nothing if a larger part of the messages cannot be opened.",
)


@click.group(short_help="Run a mixer: keys, plans, batches.")
@output_options
@click.pass_context
def mix(context: click.Context, out: Output) -> None:
    """Run a mixer, which opens its layer of a batch, adds dummies, shuffles and signs.

    A person's answers stay hidden as long as one mixer of the chain is honest. The collector is the
    first mixer; each of the others should be run by somebody else.

    \b
    Examples:
      krand mix keygen --store mixer --anchor /mnt/b/anchor --name uni --rounds 4 -o uni.json
      krand mix check plan.json --store mixer
      krand mix sign plan.json --store mixer -o university.sig.json
      krand mix run round-1-1.batch --plan plan.json --store mixer -o mixed
      krand mix watch incoming --to mixed --plan plan.json --store mixer
      krand mix close --round 1 --store mixer
      krand mix serve --name university --anchor /mnt/b/anchors
      krand mix accept 3
    """
    out.pass_on(context)


mix.add_command(serve)
mix.add_command(accept)


@mix.command(short_help="Create a mixer's keys and its public description.")
@store_option
@anchor_option
@click.option(
    "--no-anchor", is_flag=True, help="Do without one; the store must then never be restored."
)
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
    out: Output,
    store: Path,
    anchor: Path | None,
    no_anchor: bool,
    name: str,
    rounds: int,
    output: Path,
) -> None:
    """Create a mixer's store and its public description.

    A store that is restored from a backup would draw noise for the same batch a second time. The
    anchor prevents that: the store cannot be opened without the anchor of its last run.

    Each round has a key of its own, which is erased with the last batch that the plan allows, or by
    krand mix close. A plan lists the keys of all rounds, and a survey has at most 10,000 rounds. A
    key takes 66 bytes there for each mixer and round.

    \b
    Example:
      krand mix keygen --store mixer --anchor /mnt/b/anchor --name uni --rounds 4 -o uni.json
    """
    from krand.files import Exists, complete_file
    from krand.mixing.keys import descriptor_bytes, generate_mixer_keys
    from krand.mixing.store import create_store

    if no_anchor == (anchor is not None):
        rule = "must be given, or --no-anchor, and not both"
        hint = "name a file on another disk with --anchor"
        raise InvalidInput("anchor", rule, None if anchor is None else str(anchor), hint)
    if output.exists():
        raise Exists("output", "must not exist yet", str(output), "name another file")
    described = create_store(store, name, generate_mixer_keys(rounds), anchor)
    with complete_file("output", output, replace=False) as stream:
        stream.write(descriptor_bytes(described))
    if no_anchor:
        out.warn(NO_ANCHOR)
    out.tell(
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
def check(out: Output, plan_file: Path, store: Path, anchor: Path | None) -> None:
    """Check that a plan names this mixer's keys and promises no more than its dummies give.

    \b
    Example:
      krand mix check plan.json --store mixer
    """
    from krand.mixing.mixer import check_plan
    from krand.survey.plan_file import read_plan
    from krand.wording.parties import also_runs

    plan = read_plan(plan_file)
    with _opened(store, anchor) as opened, out.progress("checking the plan's promise"):
        hop = check_plan(opened, plan)
    line = f"This is mixer {hop} of {plan.survey.trust.mixers}. The plan keeps its promise."
    out.tell({"plan": plan.hash, "hop": hop}, f"{line} {also_runs(plan)}".strip())


@mix.command(short_help="Check a plan and sign it.")
@plan_argument
@store_option
@anchor_option
@output_option("File for the signature, for everybody who takes part.", made_again=True)
@output_options
def sign(
    out: Output,
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
    with _opened(store, anchor) as opened, out.progress("checking the plan's promise"):
        signature = sign_checked_plan(opened, plan)
    write_atomically("output", output, signature_bytes(signature))
    out.tell({"plan": plan.hash, "signature": str(output)}, f"Written: {output}")


@mix.command(short_help="Mix a batch of the mixer before.")
@click.argument("batch", type=FILE)
@signed_plan_option
@store_option
@anchor_option
@folder_option("The folder for the mixed batch and its chain.")
@workers_option
@most_refused_option
@output_options
def run(
    out: Output,
    batch: Path,
    plan_file: Path,
    store: Path,
    anchor: Path | None,
    output: Path,
    workers: int | None,
    most_refused: float,
) -> None:
    """Verify a batch and its chain, open this mixer's layer, add dummies, shuffle, sign.

    The chain of NAME.batch is NAME.chain.json beside it. If interrupted, run the same command
    again: nothing leaves twice with other noise.

    \b
    Example:
      krand mix run round-1-1.batch --plan plan.json --store mixer -o mixed
    """
    from krand.batches.batch import chain_beside
    from krand.files import check_readable
    from krand.mixing.mixer import MixOptions, mix_batch
    from krand.survey.plan_file import read_plan

    plan = read_plan(plan_file)
    check_readable("batch", batch)
    counting = _counting(out, plan, chain_beside(batch))
    with _opened(store, anchor) as opened, counting as progress:
        options = MixOptions(workers=workers, most_refused=most_refused, progress=progress)
        done = mix_batch(opened, plan, batch, output, options)
    out.tell(
        _values(done),
        _counts(done.link),
        f"Written: {done.data}",
        f"Written: {done.chain}",
    )


@mix.command(short_help="Mix every batch that appears in a folder.")
@click.argument("folder", type=FOLDER)
@click.option("--to", type=FOLDER, required=True, help="The folder for mixed batches.")
@signed_plan_option
@store_option
@anchor_option
@click.option(
    "--every",
    type=Real(),
    default=5.0,
    show_default=True,
    help="Seconds between two looks into the folder.",
)
@click.option("--once", is_flag=True, help="Look once, mix what is there, and end; for cron.")
@workers_option
@most_refused_option
@output_options
def watch(
    out: Output,
    folder: Path,
    to: Path,
    plan_file: Path,
    store: Path,
    anchor: Path | None,
    every: float,
    once: bool,
    workers: int | None,
    most_refused: float,
) -> None:
    """Mix every batch that appears in FOLDER, as krand mix run does, until told to stop.

    A batch is taken when NAME.batch and NAME.chain.json are there and no longer change. A batch
    that has left is not mixed again. One that cannot be mixed is named once and stays where it
    is. A full disk is named, and tried again after a minute. The store is free between two batches,
    for krand mix close.

    Ctrl-C or SIGTERM stops the service. It may be killed at any time: nothing leaves twice with
    other noise. With --json each event is a line with one JSON object. With --once the exit code
    says whether a batch could not be mixed.

    \b
    Example:
      krand mix watch incoming --to mixed --plan plan.json --store mixer
    """
    from krand.mixing.mixer import MixOptions
    from krand.mixing.store import MixerStore
    from krand.mixing.watching import Watch, WatchOptions
    from krand.survey.plan_file import read_plan

    if not every > 0:
        raise InvalidInput("every", "must be a number of seconds above 0", every)
    mixing = MixOptions(workers=workers, most_refused=most_refused)
    watched = Watch(
        lambda: MixerStore(store, anchor),
        read_plan(plan_file),
        folder,
        to,
        lambda event: _log(out, event),
        WatchOptions(mixing=mixing, every=every),
    )
    with until_stopped(watched.stop):
        if not once:
            watched.run()
            return
        failures = [event.error for event in watched.look(settled=True) if event.error]
    if failures:
        raise click.exceptions.Exit(failures[0].exit_code)


@mix.command(short_help="Erase the key of a round.")
@click.option("--round", "round_number", type=int, required=True, help="Number of the round.")
@store_option
@anchor_option
@output_options
def close(out: Output, round_number: int, store: Path, anchor: Path | None) -> None:
    """Erase the key of a round whose batches are out. What was not mixed by then is lost.

    The last batch that the plan allows has erased the key already; the store then still keeps its
    output, to write it again, until the round is closed.

    \b
    Example:
      krand mix close --round 1 --store mixer
    """
    with _opened(store, anchor) as opened:
        opened.close_round(round_number)
    out.tell({"closed": round_number}, f"Round {round_number} is closed; its key is erased.")


def _opened(store: Path, anchor: Path | None) -> MixerStore:
    from krand.mixing.store import MixerStore

    return MixerStore(store, anchor)


@contextmanager
def _counting(out: Output, plan: Plan, chain: Path) -> Iterator[Callable[[int], None]]:
    """A progress bar over the messages that will leave, as many as the plan makes us expect."""
    from krand.batches.chain import read_chain

    links = read_chain(chain)
    total = links[-1].record.total("out") + plan.expected_dummies if links else None
    with out.counting("mixing", total, "messages") as progress:
        yield progress


def _log(out: Output, event: Event) -> None:
    """One line for each event: files and numbers, nothing about messages."""
    from krand.mistakes import visible
    from krand.wording.failures import describe, explain

    values = {} if event.files is None else _values(event.files)
    if event.error is not None:
        values |= describe(event.error)
    if out.as_json:
        values = {"event": event.happened.value, "input": event.batch, **values}
        click.echo(json.dumps(values, allow_nan=False))
        return
    name = f"{event.batch}: " if event.batch else ""
    if event.files is not None:
        line = f"{name}{_counts(event.files.link)}; written: {event.files.data}"
        out.lines(visible(line))
    elif event.error is not None:
        reason = " ".join(explain(event.error).split())
        out.warn(visible(f"{name}{event.happened.value}: {reason}"))


def _values(done: MixedFiles) -> dict[str, Any]:
    link = done.link
    return {
        "plan": link.plan,
        "round": link.round,
        "place": link.place,
        **{name: link.total(name) for name in ("came", "repeats", "refused", "dummies", "out")},
        "batch": str(done.data),
        "chain": str(done.chain),
    }


def _counts(link: Link) -> str:
    return (
        f"{some(link.total('came'), 'message')}, {some(link.total('repeats'), 'repeat')},"
        f" {link.total('refused'):,} refused, {link.total('dummies'):,} dummies"
    )
