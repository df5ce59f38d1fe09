"""`krand release`: close the round, and write its batch."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from krand.cli.closing import close_asked, closing_line, closing_options, closing_values
from krand.cli.options import (
    FILE,
    FOLDER,
    anchor_option,
    checked_plan,
    folder_option,
    output_options,
    passphrase_from,
    passphrase_options,
    plan_option,
    round_option,
    spool_option,
)
from krand.errors import InvalidInput
from krand.showing import some
from krand.terminal.output import Output

if TYPE_CHECKING:
    from collections.abc import Mapping

    from krand.collector.store import Batch, Closed, Store
    from krand.survey.plan import Plan


@click.command(short_help="Close a round, and write its batch.")
@plan_option
@spool_option
@round_option
@click.option(
    "--key",
    type=FILE,
    help="The collector's private key, made by krand keygen --signing; for devices' noise.",
)
@passphrase_options
@click.option("--close", is_flag=True, help="Close the open batch first; asks before it does.")
@closing_options
@click.option(
    "--mixer-store",
    type=FOLDER,
    help="The collector's store as the first mixer, made by krand mix keygen; for mixers' noise.",
)
@anchor_option
@folder_option("The folder for the batch and its manifest.")
@output_options
def release(
    out: Output,
    plan_file: Path,
    spool: Path,
    round_number: int,
    output: Path,
    **options: Any,
) -> None:
    """Write a sealed batch, shuffled, with a signed manifest; then erase it from the spool.

    A round is one batch, open until --close closes it; everybody who came by then is in it. It
    says what will happen, with a coarse number of people, and asks; --yes answers for a script.
    Afterwards devices are told that the round is closed.

    A batch with fewer people than minimum_crowd is never written; no option changes that. --close
    refuses then, unless --erase says that the round is to end without them: what they sent is
    erased, and the round is never opened again.

    With mixers' noise the collector is the first mixer: it adds dummies and writes the batch for
    the next one, with the chain of manifests.

    If interrupted, run the same command again: it writes the same bytes. A running collector need
    not be stopped.

    \b
    Examples:
      krand release --plan plan.json --spool spool --key collector.pem --close -o batches
      krand release --plan plan.json --spool spool --mixer-store mixer --close --yes -o batches
    """
    plan = checked_plan(plan_file, out)
    _check_options(plan, options)
    run = _mixed if plan.survey.trust.chain else _released
    closed, done, waiting = run(plan, spool, round_number, output, out, options)
    if out.as_json:
        told = {"plan": plan.hash, "round": round_number, "closed": closing_values(closed)}
        out.json({**told, "released": done})
        return
    console = out.console()
    if closed is not None:
        console.print(closing_line(closed))
    if not done and (closed is None or not closed.lost):
        console.print(_nothing_new(waiting))
    for entry in done:
        line = f"batch {entry['number']}: {some(entry['people'], 'person')}"
        dummies = f" and {entry['dummies']:,} dummies" if "dummies" in entry else ""
        console.print(f"{line}, {some(entry['messages'], 'message')}{dummies}")
        for name in ("batch", "manifest", "chain"):
            if name in entry:
                console.print(f"Written: {entry[name]}", soft_wrap=True)


def _close(store: Store, out: Output, options: Mapping[str, Any]) -> Closed | None:
    """Close the open batch, if --close is given."""
    for name in ("yes", "erase"):
        if options[name] and not options["close"]:
            rule = "must not be given without --close"
            raise InvalidInput(name, rule, f"--{name}", "add --close, or leave it out")
    if not options["close"]:
        return None
    return close_asked(store, out, yes=options["yes"], erase=options["erase"])


def _check_options(plan: Plan, options: Mapping[str, Any]) -> None:
    """Each source of noise has its own options."""
    mixed = plan.survey.trust.chain > 0
    needed, other = ("mixer_store", "key") if mixed else ("key", "mixer_store")
    source = "mixers" if mixed else "devices"
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
) -> tuple[Closed | None, list[dict[str, Any]], Batch]:
    """What was closed, the batch if it was written now, with devices' noise, and the last batch."""
    from krand.collector.opening import open_spool
    from krand.collector.release import release_sealed
    from krand.wire.keys import read_signing_key

    passphrase = passphrase_from(options["passphrase_env"], options["passphrase"])
    signer = read_signing_key(options["key"], passphrase)
    with open_spool(plan, spool, round_number, create=False) as opened:
        closed = _close(opened, out, options)
        with out.progress("releasing"):
            done = release_sealed(opened, output, signer)
        waiting = opened.batches()[-1]
    files = [{"batch": str(entry.data), "manifest": str(entry.manifest)} for entry in done]
    told = [_batch_values(e.batch) | names for e, names in zip(done, files, strict=True)]
    return closed, told, waiting


def _mixed(
    plan: Plan,
    spool: Path,
    round_number: int,
    output: Path,
    out: Output,
    options: Mapping[str, Any],
) -> tuple[Closed | None, list[dict[str, Any]], Batch]:
    """What was closed, the batch if the collector mixed it now, and the last batch."""
    from krand.collector.first_mixer import check_mixable, mix_sealed
    from krand.collector.opening import open_spool
    from krand.mixing.store import MixerStore

    with (
        MixerStore(options["mixer_store"], options["anchor"]) as mixer,
        open_spool(plan, spool, round_number, create=False) as opened,
    ):
        if options["close"]:
            check_mixable(opened, mixer, plan)
        closed = _close(opened, out, options)
        with out.progress("releasing"):
            done = mix_sealed(opened, mixer, plan, output)
        waiting = opened.batches()[-1]
    told = [
        _batch_values(entry.batch)
        | {"dummies": entry.files.link.dummies, "repeats": entry.files.link.repeats}
        | {"batch": str(entry.files.data), "chain": str(entry.files.chain)}
        for entry in done
    ]
    return closed, told, waiting


def _batch_values(batch: Batch) -> dict[str, Any]:
    return {"number": batch.number, "people": batch.people, "messages": batch.messages}


def _nothing_new(last: Batch) -> str:
    from krand.collector.store import State

    if last.state is not State.OPEN:
        return "Nothing new: the round is closed, and its batch is written."
    return "Nothing new: the batch takes submissions until --close closes it."
