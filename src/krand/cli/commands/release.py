"""`krand release`: write complete batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.options import (
    FILE,
    FOLDER,
    folder_option,
    output_options,
    passphrase_from,
    passphrase_options,
    plan_option,
    round_option,
    spool_option,
)
from krand.cli.plans import checked_plan
from krand.errors import InvalidInput
from krand.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krand.collector.store import Batch
    from krand.survey.plan import Plan

__all__ = ["release"]


@click.command(short_help="Write the batches that are complete.")
@plan_option
@spool_option
@round_option
@click.option(
    "--key",
    type=FILE,
    help="The collector's private key, made by krand keygen --signing; for devices' noise.",
)
@passphrase_options
@click.option("--close", is_flag=True, help="Close the open batch first; for mixers' noise alone.")
@click.option(
    "--mixer-store",
    type=FOLDER,
    help="The collector's store as the first mixer, made by krand mix keygen; for mixers' noise.",
)
@click.option("--anchor", type=FILE, help="The anchor of the mixer's store, if it has one.")
@folder_option("The folder for batches and manifests.")
@output_options
def release(
    as_json: bool,
    no_color: bool,
    plan_file: Path,
    spool: Path,
    round_number: int,
    output: Path,
    **options: Any,
) -> None:
    """Write each sealed batch, shuffled, with a signed manifest; then erase it from the spool.

    With devices' noise a batch below the planned crowd is never released; no option changes that.
    With mixers' noise the crowd is no condition. The collector is then the first mixer: it adds
    dummies and writes the batch for the next one, with the chain of manifests. --close seals the
    open batch, however few people are in it. After as many closings as the plan allows, devices are
    told that the round is closed. If a closed batch is still waiting to be written, --close closes
    no other.

    If interrupted, run the same command again: it writes the same bytes. A running collector need
    not be stopped.

    \b
    Examples:
      krand release --plan plan.json --spool spool --key collector.pem -o batches
      krand release --plan plan.json --spool spool --mixer-store mixer --close -o batches
    """
    out = Output(as_json, no_color)
    plan = checked_plan(plan_file, out)
    _check_options(plan, options)
    run = _released if plan.mixing is None else _mixed
    done, waiting = run(plan, spool, round_number, output, out, options)
    if as_json:
        out.json({"plan": plan.hash, "round": round_number, "released": done})
        return
    console = out.console()
    if not done:
        console.print(_nothing_new(plan, waiting), markup=False)
    for entry in done:
        line = f"batch {entry['number']}: {entry['people']:,} people"
        dummies = f" and {entry['dummies']:,} dummies" if "dummies" in entry else ""
        console.print(f"{line}, {entry['messages']:,} messages{dummies}", markup=False)
        for name in ("batch", "manifest", "chain"):
            if name in entry:
                console.print(f"Written: {entry[name]}", markup=False, soft_wrap=True)


def _check_options(plan: Plan, options: Mapping[str, Any]) -> None:
    """Each source of noise has its own options."""
    mixed = plan.mixing is not None
    needed, other = ("mixer_store", "key") if mixed else ("key", "mixer_store")
    source = "mixers" if mixed else "devices"
    if not mixed and options["close"]:
        hint = "the promise needs the planned crowd: wait for more people"
        raise InvalidInput("close", "must not be given with devices' noise", "--close", hint)
    for name in (other, *(() if mixed else ("anchor",))):
        if options[name] is not None:
            rule = f"must not be given with {source}' noise"
            raise InvalidInput(name, rule, str(options[name]), "leave it out")
    if options[needed] is None:
        maker = "krand mix keygen" if mixed else "krand keygen --signing"
        hint = f"name it with --{needed.replace('_', '-')}; {maker} makes one"
        raise InvalidInput(needed, f"must be given with {source}' noise", None, hint)


def _released(
    plan: Plan,
    spool: Path,
    round_number: int,
    output: Path,
    out: Output,
    options: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], Batch]:
    """Batches with devices' noise, and the batch that waits."""
    from krand.collector.opening import open_spool
    from krand.collector.release import release_sealed
    from krand.wire.keys import load_signing_key

    passphrase = passphrase_from(options["passphrase_env"], options["passphrase"])
    signer = load_signing_key(options["key"], passphrase)
    with open_spool(plan, spool, round_number, create=False) as opened:
        with out.progress("releasing"):
            done = release_sealed(opened, output, signer)
        waiting = opened.batches()[-1]
    files = [{"batch": str(entry.data), "manifest": str(entry.manifest)} for entry in done]
    return [_told(e.batch) | names for e, names in zip(done, files, strict=True)], waiting


def _mixed(
    plan: Plan,
    spool: Path,
    round_number: int,
    output: Path,
    out: Output,
    options: Mapping[str, Any],
) -> tuple[list[dict[str, Any]], Batch]:
    """Batches that the collector mixes as the first mixer, and the last batch."""
    from krand.collector.first_mixer import close_batch, mix_sealed
    from krand.collector.opening import open_spool
    from krand.mixing.store import MixerStore

    with (
        MixerStore(options["mixer_store"], options["anchor"]) as mixer,
        open_spool(plan, spool, round_number, create=False) as opened,
    ):
        if options["close"]:
            close_batch(opened, mixer, plan)
        with out.progress("releasing"):
            done = mix_sealed(opened, mixer, plan, output)
        waiting = opened.batches()[-1]
    return [
        _told(entry.batch)
        | {"dummies": entry.files.link.dummies, "repeats": entry.files.link.repeats}
        | {"batch": str(entry.files.data), "chain": str(entry.files.chain)}
        for entry in done
    ], waiting


def _told(batch: Batch) -> dict[str, Any]:
    return {"number": batch.number, "people": batch.people, "messages": batch.messages}


def _nothing_new(plan: Plan, last: Batch) -> str:
    from krand.collector.states import State

    if plan.mixing is None:
        return f"Nothing new: the open batch waits for its crowd of {last.crowd:,} people."
    if last.state is State.OPEN:
        return "Nothing new: the open batch takes submissions until --close closes it."
    return "Nothing new: the round is closed, and all its batches are written."
