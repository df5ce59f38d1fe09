"""`krand plan`: turn a survey file into a plan."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from krand.cli.options import FILE, force_option, output_option, output_options
from krand.terminal.output import Output

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PublicKey

    from krand.survey.plan import Mixer
    from krand.survey.survey import Survey


def _print_schema(context: click.Context, parameter: click.Parameter, wanted: bool) -> None:
    if wanted:
        from krand.survey.schema import survey_schema

        click.echo(json.dumps(survey_schema(), indent=2, ensure_ascii=False))
        context.exit()


@click.command(short_help="Turn a survey file into a plan with its noise.")
@click.argument("survey", type=FILE)
@output_option("The plan file to write; without it nothing is written.", required=False)
@force_option
@click.option(
    "--analyst-key",
    type=FILE,
    help="The analyst's public key, which messages are sealed for; needed with --mixer.",
)
@click.option(
    "--mixer",
    "mixers",
    type=FILE,
    multiple=True,
    help="The public descriptor of a mixer, written by krand mix keygen; once for each mixer, the"
    " collector first. With devices' noise the collector is the only one.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Also show how the noise was divided, what remains if others work together, and one table"
    " of alternatives.",
)
@click.option(
    "--schema",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_schema,
    help="Print the JSON Schema of survey files, which editors use, and do nothing else.",
)
@output_options
def plan(
    out: Output,
    survey: Path,
    output: Path | None,
    force: bool,
    analyst_key: Path | None,
    mixers: tuple[Path, ...],
    explain: bool,
) -> None:
    """Find the smallest noise that keeps a survey's promise, and write it as a plan.

    The plan holds everything that a device needs: questions and their choices, what is promised,
    noise, messages, the key that these are sealed for, and every mixer with its keys: the
    collector is the first. A data holder who randomizes a whole table needs neither.
    What follows is shown: how precise counts will be, and how much one dishonest person can
    change them. A plan is identified by its SHA-256 hash (sha256sum plan.json prints it); any
    change makes a different plan.

    A published survey cannot be edited, only ended: its successor is another plan, and whoever
    answers both spends both.

    \b
    Examples:
      krand plan survey.toml -o plan.json
      krand plan survey.toml --analyst-key key.pub.pem --mixer collector.json -o plan.json
      krand plan survey.toml --explain
      krand plan --schema > survey.schema.json
    """
    from krand.files import keep_inputs
    from krand.planning.alternatives import alternatives
    from krand.planning.coalitions import coalitions_of
    from krand.planning.making import make_plan
    from krand.planning.margins import results_by_group
    from krand.survey.reading import read_survey
    from krand.terminal.overwriting import files_named_in
    from krand.wire.keys import read_public_key
    from krand.wire.mixers import check_mixers

    asked = read_survey(survey)
    if output is not None:
        keep_inputs("output", output, files_named_in(survey))
    chain = _chain(asked, mixers, analyst_key)
    key = None if analyst_key is None else read_public_key(analyst_key)
    with out.progress("planning"):
        made = make_plan(asked)
        others = alternatives(made) if explain else ()
        by_group = () if out.quiet else results_by_group(made)
    if key is not None:
        made = made.with_parties(chain, key)
        check_mixers(made)
    if output is not None:
        made.save(output, overwrite=force)
    from krand.wording.plans import unreadable

    if warning := unreadable(made):
        out.warn(warning)
    together = coalitions_of(made) if explain else ()
    if out.as_json:
        from krand.cli.values import survey_plan_values

        found = {
            "by_group": [asdict(row) for row in by_group],
            "coalitions": [asdict(row) for row in together],
            "alternatives": [asdict(row) for row in others],
        }
        out.json({**survey_plan_values(made), **{k: v for k, v in found.items() if v}})
        return
    from krand.wording.parties import coalitions_table
    from krand.wording.phrases import dishonest_can
    from krand.wording.plans import (
        alternatives_table,
        division_sentence,
        group_sentences,
        margins_sentence,
        mixers_sentence,
        promise_sentence,
        survey_table,
    )
    from krand.wording.surveys import about_sentence

    console = out.console()
    if who := about_sentence(made.survey):
        console.print(who)
    console.print(survey_table(made))
    for said in filter(None, (margins_sentence(made), *group_sentences(by_group))):
        console.print(said)
    console.print(promise_sentence(made))
    sealed = "message" if made.messages == 1 else "messages"
    dishonest = dishonest_can([block.shift for block in made.blocks])
    console.print(
        f"Each submission has {made.messages:,} sealed {sealed}. {dishonest}",
    )
    console.print(_sealed_for(key))
    if who_mixes := mixers_sentence(made):
        console.print(who_mixes)
    if explain:
        console.print(division_sentence(made))
        console.print(coalitions_table(together, made))
        console.print(alternatives_table(others))
    console.print(f"Plan {made.hash}", soft_wrap=True)
    if output is not None:
        console.print(f"Written: {output}", soft_wrap=True)


def _chain(asked: Survey, files: tuple[Path, ...], key: Path | None) -> tuple[Mixer, ...]:
    """The mixers that the files describe, as many as the survey asks for."""
    from krand.errors import InvalidInput
    from krand.mixing.keys import read_descriptor

    if not files and key is not None:
        rule = "must be given with --analyst-key: people send to the plan's first mixer"
        hint = "krand mix keygen --rounds 0 makes the collector's description"
        raise InvalidInput("mixer", rule, None, hint)
    if files and key is None:
        rule = "must be given with --mixer: messages are sealed for it"
        raise InvalidInput("analyst_key", rule, None, "krand keygen makes it")
    if files and len(files) != asked.trust.mixers:
        rule = f"must be given {asked.trust.mixers} times, as the survey has so many mixers"
        raise InvalidInput("mixer", rule, len(files), "give one file for each, the collector first")
    return tuple(map(read_descriptor, files))


def _sealed_for(key: X25519PublicKey | None) -> str:
    from krand.wire.keys import fingerprint

    if key is None:
        return (
            "The plan names no parties, so nobody can send to it: it is for a data holder's table,"
            " for simulations and for looking. Otherwise add --mixer and --analyst-key."
        )
    return f"Messages are sealed for the key in the plan, fingerprint {fingerprint(key)}."
